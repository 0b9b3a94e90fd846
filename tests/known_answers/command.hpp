// The command line of known_answers, apart from the process: arguments in, texts and an exit code
// out.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "tests/known_answers/case_file.hpp"

namespace pollux::known_answers {

inline constexpr int kAllPassed = 0;
inline constexpr int kSomeFailed = 1;
inline constexpr int kNotRun = 2;  // wrong arguments, or a file that cannot be used

// `arguments` without the name of the program.
int run_command(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

// What is wrong with a case after running it; empty: it passed.
Problems run_case(const Case& source);

}  // namespace pollux::known_answers
