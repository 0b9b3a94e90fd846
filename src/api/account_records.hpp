// Users, tokens and sessions as values, and the bodies they are stored as: canonical JSON. Of every
// secret only a hash is in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "document/diagnostic.hpp"
#include "document/node.hpp"
#include "model/object.hpp"

namespace pollux::api {

// What every account object has beside its body.
struct RecordHead {
    std::string id = {};
    std::string name = {};
    std::uint64_t version = 0;
};

struct User {
    RecordHead head = {};
    std::string display = {};
    std::string password = {};  // argon2id text; empty: cannot log in with a password
    std::vector<access::Grant> grants = {};
    bool disabled = false;
    base::WallTime created = {};
    base::WallTime password_changed = {};
};

struct Token {
    RecordHead head = {};
    std::string owner = {};  // name of the user
    std::string hash = {};
    std::vector<std::string> scopes = {};                             // empty: all of the owner's
    std::optional<std::vector<access::Grant>> grants = std::nullopt;  // narrower than the owner's
    base::WallTime expires = {};                                      // zero: never
    base::WallTime created = {};
    base::WallTime last_used = {};  // written behind, at most once a minute
};

struct Session {
    RecordHead head = {};  // its name is its id
    std::string user = {};
    std::string hash = {};
    base::WallTime created = {};
    base::WallTime last_seen = {};  // written behind
    std::string address = {};       // of the login
    std::string agent = {};
    bool remember = false;
};

model::ConfigObject to_object(const User& user, base::WallTime now);
model::ConfigObject to_object(const Token& token, base::WallTime now);
model::ConfigObject to_object(const Session& session, base::WallTime now);

// The error names the object and what is wrong with it, never a hash.
base::Result<User> read_user(const model::ConfigObject& object);
base::Result<Token> read_token(const model::ConfigObject& object);
base::Result<Session> read_session(const model::ConfigObject& object);

// [{"role":"viewer","selector":"site=berlin"}]; a selector that is empty is left out.
document::Node grants_node(const std::vector<access::Grant>& grants);
// Reads the list below `key` of a map; mistakes go to the reader's diagnostics.
std::vector<access::Grant> read_grants(const document::Node& list, const std::string& path,
                                       document::Diagnostics& diagnostics);

// Who may what of a user, for the audit trail: no secret.
std::string shown(const User& user);
std::string shown(const Token& token);

bool is_admin(const User& user);  // enabled, with the role admin on everything

}  // namespace pollux::api
