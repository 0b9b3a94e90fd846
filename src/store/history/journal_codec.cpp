#include "store/history/journal_codec.hpp"

#include <bit>

#include "base/bytes.hpp"

namespace pollux::store {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kLeastSampleBytes = 3;

std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

std::string encode_journal(std::span<const JournalSample> samples) {
    base::ByteWriter out;
    out.reserve(samples.size() * 10 + 16);
    out.u8(kVersion);
    out.varint(samples.size());
    JournalSample before;
    for (const auto& sample : samples) {
        out.zigzag(difference(sample.series, before.series));
        out.zigzag(difference(sample.at_ms, before.at_ms));
        auto bits = std::bit_cast<std::uint64_t>(sample.value);
        const auto zeros = bits == 0 ? 8U : static_cast<unsigned>(std::countr_zero(bits)) / 8U;
        out.u8(static_cast<std::uint8_t>(8U - zeros));
        for (unsigned i = zeros; i < 8; ++i) {
            out.u8(static_cast<std::uint8_t>(bits >> 56U));
            bits <<= 8U;
        }
        before = sample;
    }
    return out.take();
}

base::Result<std::vector<JournalSample>> decode_journal(std::string_view bytes) {
    base::ByteReader in(bytes);
    const std::uint8_t version = in.u8();
    const std::uint64_t count = in.varint();
    const bool possible = version == kVersion && count <= in.remaining() / kLeastSampleBytes;
    std::vector<JournalSample> samples;
    JournalSample sample;
    for (std::uint64_t i = 0; possible && i < count && in.ok(); ++i) {
        sample.series = sum(sample.series, in.zigzag());
        sample.at_ms = sum(sample.at_ms, in.zigzag());
        const unsigned length = in.u8();
        if (length > 8) in.fail();
        std::uint64_t bits = 0;
        for (unsigned k = 0; k < 8; ++k)
            bits = (bits << 8U) | (k < length && in.ok() ? in.u8() : 0);
        sample.value = std::bit_cast<double>(bits);
        samples.push_back(sample);
    }
    if (!possible || !in.ok() || !in.at_end()) {
        return base::make_error(base::ErrorClass::kPermanent, "history.damaged",
                                "history: a row of the journal is damaged and was left out");
    }
    return samples;
}

}  // namespace pollux::store
