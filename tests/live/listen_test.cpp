// What keeps the ears shut is said before anything is polled: the start is refused, with the
// address, the cause and what to do.
#include <gmock/gmock.h>

#include "tests/live/inbound_stage.hpp"

namespace pollux::live {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Listen : public InboundStage {
  protected:
    // `pollux serve` that is not meant to stay; behind `before`, if there is such.
    CommandResult serve(const Environment& more, std::vector<std::string> before = {}) {
        Environment environment = {{"POLLUX_METRICS_PORT", "0"},
                                   {"POLLUX_API_LISTEN", "127.0.0.1:0"}};
        environment.insert(environment.end(), more.begin(), more.end());
        before.insert(before.end(), {POLLUX_BINARY, "serve", "--data", folder_.file("other"),
                                     "--fleet", folder_.write("none.yaml", "devices: {}\n")});
        net::test::Process process(std::move(before), folder_, environment);
        EXPECT_TRUE(process.wait_for_end(kLong)) << process.output();
        return {process.exit_code(), process.output()};
    }
};

TEST_F(Listen, APortThatIsTakenIsNamedWithItsSettingAndTheFirstServerGoesOn) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    const std::string traps = fmt::format("127.0.0.1:{}", trap_port_);
    const CommandResult second = serve({{"POLLUX_TRAP_LISTEN", traps}});
    EXPECT_NE(second.code, 0);
    EXPECT_THAT(second.output, AllOf(HasSubstr("cannot listen for traps on " + traps),
                                     HasSubstr("Address already in use"), HasSubstr("ss -ulpn"),
                                     HasSubstr("POLLUX_TRAP_LISTEN")));
    const std::string hooks = fmt::format("127.0.0.1:{}", http_port_);
    const CommandResult third = serve({{"POLLUX_INBOUND_LISTEN", hooks}});
    EXPECT_NE(third.code, 0);
    EXPECT_THAT(third.output,
                AllOf(HasSubstr("cannot listen for webhooks"), HasSubstr(hooks),
                      HasSubstr("Address already in use"), HasSubstr("POLLUX_INBOUND_LISTEN")));
    EXPECT_EQ(server_->command({"inbound"}).code, 0) << server_->log();
    EXPECT_TRUE(server_->running());
}

// A server that goes on without what it was told would be believed to hear, or to encrypt.
TEST_F(Listen, WhatIsNoAddressAndNoFileRefusesTheStart) {
    for (const char* variable :
         {"POLLUX_TRAP_LISTEN", "POLLUX_INBOUND_LISTEN", "POLLUX_API_LISTEN"}) {
        const CommandResult result = serve({{variable, "nonsense"}});
        EXPECT_NE(result.code, 0) << variable;
        EXPECT_THAT(result.output, AllOf(HasSubstr(variable), HasSubstr("an address with a port")));
    }
    const CommandResult relative =
        serve({{"POLLUX_INBOUND_LISTEN", fmt::format("127.0.0.1:{}", http_port_)},
               {"POLLUX_INBOUND_TLS_CERTIFICATE", "chain.pem"},
               {"POLLUX_INBOUND_TLS_KEY", "key.pem"}});
    EXPECT_NE(relative.code, 0);
    EXPECT_THAT(relative.output,
                AllOf(HasSubstr("POLLUX_INBOUND_TLS_"), HasSubstr("an absolute path")));
    const CommandResult half =
        serve({{"POLLUX_INBOUND_TLS_CERTIFICATE", folder_.write("chain.pem", "x")}});
    EXPECT_NE(half.code, 0);
    EXPECT_THAT(half.output, HasSubstr("inbound_tls_certificate and inbound_tls_key belong"));
    const CommandResult broken =
        serve({{"POLLUX_INBOUND_TLS_CERTIFICATE", folder_.file("chain.pem")},
               {"POLLUX_INBOUND_TLS_KEY", folder_.file("chain.pem")}});
    EXPECT_NE(broken.code, 0);
    EXPECT_THAT(broken.output, HasSubstr("chmod 0600"));
}

TEST_F(Listen, AnAddressThatIsNotOursIsNamedWithItsSetting) {
    const CommandResult traps = serve({{"POLLUX_TRAP_LISTEN", "192.0.2.77:1162"}});
    EXPECT_NE(traps.code, 0);
    EXPECT_THAT(traps.output,
                AllOf(HasSubstr("192.0.2.77:1162"), HasSubstr("Cannot assign requested address"),
                      HasSubstr("POLLUX_TRAP_LISTEN")));
    const CommandResult hooks = serve({{"POLLUX_INBOUND_LISTEN", "192.0.2.77:7656"}});
    EXPECT_NE(hooks.code, 0);
    EXPECT_THAT(hooks.output,
                AllOf(HasSubstr("192.0.2.77:7656"), HasSubstr("Cannot assign requested address"),
                      HasSubstr("POLLUX_INBOUND_LISTEN")));
}

// In a network of its own, where ports below 1024 are privileged whatever this machine says.
TEST_F(Listen, WithoutTheRightToPort162TheMessageSaysHowToGetIt) {
    if (run({"unshare", "--net", "true"}).code != 0) GTEST_SKIP() << "no right to make networks";
    const std::vector<std::string> unprivileged = {"unshare",
                                                   "--net",
                                                   "sh",
                                                   "-c",
                                                   "ip link set lo up && exec \"$@\"",
                                                   "sh",
                                                   "setpriv",
                                                   "--inh-caps=-net_bind_service",
                                                   "--bounding-set=-net_bind_service"};
    const CommandResult traps = serve({{"POLLUX_TRAP_LISTEN", "0.0.0.0:162"}}, unprivileged);
    EXPECT_NE(traps.code, 0);
    EXPECT_THAT(traps.output,
                AllOf(HasSubstr("cannot listen for traps on 0.0.0.0:162: Permission denied"),
                      HasSubstr("AmbientCapabilities=CAP_NET_BIND_SERVICE"), HasSubstr("setcap"),
                      HasSubstr("POLLUX_TRAP_LISTEN=systemd")));
    const CommandResult hooks = serve({{"POLLUX_INBOUND_LISTEN", "0.0.0.0:80"}}, unprivileged);
    EXPECT_NE(hooks.code, 0);
    EXPECT_THAT(hooks.output,
                AllOf(HasSubstr("0.0.0.0:80"), HasSubstr("Permission denied"),
                      HasSubstr("CAP_NET_BIND_SERVICE"), HasSubstr("POLLUX_INBOUND_LISTEN")));
}

}  // namespace
}  // namespace pollux::live
