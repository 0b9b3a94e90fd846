#include "api/account_pages.hpp"

#include "model/object.hpp"

namespace pollux::api {
namespace {

void write_texts(document::JsonWriter& json, std::string_view name,
                 const std::vector<std::string>& texts) {
    json.key(name).array();
    for (const std::string& text : texts) json.value(text);
    json.end_array();
}

// No file has accounts, and no discovery finds them.
void write_owner(document::JsonWriter& json, const RecordHead& head) {
    json.field("origin", model::to_string(model::Origin::kApi)).field("version", head.version);
}

}  // namespace

void write_grants(document::JsonWriter& json, const std::vector<access::Grant>& grants) {
    json.array();
    for (const access::Grant& grant : grants) {
        json.object().field("role", to_string(grant.role));
        json.text_field("selector", grant.selector).end_object();
    }
    json.end_array();
}

void write_user(document::JsonWriter& json, const User& user) {
    json.object().field("name", user.head.name).text_field("display", user.display);
    write_grants(json.key("grants"), user.grants);
    json.field("disabled", user.disabled).field("has_password", !user.password.empty());
    json.time_field("created", user.created).time_field("password_changed", user.password_changed);
    write_owner(json, user.head);
    json.end_object();
}

void write_token(document::JsonWriter& json, const Token& token, base::WallTime now) {
    json.object().field("name", token.head.name).field("owner", token.owner);
    write_texts(json, "scopes", token.scopes);
    if (token.grants) write_grants(json.key("grants"), *token.grants);
    json.time_field("created", token.created).time_field("expires", token.expires);
    json.field("expired", token.expires != base::WallTime{} && token.expires <= now);
    json.time_field("last_used", token.last_used);
    write_owner(json, token.head);
    json.end_object();
}

void write_session(document::JsonWriter& json, const Session& session, base::WallTime ends,
                   bool current) {
    json.object().field("id", session.head.id).field("user", session.user);
    json.time_field("created", session.created).time_field("last_seen", session.last_seen);
    json.time_field("ends", ends).text_field("address", session.address);
    json.text_field("agent", session.agent).field("remember", session.remember);
    json.field("current", current).end_object();
}

void write_principal(document::JsonWriter& json, const access::Principal& principal) {
    json.object().field("name", principal.name).field("kind", principal.kind);
    if (principal.kind == "token") json.field("owner", principal.owner);
    write_grants(json.key("grants"), principal.grants);
    if (principal.limits) write_grants(json.key("limits"), *principal.limits);
    if (principal.kind == "token") write_texts(json, "scopes", principal.scopes);
    json.key("permissions").array();
    for (const access::Permission permission : access::kPermissions) {
        if (access::may(principal, permission)) json.value(to_string(permission));
    }
    json.end_array();
    json.text_field("session", principal.session_id).text_field("csrf_token", principal.csrf);
    json.end_object();
}

std::string user_page(const User& user) {
    std::string body;
    document::JsonWriter json(body);
    write_user(json, user);
    return body;
}

}  // namespace pollux::api
