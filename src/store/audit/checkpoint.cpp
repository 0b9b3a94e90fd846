#include "store/audit/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "store/durable_file.hpp"

namespace pollux::store {
namespace {

constexpr std::string_view kName = "pollux-audit-1";
constexpr std::size_t kParts = 6;
constexpr std::size_t kMostFileBytes = 64U << 20U;

// Everything of the line but the signature.
std::string signed_text(const AuditCheckpoint& checkpoint) {
    return fmt::format("{},{},{},{},{}", kName, checkpoint.head.number,
                       audit_hex(checkpoint.head.mac), checkpoint.time, checkpoint.key_id);
}

}  // namespace

AuditCheckpoint make_checkpoint(const AuditKey& key, const AuditHead& head, base::WallTime at) {
    AuditCheckpoint checkpoint{head, base::format_utc(at), key.id(), {}};
    checkpoint.signature = key.sign(signed_text(checkpoint));
    return checkpoint;
}

std::string to_line(const AuditCheckpoint& checkpoint) {
    return signed_text(checkpoint) + "," + audit_hex(checkpoint.signature);
}

std::optional<AuditCheckpoint> parse_checkpoint(std::string_view line) {
    std::vector<std::string_view> parts;
    for (std::string_view rest = line;;) {
        const std::size_t comma = rest.find(',');
        parts.push_back(rest.substr(0, comma));
        if (comma == std::string_view::npos || parts.size() > kParts) break;
        rest.remove_prefix(comma + 1);
    }
    if (parts.size() != kParts || parts[0] != kName) return std::nullopt;
    AuditCheckpoint checkpoint;
    const auto [end, error] =
        std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), checkpoint.head.number);
    const auto mac = audit_unhex(parts[2]);
    const auto signature = audit_unhex(parts[5]);
    if (error != std::errc{} || end != parts[1].data() + parts[1].size() || !mac || !signature ||
        mac->size() != checkpoint.head.mac.size()) {
        return std::nullopt;
    }
    std::memcpy(checkpoint.head.mac.data(), mac->data(), mac->size());
    checkpoint.time = parts[3];
    checkpoint.key_id = parts[4];
    checkpoint.signature = *signature;
    if (to_line(checkpoint) != line) return std::nullopt;
    return checkpoint;
}

bool signed_by(const AuditKey& key, const AuditCheckpoint& checkpoint) {
    return checkpoint.key_id == key.id() &&
           key.verify(signed_text(checkpoint), checkpoint.signature);
}

base::Result<std::optional<CheckpointLines>> read_checkpoints(const std::string& path) {
    auto content = read_file(path, kMostFileBytes);
    if (!content) return std::unexpected(std::move(content.error()));
    if (!*content) return std::nullopt;
    CheckpointLines all;
    std::string_view rest = **content;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) {
            all.torn = true;
            break;
        }
        const std::string_view line = rest.substr(0, end);
        all.lines.push_back({number, std::string(line), parse_checkpoint(line)});
        rest.remove_prefix(end + 1);
    }
    return all;
}

}  // namespace pollux::store
