// What an operator reads who asks about what is heard: right and wrong questions.
#include <gmock/gmock.h>

#include "tests/live/inbound_stage.hpp"

namespace pollux::live {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class OperatorWords : public InboundStage {
  protected:
    OperatorWords() {
        for (const auto& [name, rest] :
             {std::pair("alive",
                        "protocol: push\npush: {interval: 1h, grace: 1m}\nsignals:\n  - "
                        "{type: silent, clear_when: up == 1, severity: major}\n"),
              std::pair("hook",
                        "protocol: webhook\nwebhook: {fields: {state: $.state}}\nsignals:\n"
                        "  - {type: alarm, when: state == 'bad', severity: major, title: "
                        "\"it is {state}\"}\n"),
              std::pair("traps",
                        "protocol: trap\ntrap: {enterprise: \"*\"}\nsignals:\n  - {type: "
                        "down, trap: 1.3.6.1.6.3.1.1.5.3, severity: major}\n")}) {
            add_addon(name,
                      fmt::format("schema: pollux/1\nname: {}\nversion: 1.0.0\n{}", name, rest));
        }
    }
    // The output of a command that fails.
    std::string refused(std::vector<std::string> arguments) {
        const CommandResult result = server_->command(std::move(arguments));
        EXPECT_EQ(result.code, 1) << result.output;
        return result.output;
    }
    std::string answered(std::vector<std::string> arguments) {
        const CommandResult result = server_->command(std::move(arguments));
        EXPECT_EQ(result.code, 0) << result.output;
        return result.output;
    }
};

// Parameters that an addon cannot do without are told before anything is changed, by every command
// and with the place.
TEST_F(OperatorWords, WhatATargetLacksIsToldAndTheServerGoesOn) {
    ASSERT_NO_FATAL_FAILURE(start("devices:\n  door: {address: 127.0.0.1, addons: [alive]}\n"));
    const std::string bad =
        folder_.write("bad.yaml",
                      "devices:\n  names: {address: 127.0.0.1, addons: [dns-lookup]}\n"
                      "  port: {address: 127.0.0.1, addons: [tcp-port]}\n");
    const CommandResult checked = run_pollux(folder_, {"check", bad});
    EXPECT_EQ(checked.code, 1);
    EXPECT_THAT(
        checked.output,
        AllOf(HasSubstr("bad.yaml:2: dns-lookup::names: addon dns-lookup needs the "
                        "parameter name"),
              HasSubstr("bad.yaml:3: tcp-port::port: addon tcp-port has no port of its own")));
    EXPECT_THAT(refused({"apply", bad}), HasSubstr("needs the parameter name"));
    const CommandResult polled = run_pollux(folder_, {"poll", "dns-lookup", "--host", "127.0.0.1"});
    EXPECT_EQ(polled.code, 1);
    EXPECT_THAT(polled.output, HasSubstr("needs the parameter name"));
    EXPECT_TRUE(server_->running());
    EXPECT_THAT(answered({"explain", "alive::door"}), HasSubstr("no heartbeat yet"));
}

// A service has its secrets and settings in variables that nobody else has.
TEST_F(OperatorWords, VariablesAreThoseOfTheServer) {
    ASSERT_NO_FATAL_FAILURE(start(R"(
credentials:
  door: {username: admin, password: "${DOOR_PASSWORD}"}
devices:
  door: {address: 127.0.0.1, port: 9, credentials: door, addons: [http-status]}
)",
                                  {{"DOOR_PASSWORD", "planted-door-password"}}));
    const std::string bundle = folder_.file("bundle.tar.gz");
    const auto doctor = [&] {
        return run_pollux(folder_, {"doctor", "--data", server_->data(), "--bundle", bundle})
            .output;
    };
    const std::string running = doctor();
    EXPECT_THAT(running, AllOf(HasSubstr("1 of 1 can be used"), Not(HasSubstr("DOOR_PASSWORD"))));
    const CommandResult settings = run({"sh", "-c", "tar xzOf \"$1\" settings.txt", "sh", bundle});
    EXPECT_THAT(settings.output, HasSubstr(fmt::format("127.0.0.1:{}", trap_port_)))
        << "what the server listens on";
    const CommandResult polled =
        run_pollux(folder_, {"poll", "http-status::door", "--data", server_->data()});
    EXPECT_THAT(polled.output, HasSubstr("http-status::door: transient")) << "nobody listens";
    server_->stop();
    EXPECT_THAT(doctor(), HasSubstr("the variable DOOR_PASSWORD is not set in the environment of "
                                    "this command"));
}

TEST_F(OperatorWords, NameWhatIsAskedForAndWhereItIs) {
    ASSERT_NO_FATAL_FAILURE(start(
        "devices:\n  door: {address: 127.0.0.1, addons: [alive, hook, traps]}\n  quiet: {address: "
        "127.0.0.9, addons: [traps]}\n"));
    EXPECT_THAT(answered({"messages"}), HasSubstr("nothing came yet"));
    EXPECT_EQ(answered({"messages", "-o", "json"}), "") << "for programs nothing is nothing";
    EXPECT_THAT(answered({"messages", "--target", "traps::quiet"}),
                AllOf(HasSubstr("nothing came for traps::quiet yet"), HasSubstr("pollux inbound")));
    EXPECT_THAT(answered({"inbound"}),
                AllOf(HasSubstr("traps (POLLUX_TRAP_LISTEN)"), HasSubstr("unknown"),
                      HasSubstr("hook::door                       webhook  listens")));

    // Each kind of address by its own command.
    EXPECT_THAT(url("push", "alive::door"), HasSubstr("/push/"));
    EXPECT_THAT(url("hook", "hook::door"), HasSubstr("/hooks/"));
    EXPECT_THAT(refused({"push", "url", "hook::door"}),
                AllOf(HasSubstr("webhook addon"), HasSubstr("`pollux hook url hook::door`"),
                      Not(HasSubstr("/hooks/"))));
    EXPECT_THAT(refused({"hook", "url", "alive::door"}),
                HasSubstr("`pollux push url alive::door`"));
    EXPECT_THAT(refused({"hook", "url", "traps::door"}), HasSubstr("pollux inbound"));
    EXPECT_THAT(refused({"hook", "url", "nobody::door"}), HasSubstr("nobody::door"));

    // What is heard is there, though it is not polled.
    EXPECT_THAT(
        refused({"history", "traps::door"}),
        AllOf(HasSubstr("heard, not polled"), HasSubstr("pollux messages --target traps::door")));
    EXPECT_THAT(refused({"history", "traps::nobody"}), HasSubstr("no target"));
    EXPECT_THAT(refused({"poll", "traps::door", "--fleet", folder_.file("fleet.yaml"), "--addons",
                         folder_.file("addons")}),
                HasSubstr("heard, not polled"));
    EXPECT_THAT(refused({"device", "profile", "nobody"}), HasSubstr("no profile of nobody"));
    EXPECT_THAT(answered({"ssh", "host-keys", "ls"}), HasSubstr("no keys in"));
    EXPECT_THAT(run_pollux(folder_, {"ssh", "host-keys", "ls", "--data", "/nowhere"}).output,
                HasSubstr("there is no data folder /nowhere"));

    // Whoever has addons of his own can check his files before he gives them to the server.
    const std::string fleet = folder_.file("fleet.yaml");
    const CommandResult unknown = run_pollux(folder_, {"check", fleet});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_THAT(unknown.output, AllOf(HasSubstr("there is no addon"), HasSubstr("--addons")));
    const CommandResult known =
        run_pollux(folder_, {"check", fleet, "--addons", folder_.file("addons")});
    EXPECT_EQ(known.code, 0) << known.output;
    const CommandResult same = run_pollux(
        folder_, {"plan", fleet, "--addons", folder_.file("addons"), "--data", server_->data()});
    EXPECT_EQ(same.code, 0) << same.output;
    EXPECT_THAT(same.output, HasSubstr("0 to add, 0 to change, 0 to remove"));

    // Every command finds the folder by the same variable.
    const CommandResult exported =
        run_pollux(folder_, {"export"}, {{"POLLUX_DATA", server_->data()}});
    EXPECT_EQ(exported.code, 0) << exported.output;
    EXPECT_THAT(exported.output, HasSubstr("quiet:"));

    // A sender that says it is down is not told to be down later.
    EXPECT_THAT(curl(url("push", "alive::door") + "?status=down&msg=disk+full"), EndsWith(" 200"));
    EXPECT_THAT(answered({"explain", "alive::door"}),
                AllOf(HasSubstr("down: disk full; its next heartbeat is expected within"),
                      Not(HasSubstr("counts as down in"))));
    // What a device says does not move the cursor of a terminal.
    EXPECT_THAT(curl(url("hook", "hook::door"), {"-d",
                                                 "{\"state\": \"bad\", \"x\": \"\xc2\x9b"
                                                 "2J\x1b[2J\"}"}),
                testing::AnyOf(EndsWith(" 200"), EndsWith(" 400")));
    EXPECT_THAT(
        curl(url("hook", "hook::door"), {"-d", "{\"state\": \"bad\", \"x\": \"\xc2\x9b\"}"}),
        EndsWith(" 200"));
    EXPECT_THAT(answered({"messages"}), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xc2\x9b"))));
}

TEST_F(OperatorWords, SayWhyATrapOfVersion3WasNotTaken) {
    ASSERT_NO_FATAL_FAILURE(start(R"(
devices:
  door: {address: 127.0.0.1, addons: [{name: traps, credentials: trapper}]}
credentials:
  trapper: {username: trapper, snmp_auth: sha256, snmp_auth_password: "${AUTH}"}
)",
                                  {{"AUTH", "auth-pass-word"}}));
    const auto send = [&](const std::string& user, const std::string& password) {
        return run({"snmptrap", "-m", "", "-v3", "-e", "0x8000000001020304", "-u", user, "-l",
                    "authNoPriv", "-a", "SHA-256", "-A", password,
                    fmt::format("udp:127.0.0.1:{}", trap_port_), "", "1.3.6.1.6.3.1.1.5.3"})
            .code;
    };
    EXPECT_EQ(send("bob", "auth-pass-word"), 0);
    EXPECT_TRUE(eventually([&] {
        return answered({"inbound"}).find("no trap target has credentials with this user") !=
               std::string::npos;
    })) << answered({"inbound"});
    EXPECT_EQ(send("trapper", "another-password"), 0);
    EXPECT_TRUE(eventually([&] {
        return answered({"inbound"}).find("compare snmp_auth and its password") !=
               std::string::npos;
    })) << answered({"inbound"});
    EXPECT_EQ(send("trapper", "auth-pass-word"), 0);
    EXPECT_TRUE(eventually([&] {
        return answered({"inbound"}).find("unknown senders") == std::string::npos;
    })) << answered({"inbound"});
    EXPECT_THAT(answered({"messages"}), HasSubstr("traps::door from 127.0.0.1"));
}

}  // namespace
}  // namespace pollux::live
