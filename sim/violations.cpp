#include "sim/violations.hpp"

#include <fmt/format.h>

namespace pollux::sim {

void Violations::add(base::BootTime now, Rule rule, const std::string& what) {
    constexpr std::size_t kTextsKept = 20;
    ++total_;
    ++of_[static_cast<std::size_t>(rule)];
    if (texts_.size() < kTextsKept) {
        texts_.push_back(fmt::format("at {:.3f} s: {}", static_cast<double>(now.ns) * 1e-9, what));
    }
}

}  // namespace pollux::sim
