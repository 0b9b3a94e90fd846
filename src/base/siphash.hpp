// SipHash-2-4 (Aumasson, Bernstein): the one hash of the project.
//
// Phases, jitter, percentages and partitions are this hash of stable ids, so the same seed gives
// the same bytes on every machine. std::hash promises nothing of the kind.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pollux::base {

struct SipKey {
    std::uint64_t k0 = 0;
    std::uint64_t k1 = 0;

    bool operator==(const SipKey&) const = default;
};

namespace detail {

// The running state; words are compressed in order, then finish() once.
struct SipState {
    std::uint64_t v0;
    std::uint64_t v1;
    std::uint64_t v2;
    std::uint64_t v3;

    explicit constexpr SipState(SipKey key)
        : v0(key.k0 ^ 0x736f6d6570736575ULL),
          v1(key.k1 ^ 0x646f72616e646f6dULL),
          v2(key.k0 ^ 0x6c7967656e657261ULL),
          v3(key.k1 ^ 0x7465646279746573ULL) {}

    constexpr void round() {
        v0 += v1;
        v1 = std::rotl(v1, 13) ^ v0;
        v0 = std::rotl(v0, 32);
        v2 += v3;
        v3 = std::rotl(v3, 16) ^ v2;
        v0 += v3;
        v3 = std::rotl(v3, 21) ^ v0;
        v2 += v1;
        v1 = std::rotl(v1, 17) ^ v2;
        v2 = std::rotl(v2, 32);
    }

    constexpr void compress(std::uint64_t word) {
        v3 ^= word;
        round();
        round();
        v0 ^= word;
    }

    constexpr std::uint64_t finish() {
        v2 ^= 0xff;
        round();
        round();
        round();
        round();
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

// The last word carries the length in its top byte.
constexpr std::uint64_t sip_length_word(std::uint64_t length) { return length << 56; }

}  // namespace detail

std::uint64_t siphash24(SipKey key, std::span<const std::byte> bytes);
std::uint64_t siphash24(SipKey key, std::string_view text);

// Equal to hashing the little-endian bytes of the words one after another.
constexpr std::uint64_t siphash24(SipKey key, std::uint64_t a) {
    detail::SipState state(key);
    state.compress(a);
    state.compress(detail::sip_length_word(8));
    return state.finish();
}

constexpr std::uint64_t siphash24(SipKey key, std::uint64_t a, std::uint64_t b) {
    detail::SipState state(key);
    state.compress(a);
    state.compress(b);
    state.compress(detail::sip_length_word(16));
    return state.finish();
}

constexpr std::uint64_t siphash24(SipKey key, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    detail::SipState state(key);
    state.compress(a);
    state.compress(b);
    state.compress(c);
    state.compress(detail::sip_length_word(24));
    return state.finish();
}

// A number in [0, 1) from the top 53 bits of a hash; every value is exact.
constexpr double unit_interval(std::uint64_t hash) {
    return static_cast<double>(hash >> 11) * 0x1p-53;
}

}  // namespace pollux::base
