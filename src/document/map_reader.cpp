#include "document/map_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/text.hpp"
#include "document/scalar.hpp"

namespace pollux::document {

using base::quoted;

std::string item_path(std::string_view path, std::size_t index) {
    return fmt::format("{}[{}]", path, index);
}

std::string key_path(std::string_view path, std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string word_list(std::span<const std::string_view> words) {
    constexpr std::size_t kMost = 20;
    std::string out;
    const std::size_t shown = std::min(words.size(), kMost);
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
        out += words[i];
    }
    if (shown < words.size()) out += ", ...";
    return out;
}

MapReader::MapReader(const Node& node, std::string path, Diagnostics& diagnostics,
                     std::span<const std::string_view> known)
    : node_(node), path_(std::move(path)), diagnostics_(diagnostics), known_(known) {
    if (!node.is_map() && !node.is_null()) {
        diagnostics_.error(
            node.mark(), path_,
            fmt::format("is {}; a map of keys and values is wanted", kind_name(node)));
    }
}

std::string MapReader::path_of(std::string_view key) const { return key_path(path_, key); }

const Mark& MapReader::mark_of(std::string_view key) const {
    const MapEntry* entry = node_.find_entry(key);
    if (entry == nullptr) return node_.mark();
    return entry->value.is_null() ? entry->key_mark : entry->value.mark();
}

void MapReader::error(std::string_view key, std::string message) {
    diagnostics_.error(mark_of(key), path_of(key), std::move(message));
}

void MapReader::warning(std::string_view key, std::string message) {
    diagnostics_.warning(mark_of(key), path_of(key), std::move(message));
}

const Node* MapReader::find(std::string_view key, Need need) {
    if (known_.empty()) {
        asked_.push_back(key);
    } else {
        POLLUX_CHECK_MSG(std::ranges::find(known_, key) != known_.end(),
                         "a reader asks for a key that is missing in its list of keys");
    }
    const Node* value = node_.find(key);
    if (value != nullptr && !value->is_null()) return value;
    if (need == Need::kRequired && (node_.is_map() || node_.is_null())) {
        error(key, value == nullptr ? "is missing; it is required" : "has no value");
    }
    return nullptr;
}

const Node* MapReader::any(std::string_view key, Need need) { return find(key, need); }

const Node* MapReader::scalar(std::string_view key, Need need, std::string_view expected) {
    const Node* value = find(key, need);
    if (value == nullptr || value->is_scalar()) return value;
    error(key, fmt::format("is {}; {} is wanted", kind_name(*value), expected));
    return nullptr;
}

std::optional<std::string> MapReader::string(std::string_view key, Need need) {
    const Node* value = scalar(key, need, "a text");
    if (value == nullptr) return std::nullopt;
    if (need == Need::kRequired && value->scalar().empty()) {
        error(key, "is empty; it is required");
        return std::nullopt;
    }
    return value->scalar();
}

std::optional<bool> MapReader::boolean(std::string_view key, Need need) {
    const Node* value = scalar(key, need, "true or false");
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_boolean(value->scalar());
    if (!parsed || value->quoted()) {
        error(key, fmt::format("{} is no truth value; write true or false, without quotes",
                               quoted(value->scalar())));
        return std::nullopt;
    }
    return parsed;
}

std::optional<std::int64_t> MapReader::integer(std::string_view key, std::int64_t low,
                                               std::int64_t high, Need need) {
    const Node* value = scalar(key, need, "a whole number");
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_integer(value->scalar());
    if (!parsed || value->quoted() || *parsed < low || *parsed > high) {
        error(key, fmt::format("{} is no whole number from {} to {}{}", quoted(value->scalar()),
                               low, high, value->quoted() ? "; leave the quotes away" : ""));
        return std::nullopt;
    }
    return parsed;
}

std::optional<std::int64_t> MapReader::amount(std::string_view key, Need need) {
    const Node* value = scalar(key, need, "a whole number");
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_amount(value->scalar());
    if (!parsed || *parsed < 1 || *parsed > kMostAmount) {
        error(key, fmt::format("{} is no whole number from 1 to {}; a unit may follow it, as in "
                               "500M or 16GiB",
                               quoted(value->scalar()), kMostAmount));
        return std::nullopt;
    }
    return parsed;
}

std::optional<double> MapReader::number(std::string_view key, double low, double high, Need need) {
    const Node* value = scalar(key, need, "a number");
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_number(value->scalar());
    if (!parsed || value->quoted()) {
        error(key, fmt::format(
                       "{} is no number{}", quoted(value->scalar()),
                       value->quoted() ? "; leave the quotes away" : "; write it like 12 or 0.5"));
        return std::nullopt;
    }
    if (*parsed < low || *parsed > high) {
        error(key, fmt::format("{} is out of range; {} to {} is possible", *parsed, low, high));
        return std::nullopt;
    }
    return parsed;
}

std::optional<base::Duration> MapReader::duration(std::string_view key, base::Duration low,
                                                  base::Duration high, Need need) {
    const Node* value = scalar(key, need, "a duration");
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_duration(value->scalar());
    if (!parsed) {
        error(key, fmt::format("{} is no duration; write it like 10s, 5m, 1h30m or 250ms",
                               quoted(value->scalar())));
        return std::nullopt;
    }
    if (*parsed < low || *parsed > high) {
        error(key, fmt::format("{} is out of range; {} to {} is possible", value->scalar(),
                               duration_text(low), duration_text(high)));
        return std::nullopt;
    }
    return parsed;
}

std::optional<std::size_t> MapReader::one_of(std::string_view key,
                                             std::span<const std::string_view> names, Need need) {
    const Node* value = scalar(key, need, word_list(names));
    if (value == nullptr) return std::nullopt;
    const auto found = std::ranges::find(names, value->scalar());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const auto near = base::nearest(value->scalar(), names);
    error(key, near ? fmt::format("{} is not known; did you mean {}? Possible: {}",
                                  quoted(value->scalar()), *near, word_list(names))
                    : fmt::format("{} is not known; possible: {}", quoted(value->scalar()),
                                  word_list(names)));
    return std::nullopt;
}

std::vector<std::string> MapReader::strings(std::string_view key, Need need) {
    const Node* value = find(key, need);
    if (value == nullptr) return {};
    if (value->is_scalar()) return {value->scalar()};
    std::vector<std::string> out;
    if (!value->is_sequence()) {
        error(key, fmt::format("is {}; a list of texts is wanted", kind_name(*value)));
        return out;
    }
    for (std::size_t i = 0; i < value->items().size(); ++i) {
        const Node& item = value->items()[i];
        if (item.is_scalar()) {
            out.push_back(item.scalar());
            continue;
        }
        diagnostics_.error(item.mark(), item_path(path_of(key), i),
                           fmt::format("is {}; a text is wanted", kind_name(item)));
    }
    return out;
}

const Node* MapReader::list(std::string_view key, Need need) {
    const Node* value = find(key, need);
    if (value == nullptr || value->is_sequence()) return value;
    error(key,
          fmt::format("is {}; a list is wanted (lines that begin with \"- \")", kind_name(*value)));
    return nullptr;
}

const Node* MapReader::map(std::string_view key, Need need) {
    const Node* value = find(key, need);
    if (value == nullptr || value->is_map()) return value;
    error(key, fmt::format("is {}; a map of keys and values is wanted", kind_name(*value)));
    return nullptr;
}

void MapReader::finish() {
    const std::span<const std::string_view> known = known_.empty() ? asked_ : known_;
    for (const MapEntry& entry : node_.entries()) {
        if (std::ranges::find(known, entry.key) != known.end()) continue;
        const auto near = base::nearest(entry.key, known);
        diagnostics_.error(
            entry.key_mark, path_of(entry.key),
            near ? fmt::format("is no known key; did you mean {}?", *near)
                 : fmt::format("is no known key; possible here: {}", word_list(known)));
    }
}

}  // namespace pollux::document
