#include "base/graph.hpp"

#include <algorithm>

namespace pollux::base {
namespace {

constexpr std::uint32_t kUnseen = 0xFFFFFFFFU;

class Tarjan {
  public:
    explicit Tarjan(const Edges& edges)
        : edges_(edges),
          number_(edges.size(), kUnseen),
          low_(edges.size(), 0),
          on_stack_(edges.size(), false) {}

    std::vector<std::vector<std::uint32_t>> run() {
        for (std::uint32_t node = 0; node < edges_.size(); ++node) {
            if (number_[node] == kUnseen) walk(node);
        }
        std::ranges::sort(knots_);
        return std::move(knots_);
    }

  private:
    struct Visit {
        std::uint32_t node = 0;
        std::size_t next = 0;
    };

    void enter(std::uint32_t node) {
        number_[node] = low_[node] = counter_++;
        stack_.push_back(node);
        on_stack_[node] = true;
        path_.push_back({node, 0});
    }

    void walk(std::uint32_t root) {
        enter(root);
        while (!path_.empty()) {
            const std::uint32_t node = path_.back().node;
            if (path_.back().next < edges_[node].size()) {
                const std::uint32_t to = edges_[node][path_.back().next++];
                if (number_[to] == kUnseen) {
                    enter(to);
                } else if (on_stack_[to]) {
                    low_[node] = std::min(low_[node], number_[to]);
                }
                continue;
            }
            path_.pop_back();
            if (!path_.empty()) {
                const std::uint32_t above = path_.back().node;
                low_[above] = std::min(low_[above], low_[node]);
            }
            if (low_[node] == number_[node]) take(node);
        }
    }

    void take(std::uint32_t root) {
        std::vector<std::uint32_t> knot;
        std::uint32_t node = kUnseen;
        do {
            node = stack_.back();
            stack_.pop_back();
            on_stack_[node] = false;
            knot.push_back(node);
        } while (node != root);
        const auto& own = edges_[root];
        if (knot.size() == 1 && std::ranges::find(own, root) == own.end()) return;
        std::ranges::sort(knot);
        knots_.push_back(std::move(knot));
    }

    const Edges& edges_;
    std::vector<std::uint32_t> number_;
    std::vector<std::uint32_t> low_;
    std::vector<bool> on_stack_;
    std::vector<std::uint32_t> stack_;
    std::vector<Visit> path_;
    std::vector<std::vector<std::uint32_t>> knots_;
    std::uint32_t counter_ = 0;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> find_knots(const Edges& edges) {
    return Tarjan(edges).run();
}

std::vector<std::uint32_t> circle_in(const Edges& edges, const std::vector<std::uint32_t>& knot) {
    const std::uint32_t start = knot.front();
    std::vector<std::uint32_t> from(edges.size(), kUnseen);
    std::vector<std::uint32_t> queue{start};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const std::uint32_t to : edges[queue[i]]) {
            if (to == start) {
                std::vector<std::uint32_t> circle;
                for (std::uint32_t at = queue[i]; at != start; at = from[at]) circle.push_back(at);
                circle.push_back(start);
                std::ranges::reverse(circle);
                return circle;
            }
            if (from[to] != kUnseen || !std::ranges::binary_search(knot, to)) continue;
            from[to] = queue[i];
            queue.push_back(to);
        }
    }
    return {};
}

std::optional<std::vector<std::uint32_t>> order_of(const Edges& edges) {
    const Edges back = turned_round(edges);
    std::vector<std::size_t> open(edges.size());
    std::vector<std::uint32_t> order;
    order.reserve(edges.size());
    for (std::uint32_t node = 0; node < edges.size(); ++node) {
        open[node] = edges[node].size();
        if (open[node] == 0) order.push_back(node);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const std::uint32_t above : back[order[i]]) {
            if (--open[above] == 0) order.push_back(above);
        }
    }
    if (order.size() < edges.size()) return std::nullopt;
    return order;
}

std::vector<std::uint32_t> reach_of(const Edges& edges, std::uint32_t node) {
    std::vector<bool> seen(edges.size(), false);
    std::vector<std::uint32_t> found;
    std::vector<std::uint32_t> todo{node};
    while (!todo.empty()) {
        const std::uint32_t at = todo.back();
        todo.pop_back();
        for (const std::uint32_t to : edges[at]) {
            if (seen[to]) continue;
            seen[to] = true;
            found.push_back(to);
            todo.push_back(to);
        }
    }
    std::ranges::sort(found);
    return found;
}

Edges turned_round(const Edges& edges) {
    Edges back(edges.size());
    for (std::uint32_t node = 0; node < edges.size(); ++node) {
        for (const std::uint32_t to : edges[node]) back[to].push_back(node);
    }
    return back;
}

}  // namespace pollux::base
