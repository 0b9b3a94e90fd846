// The binary form of an alert's and of an incident's durable row. Rules as in spec_codec.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/alert.hpp"

namespace pollux::engine {

inline constexpr std::uint8_t kAlertVersion = 1;
inline constexpr std::uint8_t kIncidentVersion = 2;
inline constexpr std::uint8_t kOldestIncidentVersion = 1;  // read too: its notes are not shown

std::string encode_alert(const model::Alert& alert);
std::string encode_incident(const model::Incident& incident);

// All of the bytes. Fail with codec.version (another program wrote it) or codec.damaged.
base::Result<model::Alert> decode_alert(std::string_view bytes);
base::Result<model::Incident> decode_incident(std::string_view bytes);

}  // namespace pollux::engine
