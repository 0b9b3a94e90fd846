#include "tests/live/pollux_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/web_get.hpp"

namespace pollux::live {

using net::test::Process;
using net::test::TempDir;

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return true;
}

CommandResult run_pollux(const TempDir& folder, std::vector<std::string> arguments,
                         const Environment& environment) {
    arguments.insert(arguments.begin(), POLLUX_BINARY);
    Process process(std::move(arguments), folder, environment);
    EXPECT_TRUE(process.wait_for_end(kLong)) << process.output();
    return {process.exit_code(), process.output()};
}

PolluxServer::PolluxServer(const TempDir& folder, std::string fleet, Environment environment,
                           std::string data)
    : folder_(folder),
      fleet_(std::move(fleet)),
      environment_(std::move(environment)),
      data_(data.empty() ? folder.file("data") : std::move(data)) {
    environment_.emplace_back("POLLUX_METRICS_PORT", "0");
    const auto given = [](const auto& one) { return one.first == "POLLUX_API_LISTEN"; };
    if (std::ranges::none_of(environment_, given)) {
        environment_.emplace_back("POLLUX_API_LISTEN", "127.0.0.1:0");
    }
    environment_.emplace_back(kCommunityVariable, lab::kPrivateCommunity);
}

void PolluxServer::start() {
    earlier_ = all_logs();
    std::vector<std::string> arguments = {POLLUX_BINARY, "serve", "--data", data_};
    if (!fleet_.empty()) arguments.insert(arguments.end(), {"--fleet", fleet_});
    if (!addons_.empty()) arguments.insert(arguments.end(), {"--addons", addons_});
    started_at_ = std::chrono::steady_clock::now();
    process_ = std::make_unique<Process>(arguments, folder_, environment_);
    address_.clear();
    Process::wait_until(kLong, [this] {
        for (const LogLine& line : lines_with(lines(), "serving")) {
            address_ = line.get("metrics");
            api_ = line.get("api");
        }
        return !address_.empty() || !process_->running();
    });
    ASSERT_FALSE(address_.empty()) << "the server does not start:\n" << log();
}

std::string PolluxServer::bootstrap_token() const {
    std::string token;
    Process::wait_until(kLong, [&] {
        const std::string text = log();
        const std::size_t begin = text.find("plxboot_");
        const std::size_t end = text.find('\n', begin);
        if (begin == std::string::npos || end == std::string::npos) return !process_->running();
        token = text.substr(begin, end - begin);
        return true;
    });
    return token;
}

bool PolluxServer::everyone_answers() const {
    return eventually([this] {
        const MetricsPage page = metrics();
        return page.sum("pollux_targets") > 0 && page.sum("pollux_targets_never_seen") == 0;
    });
}

void PolluxServer::kill() { process_->stop(SIGKILL); }

int PolluxServer::stop() { return process_->stop(SIGTERM, kLong); }

std::string PolluxServer::all_logs() const { return earlier_ + log(); }

std::vector<LogLine> PolluxServer::all_lines() const { return log_lines(all_logs()); }

MetricsPage PolluxServer::page(const std::string& path) const {
    const WebAnswer answer = web_get("http://" + address_ + path);
    EXPECT_EQ(answer.status, 200) << path << ": " << answer.problem << "\n" << log();
    return MetricsPage(answer.body);
}

document::Node PolluxServer::explain(const std::string& key) const {
    const auto answer = ask_control("GET", "/explain?key=" + key);
    document::Diagnostics diagnostics;
    document::Parsed parsed = document::parse(answer.body, "explain", diagnostics);
    EXPECT_TRUE(parsed.ok) << answer.body;
    return std::move(parsed.root);
}

std::string PolluxServer::task_field(const std::string& key, const std::string& field) const {
    const document::Node page = explain(key);
    const document::Node* task = page.find("task");
    const document::Node* found = task == nullptr ? nullptr : task->find(field);
    return found == nullptr || found->is_null() ? "" : found->scalar();
}

CommandResult PolluxServer::command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--data", data_});
    return run_pollux(folder_, std::move(arguments), environment_);
}

net::UnixAnswer PolluxServer::ask_control(const std::string& method,
                                          const std::string& target) const {
    const auto answer =
        net::ask_unix(data_ + "/pollux.sock", method, target, "", std::chrono::seconds(60));
    EXPECT_TRUE(answer.has_value()) << target << ": " << (answer ? "" : answer.error().message);
    return answer.value_or(net::UnixAnswer{});
}

}  // namespace pollux::live
