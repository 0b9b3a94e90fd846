#include "config/topology.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/graph.hpp"
#include "config/sightings.hpp"

namespace pollux::config {
namespace {

using Names = std::set<std::string, std::less<>>;

// Steps from the nearest root, breadth first.
std::map<std::string, std::uint32_t, std::less<>> distances(const NeighbourMap& neighbours,
                                                            const std::vector<std::string>& roots) {
    std::map<std::string, std::uint32_t, std::less<>> steps;
    std::vector<std::string> layer = roots;
    for (const std::string& root : roots) steps.emplace(root, 0);
    for (std::uint32_t step = 1; !layer.empty(); ++step) {
        std::vector<std::string> next;
        for (const std::string& name : layer) {
            const auto found = neighbours.find(name);
            if (found == neighbours.end()) continue;
            for (const auto& [other, edge] : found->second) {
                if (steps.emplace(other, step).second) next.push_back(other);
            }
        }
        layer = std::move(next);
    }
    return steps;
}

class Proposer {
  public:
    explicit Proposer(const TopologyInput& input) : input_(input) {}

    Topology run() {
        for (const std::string& root : Names(input_.roots.begin(), input_.roots.end())) {
            if (input_.devices.contains(root)) result_.roots.push_back(root);
        }
        Sightings seen = read_sightings(input_, result_.roots);
        result_.unknown.assign(seen.unknown.begin(), seen.unknown.end());
        result_.ambiguous.assign(seen.ambiguous.begin(), seen.ambiguous.end());
        const auto steps = distances(seen.neighbours, result_.roots);
        for (const auto& [name, device] : input_.devices) {
            const auto step = steps.find(name);
            if (step == steps.end()) {
                result_.unreached.push_back(name);
            } else {
                propose(name, device, step->second, seen.neighbours, steps);
            }
        }
        std::ranges::stable_sort(result_.proposals, {}, &ProposedParents::distance);
        result_.edges = std::move(seen.edges);
        leave_out_circles();
        return std::move(result_);
    }

  private:
    void propose(const std::string& name, const Device& device, std::uint32_t step,
                 const NeighbourMap& neighbours,
                 const std::map<std::string, std::uint32_t, std::less<>>& steps) {
        ProposedParents proposal;
        proposal.device = name;
        proposal.distance = step;
        const auto found = neighbours.find(name);
        if (step > 0 && found != neighbours.end()) {
            for (const auto& [other, by] : found->second) {
                if (steps.find(other)->second + 1 != step) continue;
                if (proposal.parents.size() == kMostProposedParents) break;
                proposal.parents.push_back(other);
                proposal.by.insert(by.begin(), by.end());
            }
        }
        proposal.standing = standing_of(device, proposal.parents);
        result_.proposals.push_back(std::move(proposal));
    }

    // What stays beside the proposals may lead back. A proposal in a knot is dropped, and then what
    // its device has today counts: so this is done again until there is no knot with one.
    void leave_out_circles() {
        std::vector<std::string_view> names;
        std::map<std::string_view, std::uint32_t> numbers;
        for (const auto& [name, device] : input_.devices) {
            numbers.emplace(name, static_cast<std::uint32_t>(names.size()));
            names.push_back(name);
        }
        base::Edges edges(names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            for (const auto& any_of : input_.devices.find(names[i])->second.parents) {
                add(edges[i], any_of, numbers);
            }
        }
        std::map<std::uint32_t, ProposedParents*> open;
        std::map<std::uint32_t, std::vector<std::uint32_t>> today;
        for (ProposedParents& one : result_.proposals) {
            if (one.standing != Standing::kNew && one.standing != Standing::kChanged) continue;
            const std::uint32_t number = numbers.find(one.device)->second;
            open.emplace(number, &one);
            today.emplace(number, std::move(edges[number]));
            edges[number].clear();
            add(edges[number], one.parents, numbers);
        }
        for (bool dropped = true; dropped;) {
            dropped = false;
            for (const auto& knot : base::find_knots(edges)) {
                for (const std::uint32_t number : knot) {
                    const auto found = open.find(number);
                    if (found == open.end()) continue;
                    found->second->standing = Standing::kCircle;
                    edges[number] = today.find(number)->second;
                    open.erase(found);
                    dropped = true;
                }
            }
        }
    }

    static void add(std::vector<std::uint32_t>& list, const std::vector<std::string>& parents,
                    const std::map<std::string_view, std::uint32_t>& numbers) {
        for (const std::string& parent : parents) {
            const auto found = numbers.find(parent);
            if (found != numbers.end()) list.push_back(found->second);
        }
    }

    const TopologyInput& input_;
    Topology result_;
};

}  // namespace

std::string_view to_string(Sighting sighting) {
    constexpr std::string_view kWords[] = {"lldp", "cdp", "arp+bridge"};
    return kWords[static_cast<std::size_t>(sighting)];
}

Standing standing_of(const Device& device, const std::vector<std::string>& parents) {
    std::vector<std::vector<std::string>> wanted;
    if (!parents.empty()) wanted.push_back(parents);
    std::vector<std::vector<std::string>> current = device.parents;
    for (auto& any_of : current) std::ranges::sort(any_of);
    if (current == wanted) return Standing::kSame;
    if (current.empty()) return Standing::kNew;
    return device.labels.contains(kParentsLabel) ? Standing::kChanged : Standing::kByHand;
}

Topology find_topology(const TopologyInput& input) { return Proposer(input).run(); }

std::string parents_text(const std::vector<std::vector<std::string>>& parents) {
    std::string text;
    for (const auto& any_of : parents) {
        if (!text.empty()) text += ", ";
        for (std::size_t i = 0; i < any_of.size(); ++i) text += (i == 0 ? "" : " | ") + any_of[i];
    }
    return text;
}

}  // namespace pollux::config
