// POLLUX_CHECK: an assertion that is on in every build.
//
// For what cannot happen unless our own code is wrong. What a peer, a file or a user can cause is
// a Result instead. The condition is evaluated exactly once.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace pollux::base::detail {

[[noreturn]] [[gnu::cold]] [[gnu::noinline]] inline void check_failed(const char* file, int line,
                                                                      const char* expression,
                                                                      const char* message) {
    std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, expression,
                 *message == '\0' ? "" : ": ", message);
    std::fflush(stderr);
    std::abort();
}

}  // namespace pollux::base::detail

#define POLLUX_CHECK(condition) POLLUX_CHECK_MSG(condition, "")

// `literal` is a string literal that says what the broken rule means.
#define POLLUX_CHECK_MSG(condition, literal) \
    (static_cast<bool>(condition)            \
         ? static_cast<void>(0)              \
         : ::pollux::base::detail::check_failed(__FILE__, __LINE__, #condition, "" literal))
