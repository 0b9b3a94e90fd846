// A parsed document as a tree of plain values: what YAML and JSON have in common. Every node and
// every key knows the file, line and column it came from, so that each later complaint can name
// its place. Built by parse(), or by hand for writing; read-only once it is handed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pollux::document {

// Where something stands in a file; lines and columns count from 1, 0: not from a file.
struct Mark {
    std::shared_ptr<const std::string> file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

enum class NodeKind : std::uint8_t { kNull, kScalar, kSequence, kMap };

struct MapEntry;

class Node {
  public:
    Node() = default;  // null

    // A plain scalar is a number, a truth value or a word, whatever its reader wants; a quoted one
    // is always text.
    static Node plain(std::string text);
    static Node text(std::string text);
    static Node integer(std::int64_t value);
    static Node unsigned_integer(std::uint64_t value);
    static Node number(double value);  // shortest form that reads back as the same value
    static Node boolean(bool value);
    static Node sequence();
    static Node map();

    NodeKind kind() const { return kind_; }
    bool is_null() const { return kind_ == NodeKind::kNull; }
    bool is_scalar() const { return kind_ == NodeKind::kScalar; }
    bool is_sequence() const { return kind_ == NodeKind::kSequence; }
    bool is_map() const { return kind_ == NodeKind::kMap; }
    bool quoted() const { return quoted_; }
    const Mark& mark() const { return mark_; }
    void set_mark(Mark mark) { mark_ = std::move(mark); }

    const std::string& scalar() const { return text_; }        // empty unless a scalar
    const std::vector<Node>& items() const { return items_; }  // empty unless a sequence
    const std::vector<MapEntry>& entries() const;              // empty unless a map
    const Node* find(std::string_view key) const;              // null: no such key, or no map
    const MapEntry* find_entry(std::string_view key) const;

    // Building. A key that is there already is replaced in its place.
    Node& push(Node item);
    Node& set(std::string key, Node value);
    Node& append(MapEntry entry);  // the caller knows that the key is new

    // Same meaning: kinds, texts and order, not marks; quoting only where it makes a number or a
    // truth value into text.
    bool same(const Node& other) const;

  private:
    std::string text_;
    std::vector<Node> items_;
    std::vector<MapEntry> entries_;
    Mark mark_;
    NodeKind kind_ = NodeKind::kNull;
    bool quoted_ = false;
};

struct MapEntry {
    std::string key;
    Mark key_mark;
    Node value;
};

inline const std::vector<MapEntry>& Node::entries() const { return entries_; }

// "a map", "a list", "a text", ... for messages.
std::string_view kind_name(const Node& node);

}  // namespace pollux::document
