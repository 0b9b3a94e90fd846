// What the process takes from the machine, as the kernel counts it.
#pragma once

#include <cstddef>

namespace pollux::runtime {

struct ProcessStats {
    double cpu_seconds = 0;
    std::size_t resident_bytes = 0;
    std::size_t open_fds = 0;
};

ProcessStats process_stats();

}  // namespace pollux::runtime
