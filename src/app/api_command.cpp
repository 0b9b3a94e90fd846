#include "app/api_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "document/write.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kPerPage = 1000;
constexpr std::size_t kMostEntries = 2'000'000;

}  // namespace

void add_connection_options(CLI::App& command, ApiOptions& options) {
    command.add_option(
        "--url", options.url,
        fmt::format("Server to ask (env: POLLUX_URL); {} unless given", kDefaultUrl));
    command.add_option("--token-file", options.token_file,
                       "File with an API token; else POLLUX_TOKEN, else what `pollux login` wrote");
    command.add_option("--ca-file", options.trust.ca_file,
                       "Certificate authority of the server (PEM)");
    command.add_option("--pin", options.trust.pin_sha256,
                       "SHA-256 of the server's certificate, which alone decides then");
    command.add_flag("--insecure", options.trust.insecure,
                     "Do not check the certificate of the server");
    command.add_option("--timeout", options.timeout_seconds, "Seconds to wait for an answer")
        ->check(CLI::Range(0.1, 3600.0))
        ->capture_default_str();
    command.add_flag("-v,--verbose", options.verbose, "Say what is asked, with the request id");
}

void add_output_option(CLI::App& command, std::string& output) {
    command.add_option("-o,--output", output, "table, json or yaml")
        ->check(CLI::IsMember({"table", "json", "yaml"}))
        ->capture_default_str();
}

void add_reason_option(CLI::App& command, std::string& reason) {
    command.add_option("--reason", reason, "Why; kept in the audit trail");
}

void add_api_options(CLI::App& command, ApiArguments& arguments, bool acts) {
    add_connection_options(command, arguments.connection);
    add_output_option(command, arguments.output);
    if (acts) add_reason_option(command, arguments.reason);
}

int complain_api(const base::Error& error) {
    fmt::print(stderr, "pollux: {}\n", printable_lines(error.message));
    return exit_code_of(error);
}

base::Error usage_error(std::string message) {
    return {"client.usage", base::ErrorClass::kConfig, std::move(message)};
}

int with_api(const ApiOptions& options,
             const std::function<base::Result<int>(const ApiClient& client)>& work) {
    const auto client = ApiClient::open(options);
    if (!client) return complain_api(client.error());
    const auto status = work(*client);
    return status ? *status : complain_api(status.error());
}

base::Result<document::Node> get_all(const ApiClient& client, const std::string& path,
                                     std::size_t limit) {
    const std::size_t wanted = limit == 0 ? kMostEntries : limit;
    const char mark = path.find('?') == std::string::npos ? '?' : '&';
    Progress progress("read");
    document::Node items = document::Node::sequence();
    document::Node all;
    std::string cursor;
    do {
        const std::size_t rest = std::min(kPerPage, wanted - items.items().size());
        std::string page = fmt::format("{}{}limit={}", path, mark, rest);
        if (!cursor.empty()) page += "&cursor=" + url_escaped(cursor);
        auto answer = client.get(page);
        if (!answer) return std::unexpected(answer.error());
        for (const document::Node& one : list_of(*answer, "items")) items.push(one);
        cursor = field(*answer, "next");
        if (all.is_null()) all = std::move(*answer);
        progress.at(items.items().size());
    } while (!cursor.empty() && items.items().size() < wanted);
    document::Node result = document::Node::map();
    for (const document::MapEntry& entry : all.entries()) {
        if (entry.key != "items" && entry.key != "next") result.set(entry.key, entry.value);
    }
    result.set("items", std::move(items));
    if (!cursor.empty()) result.set("next", document::Node::text(cursor));
    return result;
}

void print_answer(const std::string& output, const document::Node& answer,
                  const std::function<std::string()>& table) {
    if (output == "json") {
        fmt::print("{}\n", document::to_json(answer));
    } else if (output == "yaml") {
        fmt::print("{}", document::to_yaml(answer));
    } else {
        fmt::print("{}", table());
    }
}

void print_done(const std::string& output, std::string_view words) {
    document::Node answer = document::Node::map();
    answer.set("success", document::Node::boolean(true));
    print_answer(output, answer, [&] { return printable(words, 400) + "\n"; });
}

base::Result<int> act(const ApiClient& client, const std::string& output, const ApiRequest& request,
                      const std::function<std::string(const document::Node& answer)>& words) {
    const auto reply = client.ask(request);
    if (!reply) return std::unexpected(reply.error());
    const auto answer = parse_answer(reply->body);
    if (!answer) return std::unexpected(answer.error());
    print_answer(output, *answer, [&] { return printable(words(*answer), 400) + "\n"; });
    return 0;
}

std::string field(const document::Node& node, std::string_view name) {
    const document::Node* found = node.find(name);
    return found == nullptr || !found->is_scalar() ? std::string() : found->scalar();
}

const std::vector<document::Node>& list_of(const document::Node& node, std::string_view name) {
    static const std::vector<document::Node> none;
    const document::Node* found = node.find(name);
    return found == nullptr ? none : found->items();
}

std::string reason_body(const std::string& reason) {
    if (reason.empty()) return {};
    return fmt::format(R"({{"reason":{}}})", document::json_string(reason));
}

std::string with_query(std::string path,
                       const std::vector<std::pair<std::string_view, std::string>>& query) {
    char mark = '?';
    for (const auto& [name, value] : query) {
        if (value.empty()) continue;
        path += fmt::format("{}{}={}", mark, name, url_escaped(value));
        mark = '&';
    }
    return path;
}

std::string short_time(const std::string& text) {
    if (text.size() < 19 || text[10] != 'T') return text;
    return text.substr(0, 10) + " " + text.substr(11, 8);
}

Progress::Progress(std::string what) : what_(std::move(what)), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (wrote_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::at(std::size_t count) { say(fmt::format("{} {}", what_, count)); }

void Progress::say(const std::string& text) {
    if (!shown_) return;
    wrote_ = true;
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
}

}  // namespace pollux::app
