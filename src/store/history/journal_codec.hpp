// A group of samples as one row of the journal: complete in itself, so that older rows can go.
//
// Bytes: version 1, number of samples (varint), then for each sample the distance of its series to
// the one before, the distance of its time in milliseconds, the number of its value's leading bytes
// that are not a tail of zeros, and those bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/history/history_types.hpp"

namespace pollux::store {

struct JournalSample {
    std::int64_t series = 0;
    std::int64_t at_ms = 0;
    double value = 0;
    bool operator==(const JournalSample&) const = default;
};

std::string encode_journal(std::span<const JournalSample> samples);
base::Result<std::vector<JournalSample>> decode_journal(std::string_view bytes);

}  // namespace pollux::store
