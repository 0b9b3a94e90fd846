// The Alertmanager of the tests is the real one: what amtool adds is there, and goes on its way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_http_catcher.hpp"
#include "tests/live/test_alertmanager.hpp"

namespace pollux::live {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AlertmanagerPeer, TakesAlertsAndSilencesOfAmtool) {
    Alertmanager peer;
    const auto added = amtool(peer.url(), {"alert", "add", "alertname=Down", "device=sw1"});
    EXPECT_EQ(added.exit_code, 0) << added.output;
    const auto seen = amtool(peer.url(), {"alert", "query", "-o", "json", "device=sw1"});
    EXPECT_EQ(seen.exit_code, 0) << seen.output;
    EXPECT_THAT(seen.output, HasSubstr("\"alertname\":\"Down\""));
    const auto silenced = amtool(peer.url(), {"silence", "add", "--author=test", "--comment=test",
                                              "--duration=1h", "device=sw1"});
    EXPECT_EQ(silenced.exit_code, 0) << silenced.output;
    const auto silences = amtool(peer.url(), {"silence", "query", "-o", "json"});
    EXPECT_THAT(silences.output, HasSubstr("sw1"));
    const auto none =
        amtool("http://127.0.0.1:" + std::to_string(net::test::free_port()), {"alert", "query"});
    EXPECT_NE(none.exit_code, 0) << "nobody is there";
}

TEST(AlertmanagerPeer, SendsOnToAReceiver) {
    net::test::HttpCatcher hook;
    Alertmanager peer(
        "route:\n  receiver: hook\n  group_wait: 0s\nreceivers:\n  - name: hook\n"
        "    webhook_configs:\n      - url: " +
        hook.url("/told") + "\n");
    ASSERT_EQ(amtool(peer.url(), {"alert", "add", "alertname=Down"}).exit_code, 0);
    ASSERT_TRUE(hook.wait_for(1)) << peer.process().output();
    const auto request = hook.requests().front();
    EXPECT_EQ(request.path, "/told");
    EXPECT_THAT(request.body, HasSubstr("\"alertname\":\"Down\""));
    EXPECT_THAT(request.body, Not(HasSubstr("\"status\":\"resolved\"")));
}

}  // namespace
}  // namespace pollux::live
