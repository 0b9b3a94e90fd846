// Both metric pages as Prometheus sees them: promtool's opinion, and a real server that scrapes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <spawn.h>

#include "lab/fleet_server.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/pollux_server.hpp"
#include "tests/live/web_get.hpp"

namespace pollux::live {
namespace {

using net::test::free_port;
using net::test::Process;
using net::test::TempDir;
using testing::HasSubstr;

// `promtool check metrics < page`: it reads its standard input only.
std::string promtool(const TempDir& folder, const std::string& page) {
    const std::string remarks = folder.file("remarks");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, page.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, remarks.c_str(), O_CREAT | O_TRUNC | O_WRONLY,
                                     0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    std::string words[] = {"promtool", "check", "metrics"};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    pid_t pid = -1;
    EXPECT_EQ(posix_spawnp(&pid, "promtool", &files, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    // 3 is an opinion, anything else a page that cannot be read.
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3))
        << folder.read("remarks");
    return folder.read("remarks");
}

class Prometheus : public testing::Test {
  protected:
    Prometheus() : fleet_(lab::FleetServer::start({.snmp = 3, .http = 3}).value()) {
        std::string text = addon_settings("interval: 20s") + "devices:\n";
        for (std::size_t i = 0; i < 3; ++i) {
            text += json_device(*fleet_, i);
            text += snmp_device(*fleet_, i);
        }
        // One that fails, so that the families about failures have lines.
        EXPECT_TRUE(fleet_->set_fault("web-00003", lab::FaultKind::kServerError));
        server_ = std::make_unique<PolluxServer>(folder_, folder_.write("fleet.yaml", text));
    }

    void start() {
        ASSERT_NO_FATAL_FAILURE(server_->start());
        ASSERT_TRUE(eventually([&] {
            const MetricsPage page = server_->metrics();
            return page.sum("pollux_targets_never_seen") == 1 &&
                   !page.find("pulse_scheduler_breaker_failure_count").empty();
        })) << server_->log();
        // Rates need two polls.
        ASSERT_TRUE(eventually([&] {
            return !server_->device_metrics()
                        .find("pollux_device_in_octets_bytes_per_second")
                        .empty();
        })) << server_->log();
    }

    // What promtool has to say about a page, without what is known and meant.
    std::string remarks(const MetricsPage& page) const {
        const std::string output = promtool(folder_, folder_.write("page", page.text()));
        std::string left;
        std::size_t begin = 0;
        for (std::size_t end = output.find('\n'); end != std::string::npos;
             end = output.find('\n', begin)) {
            const std::string line = output.substr(begin, end - begin);
            begin = end + 1;
            // The name is that of the system people come from; their dashboards ask for it.
            if (line.starts_with("pulse_scheduler_breaker_failure_count ")) continue;
            left += line + "\n";
        }
        return left;
    }

    TempDir folder_;
    std::unique_ptr<lab::FleetServer> fleet_;
    std::unique_ptr<PolluxServer> server_;
};

TEST_F(Prometheus, PromtoolFindsNothingWrongWithThePages) {
    ASSERT_NO_FATAL_FAILURE(start());
    EXPECT_EQ(remarks(server_->metrics()), "");
    EXPECT_EQ(remarks(server_->device_metrics()), "");
}

TEST_F(Prometheus, ARealServerScrapesBothPages) {
    ASSERT_NO_FATAL_FAILURE(start());
    const std::string listen = fmt::format("127.0.0.1:{}", free_port());
    folder_.write("prometheus.yml",
                  fmt::format("global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n"
                              "scrape_configs:\n"
                              "  - job_name: pollux\n    static_configs: [{{targets: ['{0}']}}]\n"
                              "  - job_name: devices\n    metrics_path: /metrics/devices\n"
                              "    honor_labels: true\n"
                              "    static_configs: [{{targets: ['{0}']}}]\n",
                              server_->address()));
    Process prometheus(
        {"prometheus", "--config.file=" + folder_.file("prometheus.yml"),
         "--storage.tsdb.path=" + folder_.file("tsdb"), "--web.listen-address=" + listen},
        folder_);
    const auto ask = [&](const std::string& query) {
        return web_get("http://" + listen + "/api/v1/query?query=" + query).body;
    };
    // One series per job, each with the value 1.
    EXPECT_TRUE(eventually([&] {
        return ask("sum(up%7Bjob=~%22pollux%7Cdevices%22%7D)").find("\"2\"") != std::string::npos;
    })) << prometheus.output()
        << ask("up");
    EXPECT_THAT(ask("pollux_device_uptime_seconds"), HasSubstr("snmp-system::sw-00001"));
    EXPECT_THAT(ask("pollux_runs_started_total"), HasSubstr("\"result\":[{"));
}

}  // namespace
}  // namespace pollux::live
