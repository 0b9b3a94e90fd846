// `pollux login`, `pollux logout`, `pollux user bootstrap`: how a person gets a token of their own.
// Passwords and tokens are typed or piped, never arguments.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "app/account_commands.hpp"
#include "app/commands.hpp"
#include "app/prompt.hpp"
#include "app/token_file.hpp"
#include "base/time.hpp"
#include "document/write.hpp"
#include "net/event_loop.hpp"

namespace pollux::app {
namespace {

using document::Node;

struct LoginArguments {
    ApiOptions connection;
    std::string name;
    int days = 30;
};

// Of letters that names of tokens may have.
std::string clean(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        if (fine && out.size() < 16) out += c;
    }
    return out.empty() ? "x" : out;
}

// "cli-ada-desk-20260102030405678": by whom, where, when.
std::string token_name(const std::string& user, base::WallTime now) {
    char host[256] = {};
    gethostname(host, sizeof(host) - 1);
    std::string when = base::format_utc(now);
    std::erase_if(when, [](char c) { return c < '0' || c > '9'; });
    return fmt::format("cli-{}-{}-{}", clean(user), clean(host), when);
}

std::string where_to_store(const ApiOptions& options) {
    return options.token_file.empty() ? default_token_file() : options.token_file;
}

base::Result<int> log_in(const ApiClient& client, const LoginArguments& arguments,
                         const std::string& path) {
    if (client.url().starts_with("http://") && !client.url().starts_with("http://127.") &&
        !client.url().starts_with("http://localhost") &&
        !client.url().starts_with("http://[::1]")) {
        fmt::print(stderr,
                   "pollux: warning: {} is not encrypted: others on the way see the "
                   "password\n",
                   client.url());
    }
    const std::string name = arguments.name.empty() ? ask_line("name") : arguments.name;
    const base::Secret password = ask_secret("password");
    if (name.empty() || password.empty()) {
        return std::unexpected(
            usage_error("a name and a password are needed: type them, or pipe "
                        "them line by line"));
    }
    const auto session = open_session(client, name, password);
    if (!session) return std::unexpected(session.error());
    const base::WallTime now = net::wall_now();
    StoredToken stored;
    stored.url = client.url();
    stored.name = token_name(name, now);
    Node body = Node::map();
    const base::WallTime expires = now + std::chrono::hours(24) * arguments.days;
    body.set("name", Node::text(stored.name));
    body.set("expires", Node::text(base::format_utc(expires)));
    const auto made = client.ask({.method = "POST",
                                  .path = "/api/tokens",
                                  .body = document::to_json(body),
                                  .headers = *session});
    base::Status done;
    if (made) {
        const auto answer = parse_answer(made->body);
        if (!answer) return std::unexpected(answer.error());
        stored.token = base::Secret(field(*answer, "secret"));
        // The one before is of no use any more.
        const auto old = read_token_file(path);
        done = write_token_file(path, stored);
        const bool same = old && *old && (*old)->url == stored.url && !(*old)->name.empty();
        const std::string& gone = !done ? stored.name : same ? (*old)->name : std::string();
        if (!gone.empty()) {
            (void)client.ask({.method = "DELETE",
                              .path = "/api/tokens/" + url_escaped(gone),
                              .headers = *session});
        }
    } else {
        done = std::unexpected(made.error());
    }
    close_session(client, *session);
    if (!done) return std::unexpected(done.error());
    fmt::print("logged in to {} as {} until {}; the token {} is in {}\n", client.url(),
               printable(name), short_time(base::format_utc(expires)), stored.name, path);
    return 0;
}

int login(const LoginArguments& arguments) {
    const std::string path = where_to_store(arguments.connection);
    if (path.empty()) {
        return complain_api(
            usage_error("there is no home folder: say where the token shall be "
                        "with --token-file"));
    }
    const auto client = ApiClient::without_token(arguments.connection);
    if (!client) return complain_api(client.error());
    const auto status = log_in(*client, arguments, path);
    return status ? *status : complain_api(status.error());
}

int logout(const LoginArguments& arguments) {
    const std::string path = where_to_store(arguments.connection);
    const auto stored = read_token_file(path);
    if (!stored) return complain_api(stored.error());
    if (!*stored) {
        fmt::print("not logged in: there is no {}\n", path);
        return 0;
    }
    ApiOptions connection = arguments.connection;
    if (!(*stored)->url.empty()) connection.url = (*stored)->url;
    connection.token_file = path;
    const int status = with_api(connection, [&](const ApiClient& client) -> base::Result<int> {
        if ((*stored)->name.empty()) return 0;
        const auto reply =
            client.ask({.method = "DELETE", .path = "/api/tokens/" + url_escaped((*stored)->name)});
        if (!reply) return std::unexpected(reply.error());
        return 0;
    });
    if (unlink(path.c_str()) != 0) {
        return complain_api({"client.token_file", base::ErrorClass::kConfig,
                             fmt::format("cannot remove {}", path)});
    }
    fmt::print("{}\n", status == 0 ? "logged out: the token is revoked and its file is gone"
                                   : "the file of the token is gone; the token could not be "
                                     "revoked");
    return status;
}

base::Result<int> make_admin(const ApiClient& client, const LoginArguments& arguments) {
    const base::Secret token = ask_secret("one-time token that the server printed");
    const auto password = ask_new_password();
    if (!password) return std::unexpected(password.error());
    if (token.empty()) {
        return std::unexpected(
            usage_error("the one-time token is needed: type it, or pipe "
                        "token and password line by line"));
    }
    Node body = Node::map();
    body.set("token", Node::text(token.reveal())).set("name", Node::text(arguments.name));
    body.set("password", Node::text(password->reveal()));
    const auto reply =
        client.ask({.method = "POST", .path = "/api/bootstrap", .body = document::to_json(body)});
    if (!reply) return std::unexpected(reply.error());
    fmt::print("{} is the first admin; next: pollux login --name {}\n", printable(arguments.name),
               printable(arguments.name));
    return 0;
}

int bootstrap(const LoginArguments& arguments) {
    const auto client = ApiClient::without_token(arguments.connection);
    if (!client) return complain_api(client.error());
    const auto status = make_admin(*client, arguments);
    return status ? *status : complain_api(status.error());
}

}  // namespace

base::Result<Proof> open_session(const ApiClient& client, const std::string& name,
                                 const base::Secret& password) {
    Node body = Node::map();
    body.set("name", Node::text(name)).set("password", Node::text(password.reveal()));
    const auto reply =
        client.ask({.method = "POST", .path = "/api/login", .body = document::to_json(body)});
    if (!reply) return std::unexpected(reply.error());
    const auto answer = parse_answer(reply->body);
    if (!answer) return std::unexpected(answer.error());
    return Proof{{"Cookie", reply->cookie}, {"X-CSRF-Token", field(*answer, "csrf_token")}};
}

void close_session(const ApiClient& client, const Proof& proof) {
    // It ends by itself in the worst case.
    (void)client.ask({.method = "POST", .path = "/api/logout", .headers = proof});
}

base::Result<base::Secret> ask_new_password() {
    base::Secret password = ask_secret("new password");
    if (password.empty()) return std::unexpected(usage_error("a password is needed"));
    if (asks_a_person() && ask_secret("once more") != password) {
        return std::unexpected(usage_error("the two passwords differ"));
    }
    return password;
}

void add_bootstrap(CLI::App& user, int& status) {
    auto arguments = std::make_shared<LoginArguments>();
    auto* command = user.add_subcommand(
        "bootstrap", "Make the first admin, with the one-time token that the server printed.");
    add_connection_options(*command, arguments->connection);
    command->add_option("--name", arguments->name, "Name of the admin")->required();
    command->callback([arguments, &status] { status = bootstrap(*arguments); });
}

void add_login(CLI::App& app, int& status) {
    auto arguments = std::make_shared<LoginArguments>();
    auto* in = app.add_subcommand(
        "login", "Ask for name and password, and keep an API token for later commands.");
    add_connection_options(*in, arguments->connection);
    in->add_option("--name", arguments->name, "Name of the user; asked for unless given");
    in->add_option("--days", arguments->days, "How long the token is valid")
        ->check(CLI::Range(1, 3650))
        ->capture_default_str();
    in->callback([arguments, &status] { status = login(*arguments); });
    auto* out = app.add_subcommand("logout", "Revoke the token of `pollux login`, forget it.");
    arguments = std::make_shared<LoginArguments>();
    add_connection_options(*out, arguments->connection);
    out->callback([arguments, &status] { status = logout(*arguments); });
}

}  // namespace pollux::app
