// A client of the API as a script would be one: one connection, the fields of its login, answers
// with their fields. Blocks; bounded in time. One client per thread.
//
//   ApiClient admin(server.api_address(), {"X-API-Token: " + token});
//   EXPECT_EQ(admin.get("/api/me").status, 200);
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "document/node.hpp"

namespace pollux::live {

struct ApiAnswer {
    int status = 0;                              // 0: no answer
    std::map<std::string, std::string> headers;  // names in small letters
    std::string body;
    std::string problem;  // why there is none

    std::string header(const std::string& name) const;  // empty if it has none
    document::Node json() const;                        // fails the test if it is none
    // A field of the body by its path ("breaker.state", "items.0.key"); empty if there is none.
    std::string at(const std::string& path) const;
};

class ApiClient {
  public:
    // `fields` are sent with every request.
    explicit ApiClient(std::string address, std::vector<std::string> fields = {});

    ApiAnswer get(const std::string& target) { return ask("GET", target); }
    ApiAnswer post(const std::string& target, const std::string& body = "",
                   std::vector<std::string> more = {}) {
        return ask("POST", target, body, std::move(more));
    }
    ApiAnswer put(const std::string& target, const std::string& body,
                  std::vector<std::string> more = {}) {
        return ask("PUT", target, body, std::move(more));
    }
    // A body goes with `Content-Type: application/json` unless `more` names another. The target is
    // sent byte by byte as it is given.
    ApiAnswer ask(const std::string& method, const std::string& target,
                  const std::string& body = "", std::vector<std::string> more = {});

    const std::string& address() const { return address_; }

  private:
    struct Close {
        void operator()(void* curl) const;
    };
    std::string address_;
    std::vector<std::string> fields_;
    std::unique_ptr<void, Close> curl_;
};

// The node at a path such as "breaker.state" or "items.0.key"; nullptr if there is none.
const document::Node* node_at(const document::Node& root, const std::string& path);
std::string text_at(const document::Node& root, const std::string& path);
// The entry of a list whose field has this value; nullptr if there is none.
const document::Node* entry_with(const document::Node& list, const std::string& field,
                                 const std::string& value);

}  // namespace pollux::live
