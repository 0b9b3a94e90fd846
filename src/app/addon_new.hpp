// `pollux addon new`: writes the beginning of an addon from something captured.
#pragma once

#include <string>

namespace pollux::app {

struct NewAddon {
    std::string name;
    std::string from;  // a file; "-": standard input
    std::string folder = "addons";
};

// Prints what it wrote and what comes next. Never overwrites. Returns the exit code.
int make_new_addon(const NewAddon& wish);

}  // namespace pollux::app
