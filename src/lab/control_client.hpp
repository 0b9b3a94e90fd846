// Speaks to the control endpoint of a running fleet: one request, one answer, blocking, with a
// deadline. For `pollux fleet ctl`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pollux::lab {

// The body of a 2xx answer; otherwise an error that holds what the fleet said.
base::Result<std::string> ask_control(std::uint16_t port, std::string_view method,
                                      std::string_view path, std::string_view body = "");

}  // namespace pollux::lab
