// Bits in a growing array of bytes, highest bit first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace pollux::store {

class BitWriter {
  public:
    // The lowest `count` bits of `value`; count <= 64.
    void put(std::uint64_t value, unsigned count) {
        while (count > 0) {
            const unsigned used = static_cast<unsigned>(bits_ & 7U);
            if (used == 0) grow();
            const unsigned take = std::min(8U - used, count);
            const auto part = static_cast<unsigned>((value >> (count - take)) & ((1U << take) - 1));
            bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) |
                                              (part << (8U - used - take)));
            bits_ += take;
            count -= take;
        }
    }

    std::string_view bytes() const { return bytes_; }
    std::size_t bits() const { return bits_; }
    std::size_t memory() const { return bytes_.capacity(); }
    std::string take() {
        bits_ = 0;
        return std::exchange(bytes_, {});
    }
    // Goes on behind `bits` bits that were written before.
    void resume(std::string bytes, std::size_t bits) {
        bytes_ = std::move(bytes);
        bits_ = bits;
    }

  private:
    // In small steps: many of these are open at once, and doubling would waste half of them.
    void grow() {
        if (bytes_.size() == bytes_.capacity()) bytes_.reserve(bytes_.size() + 48);
        bytes_.push_back('\0');
    }

    std::string bytes_;
    std::size_t bits_ = 0;
};

// Reads damaged bytes too: past the end everything is zero and ok() is false.
class BitReader {
  public:
    explicit BitReader(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t get(unsigned count) {
        if (count > bytes_.size() * 8 - at_) {
            ok_ = false;
            at_ = bytes_.size() * 8;
            return 0;
        }
        std::uint64_t value = 0;
        while (count > 0) {
            const unsigned used = static_cast<unsigned>(at_ & 7U);
            const unsigned take = std::min(8U - used, count);
            const auto byte = static_cast<unsigned char>(bytes_[at_ >> 3U]);
            value = (value << take) | ((byte >> (8U - used - take)) & ((1U << take) - 1));
            at_ += take;
            count -= take;
        }
        return value;
    }
    bool bit() { return get(1) != 0; }
    // How many ones come before the next zero, at most `limit`; the zero is read if there is room.
    unsigned ones(unsigned limit) {
        unsigned count = 0;
        while (count < limit && bit()) ++count;
        return count;
    }

    bool ok() const { return ok_; }
    void fail() { ok_ = false; }
    std::size_t position() const { return at_; }

  private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

}  // namespace pollux::store
