#include "store/history/sample_block.hpp"

#include <array>

#include "base/bytes.hpp"

namespace pollux::store {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::array<unsigned, 6> kTimeBits = {0, 7, 10, 14, 24, 64};

std::uint64_t zigzag_of(std::uint64_t value) { return (value << 1U) ^ (0 - (value >> 63U)); }
std::uint64_t from_zigzag(std::uint64_t value) { return (value >> 1U) ^ (0 - (value & 1U)); }

// Differences wrap around instead of overflowing: any two times can follow each other.
std::int64_t wrapping_sub(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

base::Error damaged() {
    return {"history.damaged", base::ErrorClass::kPermanent,
            "history: a block of samples is damaged and was left out"};
}

}  // namespace

void SampleBlock::append(std::int64_t at_ms, double value) {
    const std::int64_t distance = wrapping_sub(at_ms, last_ms_);
    const std::uint64_t code =
        zigzag_of(static_cast<std::uint64_t>(wrapping_sub(distance, last_distance_)));
    unsigned bucket = 0;
    while (bucket < 5 && (code >> kTimeBits[bucket]) != 0) ++bucket;
    if (bucket < 5) {
        bits_.put((1U << (bucket + 1)) - 2, bucket + 1);  // `bucket` ones and a zero
        bits_.put(code, kTimeBits[bucket]);
    } else {
        bits_.put(0b11111, 5);
        bits_.put(code, 64);
    }
    values_.encode(bits_, value);
    last_distance_ = distance;
    last_ms_ = at_ms;
    ++count_;
}

std::string SampleBlock::bytes() const {
    base::ByteWriter out;
    out.reserve(bits_.bytes().size() + 4);
    out.u8(kVersion);
    out.varint(count_);
    out.raw(bits_.bytes());
    return out.take();
}

template <class Take>
base::Status SampleBlock::read(std::string_view bytes, SampleBlock& state, Take take) {
    base::ByteReader head(bytes);
    const std::uint8_t version = head.u8();
    const std::uint64_t count = head.varint();
    // A sample has two bits at least.
    if (!head.ok() || version != kVersion || count > head.remaining() * 4) {
        return std::unexpected(damaged());
    }
    const std::string_view rest = bytes.substr(head.offset());
    BitReader in(rest);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t code = in.get(kTimeBits[in.ones(5)]);
        const auto change = static_cast<std::int64_t>(from_zigzag(code));
        state.last_distance_ = wrapping_add(state.last_distance_, change);
        state.last_ms_ = wrapping_add(state.last_ms_, state.last_distance_);
        const double value = state.values_.decode(in);
        if (!in.ok()) return std::unexpected(damaged());
        take(TimedValue{state.last_ms_, value});
    }
    // Nothing but zeros up to the next byte may follow: appending relies on it.
    const auto spare = static_cast<unsigned>(rest.size() * 8 - in.position());
    if (spare > 7 || in.get(spare) != 0) return std::unexpected(damaged());
    state.count_ = static_cast<std::uint32_t>(count);
    state.bits_.resume(std::string(rest), rest.size() * 8 - spare);
    return {};
}

base::Result<SampleBlock> SampleBlock::resume(std::uint32_t window, std::string_view bytes) {
    SampleBlock block(window);
    auto status = read(bytes, block, [](const TimedValue&) {});
    if (!status) return std::unexpected(std::move(status.error()));
    return block;
}

base::Status SampleBlock::decode(std::uint32_t window, std::string_view bytes,
                                 std::vector<TimedValue>& out) {
    SampleBlock block(window);
    return read(bytes, block, [&](const TimedValue& sample) { out.push_back(sample); });
}

}  // namespace pollux::store
