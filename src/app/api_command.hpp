// What the commands that ask the API share: options, lists over several pages, output, errors.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/api_client.hpp"
#include "app/table.hpp"
#include "document/node.hpp"

namespace CLI {
class App;
}

namespace pollux::app {

struct ApiArguments {
    ApiOptions connection;
    std::string output = "table";
    std::string reason;
};

// --url, --token-file, --ca-file, --pin, --insecure, --timeout, -v.
void add_connection_options(CLI::App& command, ApiOptions& options);
// -o table|json|yaml.
void add_output_option(CLI::App& command, std::string& output);
void add_reason_option(CLI::App& command, std::string& reason);
// All of them; what only shows something takes no reason.
void add_api_options(CLI::App& command, ApiArguments& arguments, bool acts);

// To standard error, safe for a terminal; the exit code.
int complain_api(const base::Error& error);
base::Error usage_error(std::string message);

// Opens the client and works with it; the exit code. Errors of the work are told.
int with_api(const ApiOptions& options,
             const std::function<base::Result<int>(const ApiClient& client)>& work);

// All entries of `items`, page by page; at most `limit` (0: all). What else the first page has is
// kept.
base::Result<document::Node> get_all(const ApiClient& client, const std::string& path,
                                     std::size_t limit = 0);

// An answer as JSON or YAML if that is wanted; else as `table` makes it.
void print_answer(const std::string& output, const document::Node& answer,
                  const std::function<std::string()>& table);

// Of an act whose answer has no body: the words, or {"success":true} for scripts.
void print_done(const std::string& output, std::string_view words);

// Asks for a change and prints the answer, or the words made of it.
base::Result<int> act(const ApiClient& client, const std::string& output, const ApiRequest& request,
                      const std::function<std::string(const document::Node& answer)>& words);

// A scalar of a map; empty if it is not there.
std::string field(const document::Node& node, std::string_view name);
// Entries of the list; none if it is not there.
const std::vector<document::Node>& list_of(const document::Node& node, std::string_view name);
// {"reason": …}, or an empty text without one.
std::string reason_body(const std::string& reason);
// path?name=value&…; pairs with an empty value are left out.
std::string with_query(std::string path,
                       const std::vector<std::pair<std::string_view, std::string>>& query);
// "2026-01-02 03:04:05" of an RFC 3339 time.
std::string short_time(const std::string& text);

// Says on standard error how far long work is; only on a terminal.
class Progress {
  public:
    explicit Progress(std::string what);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    void at(std::size_t count);
    void say(const std::string& text);  // in place of what stood there

  private:
    std::string what_;
    bool shown_;
    bool wrote_ = false;
};

}  // namespace pollux::app
