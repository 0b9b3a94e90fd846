#include "api/account_handlers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "access/credential_rules.hpp"
#include "api/account_errors.hpp"
#include "api/account_pages.hpp"
#include "api/etag.hpp"
#include "api/http_credentials.hpp"
#include "api/paging.hpp"
#include "document/json_writer.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

using document::Diagnostics;
using document::JsonWriter;
using document::MapReader;
using document::Need;

struct CodeStatus {
    std::string_view code;
    int status;
};

constexpr std::array<CodeStatus, 11> kStatuses = {{
    {kLastAdmin, 409},
    {kNoUser, 404},
    {kNoToken, 404},
    {kNoSession, 404},
    {kExists, 409},
    {kChanged, 412},
    {kForbidden, 403},
    {kLoginFailed, 401},
    {kLocked, 429},
    {"access.bootstrap", 401},
    {"access.escalation", 403},
}};

// Reads the body with `take`; answers the call itself when there are mistakes.
template <class Take>
bool read_body(Call& call, const Take& take) {
    Diagnostics diagnostics;
    const auto parsed = document::parse_json(call.request.body, "body", diagnostics);
    if (!parsed.ok) {
        // Where, but not what: a password may stand there.
        const auto& items = diagnostics.items();
        call.problem(bad_request(
            "api.unreadable",
            items.empty() ? std::string("the body is not valid JSON")
                          : fmt::format("the body is not valid JSON: see line {}, column {}",
                                        items[0].line, items[0].column)));
        return false;
    }
    MapReader reader(parsed.root, "", diagnostics);
    take(reader, diagnostics);
    reader.finish();
    if (diagnostics.ok()) return true;
    call.problem(problem_of(diagnostics));
    return false;
}

std::optional<base::Secret> secret(MapReader& reader, std::string_view key,
                                   Need need = Need::kRequired) {
    auto text = reader.string(key, need);
    if (!text) return std::nullopt;
    return base::Secret(std::move(*text));
}

std::optional<std::vector<access::Grant>> grants(MapReader& reader, Diagnostics& diagnostics) {
    const document::Node* list = reader.list("grants");
    if (list == nullptr) return std::nullopt;
    return read_grants(*list, reader.path_of("grants"), diagnostics);
}

// Answers with what `write` makes of the result, or with its error.
template <class Write>
auto answer(Call call, Write write) {
    return [call = std::move(call), write = std::move(write)](auto result) mutable {
        if (!result) return call.problem(account_problem(result.error()));
        write(std::move(call), std::move(result));
    };
}

// A role on a part of the fleet is none on accounts, which have no labels.
bool manages(const access::Principal& principal) {
    return access::may_everywhere(principal, access::Permission::kManage, access::Area::kAccess);
}

auto only_admins() { return forbidden("accounts of others are for admins of everything"); }

net::Response with_tag(int status, const User& user) {
    net::Response response = net::Response::json(status, user_page(user));
    response.with("ETag", etag_of(user.head.version));
    return response;
}

// One page of a table that is sorted by name.
template <class Table, class Show, class Write>
void answer_page(Call call, const Table& table, const Show& show, const Write& write) {
    const auto page = Page::read(call);
    if (!page) return call.problem(page.error());
    std::string body;
    JsonWriter json(body);
    json.object().key("items").array();
    std::size_t count = 0;
    std::string last;
    bool more = false;
    for (auto one = table.upper_bound(page->after); one != table.end(); ++one) {
        if (!show(one->second)) continue;
        more = count == page->limit;
        if (more) break;
        write(json, one->second);
        last = one->first;
        ++count;
    }
    json.end_array();
    page->write_next(json, more, last);
    json.end_object();
    call.json(200, std::move(body));
}

}  // namespace

Problem account_problem(const base::Error& error) {
    Problem problem = problem_of(error);
    for (const CodeStatus& one : kStatuses) {
        if (one.code == error.code) problem.status = one.status;
    }
    if (problem.status == 401) {
        problem.headers.push_back({"WWW-Authenticate", "Bearer realm=\"pollux\""});
    }
    return problem;
}

Problem account_problem(const LoginRefusal& refusal) {
    Problem problem = account_problem(refusal.error);
    if (refusal.retry_after > base::Duration::zero()) {
        const auto seconds = (base::ceil_ms(refusal.retry_after) + 999) / 1000;
        problem.headers.push_back({"Retry-After", std::to_string(seconds)});
    }
    return problem;
}

Actor AccountHandlers::actor(const Call& call) const {
    Actor actor{.principal = call.principal, .request_id = call.request_id};
    // On an open route nobody has looked behind the proxy yet.
    if (call.principal.anonymous()) {
        actor.principal.address = authenticator_.client(call.request).address.to_string();
    }
    return actor;
}

// --- in and out
// -----------------------------------------------------------------------------------

void AccountHandlers::bootstrap(Call call) {
    std::optional<base::Secret> token;
    NewUser user;
    if (!read_body(call, [&](MapReader& reader, Diagnostics&) {
            token = secret(reader, "token");
            user.name = reader.string("name", Need::kRequired).value_or("");
            user.display = reader.string("display").value_or("");
            user.password = secret(reader, "password");
        })) {
        return;
    }
    Actor who = actor(call);
    accounts_.bootstrap(
        *token, std::move(user), std::move(who),
        answer(std::move(call), [](Call done, auto made) { done.send(with_tag(201, *made)); }));
}

void AccountHandlers::login(Call call) {
    LoginAttempt attempt;
    if (!read_body(call, [&](MapReader& reader, Diagnostics&) {
            attempt.user = reader.string("name", Need::kRequired).value_or("");
            attempt.password = secret(reader, "password").value_or(base::Secret());
            attempt.remember = reader.boolean("remember").value_or(false);
        })) {
        return;
    }
    const Client client = authenticator_.client(call.request);
    attempt.address = client.address.to_string();
    attempt.address_key = limit_key(client.address);
    attempt.agent = call.request.header("user-agent").value_or("");
    attempt.request_id = call.request_id;
    const base::Duration remembered = accounts_.session_limits().remembered;
    auto done = [this, secure = client.secure, remembered](Call open, auto logged_in) {
        const std::string& cookie = logged_in->secret.reveal();
        const Session& session = logged_in->session;
        const std::optional<base::Duration> age =
            session.remember ? std::optional(remembered) : std::nullopt;
        std::string body;
        JsonWriter json(body);
        json.object().key("user");
        // Removed in the moment between: the session is gone with it.
        if (const User* user = accounts_.book().user(session.user)) {
            write_user(json, *user);
        } else {
            json.null();
        }
        json.field("csrf_token", access::csrf_token(cookie)).time_field("ends", logged_in->ends);
        json.end_object();
        net::Response response = net::Response::json(200, std::move(body));
        response.with("Set-Cookie", session_cookie(secure, cookie, age));
        response.with("Cache-Control", "no-store");
        open.send(std::move(response));
    };
    accounts_.login(std::move(attempt), answer(std::move(call), std::move(done)));
}

void AccountHandlers::logout(Call call) {
    const bool secure = authenticator_.client(call.request).secure;
    Actor who = actor(call);
    accounts_.logout(std::move(who), answer(std::move(call), [secure](Call done, auto) {
                         net::Response response{.status = 204, .headers = {}, .body = {}};
                         response.with("Set-Cookie", no_session_cookie(secure));
                         done.send(std::move(response));
                     }));
}

void AccountHandlers::me(Call call) {
    std::string body;
    JsonWriter json(body);
    write_principal(json, call.principal);
    net::Response response = net::Response::json(200, std::move(body));
    response.with("Cache-Control", "no-store");
    call.send(std::move(response));
}

void AccountHandlers::change_password(Call call) {
    std::optional<base::Secret> old_password;
    std::optional<base::Secret> password;
    if (!read_body(call, [&](MapReader& reader, Diagnostics&) {
            old_password = secret(reader, "old_password");
            password = secret(reader, "password");
        })) {
        return;
    }
    Actor who = actor(call);
    std::string address = limit_key(authenticator_.client(call.request).address);
    accounts_.change_own_password(std::move(who), std::move(*old_password), std::move(*password),
                                  std::move(address), answer(std::move(call), [](Call done, auto) {
                                      done.send({.status = 204, .headers = {}, .body = {}});
                                  }));
}

// --- users
// ----------------------------------------------------------------------------------------

void AccountHandlers::list_users(Call call) {
    if (!manages(call.principal)) return call.problem(account_problem(only_admins().error()));
    const std::string text(call.query.text_or("q", ""));
    const auto role = access::parse_role(call.query.text_or("role", ""));
    const auto disabled = call.query.flag("disabled");
    answer_page(
        std::move(call), accounts_.book().users(),
        [&](const User& user) {
            const bool named =
                text_matches(user.head.name, text) || text_matches(user.display, text);
            const bool has_role =
                !role || std::ranges::any_of(user.grants, [&](const access::Grant& grant) {
                    return grant.role == *role;
                });
            return named && has_role && (!disabled || user.disabled == *disabled);
        },
        [](JsonWriter& json, const User& user) { write_user(json, user); });
}

void AccountHandlers::create_user(Call call) {
    NewUser user;
    if (!read_body(call, [&](MapReader& reader, Diagnostics& diagnostics) {
            user.name = reader.string("name", Need::kRequired).value_or("");
            user.display = reader.string("display").value_or("");
            user.password = secret(reader, "password", Need::kOptional);
            user.grants = grants(reader, diagnostics).value_or(std::vector<access::Grant>());
        })) {
        return;
    }
    Actor who = actor(call);
    accounts_.create_user(std::move(who), std::move(user),
                          answer(std::move(call), [](Call done, auto made) {
                              net::Response response = with_tag(201, *made);
                              response.with("Location", "/api/users/" + made->head.name);
                              done.send(std::move(response));
                          }));
}

void AccountHandlers::show_user(Call call) {
    if (!manages(call.principal)) return call.problem(account_problem(only_admins().error()));
    const auto name = access::normal_user_name(call.parameter("name"));
    const User* user = name ? accounts_.book().user(*name) : nullptr;
    if (user == nullptr)
        return call.problem(account_problem(no_user(call.parameter("name")).error()));
    call.send(with_tag(200, *user));
}

// The version of the user that If-Match names, to be the same when it is its turn; nothing: any.
std::expected<std::optional<std::uint64_t>, Problem> AccountHandlers::seen_version(
    const Call& call) const {
    const auto normal = access::normal_user_name(call.parameter("name"));
    const User* now = normal ? accounts_.book().user(*normal) : nullptr;
    if (now == nullptr || !call.request.header("If-Match")) return std::nullopt;
    if (auto problem = check_if_match(call, etag_of(now->head.version))) {
        return std::unexpected(std::move(*problem));
    }
    return now->head.version;
}

void AccountHandlers::change_user(Call call) {
    UserEdit edit;
    if (!read_body(call, [&](MapReader& reader, Diagnostics& diagnostics) {
            edit.display = reader.string("display");
            edit.password = secret(reader, "password", Need::kOptional);
            edit.grants = grants(reader, diagnostics);
            edit.disabled = reader.boolean("disabled");
        })) {
        return;
    }
    const auto version = seen_version(call);
    if (!version) return call.problem(version.error());
    edit.version = *version;
    Actor who = actor(call);
    std::string name(call.parameter("name"));
    accounts_.change_user(
        std::move(who), std::move(name), std::move(edit),
        answer(std::move(call), [](Call done, auto user) { done.send(with_tag(200, *user)); }));
}

void AccountHandlers::remove_user(Call call) {
    const auto version = seen_version(call);
    if (!version) return call.problem(version.error());
    Actor who = actor(call);
    std::string name(call.parameter("name"));
    accounts_.remove_user(std::move(who), std::move(name), *version,
                          answer(std::move(call), [](Call done, auto) {
                              done.send({.status = 204, .headers = {}, .body = {}});
                          }));
}

void AccountHandlers::list_sessions(Call call) {
    const auto name = access::normal_user_name(call.parameter("name"));
    const bool own = name && call.principal.kind == "user" && *name == call.principal.name;
    if (!own && !manages(call.principal)) {
        return call.problem(account_problem(only_admins().error()));
    }
    if (!name || accounts_.book().user(*name) == nullptr) {
        return call.problem(account_problem(no_user(call.parameter("name")).error()));
    }
    std::string body;
    JsonWriter json(body);
    json.object().key("items").array();
    for (const Session& session : accounts_.book().sessions_of(*name)) {
        const base::WallTime ends = access::session_end(accounts_.session_limits(), session.created,
                                                        session.last_seen, session.remember);
        write_session(json, session, ends, session.head.id == call.principal.session_id);
    }
    json.end_array().end_object();
    call.json(200, std::move(body));
}

void AccountHandlers::end_sessions(Call call) {
    std::optional<std::string> id;
    if (const auto text = call.query.text("id")) id = *text;
    Actor who = actor(call);
    std::string name(call.parameter("name"));
    accounts_.end_sessions(std::move(who), std::move(name), std::move(id),
                           answer(std::move(call), [](Call done, auto ended) {
                               std::string body;
                               JsonWriter json(body);
                               json.object().field("ended", *ended).end_object();
                               done.json(200, std::move(body));
                           }));
}

// --- tokens
// ---------------------------------------------------------------------------------------

void AccountHandlers::list_tokens(Call call) {
    const bool all = manages(call.principal);
    const std::string self = call.principal.owner;
    const std::string owner(call.query.text_or("owner", ""));
    const base::WallTime now = accounts_.now();
    answer_page(
        std::move(call), accounts_.book().tokens(),
        [&](const Token& token) {
            return (all || token.owner == self) && (owner.empty() || token.owner == owner);
        },
        [&](JsonWriter& json, const Token& token) { write_token(json, token, now); });
}

void AccountHandlers::create_token(Call call) {
    NewToken token;
    if (!read_body(call, [&](MapReader& reader, Diagnostics& diagnostics) {
            token.name = reader.string("name", Need::kRequired).value_or("");
            token.owner = reader.string("owner").value_or("");
            token.scopes = reader.strings("scopes");
            token.grants = grants(reader, diagnostics);
            if (const auto text = reader.string("expires")) {
                const auto time = base::parse_utc(*text);
                if (!time) reader.error("expires", "no time as in RFC 3339: 2027-01-31T00:00:00Z");
                token.expires = time.value_or(base::WallTime{});
            }
        })) {
        return;
    }
    Actor who = actor(call);
    accounts_.create_token(std::move(who), std::move(token),
                           answer(std::move(call), [this](Call done, auto made) {
                               std::string body;
                               JsonWriter json(body);
                               json.object().field("secret", made->secret.reveal()).key("token");
                               write_token(json, made->token, accounts_.now());
                               json.end_object();
                               net::Response response = net::Response::json(201, std::move(body));
                               response.with("Cache-Control", "no-store");
                               done.send(std::move(response));
                           }));
}

void AccountHandlers::revoke_token(Call call) {
    Actor who = actor(call);
    std::string name(call.parameter("name"));
    accounts_.revoke_token(std::move(who), std::move(name),
                           answer(std::move(call), [](Call done, auto) {
                               done.send({.status = 204, .headers = {}, .body = {}});
                           }));
}

}  // namespace pollux::api
