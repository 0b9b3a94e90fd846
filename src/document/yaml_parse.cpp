// YAML by yaml-cpp's event reader: the bounds hold while it reads, not afterwards.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "document/parse.hpp"

namespace pollux::document {
namespace {

struct Refused {
    Mark mark;
    std::string message;
};

class TreeBuilder : public YAML::EventHandler {
  public:
    TreeBuilder(std::shared_ptr<const std::string> file, const ParseLimits& limits)
        : file_(std::move(file)), limits_(limits) {}

    Node take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& at) override {
        if (++documents_ > 1) {
            throw Refused{mark(at), "a second document begins here; keep one document per file"};
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& at, YAML::anchor_t anchor) override {
        Node node;
        node.set_mark(mark(at));
        place(std::move(node), anchor);
    }

    void OnAlias(const YAML::Mark& at, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            throw Refused{mark(at), "the alias stands inside what it refers to; write it out"};
        }
        count(found->second.nodes, mark(at));
        if (open_.size() + found->second.depth > limits_.max_depth) too_deep(mark(at));
        if (!open_.empty() && open_.back().node.is_map() && !open_.back().has_key) {
            take_key(found->second.node);
        } else {
            attach(Node(found->second.node), found->second.depth);
        }
    }

    void OnScalar(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        const bool text_tag = tag == "tag:yaml.org,2002:str";
        if (!text_tag) refuse_tag(tag, at);
        Node node = text_tag || tag == "!" ? Node::text(value) : Node::plain(value);
        node.set_mark(mark(at));
        place(std::move(node), anchor);
    }

    void OnSequenceStart(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        refuse_tag(tag, at);
        open(Node::sequence(), at, anchor);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        refuse_tag(tag, at);
        open(Node::map(), at, anchor);
    }
    void OnMapEnd() override { close(); }

  private:
    struct Open {
        Node node;
        YAML::anchor_t anchor = 0;
        bool has_key = false;
        std::string key;
        Mark key_mark;
        std::set<std::string, std::less<>> keys;
        std::size_t nodes_before = 0;
        std::size_t depth = 1;  // of what is inside, this one included
    };
    struct Anchored {
        Node node;
        std::size_t nodes = 1;
        std::size_t depth = 0;
    };

    Mark mark(const YAML::Mark& at) const {
        return {file_, static_cast<std::uint32_t>(at.line + 1),
                static_cast<std::uint32_t>(at.column + 1)};
    }

    void count(std::size_t nodes, const Mark& at) {
        nodes_ += nodes;
        if (nodes_ > limits_.max_nodes) {
            throw Refused{at, fmt::format("more than {} values (aliases count as often as "
                                          "they are used); split the document",
                                          limits_.max_nodes)};
        }
    }

    [[noreturn]] void too_deep(Mark at) const {
        throw Refused{std::move(at),
                      fmt::format("nested deeper than {} levels; flatten it", limits_.max_depth)};
    }

    void refuse_tag(const std::string& tag, const YAML::Mark& at) const {
        if (tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:map" ||
            tag == "tag:yaml.org,2002:seq") {
            return;
        }
        throw Refused{mark(at),
                      fmt::format("the tag {} is not supported; leave it away", base::quoted(tag))};
    }

    void open(Node node, const YAML::Mark& at, YAML::anchor_t anchor) {
        node.set_mark(mark(at));
        if (!open_.empty() && open_.back().node.is_map() && !open_.back().has_key) {
            throw Refused{mark(at), "a key is a list or a map; keys are single words"};
        }
        if (open_.size() >= limits_.max_depth) too_deep(node.mark());
        Open level;
        level.node = std::move(node);
        level.anchor = anchor;
        level.nodes_before = nodes_;
        count(1, mark(at));
        open_.push_back(std::move(level));
    }

    void close() {
        Open level = std::move(open_.back());
        open_.pop_back();
        if (level.anchor != 0) {
            anchors_[level.anchor] = {level.node, nodes_ - level.nodes_before, level.depth};
        }
        attach(std::move(level.node), level.depth);
    }

    void place(Node node, YAML::anchor_t anchor) {
        if (!open_.empty() && open_.back().node.is_map() && !open_.back().has_key) {
            take_key(node);
            if (anchor != 0) anchors_[anchor] = {std::move(node), 1, 0};
            return;
        }
        count(1, node.mark());
        if (anchor != 0) anchors_[anchor] = {node, 1, 0};
        attach(std::move(node), 0);
    }

    void take_key(const Node& node) {
        Open& level = open_.back();
        if (!node.is_scalar()) {
            throw Refused{node.mark(), "a key is missing or no single word; write key: value"};
        }
        if (node.scalar() == "<<" && !node.quoted()) {
            throw Refused{node.mark(), "merge keys (<<) are not supported; write the keys out"};
        }
        if (!level.keys.insert(node.scalar()).second) {
            const MapEntry* first = level.node.find_entry(node.scalar());
            throw Refused{node.mark(),
                          fmt::format("the key {} is there already (line {}); remove one of them",
                                      base::quoted(node.scalar()),
                                      first == nullptr ? 0 : first->key_mark.line)};
        }
        level.has_key = true;
        level.key = node.scalar();
        level.key_mark = node.mark();
    }

    void attach(Node node, std::size_t depth) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& level = open_.back();
        level.depth = std::max(level.depth, depth + 1);
        if (level.node.is_sequence()) {
            level.node.push(std::move(node));
            return;
        }
        level.node.append({std::move(level.key), std::move(level.key_mark), std::move(node)});
        level.has_key = false;
    }

    std::shared_ptr<const std::string> file_;
    ParseLimits limits_;
    Node root_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Anchored> anchors_;
    std::size_t nodes_ = 0;
    int documents_ = 0;
};

// Control characters of a message may come from the text.
std::string printable(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    return text;
}

bool begins_like_json(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

bool within_bounds(std::string_view text, const std::string& file, Diagnostics& diagnostics,
                   const ParseLimits& limits) {
    if (text.size() > limits.max_bytes) {
        diagnostics.add({Severity::kError, file, 0, 0, "",
                         fmt::format("{} bytes; the limit is {}", text.size(), limits.max_bytes)});
        return false;
    }
    if (!base::is_valid_utf8(text)) {
        diagnostics.add(
            {Severity::kError, file, 0, 0, "", "the text is not UTF-8; save the file as UTF-8"});
        return false;
    }
    return true;
}

}  // namespace

Parsed parse(std::string_view text, std::string file, Diagnostics& diagnostics,
             const ParseLimits& limits) {
    if (!within_bounds(text, file, diagnostics, limits)) return {};
    if (begins_like_json(text)) {
        // YAML's flow style begins alike: where JSON does not fit, YAML has the last word.
        Diagnostics ignored(1);
        Parsed json = parse_json(text, file, ignored, limits);
        if (json.ok) return json;
        if (file.ends_with(".json")) return parse_json(text, file, diagnostics, limits);
    }
    const auto name = std::make_shared<const std::string>(file);
    TreeBuilder builder(name, limits);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Refused& refused) {
        diagnostics.error(refused.mark.file ? refused.mark : Mark{name, 0, 0}, "", refused.message);
        return {};
    } catch (const YAML::Exception& error) {
        const Mark at{name, static_cast<std::uint32_t>(error.mark.line + 1),
                      static_cast<std::uint32_t>(error.mark.column + 1)};
        diagnostics.error(at, "", fmt::format("not valid YAML: {}", printable(error.msg)));
        return {};
    }
    return {builder.take(), true};
}

}  // namespace pollux::document
