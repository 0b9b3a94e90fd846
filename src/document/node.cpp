#include "document/node.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "document/scalar.hpp"

namespace pollux::document {

Node Node::plain(std::string text) {
    Node node;
    node.kind_ = NodeKind::kScalar;
    node.text_ = std::move(text);
    return node;
}

Node Node::text(std::string text) {
    Node node = plain(std::move(text));
    node.quoted_ = true;
    return node;
}

Node Node::integer(std::int64_t value) { return plain(fmt::format("{}", value)); }

Node Node::unsigned_integer(std::uint64_t value) { return plain(fmt::format("{}", value)); }

Node Node::number(double value) { return plain(fmt::format("{}", value)); }

Node Node::boolean(bool value) { return plain(value ? "true" : "false"); }

Node Node::sequence() {
    Node node;
    node.kind_ = NodeKind::kSequence;
    return node;
}

Node Node::map() {
    Node node;
    node.kind_ = NodeKind::kMap;
    return node;
}

const MapEntry* Node::find_entry(std::string_view key) const {
    const auto found = std::ranges::find(entries_, key, &MapEntry::key);
    return found == entries_.end() ? nullptr : &*found;
}

const Node* Node::find(std::string_view key) const {
    const MapEntry* entry = find_entry(key);
    return entry == nullptr ? nullptr : &entry->value;
}

Node& Node::push(Node item) {
    kind_ = NodeKind::kSequence;
    items_.push_back(std::move(item));
    return *this;
}

Node& Node::set(std::string key, Node value) {
    kind_ = NodeKind::kMap;
    const auto found = std::ranges::find(entries_, key, &MapEntry::key);
    if (found != entries_.end()) {
        found->value = std::move(value);
    } else {
        entries_.push_back({std::move(key), {}, std::move(value)});
    }
    return *this;
}

Node& Node::append(MapEntry entry) {
    kind_ = NodeKind::kMap;
    entries_.push_back(std::move(entry));
    return *this;
}

bool Node::same(const Node& other) const {
    const bool same_quoting =
        quoted_ == other.quoted_ || !(parse_boolean(text_) || parse_number(text_));
    return kind_ == other.kind_ && text_ == other.text_ && same_quoting &&
           std::ranges::equal(items_, other.items_,
                              [](const Node& a, const Node& b) { return a.same(b); }) &&
           std::ranges::equal(entries_, other.entries_, [](const MapEntry& a, const MapEntry& b) {
               return a.key == b.key && a.value.same(b.value);
           });
}

std::string_view kind_name(const Node& node) {
    switch (node.kind()) {
        case NodeKind::kNull: return "nothing";
        case NodeKind::kScalar: return node.quoted() ? "a text in quotes" : "a single value";
        case NodeKind::kSequence: return "a list";
        case NodeKind::kMap: return "a map";
    }
    return "nothing";
}

}  // namespace pollux::document
