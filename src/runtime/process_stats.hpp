// What the process takes from the machine, as the kernel counts it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pollux::runtime {

struct ProcessStats {
    double cpu_seconds = 0;
    std::size_t resident_bytes = 0;
    std::size_t peak_resident_bytes = 0;
    std::size_t open_fds = 0;
};

ProcessStats process_stats();

// What is allocated of the heap that all threads share; 0: the allocator does not tell. It walks
// its free lists for this: for people who ask, not for every scrape.
std::size_t heap_bytes();

struct ThreadStats {
    std::string name;
    double cpu_seconds = 0;
    int id = 0;  // of the kernel
};

// All threads of the process, with the names that they gave themselves.
std::vector<ThreadStats> thread_stats();

}  // namespace pollux::runtime
