#include "net/sender_address.hpp"

#include <algorithm>
#include <array>

namespace pollux::net {

IpAddress sender_of(const IpAddress& source) {
    const IpAddress plain = source.unwrapped();
    if (plain.is_v4()) return plain;
    std::array<std::uint8_t, 16> bytes{};
    std::ranges::copy(plain.bytes().first(8), bytes.begin());
    return IpAddress::v6(bytes);
}

}  // namespace pollux::net
