// The binary form of what goes into the core: version byte, kind byte, fields. Rules as in
// spec_codec.hpp. A recording is a list of these, so kinds and fields keep their meaning; a change
// of any of them, or of a struct inside, is a new kEventVersion.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "engine/record_codec.hpp"
#include "engine/spec_codec.hpp"
#include "schedule/event.hpp"

namespace pollux::engine {

inline constexpr std::uint8_t kEventVersion = 2;
inline constexpr std::uint8_t kOldestEventVersion = 1;  // without the filter of an operator

// A payload that is not there is written as an empty one.
void encode(base::ByteWriter& out, const schedule::Event& event);
base::Result<schedule::Event> decode_event(base::ByteReader& in);

inline constexpr std::size_t kLeastEventBytes = 2;

}  // namespace pollux::engine
