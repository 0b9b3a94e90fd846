// For the tests of commands that ask the API: a server with its API in a thread of its own, and
// the whole program run against it inside the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/api_service.hpp"
#include "app/commands.hpp"
#include "app/fleet_access.hpp"
#include "app/fleet_ports.hpp"
#include "app/serving.hpp"
#include "base/check.hpp"
#include "net/test_process.hpp"

namespace pollux::app::test {

struct Ran {
    int status = -1;
    std::string out;
    std::string err;
};

class ApiStage {
  public:
    // `environment` is the server's.
    explicit ApiStage(const config::Environment& environment = {}) {
        // Before there are threads: nobody else's token is found.
        setenv("XDG_CONFIG_HOME", folder_.file("config").c_str(), 1);
        unsetenv("POLLUX_URL");
        unsetenv("POLLUX_TOKEN");
        unsetenv("POLLUX_DATA");
        tls_ = environment.contains("POLLUX_API_TLS_KEY");
        loop_ = net::EventLoop::create().value();
        runtime::ServerOptions options;
        options.data = folder_.file("data");
        options.environment["POLLUX_METRICS_PORT"] = "0";
        options.environment["POLLUX_API_LISTEN"] =
            "127.0.0.1:" + std::to_string(net::test::free_port());
        for (const auto& [name, value] : environment) options.environment[name] = value;
        options.addons = load_addon_set("").value();
        options.version = "test";
        auto server = runtime::Server::start(*loop_, log_, std::move(options));
        POLLUX_CHECK_MSG(server.has_value(), "the server of a test starts");
        server_ = std::move(*server);
        auto api = api::ApiService::start(
            *loop_, *server_, log_,
            {.version = "test", .password_cost = {.operations = 1, .memory = 8192}});
        if (!api) std::fprintf(stderr, "%s\n", api.error().message.c_str());
        POLLUX_CHECK_MSG(api.has_value(), "the API of a test starts");
        api_ = std::move(*api);
        thread_ = std::thread([this] { loop_->run(); });
    }
    ~ApiStage() {
        api_->stop();
        loop_->stop();
        thread_.join();
        api_.reset();
        server_.reset();
    }
    ApiStage(const ApiStage&) = delete;
    ApiStage& operator=(const ApiStage&) = delete;

    std::string url() const {
        return (tls_ ? "https://" : "http://") + api_->addresses().at(0).to_string();
    }
    std::string bootstrap_token() const { return api_->bootstrap_token()->reveal(); }
    const net::test::TempDir& folder() const { return folder_; }
    std::string token_file() const { return folder_.file("config/pollux/token"); }

    // `pollux <arguments> --url …`, with `typed` on standard input.
    Ran operator()(std::vector<std::string> arguments, const std::string& typed = {}) {
        arguments.insert(arguments.end(), {"--url", url()});
        return run(std::move(arguments), typed);
    }

    static Ran run(std::vector<std::string> arguments, const std::string& typed = {}) {
        arguments.insert(arguments.begin(), "pollux");
        std::vector<const char*> argv;
        for (const std::string& one : arguments) argv.push_back(one.c_str());
        int ends[2];
        POLLUX_CHECK(pipe2(ends, O_CLOEXEC) == 0);
        POLLUX_CHECK(write(ends[1], typed.data(), typed.size()) ==
                     static_cast<ssize_t>(typed.size()));
        close(ends[1]);
        const int before = dup(STDIN_FILENO);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const FleetPorts ports = real_fleet_ports();
        Ran ran;
        ran.status = run_program(static_cast<int>(argv.size()), argv.data(), ports);
        std::fflush(stdout);
        ran.out = testing::internal::GetCapturedStdout();
        ran.err = testing::internal::GetCapturedStderr();
        if (before >= 0) {
            dup2(before, STDIN_FILENO);
            close(before);
        } else {
            close(STDIN_FILENO);
        }
        return ran;
    }

  private:
    bool tls_ = false;
    net::test::TempDir folder_;
    observe::Log log_{
        {.level = observe::LogLevel::kError}, &net::wall_now, [](std::string_view) {}};
    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<runtime::Server> server_;
    std::unique_ptr<api::ApiService> api_;
    std::thread thread_;
};

inline constexpr const char* kPassword = "correct horse battery";

// Whether it came to hold in a time that is far beyond what is needed.
inline bool eventually(const std::function<bool()>& condition) {
    return net::test::Process::wait_until(net::test::kPatience, condition);
}

// Tests of commands against a server of their own.
class ApiCommandTest : public testing::Test {
  protected:
    // Makes the first admin, with a token where the commands look for it.
    void log_in(const std::vector<std::string>& more = {}) {
        const auto with = [&](std::vector<std::string> command) {
            command.insert(command.end(), more.begin(), more.end());
            return command;
        };
        Ran ran = pollux(with({"user", "bootstrap", "--name", "ada"}),
                         pollux.bootstrap_token() + "\n" + kPassword + "\n");
        ASSERT_EQ(ran.status, 0) << ran.err;
        ran = pollux(with({"login", "--name", "ada"}), std::string(kPassword) + "\n");
        ASSERT_EQ(ran.status, 0) << ran.err;
    }
    // Run, expected to succeed.
    std::string good(std::vector<std::string> arguments, const std::string& typed = {}) {
        const Ran ran = pollux(std::move(arguments), typed);
        EXPECT_EQ(ran.status, 0) << ran.err;
        return ran.out;
    }

    ApiStage pollux;
};

}  // namespace pollux::app::test
