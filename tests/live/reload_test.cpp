// Changed fleet files: taken in whole by SIGHUP and by `pollux apply`, or not at all.
#include <gmock/gmock.h>

#include "lab/fleet_server.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"

namespace pollux::live {
namespace {

using net::test::TempDir;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kReloads = "pollux_config_reloads_total";

class Reload : public testing::Test {
  protected:
    Reload()
        : fleet_(lab::FleetServer::start({.snmp = 0, .http = 4}).value()),
          server_(folder_, folder_.file("fleet.yaml")) {}

    void write(const std::string& devices) const {
        folder_.write("fleet.yaml", addon_settings("interval: 20s") + "devices:\n" + devices);
    }
    std::string device(std::size_t number, const std::string& extra = "") const {
        return json_device(*fleet_, number, "/as/json/status", extra);
    }
    bool both_pages_mention(const std::string& device) const {
        return server_.metrics().mentions(device) &&
               server_.device_metrics().mentions("http-json::" + device);
    }
    bool any_page_mentions(const std::string& device) const {
        return server_.metrics().mentions(device) || server_.device_metrics().mentions(device);
    }

    TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
    PolluxServer server_;
};

TEST_F(Reload, HangUpTakesInWhatWasAddedRemovedAndEdited) {
    write(device(0) + device(1) + device(2));
    ASSERT_NO_FATAL_FAILURE(server_.start());
    for (const char* name : {"web-00001", "web-00002", "web-00003"}) {
        ASSERT_TRUE(eventually([&] { return both_pages_mention(name); })) << server_.log();
    }

    write(device(1) + device(2, "interval: 45s") + device(3));
    server_.hang_up();
    ASSERT_TRUE(eventually([&] {
        return server_.metrics().value(kReloads, {{"result", "ok"}}) == 1;
    })) << server_.log();
    EXPECT_TRUE(eventually([&] { return both_pages_mention("web-00004"); })) << server_.log();
    EXPECT_TRUE(eventually([&] { return !any_page_mentions("web-00001"); })) << server_.log();
    EXPECT_TRUE(both_pages_mention("web-00002"));
    const Labels edited = target_labels("http-json::web-00003");
    EXPECT_TRUE(eventually([&] {
        const auto interval = server_.metrics().value("pollux_interval_seconds", edited);
        return interval && *interval > 30;
    })) << server_.log();
    EXPECT_EQ(
        server_.metrics().value("pollux_targets", {{"class", "http-json"}, {"enabled", "true"}}),
        3);
    EXPECT_EQ(server_.metrics().value(kReloads, {{"result", "failed"}}), 0);
}

TEST_F(Reload, AFileWithAMistakeChangesNothingAndNamesItsPlace) {
    write(device(0));
    ASSERT_NO_FATAL_FAILURE(server_.start());
    ASSERT_TRUE(eventually([&] { return both_pages_mention("web-00001"); })) << server_.log();

    const struct {
        std::string text;
        std::string place;
    } mistakes[] = {
        {"devices:\n  web-00002: {address: 127.0.0.1\n  oops: [\n", "fleet.yaml:"},
        {"devices:\n  web-00002:\n    adress: 127.0.0.1\n    addons: [http-json]\n",
         "fleet.yaml:3: devices.web-00002.adress"},
        {"devices:\n  web-00002: {address: 127.0.0.1, addons: [http-jsno]}\n", "fleet.yaml:2"},
    };
    double failed = 0;
    for (const auto& mistake : mistakes) {
        folder_.write("fleet.yaml", mistake.text);
        server_.hang_up();
        ++failed;
        ASSERT_TRUE(eventually([&] {
            return server_.metrics().value(kReloads, {{"result", "failed"}}) == failed;
        })) << server_.log();
        const auto lines = lines_with(server_.lines(), "reload failed");
        ASSERT_EQ(static_cast<double>(lines.size()), failed) << server_.log();
        EXPECT_EQ(lines.back().get("level"), "error");
        EXPECT_THAT(lines.back().get("error"), HasSubstr(mistake.place));
        EXPECT_TRUE(both_pages_mention("web-00001"));
        EXPECT_FALSE(any_page_mentions("web-00002"));
    }
    // The old state is still polled, and a good file is taken in afterwards.
    const double before = server_.metrics().sum("pollux_runs_ended_total", {{"how", "finished"}});
    EXPECT_TRUE(eventually([&] {
        return server_.metrics().sum("pollux_runs_ended_total", {{"how", "finished"}}) > before;
    })) << server_.log();
    write(device(0) + device(1));
    server_.hang_up();
    EXPECT_TRUE(eventually([&] { return both_pages_mention("web-00002"); })) << server_.log();
}

TEST_F(Reload, ApplyTwiceIsTheSameAsOnceWithAndWithoutAServer) {
    write(device(0) + device(1));
    const std::string fleet = folder_.file("fleet.yaml");
    PolluxServer server(folder_, "");
    CommandResult first = server.command({"apply", fleet});
    EXPECT_EQ(first.code, 0) << first.output;
    EXPECT_THAT(first.output, Not(HasSubstr("0 added, 0 changed, 0 removed")));
    CommandResult again = server.command({"apply", fleet});
    EXPECT_EQ(again.code, 0) << again.output;
    EXPECT_THAT(again.output, HasSubstr("0 added, 0 changed, 0 removed"));

    // The server begins with what was applied while it did not run.
    ASSERT_NO_FATAL_FAILURE(server.start());
    const auto targets = [&] { return server.metrics().sum("pollux_targets"); };
    EXPECT_EQ(targets(), 2);
    again = server.command({"apply", fleet});
    EXPECT_THAT(again.output, HasSubstr("0 added, 0 changed, 0 removed"));
    write(device(0) + device(2));
    first = server.command({"apply", fleet});
    EXPECT_EQ(first.code, 0) << first.output;
    // A device and its target each.
    EXPECT_THAT(first.output, HasSubstr("2 added, 0 changed, 2 removed"));
    // Who applied it may ask about it at once.
    const MetricsPage page = server.metrics();
    EXPECT_TRUE(page.mentions("web-00003")) << server.log();
    EXPECT_FALSE(page.mentions("web-00002")) << server.log();
    again = server.command({"apply", fleet});
    EXPECT_THAT(again.output, HasSubstr("0 added, 0 changed, 0 removed"));

    // A mistake is refused with its place and changes nothing.
    folder_.write("fleet.yaml", "devices:\n  web-00009: {adress: 127.0.0.1}\n");
    const CommandResult refused = server.command({"apply", fleet});
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.output, HasSubstr("fleet.yaml:2"));
    EXPECT_EQ(targets(), 2);

    EXPECT_EQ(server.stop(), 0);
    write(device(0) + device(2));
    again = server.command({"apply", fleet});
    EXPECT_THAT(again.output, HasSubstr("0 added, 0 changed, 0 removed"));
}

// What `export` writes is the fleet: applied to another folder it makes the same one.
TEST_F(Reload, AnExportIsTheFleet) {
    write(device(0) + device(1));
    ASSERT_NO_FATAL_FAILURE(server_.start());
    const CommandResult running = server_.command({"export"});
    EXPECT_EQ(running.code, 0) << running.output;
    EXPECT_THAT(running.output, HasSubstr("web-00002"));
    EXPECT_EQ(server_.stop(), 0);
    const CommandResult stopped = server_.command({"export"});
    EXPECT_EQ(stopped.code, 0) << stopped.output;
    EXPECT_EQ(stopped.output, running.output);
    const CommandResult same =
        server_.command({"apply", folder_.write("exported.yaml", running.output)});
    EXPECT_THAT(same.output, HasSubstr("0 added, 0 changed, 0 removed"));
}

}  // namespace
}  // namespace pollux::live
