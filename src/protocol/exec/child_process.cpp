#include "protocol/exec/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "protocol/exec/process_tree.hpp"

namespace pollux::protocol::exec {
namespace {

void close_fd(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
}

// A descriptor from 3 on: this process may run without standard input or output of its own, and the
// child's are made by number.
int moved_up(int fd) {
    if (fd < 0 || fd > 2) return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return moved;
}

struct Pipe {
    int reader = -1;
    int writer = -1;

    Pipe() {
        std::array<int, 2> ends{-1, -1};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
        reader = moved_up(ends[0]);
        writer = moved_up(ends[1]);
        if (reader >= 0) fcntl(reader, F_SETFL, O_NONBLOCK);
    }
    ~Pipe() {
        close_fd(reader);
        close_fd(writer);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    bool good() const { return reader >= 0 && writer >= 0; }
};

// What the child reads, as a file in memory: whole before it starts, so that a child that does not
// read it holds nobody up.
class InputFile {
  public:
    explicit InputFile(std::string_view text) {
        if (text.empty()) return;
        fd_ = moved_up(memfd_create("pollux-input", MFD_CLOEXEC));
        while (good_ && !text.empty()) {
            const ssize_t wrote = write(fd_, text.data(), text.size());
            if (wrote < 0 && errno == EINTR) continue;
            good_ = wrote > 0;
            if (good_) text.remove_prefix(static_cast<std::size_t>(wrote));
        }
        good_ = good_ && lseek(fd_, 0, SEEK_SET) == 0;
    }
    ~InputFile() { close_fd(fd_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    bool good() const { return good_; }
    int fd() const { return fd_; }  // -1: there is nothing to read

  private:
    int fd_ = -1;
    bool good_ = true;
};

class SpawnPlan {
  public:
    SpawnPlan(int in, int out, int error_out) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
        posix_spawn_file_actions_adddup2(&actions_, out, 1);
        posix_spawn_file_actions_adddup2(&actions_, error_out, 2);
        if (in >= 0) {
            posix_spawn_file_actions_adddup2(&actions_, in, 0);
        } else {
            posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        }
        // Close-on-exec covers our own descriptors; a library may have forgotten it on its own.
        posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
        posix_spawn_file_actions_addchdir_np(&actions_, "/");
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setflags(&attributes_,
                                 static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETSID));
    }
    ~SpawnPlan() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    int run(pid_t& pid, const std::string& path, char* const* argv, char* const* environment) {
        return posix_spawn(&pid, path.c_str(), &actions_, &attributes_, argv, environment);
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

}  // namespace

base::Result<ChildProcess> ChildProcess::start(const ChildCommand& command) {
    const auto refuse = [&](base::ErrorClass cause, int number) {
        return base::make_error(cause, "exec.cannot_start",
                                fmt::format("cannot start {}: {}", base::quoted(command.path, 200),
                                            std::strerror(number)));
    };
    Pipe out;
    Pipe error_out;
    const InputFile in(command.input);
    if (!out.good() || !error_out.good() || !in.good()) {
        return refuse(base::ErrorClass::kInternal, errno);
    }
    std::vector<std::string> arguments = command.argv;
    std::vector<std::string> variables;
    for (const auto& [name, value] : command.environment) variables.push_back(name + "=" + value);
    SpawnPlan plan(in.fd(), out.writer, error_out.writer);
    ChildProcess child;
    const int failed =
        plan.run(child.pid_, command.path, pointers(arguments).data(), pointers(variables).data());
    if (failed != 0) {
        child.pid_ = -1;
        const bool shortage = failed == EAGAIN || failed == ENOMEM;
        return refuse(shortage ? base::ErrorClass::kInternal : base::ErrorClass::kConfig, failed);
    }
    // Nobody else reaps our children, so the number is still this process.
    child.pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, child.pid_, 0));
    if (child.pidfd_ < 0) return refuse(base::ErrorClass::kInternal, errno);
    child.out_ = std::exchange(out.reader, -1);
    child.error_out_ = std::exchange(error_out.reader, -1);
    return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(pidfd_, other.pidfd_);
    std::swap(out_, other.out_);
    std::swap(error_out_, other.error_out_);
    std::swap(strays_, other.strays_);
    std::swap(last_signal_, other.last_signal_);
    return *this;
}

ChildProcess::~ChildProcess() {
    if (pid_ > 0) {
        signal(SIGKILL);
        // It dies at once, unless it is stuck in the kernel; then init inherits it when we go.
        for (int attempt = 0; attempt < 200 && waitpid(pid_, nullptr, WNOHANG) == 0; ++attempt) {
            usleep(1000);
        }
    }
    close_fd(pidfd_);
    close_fd(out_);
    close_fd(error_out_);
    for (int& stray : strays_) close_fd(stray);
}

void ChildProcess::close_out() { close_fd(out_); }
void ChildProcess::close_error_out() { close_fd(error_out_); }

void ChildProcess::signal(int number) {
    if (pid_ <= 0) return;
    // Before they are orphans, which nobody can tell from others; and once for each kind of signal.
    if (number != std::exchange(last_signal_, number)) {
        const std::vector<int> found = strays_of(pid_, pidfd_);
        strays_.insert(strays_.end(), found.begin(), found.end());
    }
    signal_all(number);
}

void ChildProcess::signal_all(int number) {
    // Not reaped yet: its number and that of its group belong to nobody else.
    if (pid_ > 0) kill(-pid_, number);
    for (const int stray : strays_) signal_pidfd(stray, number);
}

base::Result<ChildProcess::End> ChildProcess::reap() {
    signal_all(SIGKILL);  // what it left behind in its group
    siginfo_t facts{};
    int done = 0;
    do {
        done = waitid(P_PID, static_cast<id_t>(pid_), &facts, WEXITED | WNOHANG);
    } while (done != 0 && errno == EINTR);
    if (done != 0 || facts.si_pid != pid_) {
        return base::internal_error("exec.lost", fmt::format("process {} was reaped by somebody "
                                                             "else, or still runs",
                                                             pid_));
    }
    pid_ = -1;
    return End{facts.si_status, facts.si_code != CLD_EXITED};
}

}  // namespace pollux::protocol::exec
