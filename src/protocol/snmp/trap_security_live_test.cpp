// Traps and informs as net-snmp's own tools send them, taken from a socket of the test.
#include <gtest/gtest.h>

#include <optional>

#include "net/event_loop.hpp"
#include "net/test_process.hpp"
#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/trap_security.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;
using model::SnmpVersion;
using net::test::Process;
using net::test::TempDir;

constexpr std::string_view kSenderEngine = "8000000001020304";
constexpr std::string_view kAuthPassword = "auth-pass-word";
constexpr std::string_view kPrivacyPassword = "priv-pass-word";

// A UDP socket on a free port that tools send to.
class Mailbox {
  public:
    Mailbox() : port_(net::test::free_port()) {
        const net::test::TestAddress address("127.0.0.1", port_);
        fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(bind(fd_, address.get(), address.length), 0);
    }
    ~Mailbox() { close(fd_); }

    std::string address() const { return "udp:127.0.0.1:" + std::to_string(port_); }

    // Empty: nothing came in time.
    std::vector<std::uint8_t> receive(int milliseconds) {
        pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, milliseconds) != 1) return {};
        std::vector<std::uint8_t> bytes(kMaxMessageBytes);
        from_length_ = sizeof from_;
        const ssize_t size = recvfrom(fd_, bytes.data(), bytes.size(), 0,
                                      reinterpret_cast<sockaddr*>(&from_), &from_length_);
        bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
        return bytes;
    }
    void answer(Bytes bytes) {
        EXPECT_GT(sendto(fd_, bytes.data(), bytes.size(), 0,
                         reinterpret_cast<const sockaddr*>(&from_), from_length_),
                  0);
    }

  private:
    std::uint16_t port_;
    int fd_ = -1;
    sockaddr_storage from_{};
    socklen_t from_length_ = 0;
};

class Tool {
  public:
    std::unique_ptr<Process> start(std::vector<std::string> command) {
        return std::make_unique<Process>(std::move(command), folder_,
                                         std::vector<std::pair<std::string, std::string>>{
                                             {"SNMP_PERSISTENT_DIR", folder_.file("state")},
                                             {"SNMPCONFPATH", folder_.path()},
                                             {"MIBS", ""}});
    }

  private:
    TempDir folder_;
};

const std::vector<std::string> kTrapVariables = {"", "1.3.6.1.4.1.8072.2.3.0.1",
                                                 "1.3.6.1.4.1.8072.2.3.2.1", "i", "123456"};

struct Pair {
    SnmpAuth auth = SnmpAuth::kNone;
    SnmpPrivacy privacy = SnmpPrivacy::kNone;
    std::vector<std::string> options;  // of the tool
};

std::vector<Pair> pairs() {
    const std::string a(kAuthPassword);
    const std::string x(kPrivacyPassword);
    return {{SnmpAuth::kNone, SnmpPrivacy::kNone, {"-l", "noAuthNoPriv"}},
            {SnmpAuth::kSha224, SnmpPrivacy::kNone, {"-l", "authNoPriv", "-a", "SHA-224", "-A", a}},
            {SnmpAuth::kMd5,
             SnmpPrivacy::kDes,
             {"-l", "authPriv", "-a", "MD5", "-A", a, "-x", "DES", "-X", x}},
            {SnmpAuth::kSha1,
             SnmpPrivacy::kAes128,
             {"-l", "authPriv", "-a", "SHA", "-A", a, "-x", "AES", "-X", x}},
            {SnmpAuth::kSha512,
             SnmpPrivacy::kAes256,
             {"-l", "authPriv", "-a", "SHA-512", "-A", a, "-x", "AES-256", "-X", x}}};
}

TrapUser user_of(const Pair& pair, std::string_view password = kAuthPassword) {
    auto credentials = std::make_shared<model::Credentials>();
    credentials->username = "trapper";
    credentials->snmp_auth = pair.auth;
    credentials->snmp_auth_password = base::Secret(std::string(password));
    credentials->snmp_privacy = pair.privacy;
    credentials->snmp_privacy_password = base::Secret(std::string(kPrivacyPassword));
    return {.credentials = credentials, .engine_id = {}};
}

std::string own_id() { return std::string("\x80\x00\x00\x00\x05ourselves", 14); }

class TestSecurity : public TrapSecurity {
  public:
    explicit TestSecurity(TrapUser user, base::BootTime started = net::boot_now())
        : TrapSecurity({.id = own_id(), .boots = 7, .started = started}, {.k0 = 3, .k1 = 4}, 99) {
        set_users({std::move(user)});
    }
};

std::vector<std::string> trap_command(const std::string& to, const Pair& pair,
                                      const std::string& clock = "5,1000") {
    std::vector<std::string> command = {
        "snmptrap", "-v3", "-u", "trapper", "-e", "0x" + std::string(kSenderEngine), "-Z", clock};
    command.insert(command.end(), pair.options.begin(), pair.options.end());
    command.push_back(to);
    command.insert(command.end(), kTrapVariables.begin(), kTrapVariables.end());
    return command;
}

std::vector<std::uint8_t> trap_bytes(const Pair& pair, const std::string& clock = "5,1000") {
    Mailbox mailbox;
    Tool tool;
    const auto process = tool.start(trap_command(mailbox.address(), pair, clock));
    std::vector<std::uint8_t> bytes = mailbox.receive(60'000);
    EXPECT_TRUE(process->wait_for_end()) << process->output();
    EXPECT_FALSE(bytes.empty()) << process->output();
    return bytes;
}

void expect_the_trap(const model::TrapMessage& trap, SnmpVersion version) {
    EXPECT_EQ(trap.version, version);
    EXPECT_EQ(model::to_string(trap.trap), "1.3.6.1.4.1.8072.2.3.0.1");
    EXPECT_EQ(model::to_string(trap.enterprise), "1.3.6.1.4.1.8072.2.3");
    EXPECT_GT(trap.uptime_ticks, 0U);
    ASSERT_EQ(trap.varbinds.size(), 1U);
    EXPECT_EQ(model::to_string(trap.varbinds[0].first), "1.3.6.1.4.1.8072.2.3.2.1");
    EXPECT_EQ(trap.varbinds[0].second.integer, 123456);
}

TEST(TrapLive, VersionsOneAndTwoOfSnmptrapAreRead) {
    Mailbox mailbox;
    Tool tool;
    auto second =
        tool.start({"snmptrap", "-v2c", "-c", "c0mm", mailbox.address(), "",
                    "1.3.6.1.4.1.8072.2.3.0.1", "1.3.6.1.4.1.8072.2.3.2.1", "i", "123456"});
    std::vector<std::uint8_t> bytes = mailbox.receive(60'000);
    auto received = parse_notification(bytes);
    ASSERT_TRUE(received.has_value()) << received.error();
    expect_the_trap(received->trap, SnmpVersion::kV2c);
    EXPECT_EQ(received->community, "c0mm");
    EXPECT_FALSE(received->trap.inform);

    auto first =
        tool.start({"snmptrap", "-v1", "-c", "c0mm", mailbox.address(), "1.3.6.1.4.1.8072.2.3",
                    "192.0.2.9", "6", "1", "5555", "1.3.6.1.4.1.8072.2.3.2.1", "i", "123456"});
    bytes = mailbox.receive(60'000);
    received = parse_notification(bytes);
    ASSERT_TRUE(received.has_value()) << received.error();
    expect_the_trap(received->trap, SnmpVersion::kV1);
    EXPECT_EQ(received->trap.uptime_ticks, 5555U);
    EXPECT_EQ(received->trap.agent_address, "192.0.2.9");

    auto cold = tool.start({"snmptrap", "-v1", "-c", "c0mm", mailbox.address(),
                            "1.3.6.1.4.1.8072.2.3", "", "0", "0", ""});
    bytes = mailbox.receive(60'000);
    received = parse_notification(bytes);
    ASSERT_TRUE(received.has_value()) << received.error();
    EXPECT_EQ(model::to_string(received->trap.trap), "1.3.6.1.6.3.1.1.5.1");
}

TEST(TrapLive, AnInformOfVersionTwoIsContentWithOurAnswer) {
    Mailbox mailbox;
    Tool tool;
    std::vector<std::string> command = {"snmpinform", "-v2c", "-c", "c0mm",           "-t",
                                        "60",         "-r",   "0",  mailbox.address()};
    command.insert(command.end(), kTrapVariables.begin(), kTrapVariables.end());
    auto process = tool.start(command);
    const std::vector<std::uint8_t> bytes = mailbox.receive(60'000);
    const auto received = parse_notification(bytes);
    ASSERT_TRUE(received.has_value()) << received.error();
    EXPECT_TRUE(received->trap.inform);
    std::vector<std::uint8_t> buffer(kMaxMessageBytes);
    mailbox.answer(answer_inform(*received, buffer));
    ASSERT_TRUE(process->wait_for_end());
    EXPECT_EQ(process->exit_code(), 0) << process->output();
}

TEST(TrapLive, TrapsOfVersionThreeAreReadAtEveryLevel) {
    for (const Pair& pair : pairs()) {
        const auto bytes = trap_bytes(pair);
        TestSecurity security(user_of(pair));
        std::vector<std::uint8_t> buffer(kMaxMessageBytes);
        const TrapSecurity::Taken taken = security.take(bytes, net::boot_now(), buffer);
        ASSERT_EQ(taken.verdict, TrapVerdict::kAccepted) << to_string(taken.verdict);
        expect_the_trap(taken.trap, SnmpVersion::kV3);
        EXPECT_EQ(taken.user, "trapper");
        EXPECT_TRUE(taken.answer.empty()) << "a trap is not answered";
    }
}

TEST(TrapLive, InformsOfVersionThreeFindOurEngineAndAreContent) {
    for (const Pair& pair : pairs()) {
        Mailbox mailbox;
        Tool tool;
        std::vector<std::string> command = {"snmpinform", "-v3", "-u", "trapper",
                                            "-t",         "60",  "-r", "0"};
        command.insert(command.end(), pair.options.begin(), pair.options.end());
        command.push_back(mailbox.address());
        command.insert(command.end(), kTrapVariables.begin(), kTrapVariables.end());
        const auto process = tool.start(command);
        // Our clock runs for a while already.
        TestSecurity security(user_of(pair), net::boot_now() - std::chrono::seconds(5000));
        std::vector<std::uint8_t> buffer(kMaxMessageBytes);
        std::vector<TrapVerdict> verdicts;
        std::optional<model::TrapMessage> trap;
        for (int i = 0; i < 6 && !trap; ++i) {
            const std::vector<std::uint8_t> bytes = mailbox.receive(60'000);
            TrapSecurity::Taken taken = security.take(bytes, net::boot_now(), buffer);
            verdicts.push_back(taken.verdict);
            ASSERT_FALSE(taken.answer.empty()) << to_string(taken.verdict);
            mailbox.answer(taken.answer);
            if (taken.verdict == TrapVerdict::kAccepted) trap = std::move(taken.trap);
        }
        ASSERT_TRUE(trap.has_value());
        EXPECT_EQ(verdicts.front(), TrapVerdict::kDiscovery);
        EXPECT_TRUE(trap->inform);
        expect_the_trap(*trap, SnmpVersion::kV3);
        ASSERT_TRUE(process->wait_for_end());
        EXPECT_EQ(process->exit_code(), 0) << process->output();
    }
}

TEST(TrapLive, StrangersAndWrongPasswordsAreRefusedAndNamed) {
    const Pair pair = pairs()[3];
    const auto bytes = trap_bytes(pair);
    std::vector<std::uint8_t> buffer(kMaxMessageBytes);
    const auto verdict = [&](TrapUser user) {
        TestSecurity security(std::move(user));
        const TrapSecurity::Taken taken = security.take(bytes, net::boot_now(), buffer);
        EXPECT_TRUE(taken.answer.empty()) << "nobody asked for a Report";
        return taken.verdict;
    };
    EXPECT_EQ(verdict(user_of(pair)), TrapVerdict::kAccepted);
    EXPECT_EQ(verdict(user_of(pair, "another-password")), TrapVerdict::kWrongDigest);
    EXPECT_EQ(verdict(user_of(pairs()[1])), TrapVerdict::kWrongLevel);
    EXPECT_EQ(verdict(user_of(pairs()[0])), TrapVerdict::kWrongLevel);
    TrapUser stranger = user_of(pair);
    auto renamed = std::make_shared<model::Credentials>(*stranger.credentials);
    renamed->username = "somebody";
    EXPECT_EQ(verdict({.credentials = renamed, .engine_id = {}}), TrapVerdict::kUnknownUser);
    TrapUser elsewhere = user_of(pair);
    elsewhere.engine_id = "another engine";
    EXPECT_EQ(verdict(elsewhere), TrapVerdict::kUnknownUser);
    const std::vector<std::uint8_t> engine = from_hex(kSenderEngine);
    elsewhere.engine_id.assign(engine.begin(), engine.end());
    EXPECT_EQ(verdict(elsewhere), TrapVerdict::kAccepted);
}

TEST(TrapLive, UsersOfOneNameAreToldApartByTheirPasswords) {
    const Pair pair = pairs()[3];
    const auto bytes = trap_bytes(pair);
    TestSecurity security(user_of(pair));
    security.set_users({user_of(pair, "another-password"), user_of(pair, "a-third-password"),
                        user_of(pair), user_of(pairs()[0])});
    std::vector<std::uint8_t> buffer(kMaxMessageBytes);
    EXPECT_EQ(security.take(bytes, net::boot_now(), buffer).verdict, TrapVerdict::kAccepted);
}

TEST(TrapLive, TrapsFromBeforeTheSendersClockAreRefused) {
    const Pair pair = pairs()[3];
    const auto older = trap_bytes(pair, "5,1000");
    const auto newer = trap_bytes(pair, "5,1151");
    const auto rebooted = trap_bytes(pair, "6,3");
    TestSecurity security(user_of(pair));
    std::vector<std::uint8_t> buffer(kMaxMessageBytes);
    const base::BootTime now = net::boot_now();
    const auto verdict = [&](const std::vector<std::uint8_t>& bytes, base::BootTime at) {
        return security.take(bytes, at, buffer).verdict;
    };
    EXPECT_EQ(verdict(older, now), TrapVerdict::kAccepted);
    EXPECT_EQ(verdict(older, now + std::chrono::seconds(150)), TrapVerdict::kAccepted);
    EXPECT_EQ(verdict(older, now + std::chrono::seconds(151)), TrapVerdict::kNotInTimeWindow);
    EXPECT_EQ(verdict(newer, now), TrapVerdict::kAccepted);
    EXPECT_EQ(verdict(older, now), TrapVerdict::kNotInTimeWindow);
    EXPECT_EQ(verdict(rebooted, now), TrapVerdict::kAccepted);
    EXPECT_EQ(verdict(newer, now), TrapVerdict::kNotInTimeWindow);
    EXPECT_EQ(security.clocks().size(), 1U);
}

// It was started for the sixth time, and then for the first.
TEST(TrapLive, ASenderThatLostItsMemoryIsHeardOnceAPollHasProvenItsClock) {
    const Pair pair = pairs()[3];
    const auto before = trap_bytes(pair, "6,1000");
    const auto after = trap_bytes(pair, "1,30");
    const std::vector<std::uint8_t> hex = from_hex(kSenderEngine);
    const std::string engine(hex.begin(), hex.end());
    std::vector<std::uint8_t> buffer(kMaxMessageBytes);
    const base::BootTime now = net::boot_now();
    TestSecurity security(user_of(pair));
    EXPECT_EQ(security.take(before, now, buffer).verdict, TrapVerdict::kAccepted);
    EXPECT_EQ(security.take(after, now, buffer).verdict, TrapVerdict::kNotInTimeWindow);
    security.clocks().prove("another engine", EngineClock(1, 20, now));
    EXPECT_EQ(security.take(after, now, buffer).verdict, TrapVerdict::kNotInTimeWindow);
    security.clocks().prove(engine, EngineClock(1, 20, now));
    EXPECT_EQ(security.take(after, now, buffer).verdict, TrapVerdict::kAccepted);
    EXPECT_EQ(security.clocks().size(), 2U);

    // After a restart of ours: what was recorded before is refused where a poll was faster.
    TestSecurity restarted(user_of(pair));
    restarted.clocks().prove(engine, EngineClock(6, 5000, now));
    EXPECT_EQ(restarted.take(before, now, buffer).verdict, TrapVerdict::kNotInTimeWindow);
}

TEST(TrapLive, ChangedAndCutTrapsAreNeverAccepted) {
    for (const std::size_t which : {1U, 2U, 4U}) {
        const Pair pair = pairs()[which];
        const auto bytes = trap_bytes(pair);
        TestSecurity security(user_of(pair));
        std::vector<std::uint8_t> buffer(kMaxMessageBytes);
        const base::BootTime now = net::boot_now();
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            auto changed = bytes;
            changed[i] ^= 1U;
            EXPECT_NE(security.take(changed, now, buffer).verdict, TrapVerdict::kAccepted) << i;
            EXPECT_NE(security.take(Bytes(bytes).first(i), now, buffer).verdict,
                      TrapVerdict::kAccepted);
        }
        EXPECT_EQ(security.take(bytes, now, buffer).verdict, TrapVerdict::kAccepted);
    }
}

}  // namespace
}  // namespace pollux::protocol::snmp
