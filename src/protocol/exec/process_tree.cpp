#include "protocol/exec/process_tree.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace pollux::protocol::exec {
namespace {

struct Seen {
    pid_t pid = -1;
    int pidfd = -1;
    pid_t group = -1;
};

struct Origin {
    pid_t parent = -1;
    pid_t group = -1;
};

Origin origin_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    // "pid (name) state parent group …", and the name may hold anything.
    const std::size_t end = text.rfind(") ");
    if (end == std::string::npos) return {};
    std::istringstream words(text.substr(end + 2));
    std::string state;
    Origin origin;
    words >> state >> origin.parent >> origin.group;
    return origin;
}

std::vector<pid_t> children_of(pid_t pid) {
    std::vector<pid_t> out;
    std::error_code gone;
    const std::string tasks = fmt::format("/proc/{}/task", pid);
    for (std::filesystem::directory_iterator task(tasks, gone), end; !gone && task != end;
         task.increment(gone)) {
        std::ifstream file(task->path() / "children");
        for (pid_t child = 0; out.size() < kMaxTree && file >> child;) out.push_back(child);
    }
    return out;
}

}  // namespace

bool signal_pidfd(int pidfd, int number) {
    return syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0) == 0;
}

std::vector<int> strays_of(pid_t leader, int leader_pidfd) {
    std::vector<Seen> seen{{leader, leader_pidfd, leader}};
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const Seen parent = seen[i];
        for (const pid_t child : children_of(parent.pid)) {
            if (seen.size() >= kMaxTree) break;
            const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
            if (pidfd < 0) continue;
            const Origin origin = origin_of(child);
            // The parent's number was still its own while the child named it.
            if (origin.parent == parent.pid && signal_pidfd(parent.pidfd, 0)) {
                seen.push_back({child, pidfd, origin.group});
            } else {
                close(pidfd);
            }
        }
    }
    std::vector<int> strays;
    for (std::size_t i = 1; i < seen.size(); ++i) {
        if (seen[i].group == leader) {
            close(seen[i].pidfd);
        } else {
            strays.push_back(seen[i].pidfd);
        }
    }
    return strays;
}

}  // namespace pollux::protocol::exec
