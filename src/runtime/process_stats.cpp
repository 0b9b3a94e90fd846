#include "runtime/process_stats.hpp"

#include <dirent.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace pollux::runtime {
namespace {

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// "tid (name) state …": the name may hold anything, so that the last parenthesis counts.
bool read_thread(const char* id, ThreadStats& stats) {
    const std::string path = std::string("/proc/self/task/") + id + "/stat";
    FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) return false;  // it ended just now
    std::array<char, 1024> buffer{};
    const std::size_t size = std::fread(buffer.data(), 1, buffer.size() - 1, file);
    std::fclose(file);
    const std::string_view text(buffer.data(), size);
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == text.npos || close == text.npos) return false;
    unsigned long user = 0;
    unsigned long system = 0;
    if (std::sscanf(buffer.data() + close + 1,
                    " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
        return false;
    }
    stats.id = static_cast<int>(std::strtol(id, nullptr, 10));
    stats.name = text.substr(open + 1, close - open - 1);
    stats.cpu_seconds =
        static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
    return true;
}

}  // namespace

std::vector<ThreadStats> thread_stats() {
    std::vector<ThreadStats> all;
    DIR* folder = opendir("/proc/self/task");
    if (folder == nullptr) return all;
    while (const dirent* entry = readdir(folder)) {
        ThreadStats one;
        if (entry->d_name[0] != '.' && read_thread(entry->d_name, one)) {
            all.push_back(std::move(one));
        }
    }
    closedir(folder);
    return all;
}

ProcessStats process_stats() {
    ProcessStats stats;
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        stats.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
        stats.peak_resident_bytes = static_cast<std::size_t>(usage.ru_maxrss) << 10U;
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

std::size_t heap_bytes() {
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

}  // namespace pollux::runtime
