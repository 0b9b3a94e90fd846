#include "store/history/open_blocks.hpp"

#include <bit>
#include <cmath>

#include "base/bytes.hpp"
#include "store/history/block_key.hpp"

namespace pollux::store {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kMostBlockBytes = 16'384;

std::size_t chunk_of(std::int64_t series) {
    return static_cast<std::size_t>(series) / kSeriesPerChunk;
}
std::size_t place_of(std::int64_t series) {
    return static_cast<std::size_t>(series) % kSeriesPerChunk;
}

}  // namespace

double rounded_to_24_bits(double value) {
    constexpr std::uint64_t kTail = (1ULL << 29U) - 1;  // 52 - 23 bits
    if (!std::isfinite(value)) return value;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto rounded = std::bit_cast<double>((bits + (kTail >> 1U) + 1) & ~kTail);
    return std::isfinite(rounded) ? rounded : value;
}

OpenBlocks::Series* OpenBlocks::find(std::int64_t series) {
    return const_cast<Series*>(std::as_const(*this).find(series));
}

const OpenBlocks::Series* OpenBlocks::find(std::int64_t series) const {
    if (series < 0 || chunk_of(series) >= chunks_.size()) return nullptr;
    const auto& chunk = chunks_[chunk_of(series)];
    if (chunk == nullptr || !chunk->series[place_of(series)].defined) return nullptr;
    return &chunk->series[place_of(series)];
}

void OpenBlocks::define(std::int64_t series, SeriesType type, std::uint8_t retention) {
    if (chunk_of(series) >= chunks_.size()) chunks_.resize(chunk_of(series) + 1);
    auto& chunk = chunks_[chunk_of(series)];
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    auto& one = chunk->series[place_of(series)];
    if (!one.defined) {
        ++series_;
        one.retention = retention;
    }
    one.defined = true;
    one.rounded = type == SeriesType::kRate;
}

void OpenBlocks::remove(std::int64_t series) {
    Series* found = find(series);
    if (found == nullptr) return;
    *found = Series{};
    --series_;
    auto& waiting = chunks_[chunk_of(series)]->waiting;
    std::erase_if(waiting, [&](const WaitingBlock& block) {
        if (block.series != series) return false;
        waiting_bytes_ -= block.bytes.size();
        return true;
    });
}

std::uint8_t OpenBlocks::retention(std::int64_t series) const {
    const Series* found = find(series);
    return found == nullptr ? 0 : found->retention;
}

bool OpenBlocks::append(std::int64_t series, std::int64_t at_ms, double value) {
    Series* found = find(series);
    if (found == nullptr || at_ms < 0 || at_ms / kWindowMs >= kMostWindows) return false;
    const auto window = static_cast<std::uint32_t>(at_ms / kWindowMs);
    SampleBlock& block = found->block;
    if (!block.empty() && (block.window() != window || block.full())) {
        close(series, *chunks_[chunk_of(series)], *found);
    }
    if (block.empty()) block = SampleBlock(window);
    block.append(at_ms, found->rounded ? rounded_to_24_bits(value) : value);
    return true;
}

void OpenBlocks::close(std::int64_t number, Chunk& chunk, Series& series) {
    const SampleBlock& block = series.block;
    chunk.waiting.push_back({number, block.window(), block.count(), block.bytes()});
    waiting_bytes_ += chunk.waiting.back().bytes.size();
    series.block = SampleBlock();
}

void OpenBlocks::close_before(std::size_t chunk, std::uint32_t window) {
    if (chunk >= chunks_.size() || chunks_[chunk] == nullptr) return;
    for (std::size_t i = 0; i < kSeriesPerChunk; ++i) {
        Series& series = chunks_[chunk]->series[i];
        if (series.block.empty() || series.block.window() >= window) continue;
        close(static_cast<std::int64_t>(chunk * kSeriesPerChunk + i), *chunks_[chunk], series);
    }
}

std::vector<WaitingBlock> OpenBlocks::blocks_of(std::int64_t series) const {
    std::vector<WaitingBlock> blocks;
    const Series* found = find(series);
    if (found == nullptr) return blocks;
    for (const auto& block : chunks_[chunk_of(series)]->waiting) {
        if (block.series == series) blocks.push_back(block);
    }
    if (!found->block.empty()) {
        blocks.push_back(
            {series, found->block.window(), found->block.count(), found->block.bytes()});
    }
    return blocks;
}

const std::vector<WaitingBlock>& OpenBlocks::waiting(std::size_t chunk) const {
    static const std::vector<WaitingBlock> kNone;
    return chunk < chunks_.size() && chunks_[chunk] != nullptr ? chunks_[chunk]->waiting : kNone;
}

void OpenBlocks::drop_waiting(std::size_t chunk, std::size_t count) {
    auto& waiting = chunks_[chunk]->waiting;
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(count);
    for (auto it = waiting.begin(); it != end; ++it) waiting_bytes_ -= it->bytes.size();
    waiting.erase(waiting.begin(), end);
    if (waiting.empty()) waiting.shrink_to_fit();
}

std::size_t OpenBlocks::memory_bytes() const {
    std::size_t bytes = waiting_bytes_;
    for (const auto& chunk : chunks_) {
        if (chunk == nullptr) continue;
        bytes += sizeof(Chunk);
        for (const auto& series : chunk->series) bytes += series.block.memory();
    }
    return bytes;
}

std::string OpenBlocks::save(std::size_t chunk) const {
    base::ByteWriter out;
    out.u8(kVersion);
    if (chunk >= chunks_.size() || chunks_[chunk] == nullptr) return out.take();
    for (std::size_t i = 0; i < kSeriesPerChunk; ++i) {
        const auto& block = chunks_[chunk]->series[i].block;
        if (block.empty()) continue;
        out.u8(static_cast<std::uint8_t>(i));
        out.varint(block.window());
        out.string(block.bytes());
    }
    return out.take();
}

base::Status OpenBlocks::restore(std::size_t chunk, std::string_view bytes) {
    base::ByteReader in(bytes);
    if (in.u8() != kVersion) in.fail();
    while (in.ok() && !in.at_end()) {
        const std::size_t place = in.u8();
        const std::uint64_t window = in.varint();
        const std::string_view content = in.string(kMostBlockBytes);
        if (!in.ok() || window >= static_cast<std::uint64_t>(kMostWindows)) break;
        auto block = SampleBlock::resume(static_cast<std::uint32_t>(window), content);
        if (!block) return std::unexpected(std::move(block.error()));
        Series* series = find(static_cast<std::int64_t>(chunk * kSeriesPerChunk + place));
        if (series != nullptr) series->block = std::move(*block);  // else removed meanwhile
    }
    if (in.ok() && in.at_end()) return {};
    return base::make_error(base::ErrorClass::kPermanent, "history.damaged",
                            "history: saved open blocks are damaged and were left out");
}

}  // namespace pollux::store
