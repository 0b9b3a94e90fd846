// The SNMP devices on a real socket, asked by net-snmp's tools and by thousands of raw packets.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "lab/fleet_server.hpp"
#include "net/socket_address.hpp"
#include "net/test_process.hpp"
#include "protocol/snmp/message.hpp"

namespace pollux::lab {
namespace {

namespace snmp = protocol::snmp;
using net::test::Process;
using net::test::TempDir;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SnmpLiveTest : public testing::Test {
  protected:
    void start(const FleetOptions& options) {
        auto started = FleetServer::start(options);
        ASSERT_TRUE(started) << started.error().message;
        server = std::move(*started);
    }
    std::string where(const Device& device) const {
        return address_text(device.address()) + ":" + std::to_string(server->ports().snmp);
    }
    // What a tool of net-snmp printed; numeric names, no MIB files.
    std::string tool(const std::string& program, std::vector<std::string> arguments,
                     int expected_code = 0) {
        std::vector<std::string> command = {program, "-On", "-m", "", "-M", folder.path()};
        command.insert(command.end(), arguments.begin(), arguments.end());
        Process process(command, folder);
        EXPECT_TRUE(process.wait_for_end());
        EXPECT_EQ(process.exit_code(), expected_code) << process.output();
        return process.output();
    }
    std::vector<std::string> to(const Device& device, const std::string& version,
                                std::vector<std::string> rest,
                                const std::string& community = "") const {
        std::vector<std::string> arguments = {
            "-v",         version,
            "-c",         community.empty() ? std::string(device.community()) : community,
            "-t",         "10",
            "-r",         "1",
            where(device)};
        arguments.insert(arguments.end(), rest.begin(), rest.end());
        return arguments;
    }
    const Device& device(std::size_t number) const { return server->fleet().snmp()[number]; }

    TempDir folder;
    std::unique_ptr<FleetServer> server;
};

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(SnmpLiveTest, AnswersSnmpgetOfVersionThree) {
    start({.snmp = 5, .http = 0});
    for (const std::size_t number : {0U, 4U}) {
        const std::string out =
            tool("snmpbulkget", {"-v3", "-l", "authPriv", "-u", std::string(kSnmpUser), "-a",
                                 "SHA-256", "-A", std::string(kSnmpAuthPassword), "-x", "AES", "-X",
                                 std::string(kSnmpPrivacyPassword), "-t", "5",
                                 where(device(number)), "1.3.6.1.2.1.1.4"});
        EXPECT_THAT(out, HasSubstr("STRING: \"" + device(number).name() + "\""));
    }
    const std::string refused =
        tool("snmpget",
             {"-v3", "-l", "authNoPriv", "-u", std::string(kSnmpUser), "-a", "SHA-256", "-A",
              "another-password", "-t", "5", where(device(0)), "1.3.6.1.2.1.1.5.0"},
             1);
    EXPECT_THAT(refused, HasSubstr("nsupported security level"));
}

TEST_F(SnmpLiveTest, AnswersSnmpget) {
    start({.snmp = 20, .http = 0});
    for (const std::string version : {"1", "2c"}) {
        for (const std::size_t number : {0U, 7U, 19U}) {
            const std::string out =
                tool("snmpget", to(device(number), version,
                                   {"1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.2.1.0",
                                    "1.3.6.1.2.1.2.2.1.2.2", "1.3.6.1.2.1.2.2.1.10.1"}));
            EXPECT_THAT(out, AllOf(HasSubstr("STRING: \"" + device(number).name() + "\""),
                                   HasSubstr(".1.3.6.1.2.1.2.1.0 = INTEGER: " +
                                             std::to_string(device(number).interfaces())),
                                   HasSubstr("STRING: \"GigabitEthernet0/2\""),
                                   HasSubstr(".1.3.6.1.2.1.2.2.1.10.1 = Counter32: ")));
        }
    }
}

TEST_F(SnmpLiveTest, WalksAlikeByGetNextAndByGetBulk) {
    start({.snmp = 3, .http = 0});
    const std::size_t rows = device(1).interfaces();
    for (const std::string root : {"1.3.6.1.2.1.2.2.1.2", "1.3.6.1.2.1.31.1.1.1.1",
                                   "1.3.6.1.2.1.1.5", "1.3.6.1.2.1.31.1.1.1.18"}) {
        const std::string by_next = tool("snmpwalk", to(device(1), "2c", {root}));
        EXPECT_EQ(by_next, tool("snmpbulkwalk", to(device(1), "2c", {root})));
        EXPECT_EQ(by_next, tool("snmpwalk", to(device(1), "1", {root})));
        EXPECT_EQ(lines(by_next), root.ends_with("1.5") ? 1U : rows) << by_next;
    }
    // Its neighbour by LLDP, as other tools see it: four columns of one row.
    const std::string lldp = tool("snmpbulkwalk", to(device(1), "2c", {"1.0.8802.1.1.2.1.4"}));
    EXPECT_EQ(lines(lldp), 4U) << lldp;
    EXPECT_THAT(lldp, HasSubstr(".1.0.8802.1.1.2.1.4.1.1.9.0.1.1 = STRING: \"sw-00001\""));
    EXPECT_EQ(lldp, tool("snmpwalk", to(device(1), "1", {"1.0.8802.1.1.2.1.4"})));
    // 8 scalars, 18 columns of ifTable and 19 of ifXTable, of which 8 hold Counter64; the core is
    // learned on one port of the bridge.
    constexpr std::size_t kWired = 2;
    const std::string all = tool("snmpbulkwalk", to(device(1), "2c", {"-Cr50", "1.3.6.1"}));
    EXPECT_THAT(all, HasSubstr("No more variables left in this MIB View"));
    EXPECT_EQ(lines(all), 8 + 37 * rows + kWired + 1);
    const std::string old = tool("snmpwalk", to(device(1), "1", {"1.3.6.1"}));
    EXPECT_THAT(old, Not(HasSubstr("Counter64")));
    EXPECT_EQ(lines(old), 8 + 29 * rows + kWired + 1) << "and the line that says it is the end";
}

TEST_F(SnmpLiveTest, SaysWhatIsNotThere) {
    start({.snmp = 1, .http = 0});
    const std::string unknown = "1.3.6.1.4.1.1.1.0";
    const std::string no_row = "1.3.6.1.2.1.2.2.1.2.9999";
    EXPECT_THAT(tool("snmpget", to(device(0), "2c", {unknown})), HasSubstr("No Such Object"));
    EXPECT_THAT(tool("snmpget", to(device(0), "2c", {no_row})), HasSubstr("No Such Instance"));
    EXPECT_THAT(tool("snmpget", to(device(0), "1", {"-Cf", "1.3.6.1.2.1.1.5.0", unknown}), 2),
                HasSubstr("noSuchName"));
    EXPECT_THAT(tool("snmpget", to(device(0), "1", {"-Cf", "1.3.6.1.2.1.31.1.1.1.6.1"}), 2),
                HasSubstr("noSuchName"));
    std::vector<std::string> many(100, "1.3.6.1.2.1.1.1.0");
    EXPECT_THAT(tool("snmpget", to(device(0), "2c", many), 2), HasSubstr("tooBig"));
    EXPECT_THAT(tool("snmpget", to(device(0), "1", many), 2), HasSubstr("tooBig"));
    EXPECT_THAT(tool("snmpset", to(device(0), "2c", {"1.3.6.1.2.1.1.5.0", "s", "x"}), 2),
                HasSubstr("notWritable"));
}

TEST_F(SnmpLiveTest, IsSilentToAWrongCommunity) {
    start({.snmp = 1, .http = 0});
    auto arguments = to(device(0), "2c", {"1.3.6.1.2.1.1.5.0"}, "wrong");
    arguments[5] = "0.3";
    EXPECT_THAT(tool("snmpget", arguments, 1), HasSubstr("Timeout"));
}

// One packet to a device; what came back, or empty.
class RawClient {
  public:
    RawClient() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        const int buffer = 8 << 20;
        setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
        const auto any = net::SocketAddress::loopback(0);
        EXPECT_EQ(bind(fd_, any.data(), any.length()), 0);
    }
    ~RawClient() { close(fd_); }

    void ask(std::uint32_t address, std::uint16_t port, std::int32_t id, std::string_view community,
             snmp::PduType type = snmp::PduType::kGet,
             const std::string& name = "1.3.6.1.2.1.1.5.0") const {
        snmp::Message message;
        message.community = community;
        message.pdu = {.type = type,
                       .request_id = id,
                       .error_status = 0,
                       .error_index = 0,
                       .varbinds = {{*model::parse_oid(name), {}}}};
        std::vector<std::uint8_t> buffer(1500);
        const snmp::Bytes bytes = snmp::encode_message(message, buffer);
        const auto to = net::SocketAddress::ipv4(address, port);
        EXPECT_GT(sendto(fd_, bytes.data(), bytes.size(), 0, to.data(), to.length()), 0);
    }
    struct Got {
        std::uint32_t from = 0;
        std::vector<std::uint8_t> bytes;
    };
    std::optional<Got> receive(int milliseconds) const {
        pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, milliseconds) != 1) return std::nullopt;
        Got got;
        got.bytes.resize(2000);
        sockaddr_in from{};
        socklen_t length = sizeof from;
        const ssize_t size = recvfrom(fd_, got.bytes.data(), got.bytes.size(), 0,
                                      reinterpret_cast<sockaddr*>(&from), &length);
        if (size < 0) return std::nullopt;
        got.bytes.resize(static_cast<std::size_t>(size));
        got.from = ntohl(from.sin_addr.s_addr);
        return got;
    }

  private:
    int fd_;
};

TEST_F(SnmpLiveTest, TwoThousandDevicesEachAnswerForThemselves) {
    start({.snmp = 2000, .http = 0});
    const RawClient client;
    std::set<std::string> names;
    std::size_t asked = 0;
    while (asked < 2000) {
        for (std::size_t end = asked + 100; asked < end; ++asked) {
            client.ask(device(asked).address(), server->ports().snmp,
                       static_cast<std::int32_t>(asked), device(asked).community());
        }
        while (names.size() < asked) {
            const auto got = client.receive(10'000);
            ASSERT_TRUE(got) << names.size() << " of " << asked;
            const auto message = snmp::decode_message(got->bytes);
            ASSERT_TRUE(message);
            const Device& from = device(static_cast<std::size_t>(message->pdu.request_id));
            EXPECT_EQ(got->from, from.address());
            EXPECT_EQ(message->pdu.varbinds.at(0).value.bytes, from.name());
            names.insert(from.name());
        }
    }
    EXPECT_EQ(server->counters().snmp_answers, 2000U);
}

TEST_F(SnmpLiveTest, CanBeSteered) {
    start({.snmp = 4, .http = 0});
    const RawClient client;
    const std::uint16_t port = server->ports().snmp;
    std::int32_t id = 0;
    const auto ask = [&](std::size_t number, snmp::PduType type = snmp::PduType::kGet) {
        client.ask(device(number).address(), port, ++id, device(number).community(), type);
        return client.receive(id < 100 ? 500 : 5000);
    };
    ASSERT_TRUE(ask(0));
    for (const FaultKind kind : {FaultKind::kDown, FaultKind::kBlackHole,
                                 FaultKind::kWrongCommunity, FaultKind::kAuthFailure}) {
        ASSERT_TRUE(server->set_fault("sw-00001", kind));
        EXPECT_FALSE(ask(0)) << to_string(kind);
        EXPECT_TRUE(ask(1)) << "others are not touched";
        ASSERT_TRUE(server->clear_faults("sw-00001"));
        EXPECT_TRUE(ask(0));
    }
    ASSERT_TRUE(server->set_fault("sw-00001", FaultKind::kWrongAddress));
    EXPECT_EQ(ask(0)->from, device(0).address() ^ 1U);
    ASSERT_TRUE(server->set_fault("sw-00002", FaultKind::kWrongId));
    EXPECT_NE(snmp::decode_message(ask(1)->bytes)->pdu.request_id, id);
    ASSERT_TRUE(server->set_fault("sw-00003", FaultKind::kWalkLoop));
    const auto loop = snmp::decode_message(ask(2, snmp::PduType::kGetNext)->bytes);
    EXPECT_EQ(model::to_string(loop->pdu.varbinds.at(0).oid), "1.3.6.1.2.1.1.5.0");
    server->clear_all_faults();
    ASSERT_TRUE(server->set_fault("sw-00003", FaultKind::kServerError));
    EXPECT_EQ(snmp::decode_message(ask(2)->bytes)->pdu.error_status, 5);
    ASSERT_TRUE(server->set_fault("sw-00003", FaultKind::kGarbage));
    int unreadable = 0;
    for (int i = 0; i < 10; ++i) unreadable += snmp::decode_message(ask(2)->bytes) ? 0 : 1;
    EXPECT_EQ(unreadable, 10);
    ASSERT_TRUE(server->set_fault("sw-00004", FaultKind::kLatency, std::chrono::hours(1), 50));
    EXPECT_TRUE(ask(3)) << "late, but it comes";
    ASSERT_TRUE(server->set_fault("sw-00004", FaultKind::kReboot));
    server->clear_all_faults();
    client.ask(device(3).address(), port, 1000, device(3).community(), snmp::PduType::kGet,
               "1.3.6.1.2.1.1.3.0");
    const auto uptime = snmp::decode_message(client.receive(5000)->bytes);
    EXPECT_LT(uptime->pdu.varbinds.at(0).value.unsigned_value, 6000U);
    EXPECT_FALSE(server->set_fault("sw-00005", FaultKind::kDown));
    EXPECT_FALSE(server->set_fault("nonsense", FaultKind::kDown));
}

TEST_F(SnmpLiveTest, AnEndlessWalkHasNoEnd) {
    start({.snmp = 1, .http = 0});
    ASSERT_TRUE(server->set_fault("sw-00001", FaultKind::kWalkEndless));
    const RawClient client;
    client.ask(device(0).address(), server->ports().snmp, 1, device(0).community(),
               snmp::PduType::kGetNext, "1.3.6.1.2.1.2.2.1.2.4000000000");
    const auto answer = snmp::decode_message(client.receive(5000)->bytes);
    EXPECT_EQ(model::to_string(answer->pdu.varbinds.at(0).oid), "1.3.6.1.2.1.2.2.1.2.4000000001");
}

TEST_F(SnmpLiveTest, SaysThatAPortIsTaken) {
    start({.snmp = 1, .http = 1});
    const FleetPorts ports = server->ports();
    const auto snmp_taken = FleetServer::start({.snmp = 1, .http = 1, .port_snmp = ports.snmp});
    ASSERT_FALSE(snmp_taken);
    EXPECT_THAT(snmp_taken.error().message, HasSubstr("--port-snmp"));
    const auto http_taken = FleetServer::start({.snmp = 1, .http = 1, .port_http = ports.http});
    ASSERT_FALSE(http_taken);
    EXPECT_THAT(http_taken.error().message, HasSubstr("another process listens there"));
    EXPECT_FALSE(FleetServer::start({.profile = "nonsense"}));
}

}  // namespace
}  // namespace pollux::lab
