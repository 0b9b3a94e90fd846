#include "runtime/thread_heap.hpp"

#include <cstdlib>
#include <vector>

namespace pollux::runtime {

void prepare_thread_heap(std::size_t bytes) {
    // Below the size from which on blocks are mapped apart from the heap.
    constexpr std::size_t kBlock = std::size_t{96} << 10U;
    std::vector<void*> blocks;
    blocks.reserve(bytes / kBlock);
    while (blocks.size() < bytes / kBlock) blocks.push_back(std::malloc(kBlock));
    // The last ones first: then each joins the free end of the heap, which is given back.
    for (; !blocks.empty(); blocks.pop_back()) std::free(blocks.back());
}

}  // namespace pollux::runtime
