#include "tests/live/api_stage.hpp"

#include <fmt/format.h>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"

namespace pollux::live {

void ApiStage::start(const std::string& fleet, Environment environment) {
    server_ = std::make_unique<PolluxServer>(
        folder_, fleet.empty() ? "" : folder_.write("fleet.yaml", fleet), std::move(environment));
    ASSERT_NO_FATAL_FAILURE(server_->start());
    const std::string token = server_->bootstrap_token();
    ASSERT_FALSE(token.empty()) << server_->log();
    ApiClient nobody = stranger();
    const ApiAnswer made = nobody.post(
        "/api/bootstrap",
        fmt::format(R"({{"token":"{}","name":"root","password":"{}"}})", token, kAdminPassword));
    ASSERT_EQ(made.status, 201) << made.body << made.problem;
    const Session session = log_in("root", kAdminPassword);
    ApiClient root(server_->api_address(), {session.cookie, session.csrf});
    const ApiAnswer given = root.post("/api/tokens", R"({"name":"root"})");
    ASSERT_EQ(given.status, 201) << given.body;
    root_token_ = given.at("secret");
}

void ApiStage::start_again() { ASSERT_NO_FATAL_FAILURE(server_->start()); }

ApiClient ApiStage::client_with(const std::string& token) const {
    return ApiClient(server_->api_address(), {"X-API-Token: " + token});
}

std::string ApiStage::new_user(const std::string& name, const std::string& grants) {
    ApiClient root = admin();
    const ApiAnswer made =
        root.post("/api/users", fmt::format(R"({{"name":"{}","grants":{}}})", name, grants));
    EXPECT_EQ(made.status, 201) << made.body;
    return new_token(name, name);
}

std::string ApiStage::new_token(const std::string& name, const std::string& owner,
                                const std::string& more) {
    ApiClient root = admin();
    const ApiAnswer made = root.post(
        "/api/tokens", fmt::format(R"({{"name":"{}","owner":"{}"{}}})", name, owner, more));
    EXPECT_EQ(made.status, 201) << made.body;
    return made.status == 201 ? made.at("secret") : "";
}

Session ApiStage::log_in(const std::string& name, const std::string& password) {
    ApiClient nobody = stranger();
    const ApiAnswer answer = nobody.post(
        "/api/login", fmt::format(R"({{"name":"{}","password":"{}"}})", name, password));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const std::string cookie = answer.header("set-cookie");
    return {"Cookie: " + cookie.substr(0, cookie.find(';')),
            "X-CSRF-Token: " + answer.at("csrf_token")};
}

CommandResult ApiStage::shell(const std::string& line) const {
    net::test::Process process({"bash", "-o", "pipefail", "-c", line}, folder_,
                               {{"TOKEN", root_token_}, {"HOST", server_->api_address()}});
    EXPECT_TRUE(process.wait_for_end(kLong)) << process.output();
    return {process.exit_code(), process.output()};
}

std::vector<document::Node> ApiStage::trail(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"audit", "ls", "-o", "json", "--limit", "1000"});
    const CommandResult printed = server_->command(std::move(arguments));
    EXPECT_EQ(printed.code, 0) << printed.output;
    document::Diagnostics diagnostics;
    const auto parsed =
        document::parse_json(printed.output, "audit", diagnostics, {.max_bytes = 16U << 20U});
    EXPECT_TRUE(parsed.ok) << diagnostics.text() << printed.output;
    return parsed.root.items();
}

}  // namespace pollux::live
