// The table of the routes of accounts.
#include <algorithm>
#include <iterator>

#include "api/account_handlers.hpp"

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using access::RateClass;

constexpr std::string_view kTag = "access";

constexpr std::string_view kUser = R"("$User")";

constexpr std::string_view kNewUserSchema =
    R"({"type":"object","required":["name"],"additionalProperties":false,"properties":{)"
    R"("name":{"type":"string","pattern":"^[a-zA-Z0-9._@-]{1,64}$"},)"
    R"("display":{"type":"string"},"password":{"type":"string","minLength":10,"maxLength":1024},)"
    R"("grants":{"type":"array","items":{"type":"object","required":["role"],)"
    R"("additionalProperties":false,"properties":{"role":{"type":"string"},)"
    R"("selector":{"type":"string"}}}}}})";

constexpr std::string_view kUserEditSchema =
    R"({"type":"object","additionalProperties":false,"properties":{"display":{"type":"string"},)"
    R"("password":{"type":"string","minLength":10,"maxLength":1024},)"
    R"("disabled":{"type":"boolean"},"grants":{"type":"array","items":{"type":"object","required":["role"],)"
    R"("additionalProperties":false,"properties":{"role":{"type":"string"},)"
    R"("selector":{"type":"string"}}}}}})";

constexpr std::string_view kNewTokenSchema =
    R"({"type":"object","required":["name"],"additionalProperties":false,"properties":{)"
    R"("name":{"type":"string","pattern":"^[a-zA-Z0-9._-]{1,64}$"},"owner":{"type":"string"},)"
    R"("scopes":{"type":"array","items":{"type":"string"}},"grants":{"type":"array","items":{"type":"object","required":["role"],)"
    R"("additionalProperties":false,"properties":{"role":{"type":"string"},)"
    R"("selector":{"type":"string"}}}},)"
    R"("expires":{"type":"string","format":"date-time"}}})";

// A row of the table; what is particular is set on it.
Route row(std::string_view method, std::string_view path, Permission permission, Area area,
          RateClass rate, std::string_view operation, std::string_view summary) {
    Route route{.method = method, .path = path};
    route.permission = permission;
    route.area = area;
    route.rate = rate;
    route.operation = operation;
    route.tag = kTag;
    route.summary = summary;
    return route;
}

template <class Handlers>
Handler bind(Handlers* handlers, void (Handlers::*handle)(Call)) {
    return [handlers, handle](Call call) { (handlers->*handle)(std::move(call)); };
}

std::vector<Route> login_routes(AccountHandlers* handlers) {
    std::vector<Route> routes;
    Route route = row("POST", "/api/bootstrap", Permission::kSelf, Area::kAccess, RateClass::kAuth,
                      "bootstrap", "Make the first admin with the token the server printed");
    route.open = true;
    route.status = 201;
    route.request_schema =
        R"({"type":"object","required":["token","name","password"],"additionalProperties":false,)"
        R"("properties":{"token":{"type":"string"},"name":{"type":"string"},)"
        R"("display":{"type":"string"},"password":{"type":"string","minLength":10}}})";
    route.response_example = kUser;
    route.handler = bind(handlers, &AccountHandlers::bootstrap);
    routes.push_back(route);

    route = row("POST", "/api/login", Permission::kSelf, Area::kAccess, RateClass::kAuth, "login",
                "Open a session: a cookie, and the token that changes need beside it");
    route.open = true;
    route.request_schema =
        R"({"type":"object","required":["name","password"],"additionalProperties":false,)"
        R"("properties":{"name":{"type":"string"},"password":{"type":"string"},)"
        R"("remember":{"type":"boolean"}}})";
    route.request_example = R"({"name":"alice","password":"correct horse battery"})";
    route.response_example =
        R"({"user~":"$User","csrf_token":"b1946ac9","ends?":"2026-01-03T03:04:05.000Z"})";
    route.secret_answer = true;
    route.handler = bind(handlers, &AccountHandlers::login);
    routes.push_back(route);

    route = row("POST", "/api/logout", Permission::kSelf, Area::kSystem, RateClass::kGeneral,
                "logout", "End this session");
    route.audit_action = "session.logout";
    route.status = 204;
    route.handler = bind(handlers, &AccountHandlers::logout);
    routes.push_back(route);

    route = row("GET", "/api/me", Permission::kSelf, Area::kSystem, RateClass::kGeneral, "whoAmI",
                "Who is asking, with grants, permissions and the session's CSRF token");
    route.response_example =
        R"({"name":"alice","kind":"user","owner?":"alice","grants":["$Grant"],)"
        R"("limits?":["$Grant"],"scopes?":["monitoring:read"],"permissions":["read","self"],)"
        R"("session?":"0190a5e0-0000-7000-8000-000000000005","csrf_token?":"b1946ac9"})";
    route.handler = bind(handlers, &AccountHandlers::me);
    routes.push_back(route);

    route = row("POST", "/api/me/password", Permission::kSelf, Area::kAccess, RateClass::kAuth,
                "changePassword", "Change one's own password; ends the other sessions");
    route.audit_action = "user.password";
    route.status = 204;
    route.request_schema =
        R"({"type":"object","required":["old_password","password"],"additionalProperties":false,)"
        R"("properties":{"old_password":{"type":"string"},)"
        R"("password":{"type":"string","minLength":10,"maxLength":1024}}})";
    route.handler = bind(handlers, &AccountHandlers::change_password);
    routes.push_back(route);
    return routes;
}

std::vector<Route> user_routes(AccountHandlers* handlers) {
    std::vector<Route> routes;
    const auto manage = [&](std::string_view method, std::string_view path, RateClass rate,
                            std::string_view operation, std::string_view summary) {
        return row(method, path, Permission::kManage, Area::kAccess, rate, operation, summary);
    };
    Route route = manage("GET", "/api/users", RateClass::kPublic, "listUsers", "All users");
    route.query = {limit_parameter(),
                   cursor_parameter(),
                   {.name = "role",
                    .type = ParameterType::kWord,
                    .description = "only with this role in a grant",
                    .words = {"viewer", "operator", "admin", "auditor"}},
                   {.name = "disabled",
                    .type = ParameterType::kBoolean,
                    .description = "only those that are, or that are not"},
                   {.name = "q",
                    .description = "part of the name or display name; * is anything",
                    .longest = 200}};
    route.response_example = R"({"items":["$User"],"next?":"YWxpY2U"})";
    route.handler = bind(handlers, &AccountHandlers::list_users);
    routes.push_back(route);

    route = manage("POST", "/api/users", RateClass::kConfigWrite, "createUser", "Add a user");
    route.audit_action = "user.create";
    route.status = 201;
    route.request_schema = kNewUserSchema;
    route.request_example =
        R"({"name":"alice","display":"Alice","password":"correct horse battery",)"
        R"("grants":[{"role":"operator","selector":"site=berlin"}]})";
    route.response_example = kUser;
    route.handler = bind(handlers, &AccountHandlers::create_user);
    routes.push_back(route);

    route = manage("GET", "/api/users/{name}", RateClass::kPublic, "getUser", "One user");
    route.response_example = kUser;
    route.handler = bind(handlers, &AccountHandlers::show_user);
    routes.push_back(route);

    route = manage("PUT", "/api/users/{name}", RateClass::kConfigWrite, "changeUser",
                   "Change what is given; what is not given stays");
    route.audit_action = "user.change";
    route.takes_if_match = true;
    route.request_schema = kUserEditSchema;
    route.request_example = R"({"disabled":true})";
    route.response_example = kUser;
    route.handler = bind(handlers, &AccountHandlers::change_user);
    routes.push_back(route);

    route = manage("DELETE", "/api/users/{name}", RateClass::kConfigWrite, "removeUser",
                   "Remove a user with all tokens and sessions");
    route.audit_action = "user.remove";
    route.takes_if_match = true;
    route.status = 204;
    route.handler = bind(handlers, &AccountHandlers::remove_user);
    routes.push_back(route);
    return routes;
}

std::vector<Route> own_routes(AccountHandlers* handlers) {
    std::vector<Route> routes;
    const auto self = [&](std::string_view method, std::string_view path, RateClass rate,
                          std::string_view operation, std::string_view summary) {
        return row(method, path, Permission::kSelf, Area::kAccess, rate, operation, summary);
    };
    Route route = self("GET", "/api/users/{name}/sessions", RateClass::kGeneral, "listSessions",
                       "Sessions of a user: one's own, or as an admin");
    route.response_example =
        R"({"items":[{"id":"0190a5e0-0000-7000-8000-000000000005","user":"alice",)"
        R"("created":"2026-01-02T03:04:05.000Z","last_seen":"2026-01-02T03:34:05.000Z",)"
        R"("ends":"2026-01-03T03:34:05.000Z","address?":"127.0.0.1","agent?":"curl/7.88.1",)"
        R"("remember":false,"current":true}]})";
    route.handler = bind(handlers, &AccountHandlers::list_sessions);
    routes.push_back(route);

    route = self("DELETE", "/api/users/{name}/sessions", RateClass::kConfigWrite, "endSessions",
                 "End one session, or all but this one");
    route.audit_action = "session.end";
    route.query = {{.name = "id", .description = "Only the session with this id"}};
    route.response_example = R"({"ended":2})";
    route.handler = bind(handlers, &AccountHandlers::end_sessions);
    routes.push_back(route);

    route = self("GET", "/api/tokens", RateClass::kGeneral, "listTokens",
                 "API tokens: one's own; for admins all");
    route.query = {limit_parameter(),
                   cursor_parameter(),
                   {.name = "owner", .description = "Only tokens of this user"}};
    route.response_example = R"({"items":["$Token"],"next?":"Y2k"})";
    route.handler = bind(handlers, &AccountHandlers::list_tokens);
    routes.push_back(route);

    route = self("POST", "/api/tokens", RateClass::kConfigWrite, "createToken",
                 "Make an API token; its secret is shown once");
    route.audit_action = "token.create";
    route.status = 201;
    route.request_schema = kNewTokenSchema;
    route.request_example =
        R"({"name":"ci","scopes":["monitoring:read"],"expires":"2099-01-31T00:00:00Z"})";
    route.response_example = R"({"secret":"plx_…","token":"$Token"})";
    route.secret_answer = true;
    route.handler = bind(handlers, &AccountHandlers::create_token);
    routes.push_back(route);

    route = self("DELETE", "/api/tokens/{name}", RateClass::kConfigWrite, "revokeToken",
                 "Revoke an API token");
    route.audit_action = "token.revoke";
    route.status = 204;
    route.handler = bind(handlers, &AccountHandlers::revoke_token);
    routes.push_back(route);
    return routes;
}

}  // namespace

std::vector<Route> AccountHandlers::routes() {
    std::vector<Route> all = login_routes(this);
    std::vector<Route> users = user_routes(this);
    std::vector<Route> own = own_routes(this);
    std::ranges::move(users, std::back_inserter(all));
    std::ranges::move(own, std::back_inserter(all));
    return all;
}

}  // namespace pollux::api
