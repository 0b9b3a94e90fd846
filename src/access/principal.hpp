// Who is asking, and the one question of every route: may they?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "access/permission.hpp"
#include "access/role.hpp"
#include "access/scope.hpp"
#include "access/selector.hpp"
#include "base/result.hpp"

namespace pollux::access {

struct Grant {
    Role role = Role::kViewer;
    std::string selector = {};  // as Selector::parse reads it; empty: everything
    bool operator==(const Grant&) const = default;
};

struct Principal {
    std::string name = {};           // of the user, token or local user; "anonymous"
    std::string kind = "anonymous";  // user, token, local, proxy, anonymous
    std::vector<Grant> grants = {};  // of the user; a token has those of its owner as they are now
    // A token may have grants of its own: they narrow the owner's, and never add to them.
    std::optional<std::vector<Grant>> limits = {};
    std::vector<std::string> scopes = {};  // of a token; empty: all that the owner may
    std::string owner = {};                // of a token: the user; otherwise the name
    std::string session_id = {};           // id of the session's object, if one is used
    std::string address = {};              // of the client
    std::string csrf = {};  // the session's token, for GET /api/me; empty without session

    bool anonymous() const { return kind == "anonymous"; }
};

// "user:alice", "token:ci", "anonymous": as the audit trail names them.
std::string audit_name(const Principal& principal);

// On something, somewhere. Handlers of lists ask this, then may_on for each object.
bool may(const Principal& principal, Permission permission);
bool may(const Principal& principal, Permission permission, Area area);
// On an object with these labels.
bool may_on(const Principal& principal, Permission permission, const Labels& labels);
bool may_on(const Principal& principal, Permission permission, Area area, const Labels& labels);
// On every object that the selector selects, whatever else they are labelled.
bool may_on_all(const Principal& principal, Permission permission, Area area,
                const Selector& selector);
// On everything: by a grant without a selector. What has no labels (users, settings) asks this.
bool may_everywhere(const Principal& principal, Permission permission, Area area);

// Nobody hands on what he does not have himself, scopes and limits counted.
base::Status may_grant(const Principal& principal, const std::vector<Grant>& grants);

// Selectors are read and each grant stands once; they come back in their one form.
base::Result<std::vector<Grant>> normal_grants(std::vector<Grant> grants);

}  // namespace pollux::access
