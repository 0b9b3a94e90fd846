// An addon tried out with captured replies: what it asks, and what it makes of the answers. Nothing
// is sent. Cases of addons and the API run by it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "derive/target_memory.hpp"
#include "document/diagnostic.hpp"
#include "document/map_reader.hpp"
#include "extract/compiled_addon.hpp"
#include "runtime/trial/case_files.hpp"

namespace pollux::runtime {

// "in_octets[eth0]" names the value of a row, "uptime" the target's own.
using TrialTexts = std::map<std::string, std::string, std::less<>>;

// What came of one poll or message.
struct TrialStep {
    TrialTexts readings;
    TrialTexts samples;     // as they would be stored: rates of counters, numbers of states
    TrialTexts conditions;  // "triggered", "clear", "between", "unknown"
    std::vector<std::string> rows;
    std::vector<model::Signal> signals;
    std::vector<std::string> problems;  // what could not be read and why
    std::uint32_t missing = 0;
    std::uint32_t dropped = 0;
    bool degraded = false;
    bool unreadable = false;
    bool restarted = false;
    bool changed = false;  // against the step before
    bool failed = false;   // the poll as a whole
};

// `memory` has been brought up to date with what was seen; signals are not in it.
TrialStep trial_step(const model::Addon& addon, const derive::TargetMemory& memory,
                     const model::Readings& readings, const model::Observation& seen);

// Seven digits are more than anybody wants to write, and hide the last bit of a division.
std::string trial_number(double value);

class AddonTrial {
  public:
    AddonTrial(std::shared_ptr<const extract::CompiledAddon> addon, CaseFiles files,
               document::Diagnostics& diagnostics);

    // Reads `host`, `port`, `parameters` and `group` and makes the requests of that group. An
    // error: these do not fit the addon; mistakes of the document are in the diagnostics.
    base::Status prepare(document::MapReader& reader);
    std::vector<std::string> asks() const;  // for people: "https://192.0.2.1/status"

    // One step in the format of the cases, without `expect`, which `reader` may still ask for. The
    // memory of the steps before counts: counters become rates. Not ok: see the diagnostics.
    bool run(document::MapReader& reader, TrialStep& result);

  private:
    std::shared_ptr<const extract::CompiledAddon> addon_;
    CaseFiles files_;
    document::Diagnostics& out_;
    extract::TargetBinding binding_;
    std::size_t group_ = 0;
    std::vector<std::shared_ptr<const model::Ask>> asks_;
    derive::TargetMemory memory_;
    std::uint64_t last_digest_ = 0;
    bool has_digest_ = false;
};

}  // namespace pollux::runtime
