// The driver by v3 against a device in the same loop that cheats: what is not proven is never an
// answer, and what is proven still arrives.
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "net/test_process.hpp"
#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/driver_test_support.hpp"
#include "protocol/snmp/v3_responder.hpp"

namespace pollux::protocol::snmp {
namespace {

using namespace std::chrono_literals;
using model::SnmpAuth;
using model::SnmpPrivacy;
using test::answer_in;
using test::DriverFixture;
using test::failure_in;
using test::gets_of;
using test::make_ask;
using test::share;

constexpr const char* kUptime = "1.3.6.1.2.1.1.3.0";
using Datagram = std::vector<std::uint8_t>;

std::shared_ptr<model::Credentials> user_named(const std::string& name, SnmpAuth auth,
                                               SnmpPrivacy privacy) {
    auto user = std::make_shared<model::Credentials>();
    user->username = name;
    user->snmp_auth = auth;
    user->snmp_privacy = privacy;
    user->snmp_auth_password = base::Secret("auth-pass-word");
    user->snmp_privacy_password = base::Secret("priv-pass-word");
    return user;
}

// A device with an engine and one user, that says more than the truth.
class CheatingDevice final : private net::FdHandler {
  public:
    // Sent before the right answer; gets the request's message and the right answer.
    using Lies =
        std::function<std::vector<Datagram>(CheatingDevice&, const V3View&, const Datagram&)>;

    CheatingDevice(net::EventLoop& loop, std::shared_ptr<const model::Credentials> user,
                   Lies lies = {})
        : loop_(loop),
          user_{.credentials = std::move(user), .engine_id = {}},
          lies_(std::move(lies)) {
        responder_.set_users({user_});
        const net::test::TestAddress any("127.0.0.1", 0);
        fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        EXPECT_EQ(bind(fd_, any.get(), any.length), 0);
        sockaddr_storage bound{};
        socklen_t length = sizeof bound;
        getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &length);
        port_ = from_sockaddr(bound)->port;
        EXPECT_TRUE(loop.watch(fd_, EPOLLIN, *this).has_value());
    }
    ~CheatingDevice() {
        loop_.unwatch(fd_);
        close(fd_);
    }

    std::uint16_t port() const { return port_; }
    OwnState own() const {
        return {.engine_id = {reinterpret_cast<const std::uint8_t*>(engine.data()), engine.size()},
                .boots = boots,
                .time = time};
    }

    // An answer to the request with this value, at this level, as the user would seal it.
    Datagram sealed(const V3View& request, std::int64_t value, SecurityLevel level,
                    const OwnState& as) {
        Datagram buffer(2048);
        BerWriter writer(buffer);
        model::SnmpValue number;
        number.type = model::SnmpType::kInteger;
        number.integer = value;
        put_varbind(writer, oid_of(kUptime), number);
        finish_pdu(writer, 0, PduType::kResponse, request.message_id, 0, 0);
        V3View header = request;
        header.level = level;
        UsmUser lowered = user_;
        const ScopedView scope{.context_engine = as.engine_id, .context_name = {}, .pdu = {}};
        responder_.seal_answer(writer, header, scope, lowered, as);
        return {writer.bytes().begin(), writer.bytes().end()};
    }

    std::string engine = std::string(
        "\x80\0\0\0\x05"
        "engine-1",
        13);
    std::uint32_t boots = 5;
    std::uint32_t time = 1000;
    bool is_silent = false;  // only lies
    std::optional<ReportKind> always_reports;

  private:
    void on_ready(int fd, std::uint32_t) override {
        std::array<std::uint8_t, 65536> buffer;
        while (true) {
            sockaddr_storage client{};
            socklen_t length = sizeof client;
            const ssize_t got = recvfrom(fd, buffer.data(), buffer.size(), 0,
                                         reinterpret_cast<sockaddr*>(&client), &length);
            if (got < 0) return;
            for (const Datagram& one : answers_to({buffer.data(), static_cast<std::size_t>(got)})) {
                sendto(fd, one.data(), one.size(), 0, reinterpret_cast<const sockaddr*>(&client),
                       length);
            }
        }
    }

    std::vector<Datagram> answers_to(Bytes bytes) {
        const Parsed<V3View> request = parse_v3(bytes);
        EXPECT_TRUE(request.has_value());
        const auto report = [&](ReportKind kind, const UsmUser* user = nullptr) {
            Datagram room(2048);
            const Bytes made = responder_.report(*request, kind, 1, user, own(), room);
            return std::vector<Datagram>{{made.begin(), made.end()}};
        };
        if (!std::ranges::equal(request->engine_id, own().engine_id)) {
            return report(ReportKind::kUnknownEngine);
        }
        if (always_reports) return report(*always_reports);
        const V3Responder::Checked checked = responder_.check_user(*request);
        if (checked.user == nullptr) return report(checked.problem);
        if (request->level != SecurityLevel::kNoAuth && !V3Responder::is_in_time(*request, own())) {
            return report(ReportKind::kNotInTimeWindow, checked.user);
        }
        const Datagram right = sealed(*request, 4711, request->level, own());
        std::vector<Datagram> all;
        if (lies_) all = lies_(*this, *request, right);
        if (!is_silent) all.push_back(right);
        return all;
    }

    net::EventLoop& loop_;
    UsmUser user_;
    Lies lies_;
    V3Responder responder_{{.k0 = 5, .k1 = 6}, 77, 100};
    int fd_ = -1;
    std::uint16_t port_ = 0;
};

std::shared_ptr<const model::Ask> ask_for(const CheatingDevice& device,
                                          std::shared_ptr<const model::Credentials> user) {
    model::SnmpAsk snmp = gets_of({kUptime});
    snmp.version = model::SnmpVersion::kV3;
    model::Ask ask = make_ask("127.0.0.1", device.port(), std::move(snmp));
    ask.timeout = 500ms;
    ask.resends = 0;
    ask.credentials = std::move(user);
    return share(std::move(ask));
}

std::vector<Datagram> every_lie(CheatingDevice& device, const V3View& request,
                                const Datagram& right) {
    std::vector<Datagram> lies;
    for (std::size_t i = 0; i < right.size(); i += 3) {
        lies.push_back(right);
        lies.back()[i] ^= 0x10U;
        lies.push_back(Datagram(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(i)));
    }
    // Unsigned, and signed in the open, where the user wants more.
    lies.push_back(device.sealed(request, 666, SecurityLevel::kNoAuth, device.own()));
    lies.push_back(device.sealed(request, 666, SecurityLevel::kAuth, device.own()));
    // Signed for an older start, and for a time long gone.
    OwnState older = device.own();
    --older.boots;
    lies.push_back(device.sealed(request, 666, request.level, older));
    OwnState earlier = device.own();
    earlier.time -= 200;
    lies.push_back(device.sealed(request, 666, request.level, earlier));
    // The right id in a message of v2c, without any proof.
    Message plain;
    plain.community = "public";
    plain.pdu.request_id = request.message_id;
    plain.pdu.varbinds.push_back({oid_of(kUptime), {}});
    plain.pdu.varbinds[0].value.type = model::SnmpType::kInteger;
    lies.push_back(encoded(plain));
    lies.push_back(Datagram(60'000, 0x30));
    return lies;
}

TEST(SnmpDriverV3, TakesTheRightAnswerFromAmongAllLies) {
    DriverFixture fixture;
    const auto user = user_named("u", SnmpAuth::kSha256, SnmpPrivacy::kAes128);
    CheatingDevice device(fixture.loop(), user);
    // The clock is known before, so that what is older is noticed.
    EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
    CheatingDevice liar(fixture.loop(), user, every_lie);
    EXPECT_TRUE(fixture.ask(ask_for(liar, user)).ok());
    const model::Reply reply = fixture.ask(ask_for(liar, user));
    ASSERT_TRUE(reply.ok()) << failure_in(reply).message;
    EXPECT_EQ(answer_in(reply).gets.at(0).integer, 4711);
    EXPECT_GT(fixture.driver().counters().untrusted, 10U);
    EXPECT_GT(fixture.driver().counters().malformed, 10U);
}

TEST(SnmpDriverV3, LiesAloneAreATimeoutThatSaysSo) {
    DriverFixture fixture;
    const auto user = user_named("u", SnmpAuth::kSha1, SnmpPrivacy::kDes);
    CheatingDevice liar(fixture.loop(), user, every_lie);
    EXPECT_TRUE(fixture.ask(ask_for(liar, user)).ok());
    liar.is_silent = true;
    const model::Reply reply = fixture.ask(ask_for(liar, user));
    EXPECT_EQ(failure_in(reply).code, "snmp.timeout");
    EXPECT_NE(failure_in(reply).message.find("not proven"), std::string::npos)
        << failure_in(reply).message;
}

TEST(SnmpDriverV3, AnAnswerThatWasSentBeforeIsNoAnswerAgain) {
    DriverFixture fixture;
    const auto user = user_named("u", SnmpAuth::kSha256, SnmpPrivacy::kNone);
    std::vector<Datagram> recorded;
    CheatingDevice device(fixture.loop(), user,
                          [&](CheatingDevice&, const V3View&, const Datagram& right) {
                              const std::vector<Datagram> old = recorded;
                              recorded.push_back(right);
                              return old;
                          });
    EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
    EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
    device.is_silent = true;  // only what was recorded
    EXPECT_EQ(failure_in(fixture.ask(ask_for(device, user))).code, "snmp.timeout");
    EXPECT_GE(fixture.driver().counters().unmatched, 3U);
}

TEST(SnmpDriverV3, ADeviceThatKeepsReportingEndsTheAsk) {
    const std::pair<ReportKind, std::string> rows[] = {
        {ReportKind::kUnknownEngine, "snmp.unknown_engine"},
        {ReportKind::kNotInTimeWindow, "snmp.not_in_time_window"},
        {ReportKind::kUnknownUser, "snmp.unknown_user"},
        {ReportKind::kWrongDigest, "snmp.wrong_digest"},
        {ReportKind::kUnsupportedLevel, "snmp.unsupported_level"},
        {ReportKind::kDecryptionError, "snmp.decryption_error"},
        {ReportKind::kUnknownContext, "snmp.unknown_context"},
        {ReportKind::kInvalidMessage, "snmp.report"}};
    for (const auto& [kind, code] : rows) {
        DriverFixture fixture;
        const auto user = user_named("u", SnmpAuth::kSha256, SnmpPrivacy::kAes128);
        CheatingDevice device(fixture.loop(), user);
        device.always_reports = kind;
        const model::Reply reply = fixture.ask(ask_for(device, user));
        EXPECT_EQ(failure_in(reply).code, code);
        EXPECT_GT(fixture.driver().counters().reports[static_cast<std::size_t>(kind)], 0U);
        EXPECT_EQ(fixture.driver().in_flight(), 0U);
        // As soon as it behaves it is asked without a person's help.
        device.always_reports.reset();
        EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok()) << code;
    }
}

TEST(SnmpDriverV3, ANewEngineAndAnEarlierClockAreFollowedWithinTheAsk) {
    DriverFixture fixture;
    const auto user = user_named("u", SnmpAuth::kSha512, SnmpPrivacy::kAes256);
    CheatingDevice device(fixture.loop(), user);
    EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
    device.boots = 6;
    device.time = 3;
    EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
    EXPECT_EQ(fixture.driver().counters().resyncs, 1U);
    device.boots = 1;
    EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
    EXPECT_EQ(fixture.driver().counters().clock_resets, 1U);
    device.engine[12] = '2';
    EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
    EXPECT_EQ(fixture.driver().known_engines(), 1U);
}

// Who hears traps of the engine follows its clock by this.
TEST(SnmpDriverV3, TellsTheClockThatADeviceHasProven) {
    std::vector<ClockProof> proofs;
    DriverFixture fixture(
        {.allow = {}, .resolve = {}, .tell = {}, .prove = [&](const ClockProof& one) {
             proofs.push_back(one);
         }});
    const auto user = user_named("u", SnmpAuth::kSha256, SnmpPrivacy::kAes128);
    CheatingDevice device(fixture.loop(), user);
    const auto boots = [&] {
        EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
        EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
        std::vector<std::uint32_t> all;
        for (const ClockProof& proof : proofs) {
            EXPECT_EQ(proof.engine_id, device.engine);
            all.push_back(proof.clock.boots());
        }
        proofs.clear();
        return all;
    };
    using Boots = std::vector<std::uint32_t>;
    EXPECT_EQ(boots(), Boots{5}) << "once it is known";
    EXPECT_EQ(boots(), Boots{}) << "nothing new";
    device.boots = 6;
    EXPECT_EQ(boots(), Boots{6});
    device.boots = 1;
    EXPECT_EQ(boots(), Boots{1});
}

TEST(SnmpDriverV3, AFreshLoginAsksForTheEngineAgain) {
    DriverFixture fixture;
    const auto user = user_named("u", SnmpAuth::kSha256, SnmpPrivacy::kAes128);
    CheatingDevice device(fixture.loop(), user);
    EXPECT_TRUE(fixture.ask(ask_for(device, user)).ok());
    bool good = false;
    bool ended = false;
    fixture.driver().start({.id = 1,
                            .ask = ask_for(device, user),
                            .deadline = net::boot_now() + test::kFar,
                            .fresh_login = true},
                           [&](model::Reply&& reply) {
                               good = reply.ok();
                               ended = true;
                           });
    ASSERT_TRUE(fixture.run_until([&] { return ended; }));
    EXPECT_TRUE(good);
    EXPECT_EQ(fixture.driver().counters().discoveries, 2U);
}

TEST(SnmpDriverV3, RefusesUsersThatTheStandardForbids) {
    DriverFixture fixture;
    CheatingDevice device(fixture.loop(), user_named("u", SnmpAuth::kNone, SnmpPrivacy::kNone));
    const auto code = [&](std::shared_ptr<model::Credentials> user) {
        return failure_in(fixture.ask(ask_for(device, std::move(user)))).code;
    };
    EXPECT_EQ(code(nullptr), "snmp.no_user");
    EXPECT_EQ(code(user_named("", SnmpAuth::kNone, SnmpPrivacy::kNone)), "snmp.no_user");
    EXPECT_EQ(code(user_named(std::string(33, 'u'), SnmpAuth::kNone, SnmpPrivacy::kNone)),
              "snmp.long_user");
    EXPECT_EQ(code(user_named("u", SnmpAuth::kNone, SnmpPrivacy::kDes)),
              "snmp.privacy_without_auth");
    auto short_password = user_named("u", SnmpAuth::kMd5, SnmpPrivacy::kNone);
    short_password->snmp_auth_password = base::Secret("1234567");
    EXPECT_EQ(code(short_password), "snmp.short_password");
    auto long_context = user_named("u", SnmpAuth::kMd5, SnmpPrivacy::kNone);
    long_context->snmp_context = std::string(256, 'c');
    EXPECT_EQ(code(long_context), "snmp.long_context");
    EXPECT_EQ(code(user_named("u", SnmpAuth::kNone, SnmpPrivacy::kNone)), "");
}

}  // namespace
}  // namespace pollux::protocol::snmp
