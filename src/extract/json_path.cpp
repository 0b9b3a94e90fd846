#include "extract/json_path.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <compare>

#include "extract/path_program.hpp"
#include "extract/value_math.hpp"

namespace pollux::extract {
namespace {

namespace json = boost::json;

const JsonNode* by_name(const JsonNode& node, const std::string& name) {
    return node.is_object() ? node.get_object().if_contains({name.data(), name.size()}) : nullptr;
}

const JsonNode* by_index(const JsonNode& node, std::int64_t index) {
    if (!node.is_array()) return nullptr;
    const auto size = static_cast<std::int64_t>(node.get_array().size());
    const std::int64_t at = index < 0 ? index + size : index;
    return at < 0 || at >= size ? nullptr : &node.get_array()[static_cast<std::size_t>(at)];
}

const JsonNode* singular(const PathProgram& program, const JsonNode& root, Budget& budget) {
    const JsonNode* node = &root;
    if (!budget.spend(program.segments.size() + 1)) return nullptr;
    for (const Segment& segment : program.segments) {
        const Selector& selector = segment.selectors[0];
        node = selector.kind == SelectorKind::kName ? by_name(*node, selector.name)
                                                    : by_index(*node, selector.index);
        if (node == nullptr) return nullptr;
    }
    return node;
}

// Walks one path. Filters inside it make walkers of their own over the same budget.
class Walker {
  public:
    Walker(const JsonNode& root, Budget& budget) : root_(root), budget_(budget) {}

    bool run(const PathProgram& program, const JsonNode& start, std::vector<const JsonNode*>& out) {
        std::vector<const JsonNode*> current = {&start};
        std::vector<const JsonNode*> next;
        for (const Segment& segment : program.segments) {
            next.clear();
            for (const JsonNode* node : current) {
                const bool ok = segment.descendant ? descend(segment, *node, next, 0)
                                                   : apply(segment, *node, next);
                if (!ok) {
                    exhausted_ = true;
                    return false;
                }
            }
            current.swap(next);
        }
        out.insert(out.end(), current.begin(), current.end());
        return !exhausted_;
    }

  private:
    static constexpr int kMaxDescent = 128;  // the parser's depth bound is lower

    bool descend(const Segment& segment, const JsonNode& node, std::vector<const JsonNode*>& out,
                 int depth) {
        if (depth > kMaxDescent || !apply(segment, node, out)) return false;
        if (node.is_array()) {
            for (const JsonNode& child : node.get_array()) {
                if (!descend(segment, child, out, depth + 1)) return false;
            }
        } else if (node.is_object()) {
            for (const auto& member : node.get_object()) {
                if (!descend(segment, member.value(), out, depth + 1)) return false;
            }
        }
        return true;
    }

    bool apply(const Segment& segment, const JsonNode& node, std::vector<const JsonNode*>& out) {
        for (const Selector& selector : segment.selectors) {
            if (!budget_.spend()) return false;
            switch (selector.kind) {
                case SelectorKind::kName: push(by_name(node, selector.name), out); break;
                case SelectorKind::kIndex: push(by_index(node, selector.index), out); break;
                case SelectorKind::kWildcard:
                case SelectorKind::kFilter:
                    if (!children(selector, node, out)) return false;
                    break;
                case SelectorKind::kSlice:
                    if (!slice(selector, node, out)) return false;
                    break;
            }
        }
        return true;
    }

    static void push(const JsonNode* node, std::vector<const JsonNode*>& out) {
        if (node != nullptr) out.push_back(node);
    }

    bool children(const Selector& selector, const JsonNode& node,
                  std::vector<const JsonNode*>& out) {
        const auto visit = [&](const JsonNode& child) {
            if (!budget_.spend()) return false;
            if (selector.kind == SelectorKind::kWildcard || matches(*selector.filter, child)) {
                out.push_back(&child);
            }
            return !exhausted_;
        };
        if (node.is_array()) {
            return std::ranges::all_of(node.get_array(), visit);
        }
        if (node.is_object()) {
            return std::ranges::all_of(node.get_object(),
                                       [&](const auto& member) { return visit(member.value()); });
        }
        return true;
    }

    bool slice(const Selector& s, const JsonNode& node, std::vector<const JsonNode*>& out) {
        if (!node.is_array() || s.step == 0) return true;
        const json::array& array = node.get_array();
        const auto size = static_cast<std::int64_t>(array.size());
        const auto place = [&](std::int64_t at) { return at < 0 ? at + size : at; };
        if (s.step > 0) {
            const std::int64_t from = std::clamp<std::int64_t>(place(s.from.value_or(0)), 0, size);
            const std::int64_t to = std::clamp<std::int64_t>(place(s.to.value_or(size)), 0, size);
            for (std::int64_t i = from; i < to; i += std::min(s.step, size)) {
                if (!budget_.spend()) return false;
                out.push_back(&array[static_cast<std::size_t>(i)]);
            }
            return true;
        }
        const std::int64_t from =
            std::clamp<std::int64_t>(place(s.from.value_or(size - 1)), -1, size - 1);
        const std::int64_t to = s.to ? std::clamp<std::int64_t>(place(*s.to), -1, size - 1) : -1;
        for (std::int64_t i = from; i > to; i += std::max(s.step, -size)) {
            if (!budget_.spend()) return false;
            out.push_back(&array[static_cast<std::size_t>(i)]);
        }
        return true;
    }

    bool matches(const FilterNode& filter, const JsonNode& node) {
        if (!budget_.spend()) {
            exhausted_ = true;
            return false;
        }
        switch (filter.op) {
            case FilterOp::kAnd: return matches(*filter.left, node) && matches(*filter.right, node);
            case FilterOp::kOr: return matches(*filter.left, node) || matches(*filter.right, node);
            case FilterOp::kNot: return !matches(*filter.left, node);
            case FilterOp::kExists: {
                std::vector<const JsonNode*> found;
                const JsonNode& start = filter.a.from_root ? root_ : node;
                if (filter.a.path.singular) {
                    return singular(filter.a.path, start, budget_) != nullptr;
                }
                run(filter.a.path, start, found);
                return !found.empty();
            }
            default: return compare(filter, node);
        }
    }

    struct Side {
        bool there = false;
        bool scalar = true;
        const JsonNode* node = nullptr;
        model::Value value;
    };

    Side side(const FilterOperand& operand, const JsonNode& node) {
        Side out;
        if (!operand.is_path) {
            out.there = true;
            out.value = operand.literal;
            return out;
        }
        out.node = singular(operand.path, operand.from_root ? root_ : node, budget_);
        out.there = out.node != nullptr;
        if (out.there) out.scalar = to_value(*out.node, out.value);
        return out;
    }

    static bool equal(const Side& a, const Side& b) {
        if (!a.there || !b.there) return a.there == b.there;
        if (!a.scalar || !b.scalar) {
            return !a.scalar && !b.scalar && a.node != nullptr && b.node != nullptr &&
                   *a.node == *b.node;
        }
        return compare_values(a.value, b.value) == std::partial_ordering::equivalent;
    }

    bool compare(const FilterNode& filter, const JsonNode& node) {
        const Side a = side(filter.a, node);
        const Side b = side(filter.b, node);
        if (filter.op == FilterOp::kEqual) return equal(a, b);
        if (filter.op == FilterOp::kNotEqual) return !equal(a, b);
        if (filter.op == FilterOp::kLessEqual || filter.op == FilterOp::kGreaterEqual) {
            if (equal(a, b)) return true;
        }
        if (!a.there || !b.there || !a.scalar || !b.scalar) return false;
        if (!is_ordered(a.value) || !is_ordered(b.value)) return false;
        const std::partial_ordering order = compare_values(a.value, b.value);
        return filter.op == FilterOp::kLess || filter.op == FilterOp::kLessEqual ? order < 0
                                                                                 : order > 0;
    }

    const JsonNode& root_;
    Budget& budget_;
    bool exhausted_ = false;
};

}  // namespace

base::Result<JsonPath> JsonPath::compile(std::string_view text) {
    auto program = parse_path(text);
    if (!program) return std::unexpected(program.error());
    return JsonPath(std::string(text), std::make_shared<const PathProgram>(std::move(*program)));
}

bool JsonPath::select(const JsonNode& root, std::vector<const JsonNode*>& out,
                      Budget& budget) const {
    return Walker(root, budget).run(*program_, root, out);
}

const JsonNode* JsonPath::first(const JsonNode& root, Budget& budget) const {
    if (program_->singular) return singular(*program_, root, budget);
    std::vector<const JsonNode*> found;
    select(root, found, budget);
    return found.empty() ? nullptr : found.front();
}

bool JsonPath::is_singular() const { return program_->singular; }

}  // namespace pollux::extract
