// A growing array in fixed chunks: elements never move, growth never copies, and there is no
// doubling slack, so a million records cost what they weigh. Single-threaded.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace pollux::base {

template <class T, std::size_t kChunk = 1024>
class ChunkedArray {
    static_assert((kChunk & (kChunk - 1)) == 0, "the chunk size must be a power of two");

  public:
    T& operator[](std::size_t i) { return chunks_[i / kChunk][i % kChunk]; }
    const T& operator[](std::size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

    std::size_t size() const { return size_; }

    // Element i will be used soon: a hint that hides the time memory takes.
    void prefetch(std::size_t i) const {
        const T& item = chunks_[i / kChunk][i % kChunk];
        __builtin_prefetch(&item);
        if constexpr (sizeof(T) > 64) __builtin_prefetch(reinterpret_cast<const char*>(&item) + 64);
    }

    void grow_to(std::size_t size) {
        while (chunks_.size() * kChunk < size) chunks_.push_back(std::make_unique<T[]>(kChunk));
        if (size > size_) size_ = size;
    }

    std::size_t memory_bytes() const {
        return chunks_.size() * kChunk * sizeof(T) + chunks_.capacity() * sizeof(chunks_[0]);
    }

  private:
    std::vector<std::unique_ptr<T[]>> chunks_;
    std::size_t size_ = 0;
};

}  // namespace pollux::base
