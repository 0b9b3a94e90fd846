// A server with an API and people who use it. Fixtures derive from it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/live/api_client.hpp"
#include "tests/live/pollux_server.hpp"

namespace pollux::live {

inline constexpr const char* kAdminPassword = "correct horse battery";

// What a login sends with each request.
struct Session {
    std::string cookie;  // "Cookie: pollux_session=…"
    std::string csrf;    // "X-CSRF-Token: …"
};

class ApiStage : public testing::Test {
  protected:
    // Starts the server and makes the first admin ("root") with an API token of its own.
    void start(const std::string& fleet, Environment environment = {});
    // Again, with the accounts of before.
    void start_again();

    // A client with a token of root's, or of the given user; made once by name.
    ApiClient admin() const { return client_with(root_token_); }
    ApiClient client_with(const std::string& token) const;
    ApiClient stranger() const { return ApiClient(server_->api_address()); }
    // `grants` is JSON: [{"role":"viewer"}]. Gives a token of the new user.
    std::string new_user(const std::string& name, const std::string& grants);
    // Makes a token by root for `owner`; `more` is JSON text behind the name: ,"scopes":["…"]
    std::string new_token(const std::string& name, const std::string& owner,
                          const std::string& more = "");
    Session log_in(const std::string& name, const std::string& password);

    // `bash -c line` with $TOKEN and $HOST set: what it prints, and whether it ended well.
    CommandResult shell(const std::string& line) const;
    // Records of the trail, newest first, as `pollux audit ls -o json` prints them.
    std::vector<document::Node> trail(std::vector<std::string> arguments = {}) const;

    net::test::TempDir folder_;
    std::unique_ptr<PolluxServer> server_;
    std::string root_token_;
};

}  // namespace pollux::live
