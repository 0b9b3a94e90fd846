// Reads one map of a document strictly: each getter takes one key, says what is wrong with it, and
// finish() complains about the keys nobody asked for. All mistakes are collected, none is fatal:
// a getter that fails gives nothing and reading goes on.
//
//     MapReader reader(node, "devices[0]", diagnostics);
//     const auto name = reader.string("name", Need::kRequired);
//     const auto interval = reader.duration("interval", 1s, 24h);
//     reader.finish();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "document/diagnostic.hpp"
#include "document/node.hpp"

namespace pollux::document {

inline constexpr std::int64_t kMostAmount = 1'000'000'000'000'000;

enum class Need : std::uint8_t { kOptional, kRequired };

class MapReader {
  public:
    // `path` is the field path of the node ("" for the document). A node that is no map is an
    // error, unless null (an empty map). Node and diagnostics outlive the reader.
    // With `known`, these are the keys of the map, and a getter may ask for no other; without it
    // the keys are what the getters ask for.
    MapReader(const Node& node, std::string path, Diagnostics& diagnostics,
              std::span<const std::string_view> known = {});

    // A scalar's text as it stands, quoted or not: a version 1.10 stays "1.10".
    std::optional<std::string> string(std::string_view key, Need need = Need::kOptional);
    std::optional<bool> boolean(std::string_view key, Need need = Need::kOptional);
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high,
                                        Need need = Need::kOptional);
    // A whole number of at least 1, with or without a unit: "16GiB" (parse_amount).
    std::optional<std::int64_t> amount(std::string_view key, Need need = Need::kOptional);
    std::optional<double> number(std::string_view key,
                                 double low = std::numeric_limits<double>::lowest(),
                                 double high = std::numeric_limits<double>::max(),
                                 Need need = Need::kOptional);
    std::optional<base::Duration> duration(std::string_view key, base::Duration low,
                                           base::Duration high, Need need = Need::kOptional);
    // Index of the word among `names`.
    std::optional<std::size_t> one_of(std::string_view key, std::span<const std::string_view> names,
                                      Need need = Need::kOptional);
    template <class Enum>
    std::optional<Enum> choice(std::string_view key,
                               std::initializer_list<std::pair<std::string_view, Enum>> choices,
                               Need need = Need::kOptional) {
        std::vector<std::string_view> names;
        for (const auto& choice : choices) names.push_back(choice.first);
        const auto index = one_of(key, names, need);
        if (!index) return std::nullopt;
        return (choices.begin() + *index)->second;
    }
    // A list of scalars, or a single one. Empty when absent.
    std::vector<std::string> strings(std::string_view key, Need need = Need::kOptional);

    const Node* list(std::string_view key, Need need = Need::kOptional);
    const Node* map(std::string_view key, Need need = Need::kOptional);
    const Node* any(std::string_view key, Need need = Need::kOptional);  // a null value is absent

    bool has(std::string_view key) const { return node_.find(key) != nullptr; }
    const Node& node() const { return node_; }
    const std::string& path() const { return path_; }
    std::string path_of(std::string_view key) const;  // "devices[0].name"

    // At the key's value, or at the map if the key is not there.
    void error(std::string_view key, std::string message);
    void warning(std::string_view key, std::string message);

    // Unknown keys are errors, with the nearest known one as a suggestion.
    void finish();

  private:
    const Node* find(std::string_view key, Need need);
    const Node* scalar(std::string_view key, Need need, std::string_view expected);
    const Mark& mark_of(std::string_view key) const;

    const Node& node_;
    std::string path_;
    Diagnostics& diagnostics_;
    std::span<const std::string_view> known_;
    std::vector<std::string_view> asked_;
};

// "list[2]", "a.b": field paths of items and keys.
std::string item_path(std::string_view path, std::size_t index);
std::string key_path(std::string_view path, std::string_view key);

// "a, b or c", at most about twenty of them.
std::string word_list(std::span<const std::string_view> words);

}  // namespace pollux::document
