// A case of an addon: captured replies and what must come of them. Addons are tested by data: a
// new one needs no C++. See docs/addon-authoring.md for the format.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "extract/compiled_addon.hpp"

namespace pollux::app {

struct CaseResult {
    std::string name;                   // its file
    std::vector<std::string> failures;  // empty: passed
};

// Runs one case against its addon: asks are made, the replies stand in for the device, and what
// is read and derived is compared with what the case expects. `file` names the case; other files
// it names are read beside it.
CaseResult run_addon_case(const std::shared_ptr<const extract::CompiledAddon>& addon,
                          std::string_view text, const std::string& file);

struct CaseTotals {
    std::size_t passed = 0;
    std::size_t failed = 0;
};

// Runs cases/*.yaml of every addon below the folder, and prints one line per case, what failed,
// and nothing more. An addon without cases, or with errors, fails.
CaseTotals run_addon_cases(const std::string& folder);

}  // namespace pollux::app
