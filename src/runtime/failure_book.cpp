#include "runtime/failure_book.hpp"

#include "base/bytes.hpp"

namespace pollux::runtime {
namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::uint8_t kWithoutHeard = 1;  // as rows were before
constexpr std::size_t kMaxCode = 256;
constexpr std::size_t kMaxMessage = 4096;

}  // namespace

std::string FailureBook::encode(const LastFailure& failure) {
    base::ByteWriter out;
    out.u8(kVersion);
    out.zigzag(failure.at.us);
    out.string(std::string_view(failure.code).substr(0, kMaxCode));
    out.string(std::string_view(failure.message).substr(0, kMaxMessage));
    out.u8(static_cast<std::uint8_t>(failure.heard));
    return out.take();
}

std::optional<LastFailure> FailureBook::decode(std::string_view bytes) {
    base::ByteReader in(bytes);
    const std::uint8_t version = in.u8();
    if (version != kVersion && version != kWithoutHeard) return std::nullopt;
    LastFailure failure;
    failure.at.us = in.zigzag();
    failure.code = in.string(kMaxCode);
    failure.message = in.string(kMaxMessage);
    if (version == kVersion) {
        const std::uint8_t heard = in.u8();
        if (heard > static_cast<std::uint8_t>(Heard::kNothing)) return std::nullopt;
        failure.heard = static_cast<Heard>(heard);
    }
    if (!in.ok() || !in.at_end()) return std::nullopt;
    return failure;
}

void FailureBook::failed(std::uint32_t task, const std::string& key, LastFailure failure) {
    const auto known = failures_.find(task);
    const auto written = written_.find(task);
    const bool news = known == failures_.end() || known->second.code != failure.code ||
                      known->second.heard != failure.heard || written == written_.end() ||
                      failure.at - written->second >= kWriteAgain;
    if (news) {
        changes_[std::string(kPrefix) + key] = encode(failure);
        written_[task] = failure.at;
    }
    failures_[task] = std::move(failure);
}

void FailureBook::recovered(std::uint32_t task, const std::string& key) {
    if (failures_.erase(task) == 0) return;
    written_.erase(task);
    drop(key);
}

bool FailureBook::recall(std::uint32_t task, const std::string& key, std::string_view bytes) {
    auto failure = decode(bytes);
    if (!failure) {
        drop(key);
        return false;
    }
    written_[task] = failure->at;
    failures_.emplace(task, std::move(*failure));  // what happened since is newer
    return true;
}

store::MemoryBatch FailureBook::take_changes() {
    store::MemoryBatch batch;
    for (auto& [key, bytes] : changes_) {
        if (bytes.empty()) {
            batch.removed.push_back(key);
        } else {
            batch.rows.push_back({key, std::move(bytes)});
        }
    }
    changes_.clear();
    return batch;
}

}  // namespace pollux::runtime
