// What the process takes from the machine, as the kernel counts it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pollux::runtime {

struct ProcessStats {
    double cpu_seconds = 0;
    std::size_t resident_bytes = 0;
    std::size_t open_fds = 0;
};

ProcessStats process_stats();

struct ThreadStats {
    std::string name;
    double cpu_seconds = 0;
    int id = 0;  // of the kernel
};

// All threads of the process, with the names that they gave themselves.
std::vector<ThreadStats> thread_stats();

}  // namespace pollux::runtime
