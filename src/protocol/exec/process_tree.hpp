// Processes that a program started and that left its process group, as `setsid` and `timeout` make
// them do: a signal to the group does not reach them.
#pragma once

#include <sys/types.h>

#include <vector>

namespace pollux::protocol::exec {

inline constexpr std::size_t kMaxTree = 256;  // processes that are looked at

// Descendants of `leader`, which is not reaped yet, that are in another group than its own, as
// pidfds; the caller closes them. Each was seen as the child of a process that was itself seen so
// and lived on meanwhile: a number that was given to somebody else is never among them. Found are
// those whose parents are all still there; not found is who was orphaned before.
std::vector<int> strays_of(pid_t leader, int leader_pidfd);

// Like kill(); false if the process has gone.
bool signal_pidfd(int pidfd, int number);

}  // namespace pollux::protocol::exec
