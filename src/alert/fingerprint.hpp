// The identity of an alert: 32 hexadecimal digits, one open alert each.
#pragma once

#include <string>
#include <string_view>

#include "model/alert.hpp"

namespace pollux::alert {

// The documented one of imported dialects: over `addon:type:address`. With a subject, which those
// dialects know only by `fingerprint_fields`, `:subject` follows.
std::string imported_fingerprint(std::string_view addon, std::string_view type,
                                 std::string_view address, std::string_view subject);

// Ours: always with the target's id, so that two services on one address never share an alert.
std::string own_fingerprint(std::string_view target_id, std::string_view addon,
                            std::string_view type, std::string_view subject);

// Of an alert of another system: its set of labels.
std::string label_fingerprint(const model::AlertLabels& labels);

}  // namespace pollux::alert
