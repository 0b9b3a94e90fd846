// Questions to the person at the terminal. Without a terminal the lines of standard input are the
// answers, in the order of the questions. A secret is not shown while it is typed.
#pragma once

#include <cstddef>
#include <string>

#include "base/secret.hpp"

namespace pollux::app {

// More than any secret may have, so that a longer one is refused and not cut.
inline constexpr std::size_t kMostTyped = (64U << 10U) + 1;

// One line without its end; empty at the end of the input. More than kMostTyped bytes are cut.
std::string ask_line(const std::string& question);
base::Secret ask_secret(const std::string& question);

// Whether somebody sits there.
bool asks_a_person();

}  // namespace pollux::app
