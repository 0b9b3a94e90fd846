#include "base/siphash.hpp"

namespace pollux::base {
namespace {

// Byte by byte so that the order is little-endian on every machine; compilers make it one load.
std::uint64_t load_le64(const std::byte* bytes) {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return word;
}

}  // namespace

std::uint64_t siphash24(SipKey key, std::span<const std::byte> bytes) {
    detail::SipState state(key);
    const std::size_t whole = bytes.size() / 8 * 8;
    for (std::size_t i = 0; i < whole; i += 8) state.compress(load_le64(bytes.data() + i));

    std::uint64_t last = detail::sip_length_word(bytes.size());
    for (std::size_t i = whole; i < bytes.size(); ++i) {
        last |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * (i - whole));
    }
    state.compress(last);
    return state.finish();
}

std::uint64_t siphash24(SipKey key, std::string_view text) {
    return siphash24(key, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace pollux::base
