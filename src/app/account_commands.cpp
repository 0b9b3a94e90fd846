// `pollux user` and `pollux token`: who may use the API, through the API.
#include "app/account_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "app/commands.hpp"
#include "app/prompt.hpp"
#include "base/time.hpp"
#include "document/write.hpp"
#include "net/event_loop.hpp"

namespace pollux::app {
namespace {

using document::Node;

struct AccountArguments : ApiArguments {
    std::string name;
    std::string display;
    std::vector<std::string> grants;  // role, or role:selector
    std::vector<std::string> scopes;
    std::string owner;
    std::string expires;
    std::string session;
    int days = 0;
    bool no_password = false;
    bool enable = false;
    bool disable = false;
    bool end_all = false;
};

std::string user_path(const std::string& name) { return "/api/users/" + url_escaped(name); }

// "operator:site=berlin" as {"role": "operator", "selector": "site=berlin"}.
Node grants_of(const std::vector<std::string>& texts) {
    Node grants = Node::sequence();
    for (const std::string& text : texts) {
        const std::size_t colon = text.find(':');
        Node grant = Node::map();
        grant.set("role", Node::text(text.substr(0, colon)));
        if (colon != std::string::npos) grant.set("selector", Node::text(text.substr(colon + 1)));
        grants.push(std::move(grant));
    }
    return grants;
}

std::string words_of_grants(const Node& node) {
    std::string words;
    for (const Node& grant : list_of(node, "grants")) {
        const std::string selector = field(grant, "selector");
        words += fmt::format("{}{}{}{}", words.empty() ? "" : ", ", field(grant, "role"),
                             selector.empty() ? "" : ":", selector);
    }
    return words;
}

std::string words_of_list(const Node& node, std::string_view name) {
    std::string words;
    for (const Node& one : list_of(node, name)) words += (words.empty() ? "" : ", ") + one.scalar();
    return words;
}

// Sends, then prints the answer, or `done` for people and for answers without a body.
base::Result<int> act(const ApiClient& client, const AccountArguments& arguments,
                      const ApiRequest& request, const std::string& done) {
    const auto reply = client.ask(request);
    if (!reply) return std::unexpected(reply.error());
    if (arguments.output == "table" || reply->body.empty()) {
        print_done(arguments.output, done);
        return 0;
    }
    const auto answer = parse_answer(reply->body);
    if (!answer) return std::unexpected(answer.error());
    print_answer(arguments.output, *answer, [] { return std::string(); });
    return 0;
}

base::Result<int> list_users(const ApiClient& client, const AccountArguments& arguments) {
    const auto all = get_all(client, "/api/users");
    if (!all) return std::unexpected(all.error());
    print_answer(arguments.output, *all, [&] {
        Table table({"NAME", "GRANTS", "STATE", "PASSWORD", "CREATED (UTC)", "ORIGIN", "VERSION",
                     "DISPLAY"});
        for (const Node& one : list_of(*all, "items")) {
            table.add({field(one, "name"), words_of_grants(one),
                       field(one, "disabled") == "true" ? "disabled" : "enabled",
                       field(one, "has_password") == "true" ? "yes" : "no",
                       short_time(field(one, "created")), field(one, "origin"),
                       field(one, "version"), field(one, "display")});
        }
        return table.text(wants_colour());
    });
    return 0;
}

base::Result<int> add_user(const ApiClient& client, const AccountArguments& arguments) {
    Node body = Node::map();
    body.set("name", Node::text(arguments.name));
    if (!arguments.display.empty()) body.set("display", Node::text(arguments.display));
    body.set("grants", grants_of(arguments.grants));
    if (!arguments.no_password) {
        const auto password = ask_new_password();
        if (!password) return std::unexpected(password.error());
        body.set("password", Node::text(password->reveal()));
    }
    return act(client, arguments,
               {.method = "POST", .path = "/api/users", .body = document::to_json(body)},
               fmt::format("user {} added", arguments.name));
}

base::Result<int> set_user(const ApiClient& client, const AccountArguments& arguments) {
    Node body = Node::map();
    if (!arguments.display.empty()) body.set("display", Node::text(arguments.display));
    if (!arguments.grants.empty()) body.set("grants", grants_of(arguments.grants));
    if (arguments.enable || arguments.disable) {
        body.set("disabled", Node::boolean(arguments.disable));
    }
    if (body.entries().empty()) {
        return std::unexpected(
            usage_error("nothing to change: use --grant, --display, --enable or --disable"));
    }
    const auto before = client.ask({.path = user_path(arguments.name)});
    if (!before) return std::unexpected(before.error());
    return act(client, arguments,
               {.method = "PUT",
                .path = user_path(arguments.name),
                .body = document::to_json(body),
                .headers = {{"If-Match", before->etag}}},
               fmt::format("user {} changed", arguments.name));
}

base::Result<int> remove_user(const ApiClient& client, const AccountArguments& arguments) {
    return act(client, arguments, {.method = "DELETE", .path = user_path(arguments.name)},
               fmt::format("user {} removed, with all tokens and sessions", arguments.name));
}

// Only a session may change it: a token that was stolen must not.
base::Result<int> change_own_password(const ApiClient& client, const AccountArguments& arguments) {
    const auto me = client.get("/api/me");
    if (!me) return std::unexpected(me.error());
    std::string name = field(*me, "owner");
    if (name.empty()) name = field(*me, "name");
    const base::Secret old_password = ask_secret("old password");
    const auto password = ask_new_password();
    if (!password) return std::unexpected(password.error());
    const auto nobody = ApiClient::without_token(arguments.connection);
    if (!nobody) return std::unexpected(nobody.error());
    const auto session = open_session(*nobody, name, old_password);
    if (!session) return std::unexpected(session.error());
    Node body = Node::map();
    body.set("old_password", Node::text(old_password.reveal()));
    body.set("password", Node::text(password->reveal()));
    auto done = act(*nobody, arguments,
                    {.method = "POST",
                     .path = "/api/me/password",
                     .body = document::to_json(body),
                     .headers = *session},
                    "your password is changed");
    close_session(*nobody, *session);
    return done;
}

base::Result<int> change_password(const ApiClient& client, const AccountArguments& arguments) {
    if (arguments.name.empty()) return change_own_password(client, arguments);
    const auto password = ask_new_password();
    if (!password) return std::unexpected(password.error());
    Node body = Node::map();
    body.set("password", Node::text(password->reveal()));
    return act(
        client, arguments,
        {.method = "PUT", .path = user_path(arguments.name), .body = document::to_json(body)},
        fmt::format("the password of {} is changed", arguments.name));
}

base::Result<int> sessions(const ApiClient& client, const AccountArguments& arguments) {
    const std::string path = user_path(arguments.name) + "/sessions";
    if (arguments.end_all || !arguments.session.empty()) {
        return act(client, arguments,
                   {.method = "DELETE", .path = with_query(path, {{"id", arguments.session}})},
                   arguments.end_all ? "all sessions ended" : "session ended");
    }
    const auto all = client.get(path);
    if (!all) return std::unexpected(all.error());
    print_answer(arguments.output, *all, [&] {
        Table table({"ID", "CREATED (UTC)", "LAST SEEN (UTC)", "ENDS (UTC)", "ADDRESS", "AGENT"});
        for (const Node& one : list_of(*all, "items")) {
            table.add({field(one, "id"), short_time(field(one, "created")),
                       short_time(field(one, "last_seen")), short_time(field(one, "ends")),
                       field(one, "address"), field(one, "agent")});
        }
        return table.empty() ? "no sessions\n" : table.text(wants_colour());
    });
    return 0;
}

base::Result<int> list_tokens(const ApiClient& client, const AccountArguments& arguments) {
    const auto all = get_all(client, with_query("/api/tokens", {{"owner", arguments.owner}}));
    if (!all) return std::unexpected(all.error());
    print_answer(arguments.output, *all, [&] {
        Table table({"NAME", "OWNER", "SCOPES", "GRANTS", "EXPIRES (UTC)", "LAST USED (UTC)",
                     "ORIGIN", "VERSION"});
        for (const Node& one : list_of(*all, "items")) {
            const std::string scopes = words_of_list(one, "scopes");
            table.add({field(one, "name"), field(one, "owner"), scopes.empty() ? "all" : scopes,
                       words_of_grants(one),
                       field(one, "expired") == "true"
                           ? "expired"
                           : (field(one, "expires").empty() ? "never"
                                                            : short_time(field(one, "expires"))),
                       short_time(field(one, "last_used")), field(one, "origin"),
                       field(one, "version")});
        }
        return table.empty() ? "no tokens\n" : table.text(wants_colour());
    });
    return 0;
}

base::Result<int> add_token(const ApiClient& client, const AccountArguments& arguments) {
    Node body = Node::map();
    body.set("name", Node::text(arguments.name));
    if (!arguments.owner.empty()) body.set("owner", Node::text(arguments.owner));
    if (!arguments.scopes.empty()) {
        Node scopes = Node::sequence();
        for (const std::string& scope : arguments.scopes) scopes.push(Node::text(scope));
        body.set("scopes", std::move(scopes));
    }
    if (!arguments.grants.empty()) body.set("grants", grants_of(arguments.grants));
    std::string expires = arguments.expires;
    if (arguments.days > 0) {
        expires = base::format_utc(net::wall_now() + std::chrono::hours(24) * arguments.days);
    }
    if (!expires.empty()) body.set("expires", Node::text(expires));
    const auto reply =
        client.ask({.method = "POST", .path = "/api/tokens", .body = document::to_json(body)});
    if (!reply) return std::unexpected(reply.error());
    const auto answer = parse_answer(reply->body);
    if (!answer) return std::unexpected(answer.error());
    print_answer(arguments.output, *answer, [&] { return field(*answer, "secret") + "\n"; });
    fmt::print(stderr, "this is shown once: keep it now\n");
    return 0;
}

base::Result<int> remove_token(const ApiClient& client, const AccountArguments& arguments) {
    return act(client, arguments,
               {.method = "DELETE", .path = "/api/tokens/" + url_escaped(arguments.name)},
               fmt::format("token {} revoked", arguments.name));
}

using Act = base::Result<int> (*)(const ApiClient& client, const AccountArguments& arguments);

struct Added {
    CLI::App* command;
    std::shared_ptr<AccountArguments> arguments;
};

Added add_act(CLI::App& parent, std::string name, std::string summary, int& status, Act function,
              const char* named) {
    auto arguments = std::make_shared<AccountArguments>();
    auto* command = parent.add_subcommand(std::move(name), std::move(summary));
    add_connection_options(*command, arguments->connection);
    add_output_option(*command, arguments->output);
    if (named != nullptr) command->add_option("name", arguments->name, named)->required();
    command->callback([arguments, &status, function] {
        status = with_api(arguments->connection,
                          [&](const ApiClient& client) { return function(client, *arguments); });
    });
    return {command, arguments};
}

void add_grants(const Added& to, const char* help) {
    to.command->add_option("--grant", to.arguments->grants, help);
}

constexpr const char* kGrantHelp =
    "viewer, operator, admin or auditor; operator:site=berlin for a part; may be repeated";

}  // namespace

void add_accounts(CLI::App& app, int& status) {
    auto* user = app.add_subcommand("user", "Users of the API.");
    user->require_subcommand(1);
    add_bootstrap(*user, status);
    add_act(*user, "ls", "All users.", status, &list_users, nullptr);
    auto added = add_act(*user, "add", "Add a user; the password is asked for.", status, &add_user,
                         "Its name");
    add_grants(added, kGrantHelp);
    added.command->get_option("--grant")->required();
    added.command->add_option("--display", added.arguments->display, "Name for people");
    added.command->add_flag("--no-password", added.arguments->no_password,
                            "It can own tokens, but not log in");
    added = add_act(*user, "set", "Change a user.", status, &set_user, "Its name");
    add_grants(added, "Its grants from now on; as for `user add`");
    added.command->add_option("--display", added.arguments->display, "Name for people");
    auto* off = added.command->add_flag("--disable", added.arguments->disable, "No login any more");
    added.command->add_flag("--enable", added.arguments->enable, "Login again")->excludes(off);
    add_act(*user, "rm", "Remove a user with all tokens and sessions.", status, &remove_user,
            "Its name");
    added = add_act(*user, "passwd", "Change your password, or that of a user as an admin.", status,
                    &change_password, nullptr);
    added.command->add_option("name", added.arguments->name, "The user; yourself unless given");
    added =
        add_act(*user, "sessions", "Sessions of a user; end them.", status, &sessions, "The user");
    auto* one = added.command->add_option("--end", added.arguments->session, "End this session");
    added.command->add_flag("--end-all", added.arguments->end_all, "End all of them")
        ->excludes(one);

    auto* token = app.add_subcommand("token", "API tokens.");
    token->require_subcommand(1);
    added = add_act(*token, "ls", "Your tokens; as an admin all.", status, &list_tokens, nullptr);
    added.command->add_option("--owner", added.arguments->owner, "Only of this user");
    added =
        add_act(*token, "add", "Make a token and show it once.", status, &add_token, "Its name");
    added.command->alias("create");
    added.command->add_option("--scope", added.arguments->scopes,
                              "Such as monitoring:read; may be repeated; all unless given");
    add_grants(added, "Limits the token further; as for `user add`");
    added.command->add_option("--owner", added.arguments->owner, "The user it belongs to");
    auto* days = added.command->add_option("--days", added.arguments->days, "Valid so long")
                     ->check(CLI::Range(1, 3650));
    added.command->add_option("--expires", added.arguments->expires, "2027-01-31T00:00:00Z")
        ->excludes(days);
    add_act(*token, "rm", "Revoke a token.", status, &remove_token, "Its name");
}

}  // namespace pollux::app
