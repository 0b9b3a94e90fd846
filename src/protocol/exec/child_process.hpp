// Starts one program in a world of its own: a session and process group, no signal blocked or
// ignored, nothing inherited but its three standard descriptors, the root folder, and only the
// environment it is given. Uses posix_spawn, which costs the same however large this process is.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace pollux::protocol::exec {

struct ChildCommand {
    std::string path;  // absolute
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string input = {};  // on its standard input; empty: /dev/null
};

// Ends and forgets the process when it goes: its group is killed, and it is reaped.
class ChildProcess {
  public:
    // Error exec.cannot_start.
    static base::Result<ChildProcess> start(const ChildCommand& command);

    ChildProcess() = default;  // none
    ~ChildProcess();
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;

    bool exists() const { return pid_ > 0; }
    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_; }  // readable when it has ended
    int out() const { return out_; }      // non-blocking; -1 when closed
    int error_out() const { return error_out_; }

    void close_out();
    void close_error_out();

    // To the whole group, while its number is surely its own, and to what left the group
    // (process_tree.hpp).
    void signal(int number);

    // After pidfd() was readable: kills what is left of the group and of those that were signalled
    // before, reaps, and gives the status as
    // waitid has it: the code, and whether it is a signal.
    struct End {
        int code = 0;
        bool by_signal = false;
    };
    base::Result<End> reap();

  private:
    void signal_all(int number);

    pid_t pid_ = -1;
    int pidfd_ = -1;
    int out_ = -1;
    int error_out_ = -1;
    std::vector<int> strays_;  // pidfds of those that had left the group when it was signalled
    int last_signal_ = 0;
};

}  // namespace pollux::protocol::exec
