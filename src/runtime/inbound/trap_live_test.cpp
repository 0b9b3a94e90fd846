// Traps and informs as Net-SNMP's tools send them, compared with what its own snmptrapd reads.
#include <gmock/gmock.h>

#include "protocol/snmp/message.hpp"
#include "protocol/snmp/pdu.hpp"
#include "runtime/inbound/desk_test_support.hpp"

namespace pollux::runtime {
namespace {

namespace snmp = protocol::snmp;
using test::DeskStage;
using test::image_of;
using test::inbound_target;
using test::Process;
using test::Ran;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kLinkDown = "1.3.6.1.6.3.1.1.5.3";
const std::vector<std::string> kLinkDownArguments = {"", kLinkDown, "1.3.6.1.2.1.2.2.1.1.7", "i",
                                                     "7"};
const std::vector<std::string> kEveryType = {
    "1.3.6.1.4.1.9.1.1", "i", "-5",         "1.3.6.1.4.1.9.1.2", "s", "plain text",
    "1.3.6.1.4.1.9.1.3", "x", "00FF10",     "1.3.6.1.4.1.9.1.4", "o", "1.3.6.1.4.1.9.77",
    "1.3.6.1.4.1.9.1.5", "a", "192.0.2.55", "1.3.6.1.4.1.9.1.6", "c", "4294967295",
    "1.3.6.1.4.1.9.1.7", "u", "4000000000", "1.3.6.1.4.1.9.1.8", "t", "123456"};

std::shared_ptr<const model::Credentials> v3_user() {
    auto user = std::make_shared<model::Credentials>();
    user->username = "trapper";
    user->snmp_auth = model::SnmpAuth::kSha256;
    user->snmp_auth_password = base::Secret("auth-pass-word");
    user->snmp_privacy = model::SnmpPrivacy::kAes256;
    user->snmp_privacy_password = base::Secret("priv-pass-word");
    return user;
}

const std::vector<std::string> kV3 = {
    "-v3",           "-u", "trapper",        "-l", "authPriv", "-a",
    "SHA-256",       "-A", "auth-pass-word", "-x", "AES-256",  "-X",
    "priv-pass-word"};

std::vector<std::string> with(std::vector<std::string> first,
                              const std::vector<std::string>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

// "oid = TYPE: value" -> oid and value, in one form for both programs.
std::map<std::string, std::string> variables(const std::string& text, char separator) {
    std::map<std::string, std::string> all;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(separator, at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        const std::size_t equals = line.find(" = ");
        if (equals == std::string::npos) continue;
        std::string name = line.substr(0, equals);
        std::string value = line.substr(equals + 3);
        if (name.starts_with('.')) name.erase(0, 1);
        for (const char* type : {"OID: .", "OID: "}) {
            if (value.starts_with(type)) value = "OID " + value.substr(std::strlen(type));
        }
        if (value.starts_with("Timeticks: ")) value.erase(0, 11);
        while (!value.empty() && (value.back() == ' ' || value.back() == '\n')) value.pop_back();
        all[name] = value;
    }
    return all;
}

// A real snmptrapd that prints what it gets.
class Snmptrapd {
  public:
    explicit Snmptrapd(const net::test::TempDir& folder) {
        folder.write("trapd/snmptrapd.conf",
                     "disableAuthorization yes\n"
                     "createUser -e 0x8000000001020304 trapper SHA-256 auth-pass-word AES-256 "
                     "priv-pass-word\n"
                     "format1 GOT\\t%N.0.%q\\t%v\\nEND\\n\n"
                     "format2 GOT\\t%v\\nEND\\n\n");
        std::filesystem::create_directories(folder.file("trapd/state"));
        process_ = std::make_unique<Process>(
            std::vector<std::string>{"/usr/sbin/snmptrapd", "-f", "-n", "-Lo", "-On", "-Ot", "-m",
                                     "", "-C", "-c", folder.file("trapd/snmptrapd.conf"),
                                     fmt::format("udp:127.0.0.1:{}", port),
                                     fmt::format("udp6:[::1]:{}", port)},
            folder,
            std::vector<std::pair<std::string, std::string>>{
                {"SNMP_PERSISTENT_DIR", folder.file("trapd/state")}});
    }
    // What it printed for the newest trap; empty: nothing in time.
    std::string next() {
        std::string text;
        Process::wait_until(net::test::kPatience, [&] {
            const std::string all = process_->output();
            const std::size_t got = all.find("GOT\t", seen_);
            const std::size_t end = got == std::string::npos ? got : all.find("\nEND", got);
            if (end == std::string::npos) return false;
            text = all.substr(got + 4, end - got - 4);
            seen_ = end;
            return true;
        });
        return text;
    }
    bool ready() {
        return Process::wait_until(net::test::kPatience, [&] {
            return process_->output().find("NET-SNMP version") != std::string::npos;
        });
    }
    std::string output() { return process_->output(); }

    std::uint16_t port = net::test::free_port();

  private:
    std::unique_ptr<Process> process_;
    std::size_t seen_ = 0;
};

class TrapLive : public testing::Test {
  protected:
    std::shared_ptr<InboundTarget> traps_of(const std::string& device) {
        return inbound_target(test::kTrapAddon, device);
    }
    std::uint64_t count(InboundKind kind, InboundResult result) {
        return stage_.counts().of(kind, result);
    }
    bool wait_for(InboundKind kind, InboundResult result, std::uint64_t wanted) {
        return Process::wait_until(net::test::kPatience,
                                   [&] { return count(kind, result) >= wanted; });
    }
    document::Node page() {
        return stage_.ask([&](auto done) { stage_.desk->page(std::move(done)); });
    }

    DeskStage stage_;
};

TEST_F(TrapLive, EveryValueIsWhatSnmptrapdReads) {
    auto open = traps_of("open");
    auto closed = traps_of("closed");
    closed->key = "traps::v3";
    closed->id = "id-v3";
    closed->credentials = v3_user();
    stage_.start(image_of({open, closed}));
    Snmptrapd peer(stage_.folder());
    ASSERT_TRUE(peer.ready()) << peer.output();
    struct Case {
        const char* name;
        std::vector<std::string> before;
        std::vector<std::string> after;
        std::string trap;
    };
    const std::vector<Case> cases = {
        {"v1 of an enterprise",
         {"-v1", "-c", "public"},
         with({"1.3.6.1.4.1.9.9", "192.0.2.9", "6", "17", "777"}, kEveryType),
         "1.3.6.1.4.1.9.9.0.17"},
        {"v1 generic",
         {"-v1", "-c", "public"},
         {"1.3.6.1.4.1.9", "", "2", "0", "", "1.3.6.1.2.1.2.2.1.1.7", "i", "7"},
         kLinkDown},
        {"v2c",
         {"-v2c", "-c", "public"},
         with({"4242", "1.3.6.1.4.1.9.9.41.2.0.1"}, kEveryType),
         "1.3.6.1.4.1.9.9.41.2.0.1"},
        {"v3", with(kV3, {"-e", "0x8000000001020304", "-Z", "5,1000"}),
         with({"4242", "1.3.6.1.4.1.9.9.41.2.0.1"}, kEveryType), "1.3.6.1.4.1.9.9.41.2.0.1"},
    };
    std::size_t sent = 0;
    for (const std::string host : {"127.0.0.1", "::1"}) {
        for (const Case& one : cases) {
            const std::string name = one.name + (" to " + host);
            const Ran ours = stage_.send("snmptrap", one.before, one.after, host);
            ASSERT_EQ(ours.code, 0) << name << ours.output;
            ASSERT_TRUE(stage_.wait_for_rows(++sent)) << name << "\n" << stage_.log();
            const std::uint16_t own = std::exchange(stage_.trap_port, peer.port);
            const Ran theirs = stage_.send("snmptrap", one.before, one.after, host);
            stage_.trap_port = own;
            ASSERT_EQ(theirs.code, 0) << name << theirs.output;
            const std::string printed = peer.next();
            ASSERT_FALSE(printed.empty()) << name << "\n" << peer.output();

            const store::Observation row = stage_.rows().back();
            EXPECT_THAT(row.text, HasSubstr(one.trap)) << name;
            EXPECT_EQ(row.key, std::string(one.name) == "v3" ? "traps::v3" : "traps::open") << name;
            EXPECT_EQ(row.source, host) << name;
            auto read = variables(row.text, '\n');
            auto expected = variables(printed, '\t');
            // v1 carries both outside of its variables, and we show the name in the first line.
            if (!expected.contains("1.3.6.1.2.1.1.3.0")) read.erase("1.3.6.1.2.1.1.3.0");
            if (expected.contains("1.3.6.1.6.3.1.1.4.1.0")) {
                EXPECT_EQ(expected["1.3.6.1.6.3.1.1.4.1.0"], "OID " + one.trap) << name;
                expected.erase("1.3.6.1.6.3.1.1.4.1.0");
            }
            EXPECT_EQ(read, expected) << name << "\n" << row.text << "\n" << printed;
        }
    }
    EXPECT_EQ(stage_.log().find("auth-pass-word"), std::string::npos);
}

TEST_F(TrapLive, InformsAreAnsweredWhenTheyAreStored) {
    auto open = traps_of("open");
    auto closed = traps_of("closed");
    closed->credentials = v3_user();
    stage_.start(image_of({open, closed}));
    for (const std::string host : {"127.0.0.1", "::1"}) {
        const Ran plain = stage_.send("snmpinform", {"-v2c", "-c", "public", "-t", "20"},
                                      kLinkDownArguments, host);
        EXPECT_EQ(plain.code, 0) << plain.output;
        const Ran signed_one =
            stage_.send("snmpinform", with(kV3, {"-t", "20"}), kLinkDownArguments, host);
        EXPECT_EQ(signed_one.code, 0) << signed_one.output;
    }
    EXPECT_EQ(stage_.rows().size(), 4u);
    EXPECT_EQ(count(InboundKind::kInform, InboundResult::kStored), 4u);
    EXPECT_EQ(stage_.explain("traps::open").find("raised")->items().size(), 1u);

    store::FaultVfs::instance().set(store::DiskFault::kFull);
    const Ran lost = stage_.send("snmpinform", {"-v2c", "-c", "public", "-t", "1", "-r", "0"},
                                 kLinkDownArguments);
    EXPECT_NE(lost.code, 0) << "the sender must know that it was not stored";
    EXPECT_EQ(stage_.rows().size(), 4u);
    EXPECT_TRUE(wait_for(InboundKind::kInform, InboundResult::kStoreFailed, 1));
    store::FaultVfs::instance().set(store::DiskFault::kNone);
    const Ran again =
        stage_.send("snmpinform", {"-v2c", "-c", "public", "-t", "20"}, kLinkDownArguments);
    EXPECT_EQ(again.code, 0) << again.output;
}

TEST_F(TrapLive, TrapsAreKeptWhileTheDiskIsFull) {
    stage_.start(image_of({traps_of("open")}));
    store::FaultVfs::instance().set(store::DiskFault::kFull);
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(stage_.send("snmptrap", {"-v2c", "-c", "x"}, kLinkDownArguments).code, 0);
    }
    EXPECT_TRUE(
        Process::wait_until(net::test::kPatience, [&] { return stage_.counts().waiting == 3; }));
    EXPECT_TRUE(stage_.rows().empty());
    store::FaultVfs::instance().set(store::DiskFault::kNone);
    EXPECT_TRUE(stage_.wait_for_rows(3));
}

// An inform of v2c with this number, as a device would send it.
std::vector<std::uint8_t> inform_bytes(std::int32_t request) {
    std::vector<std::uint8_t> buffer(snmp::kMaxMessageBytes);
    snmp::BerWriter writer(buffer);
    model::SnmpValue name;
    name.type = model::SnmpType::kObjectId;
    name.oid = *model::parse_oid(kLinkDown);
    put_varbind(writer, *model::parse_oid("1.3.6.1.6.3.1.1.4.1.0"), name);
    model::SnmpValue uptime;
    uptime.type = model::SnmpType::kTimeTicks;
    put_varbind(writer, *model::parse_oid("1.3.6.1.2.1.1.3.0"), uptime);
    finish_pdu(writer, 0, snmp::PduType::kInform, request, 0, 0);
    put_community_wrapper(writer, 0, model::SnmpVersion::kV2c, "public");
    const snmp::Bytes bytes = writer.bytes();
    return {bytes.begin(), bytes.end()};
}

TEST_F(TrapLive, ARepeatedInformIsAnsweredAgainAndStoredOnce) {
    stage_.start(image_of({traps_of("open")}));
    auto socket = snmp::UdpSocket::listen(*snmp::parse_literal("127.0.0.1", 0), 1U << 20U);
    ASSERT_TRUE(socket);
    const auto to = *snmp::parse_literal("127.0.0.1", stage_.trap_port);
    const auto send = [&](std::int32_t request) {
        const auto bytes = inform_bytes(request);
        ASSERT_EQ(socket->answer({}, to, bytes), 0);
        snmp::ReceiveBatch answers;
        ASSERT_TRUE(
            Process::wait_until(net::test::kPatience, [&] { return socket->receive(answers); }));
        EXPECT_EQ(answers.count, 1u);
    };
    for (int i = 0; i < 3; ++i) send(4711);
    EXPECT_EQ(stage_.rows().size(), 1u);
    EXPECT_EQ(count(InboundKind::kInform, InboundResult::kDuplicate), 2u);
    send(4712);
    EXPECT_EQ(stage_.rows().size(), 2u);
}

TEST_F(TrapLive, UnknownSendersAndWrongCommunitiesAreShown) {
    auto secret = std::make_shared<model::Credentials>();
    secret->community = base::Secret("planted-community");
    auto target = traps_of("far");
    target->addresses = {"127.0.0.77"};
    auto near = traps_of("near");
    near->credentials = secret;
    auto image = image_of({target});
    stage_.start(image);
    ASSERT_EQ(stage_.send("snmptrap", {"-v2c", "-c", "x"}, kLinkDownArguments).code, 0);
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kUnknownSender, 1));
    const document::Node unknown = page();
    ASSERT_EQ(unknown.find("unknown_senders")->items().size(), 1u);
    const document::Node& sender = unknown.find("unknown_senders")->items()[0];
    EXPECT_EQ(sender.find("source")->scalar(), "127.0.0.1");
    EXPECT_EQ(sender.find("trap")->scalar(), kLinkDown);
    EXPECT_THAT(sender.find("reason")->scalar(), HasSubstr("add one to the fleet"));

    stage_.desk->set_image(image_of({near}));
    ASSERT_EQ(stage_.send("snmptrap", {"-v2c", "-c", "wrong"}, kLinkDownArguments).code, 0);
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kRefused, 1));
    ASSERT_EQ(
        stage_.send("snmptrap", {"-v2c", "-c", "planted-community"}, {"", "1.3.6.1.4.1.99.1"}).code,
        0);
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kUnknownSender, 2));
    ASSERT_EQ(stage_.send("snmptrap", {"-v2c", "-c", "planted-community"}, kLinkDownArguments).code,
              0);
    ASSERT_TRUE(stage_.wait_for_rows(1));
    EXPECT_TRUE(page().find("unknown_senders")->items().empty()) << "it is known now";
    EXPECT_EQ(stage_.log().find("planted-community"), std::string::npos);
}

TEST_F(TrapLive, AForwarderIsBelievedOnlyIfItIsListed) {
    auto far = traps_of("far");
    far->addresses = {"192.0.2.44"};
    stage_.start(image_of({far}));
    const std::vector<std::string> forwarded = {"1.3.6.1.4.1.9.9", "192.0.2.44", "6", "1", ""};
    ASSERT_EQ(stage_.send("snmptrap", {"-v1", "-c", "x"}, forwarded).code, 0);
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kUnknownSender, 1));
    InboundLimits limits;
    limits.forwarders = {*net::IpRange::parse("127.0.0.0/8")};
    stage_.desk->set_limits(limits);
    ASSERT_EQ(stage_.send("snmptrap", {"-v1", "-c", "x"}, forwarded).code, 0);
    ASSERT_TRUE(stage_.wait_for_rows(1));
    EXPECT_EQ(stage_.rows()[0].key, "traps::far");
    EXPECT_EQ(stage_.rows()[0].source, "127.0.0.1");
    const std::vector<std::string> newer = {"", "1.3.6.1.4.1.9.9.0.1", "1.3.6.1.6.3.18.1.3.0", "a",
                                            "192.0.2.44"};
    ASSERT_EQ(stage_.send("snmptrap", {"-v2c", "-c", "x"}, newer).code, 0);
    EXPECT_TRUE(stage_.wait_for_rows(2));
}

TEST_F(TrapLive, AStormIsBoundedAndLetsTheDeviceBePolledOnce) {
    auto target = traps_of("open");
    target->confirmed_by = {"snmp-system::open"};
    stage_.options.limits.rates = {.source = 50, .all = 1000};
    stage_.start(image_of({target}));
    auto socket = snmp::UdpSocket::listen(*snmp::parse_literal("127.0.0.1", 0), 1U << 20U);
    ASSERT_TRUE(socket);
    const auto to = *snmp::parse_literal("127.0.0.1", stage_.trap_port);
    for (std::int32_t i = 0; i < 3000; ++i) socket->answer({}, to, inform_bytes(i));
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kLimited, 1000));
    ASSERT_TRUE(stage_.wait_for_rows(100));
    EXPECT_EQ(stage_.confirmed(), std::vector<std::string>{"snmp-system::open"});
    EXPECT_GE(stage_.counts().confirms_held, 50u);
    const std::string garbage = "this is no SNMP";
    std::this_thread::sleep_for(100ms);  // its measure fills up again
    socket->answer({}, to, {reinterpret_cast<const std::uint8_t*>(garbage.data()), garbage.size()});
    EXPECT_TRUE(Process::wait_until(net::test::kPatience, [&] {
        socket->answer({}, to,
                       {reinterpret_cast<const std::uint8_t*>(garbage.data()), garbage.size()});
        return count(InboundKind::kTrap, InboundResult::kMalformed) >= 1;
    }));
}

TEST_F(TrapLive, NamesOfDevicesAreResolved) {
    auto target = traps_of("open");
    target->addresses = {"localhost"};
    stage_.start(image_of({target}));
    EXPECT_TRUE(Process::wait_until(net::test::kPatience, [&] {
        stage_.send("snmptrap", {"-v2c", "-c", "x"}, kLinkDownArguments);
        return !stage_.rows().empty();
    }));
}

TEST_F(TrapLive, SocketsOfSystemdAreTaken) {
    auto bound = snmp::UdpSocket::listen(*snmp::parse_literal("127.0.0.1", 0), 1U << 20U);
    ASSERT_TRUE(bound);
    const int copy = dup(bound->fd());
    EXPECT_THAT(passed_sockets("1", "1", copy), IsEmpty()) << "meant for another process";
    EXPECT_THAT(passed_sockets(std::to_string(getpid()), "", copy), IsEmpty());
    const auto passed = passed_sockets(std::to_string(getpid()), "1", copy);
    ASSERT_EQ(passed, std::vector<int>{copy});
    stage_.trap_port = bound->local().port;
    stage_.options.trap_listen = {"systemd"};
    stage_.options.passed_sockets = passed;
    stage_.start(image_of({traps_of("open")}));
    ASSERT_EQ(stage_.send("snmptrap", {"-v2c", "-c", "x"}, kLinkDownArguments).code, 0);
    EXPECT_TRUE(stage_.wait_for_rows(1));
}

// It counts its starts anew, as a device does that was reset.
TEST_F(TrapLive, ASenderThatLostItsMemoryIsHeardOnceAPollHasProvenItsClock) {
    auto closed = traps_of("closed");
    closed->credentials = v3_user();
    stage_.start(image_of({closed}));
    const auto send = [&](const std::string& clock) {
        const Ran ran = stage_.send(
            "snmptrap", with(kV3, {"-e", "0x8000000001020304", "-Z", clock}), kLinkDownArguments);
        EXPECT_EQ(ran.code, 0) << ran.output;
    };
    send("6,1000");
    EXPECT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kStored, 1)) << stage_.log();
    send("1,30");
    EXPECT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kRefused, 1)) << stage_.log();
    stage_.desk->prove(std::string("\x80\0\0\0\x01\x02\x03\x04", 8),
                       snmp::EngineClock(1, 20, net::boot_now()));
    send("1,31");
    EXPECT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kStored, 2)) << stage_.log();
}

TEST_F(TrapLive, WhatWasHeardBeforeARestartIsNoNewsAfterIt) {
    auto closed = traps_of("closed");
    closed->credentials = v3_user();
    stage_.start(image_of({closed}));
    const auto send = [&](const std::string& clock) {
        const Ran ran = stage_.send(
            "snmptrap", with(kV3, {"-e", "0x8000000001020304", "-Z", clock}), kLinkDownArguments);
        EXPECT_EQ(ran.code, 0) << ran.output;
    };
    send("6,1000");
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kStored, 1)) << stage_.log();
    stage_.restart(image_of({closed}));
    send("6,700");
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kRefused, 1)) << stage_.log();
    const document::Node shown = page();
    const std::string reason = shown.find("unknown_senders")->items()[0].find("reason")->scalar();
    EXPECT_THAT(reason, HasSubstr("pollux inbound forget 8000000001020304"));
    send("6,1200");
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kStored, 1)) << stage_.log();

    // It was reset, and nobody polls it: a person decides.
    send("1,5");
    ASSERT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kRefused, 2)) << stage_.log();
    const auto forget = [&](const std::string& engine) {
        std::promise<base::Status> promise;
        stage_.desk->forget_sender(engine, [&](base::Status status) { promise.set_value(status); });
        return promise.get_future().get();
    };
    EXPECT_THAT(forget("8000").error().message, HasSubstr("no clock of the engine 8000"));
    EXPECT_THAT(forget("80 00").error().message, HasSubstr("hexadecimal"));
    EXPECT_TRUE(forget("8000000001020304"));
    stage_.restart(image_of({closed}));
    send("1,9");
    EXPECT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kStored, 1)) << stage_.log();
}

TEST_F(TrapLive, ClocksOfSendersAreStoredOnceTheDiskIsWellAgain) {
    auto closed = traps_of("closed");
    closed->credentials = v3_user();
    stage_.start(image_of({closed}));
    store::FaultVfs::instance().set(store::DiskFault::kFull);
    const auto failures = [&] { return stage_.store().stats().failures; };
    ASSERT_EQ(stage_
                  .send("snmptrap", with(kV3, {"-e", "0x8000000001020304", "-Z", "6,1000"}),
                        kLinkDownArguments)
                  .code,
              0);
    // Messages and clocks are tried again and again.
    ASSERT_TRUE(Process::wait_until(net::test::kPatience, [&] { return failures() >= 4; }));
    store::FaultVfs::instance().set(store::DiskFault::kNone);
    ASSERT_TRUE(stage_.wait_for_rows(1));
    stage_.restart(image_of({closed}));
    ASSERT_EQ(stage_
                  .send("snmptrap", with(kV3, {"-e", "0x8000000001020304", "-Z", "6,700"}),
                        kLinkDownArguments)
                  .code,
              0);
    EXPECT_TRUE(wait_for(InboundKind::kTrap, InboundResult::kRefused, 1)) << stage_.log();
}

}  // namespace
}  // namespace pollux::runtime
