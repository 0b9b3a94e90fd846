// The clocks of a device and of ourselves, hours apart: after the first answer that proves the
// device's, no request is refused for its time.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/message.hpp"
#include "protocol/snmp/v3_client.hpp"
#include "protocol/snmp/v3_responder.hpp"

namespace pollux::protocol::snmp {
namespace {

using namespace std::chrono_literals;
using Datagram = std::vector<std::uint8_t>;

std::shared_ptr<const model::Credentials> one_user() {
    auto user = std::make_shared<model::Credentials>();
    user->username = "u";
    user->snmp_auth = model::SnmpAuth::kSha256;
    user->snmp_auth_password = base::Secret("auth-pass-word");
    user->snmp_privacy = model::SnmpPrivacy::kAes256;
    user->snmp_privacy_password = base::Secret("priv-pass-word");
    return user;
}

// Both ends and the wire between them; time is what the test says.
class Conversation {
  public:
    Conversation() { device_.set_users({{.credentials = user_, .engine_id = {}}}); }

    // Both clocks go on; the device's may go a little faster or slower.
    void pass(std::chrono::seconds ours, std::chrono::seconds theirs) {
        now_ += ours;
        time_ = static_cast<std::uint32_t>(time_ + theirs.count());
    }
    void pass(std::chrono::seconds both) { pass(both, both); }

    // Our side starts anew and remembers what was kept.
    void restart(std::chrono::seconds meanwhile) {
        base::ByteWriter kept;
        client_->engines().encode(kept, now_, wall_);
        pass(meanwhile);
        wall_ = wall_ + meanwhile;
        // The machine was started too: its boot time says nothing about the one before.
        now_ = base::BootTime{5'000'000'000};
        client_ = make_client();
        base::ByteReader reader(kept.view());
        ASSERT_TRUE(client_->engines().decode(reader, now_, wall_).has_value());
    }

    // Asks until there is an answer; how often the device refused the time of a request.
    int refusals() {
        if (!client_->knows(kDevice)) {
            EXPECT_EQ(client_
                          ->read(message(report(asked(true), ReportKind::kUnknownEngine, false)),
                                 kDevice, user_, now_)
                          .kind,
                      V3Answer::Kind::kAgain);
        }
        for (int refused = 0; refused < 3; ++refused) {
            const Datagram request = asked(false);
            if (V3Responder::is_in_time(message(request), own())) {
                EXPECT_EQ(client_->read(message(answer(request)), kDevice, user_, now_).kind,
                          V3Answer::Kind::kPdu);
                return refused;
            }
            EXPECT_EQ(client_
                          ->read(message(report(request, ReportKind::kNotInTimeWindow, true)),
                                 kDevice, user_, now_)
                          .kind,
                      V3Answer::Kind::kAgain);
        }
        ADD_FAILURE() << "the device never takes the time";
        return 3;
    }

  private:
    static std::unique_ptr<V3Client> make_client() {
        return std::make_unique<V3Client>(base::SipKey{3, 4}, 77, 100);
    }
    OwnState own() const {
        return {
            .engine_id = {reinterpret_cast<const std::uint8_t*>(engine_.data()), engine_.size()},
            .boots = 5,
            .time = time_};
    }
    V3View message(const Datagram& bytes) {
        parsed_ = bytes;
        const Parsed<V3View> view = parse_v3(parsed_);
        EXPECT_TRUE(view.has_value());
        return view ? *view : V3View{};
    }
    Datagram asked(bool discovery) {
        Datagram room(2048);
        BerWriter writer(room);
        if (discovery) {
            client_->put_discovery(writer, ++last_id_);
        } else {
            put_null_varbind(writer, oid_of("1.3.6.1.2.1.1.3.0"));
            finish_pdu(writer, 0, PduType::kGet, ++last_id_, 0, 0);
            client_->wrap(writer, 0, kDevice, user_, last_id_, now_);
        }
        return {writer.bytes().begin(), writer.bytes().end()};
    }
    Datagram report(const Datagram& request, ReportKind kind, bool is_signed) {
        const Datagram kept = request;
        const V3View view = *parse_v3(kept);
        const UsmUser* user = is_signed ? device_.check_user(view).user : nullptr;
        Datagram room(2048);
        const Bytes made = device_.report(view, kind, 1, user, own(), room);
        return {made.begin(), made.end()};
    }
    Datagram answer(const Datagram& request) {
        const Datagram kept = request;
        const V3View view = *parse_v3(kept);
        const V3Responder::Checked checked = device_.check_user(view);
        EXPECT_NE(checked.user, nullptr);
        const Parsed<ScopedView> scope = device_.open(view, *checked.user);
        EXPECT_TRUE(scope.has_value());
        const ScopedView context = *scope;
        Datagram room(2048);
        BerWriter writer(room);
        model::SnmpValue ticks;
        ticks.type = model::SnmpType::kTimeTicks;
        ticks.unsigned_value = time_;
        put_varbind(writer, oid_of("1.3.6.1.2.1.1.3.0"), ticks);
        finish_pdu(writer, 0, PduType::kResponse, view.message_id, 0, 0);
        device_.seal_answer(writer, view, context, *checked.user, own());
        return {writer.bytes().begin(), writer.bytes().end()};
    }

    inline static const Endpoint kDevice = *parse_literal("192.0.2.1", 161);
    const std::string engine_ = std::string("\x80\0\0\0\x05", 5) + "engine-1";
    std::shared_ptr<const model::Credentials> user_ = one_user();
    base::BootTime now_{1'000'000'000'000};
    base::WallTime wall_{1'800'000'000'000'000};
    std::uint32_t time_ = 1000;
    std::unique_ptr<V3Client> client_ = make_client();
    V3Responder device_{{.k0 = 5, .k1 = 6}, 99, 100};
    Datagram parsed_;
    std::int32_t last_id_ = 1;
};

TEST(V3Clock, NoRequestIsOutOfTimeAfterTheFirstAnswer) {
    Conversation talk;
    EXPECT_LE(talk.refusals(), 1) << "the first one may find the clock";
    for (const std::chrono::seconds gap : {10s, 60s, 149s, 151s, 3600s, 7 * 3600s, 24 * 3600s}) {
        for (int i = 0; i < 50; ++i) {
            talk.pass(gap);
            ASSERT_EQ(talk.refusals(), 0) << gap.count() << " s, poll " << i;
        }
    }
}

TEST(V3Clock, ACheapClockThatDriftsIsFollowed) {
    for (const std::chrono::seconds theirs : {3564s, 3636s}) {  // one percent
        Conversation talk;
        EXPECT_LE(talk.refusals(), 1);
        for (int hour = 0; hour < 100; ++hour) {
            talk.pass(3600s, theirs);
            ASSERT_EQ(talk.refusals(), 0) << theirs.count() << " s, hour " << hour;
        }
    }
}

TEST(V3Clock, ARestartOfOursHoursLaterCostsNothing) {
    Conversation talk;
    EXPECT_LE(talk.refusals(), 1);
    for (const std::chrono::seconds meanwhile : {5s, 3600s, 8 * 3600s}) {
        talk.restart(meanwhile);
        EXPECT_EQ(talk.refusals(), 0) << meanwhile.count() << " s";
    }
}

// What the tests above would see.
TEST(V3Clock, AClockThatMovesAloneIsFoundWithOneReport) {
    Conversation talk;
    EXPECT_LE(talk.refusals(), 1);
    for (const auto& [ours, theirs] : {std::pair(10s, 7200s), {7200s, 10s}}) {
        talk.pass(ours, theirs);
        EXPECT_EQ(talk.refusals(), 1);
        talk.pass(60s);
        EXPECT_EQ(talk.refusals(), 0);
    }
}

}  // namespace
}  // namespace pollux::protocol::snmp
