#include "api/account_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::api {
namespace {

using document::Diagnostics;
using document::MapReader;
using document::Need;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;

Node texts(const std::vector<std::string>& items) {
    Node list = Node::sequence();
    for (const std::string& item : items) list.push(Node::text(item));
    return list;
}

void set_time(Node& node, std::string key, base::WallTime time) {
    if (time != base::WallTime{}) node.set(std::move(key), Node::integer(time.us));
}

base::WallTime time_of(MapReader& reader, std::string_view key) {
    constexpr std::int64_t kFarthest = 253'402'300'799'000'000;  // the end of the year 9999
    return {reader.integer(key, 0, kFarthest).value_or(0)};
}

ConfigObject make(ObjectKind kind, const RecordHead& head, const Node& body, base::WallTime now) {
    ConfigObject object;
    object.kind = kind;
    object.id = head.id;
    object.name = head.name;
    object.origin = model::Origin::kApi;
    object.version = head.version;
    object.changed_at = now;
    object.body = document::to_json(body);
    return object;
}

// Calls `take` with a reader of the body; all complaints become one error.
template <class Record, class Take>
base::Result<Record> read(const ConfigObject& object, const Take& take) {
    Diagnostics diagnostics;
    const std::string where =
        fmt::format("stored {} {}", to_string(object.kind), base::quoted(object.name));
    const auto parsed = document::parse_json(object.body, where, diagnostics);
    Record record;
    record.head = {object.id, object.name, object.version};
    if (parsed.ok) {
        MapReader reader(parsed.root, "", diagnostics);
        take(reader, record, diagnostics);
    }
    if (diagnostics.ok()) return record;
    return std::unexpected(diagnostics.as_error("access.stored_account"));
}

Node shown_user(const User& user) {
    Node node = Node::map();
    node.set("grants", grants_node(user.grants));
    if (user.disabled) node.set("disabled", Node::boolean(true));
    if (!user.display.empty()) node.set("display", Node::text(user.display));
    return node;
}

}  // namespace

Node grants_node(const std::vector<access::Grant>& grants) {
    Node list = Node::sequence();
    for (const access::Grant& grant : grants) {
        Node one = Node::map();
        one.set("role", Node::text(std::string(to_string(grant.role))));
        if (!grant.selector.empty()) one.set("selector", Node::text(grant.selector));
        list.push(std::move(one));
    }
    return list;
}

std::vector<access::Grant> read_grants(const Node& list, const std::string& path,
                                       Diagnostics& diagnostics) {
    std::vector<access::Grant> grants;
    for (std::size_t i = 0; i < list.items().size(); ++i) {
        MapReader reader(list.items()[i], document::item_path(path, i), diagnostics);
        access::Grant grant;
        const auto role = reader.one_of("role", access::kRoleNames, Need::kRequired);
        if (role) grant.role = access::kRoles[*role];
        grant.selector = reader.string("selector").value_or("");
        const auto selector = access::Selector::parse(grant.selector);
        if (selector) {
            grant.selector = selector->text();
        } else {
            reader.error("selector", selector.error().message);
        }
        reader.finish();
        grants.push_back(std::move(grant));
    }
    auto normal = access::normal_grants(grants);
    if (normal) return std::move(*normal);
    if (diagnostics.ok()) diagnostics.error(list.mark(), path, normal.error().message);
    return grants;
}

ConfigObject to_object(const User& user, base::WallTime now) {
    Node body = Node::map();
    if (!user.display.empty()) body.set("display", Node::text(user.display));
    if (!user.password.empty()) body.set("password", Node::text(user.password));
    body.set("grants", grants_node(user.grants));
    if (user.disabled) body.set("disabled", Node::boolean(true));
    set_time(body, "created", user.created);
    set_time(body, "password_changed", user.password_changed);
    return make(ObjectKind::kUser, user.head, body, now);
}

ConfigObject to_object(const Token& token, base::WallTime now) {
    Node body = Node::map();
    body.set("owner", Node::text(token.owner));
    body.set("hash", Node::text(token.hash));
    body.set("scopes", texts(token.scopes));
    if (token.grants) body.set("grants", grants_node(*token.grants));
    set_time(body, "expires", token.expires);
    set_time(body, "created", token.created);
    set_time(body, "last_used", token.last_used);
    return make(ObjectKind::kToken, token.head, body, now);
}

ConfigObject to_object(const Session& session, base::WallTime now) {
    Node body = Node::map();
    body.set("user", Node::text(session.user));
    body.set("hash", Node::text(session.hash));
    set_time(body, "created", session.created);
    set_time(body, "last_seen", session.last_seen);
    body.set("address", Node::text(session.address));
    body.set("agent", Node::text(session.agent));
    if (session.remember) body.set("remember", Node::boolean(true));
    return make(ObjectKind::kSession, session.head, body, now);
}

base::Result<User> read_user(const ConfigObject& object) {
    return read<User>(object, [](MapReader& reader, User& user, Diagnostics& diagnostics) {
        user.display = reader.string("display").value_or("");
        user.password = reader.string("password").value_or("");
        if (const Node* list = reader.list("grants")) {
            user.grants = read_grants(*list, "grants", diagnostics);
        }
        user.disabled = reader.boolean("disabled").value_or(false);
        user.created = time_of(reader, "created");
        user.password_changed = time_of(reader, "password_changed");
    });
}

base::Result<Token> read_token(const ConfigObject& object) {
    return read<Token>(object, [](MapReader& reader, Token& token, Diagnostics& diagnostics) {
        token.owner = reader.string("owner", Need::kRequired).value_or("");
        token.hash = reader.string("hash", Need::kRequired).value_or("");
        token.scopes = reader.strings("scopes");
        if (const Node* list = reader.list("grants")) {
            token.grants = read_grants(*list, "grants", diagnostics);
        }
        token.expires = time_of(reader, "expires");
        token.created = time_of(reader, "created");
        token.last_used = time_of(reader, "last_used");
    });
}

base::Result<Session> read_session(const ConfigObject& object) {
    return read<Session>(object, [](MapReader& reader, Session& session, Diagnostics&) {
        session.user = reader.string("user", Need::kRequired).value_or("");
        session.hash = reader.string("hash", Need::kRequired).value_or("");
        session.created = time_of(reader, "created");
        session.last_seen = time_of(reader, "last_seen");
        session.address = reader.string("address").value_or("");
        session.agent = reader.string("agent").value_or("");
        session.remember = reader.boolean("remember").value_or(false);
    });
}

std::string shown(const User& user) { return document::to_json(shown_user(user)); }

std::string shown(const Token& token) {
    Node node = Node::map();
    node.set("owner", Node::text(token.owner));
    node.set("scopes", texts(token.scopes));
    if (token.grants) node.set("grants", grants_node(*token.grants));
    if (token.expires != base::WallTime{}) {
        node.set("expires", Node::text(base::format_utc(token.expires)));
    }
    return document::to_json(node);
}

bool is_admin(const User& user) {
    return !user.disabled && std::ranges::any_of(user.grants, [](const access::Grant& grant) {
        return grant.role == access::Role::kAdmin && grant.selector.empty();
    });
}

}  // namespace pollux::api
