// For the tests with kill -9: a child that works until it is killed and tells what it has done.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

namespace pollux::store {

// In the child: the number of what is committed from now on.
inline void report(int pipe_fd, std::uint64_t number) {
    static_cast<void>(!write(pipe_fd, &number, sizeof number));
}

// Forks; the child runs `work(pipe)`, which never returns. Kills it that long after its first
// report, so that slow machines test something too. All that was reported, in order.
template <class Work>
std::vector<std::uint64_t> run_and_kill(Work work, std::uint64_t kill_after_us) {
    int fds[2];
    if (pipe(fds) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        work(fds[1]);
        _exit(1);
    }
    close(fds[1]);
    std::vector<std::uint64_t> reported;
    std::uint64_t number = 0;
    if (read(fds[0], &number, sizeof number) == sizeof number) reported.push_back(number);
    usleep(static_cast<useconds_t>(kill_after_us));
    kill(child, SIGKILL);
    while (read(fds[0], &number, sizeof number) == sizeof number) reported.push_back(number);
    close(fds[0]);
    waitpid(child, nullptr, 0);
    return reported;
}

}  // namespace pollux::store
