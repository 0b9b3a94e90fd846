// Who may make which silences. A silence reaches every alert that its matchers hold for, whatever
// else that is labelled; so somebody with a part of the fleet must name that part in it.
#pragma once

#include <span>
#include <vector>

#include "access/principal.hpp"
#include "document/node.hpp"
#include "model/notification.hpp"

namespace pollux::api {

bool may_on_silence(const access::Principal& principal, access::Permission permission,
                    std::span<const model::LabelMatcher> matchers);

// Those of the body of a silence, in any of the forms that fleet files have; what cannot be read is
// left out, and refused by who reads the body.
std::vector<model::LabelMatcher> matchers_of(const document::Node& body);

// The body of a silence's object.
document::Node silence_body(const model::Silence& silence);

}  // namespace pollux::api
