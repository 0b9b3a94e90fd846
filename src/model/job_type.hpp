// What a type of job declares: its share beside other types, its limits, what holds where a job
// does not say otherwise, and the arguments it takes. Plain data; who runs it is the runtime's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/settings.hpp"
#include "model/tier.hpp"

namespace pollux::model {

enum class ArgumentKind : std::uint8_t { kText, kInteger, kBoolean, kDuration, kTexts, kMap };

struct ArgumentDef {
    std::string name;
    ArgumentKind kind = ArgumentKind::kText;
    bool required = false;
    double low = 0;  // of numbers; durations in seconds
    double high = 0;
    std::size_t longest = 16U << 10U;     // bytes of a text
    std::vector<std::string> words = {};  // of texts: only these; empty: any
    std::string help = {};
};

enum class JobPlace : std::uint8_t { kNone, kOptional, kRequired };

struct JobTypeDef {
    std::string name;
    std::string help = {};
    std::uint32_t weight = 1;  // share of the starts beside other types
    std::uint32_t slots = 8;   // runs at once
    double rate = 0;           // starts per second; 0: no limit of its own
    Tier tier = Tier::kNormal;
    base::Duration timeout = std::chrono::minutes(1);
    base::Duration longest_timeout = std::chrono::hours(1);
    std::int64_t attempts = 1;
    base::Duration backoff{};
    JobPlace device = JobPlace::kNone;
    JobPlace target = JobPlace::kNone;
    std::vector<ArgumentDef> arguments;
};

}  // namespace pollux::model
