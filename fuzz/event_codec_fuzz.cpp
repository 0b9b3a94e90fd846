// Decoders of everything that is stored or recorded, fed arbitrary bytes: no crash, no large
// allocation, and what is accepted is written again exactly as it was read.
//
// Input: one byte that chooses the decoder, then its bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "engine/alert_codec.hpp"
#include "engine/event_codec.hpp"

namespace {

using pollux::base::ByteReader;
using pollux::base::ByteWriter;

template <class Decode>
void check(std::string_view bytes, Decode decode) {
    ByteReader in(bytes);
    const auto value = decode(in);
    if (!value) {
        POLLUX_CHECK(!value.error().message.empty());
        return;
    }
    ByteWriter once;
    pollux::engine::encode(once, *value);
    // An older version is read, and written in the newest form.
    POLLUX_CHECK_MSG(bytes[0] != once.view()[0] || once.view() == bytes.substr(0, in.offset()),
                     "one value, one encoding");
    ByteReader again(once.view());
    const auto same = decode(again);
    POLLUX_CHECK(same.has_value() && again.at_end());
    ByteWriter twice;
    pollux::engine::encode(twice, *same);
    POLLUX_CHECK(twice.view() == once.view());
}

// For those that take all of the bytes.
template <class Decode, class Encode>
void check_whole(std::string_view bytes, Decode decode, Encode encode) {
    const auto value = decode(bytes);
    if (!value) {
        POLLUX_CHECK(!value.error().message.empty());
        return;
    }
    const std::string once = encode(*value);
    // An older version is read, and written in the newest form.
    POLLUX_CHECK_MSG(bytes[0] != once[0] || once == bytes, "one value, one encoding");
    const auto same = decode(once);
    POLLUX_CHECK(same.has_value() && encode(*same) == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0]) {
        case 0: check(bytes, pollux::engine::decode_event); break;
        case 1: check(bytes, pollux::engine::decode_task_spec); break;
        case 2: check(bytes, pollux::engine::decode_device_spec); break;
        case 3: check(bytes, pollux::engine::decode_core_settings); break;
        case 4: check(bytes, pollux::engine::decode_task_record); break;
        case 5:
            check_whole(bytes, pollux::engine::decode_alert, pollux::engine::encode_alert);
            break;
        case 6:
            check_whole(bytes, pollux::engine::decode_incident, pollux::engine::encode_incident);
            break;
        default: break;
    }
    return 0;
}
