#include "runtime/process_stats.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace pollux::runtime {
namespace {

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessStats process_stats() {
    ProcessStats stats;
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        stats.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
    if (FILE* file = std::fopen("/proc/self/statm", "re")) {
        unsigned long size = 0;
        unsigned long resident = 0;
        if (std::fscanf(file, "%lu %lu", &size, &resident) == 2) {
            stats.resident_bytes = resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        }
        std::fclose(file);
    }
    if (DIR* folder = opendir("/proc/self/fd")) {
        while (readdir(folder) != nullptr) ++stats.open_fds;
        closedir(folder);
        // ".", ".." and the folder itself.
        stats.open_fds = stats.open_fds > 3 ? stats.open_fds - 3 : 0;
    }
    return stats;
}

}  // namespace pollux::runtime
