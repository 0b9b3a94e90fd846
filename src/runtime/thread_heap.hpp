// Room for a thread's memory, made ready at once.
#pragma once

#include <cstddef>

namespace pollux::runtime {

// glibc makes the heap of a thread writable a page at a time, with a system call each: four for
// every HTTP connection in a burst. After this call it has `bytes` of it ready, at most one heap
// (64 MiB). Address space only: no memory is taken. To be called once, by the thread itself.
void prepare_thread_heap(std::size_t bytes);

}  // namespace pollux::runtime
