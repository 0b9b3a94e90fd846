#include "api/fleet_frame.hpp"

#include <algorithm>
#include <map>

namespace pollux::api {
namespace {

struct ByValue {
    bool operator()(const model::AlertLabels* a, const model::AlertLabels* b) const {
        return *a < *b;
    }
};

// The number of a value, given out in the order of appearance.
template <class Value, class Less>
std::uint32_t number_of(const Value& value, std::map<Value, std::uint32_t, Less>& known,
                        std::vector<Value>& all) {
    const auto [found, fresh] = known.try_emplace(value, static_cast<std::uint32_t>(all.size()));
    if (fresh) all.push_back(value);
    return found->second;
}

// Of rows sorted by key; null: no such target.
template <class Rows>
auto find_row(Rows& rows, std::string_view key) -> decltype(rows.data()) {
    const auto found = std::ranges::lower_bound(
        rows, key, {}, [](const auto& row) { return std::string_view(row.target->key); });
    return found != rows.end() && found->target->key == key ? &*found : nullptr;
}

}  // namespace

FleetFrame::FleetFrame(std::shared_ptr<const runtime::FleetView> view) : view_(std::move(view)) {
    const alert::AlertFleet& fleet = *view_->image->alerts.fleet;
    std::map<std::string_view, const alert::ParentGroups*> parents;
    for (const alert::DeviceFacts& device : fleet.devices) {
        parents.emplace(device.name, &device.parents);
    }
    std::map<std::string_view, std::uint32_t, std::less<>> group_numbers;
    std::map<const model::AlertLabels*, std::uint32_t, ByValue> label_numbers;
    rows_.reserve(fleet.targets.size());
    for (const alert::TargetFacts& target : fleet.targets) {
        Row row;
        row.target = &target;
        row.labels = number_of(&target.labels, label_numbers, label_sets_);
        for (const std::string& group : target.groups) {
            row.groups.push_back(number_of(std::string_view(group), group_numbers, groups_));
        }
        const auto found = parents.find(target.device);
        if (found != parents.end()) row.parents = found->second;
        rows_.push_back(std::move(row));
    }
    std::ranges::sort(rows_, {},
                      [](const Row& row) -> const std::string& { return row.target->key; });
    add_tasks();
}

void FleetFrame::add_tasks() {
    // Sorted by key: the main task of a target comes before its groups.
    const config::Expansion& expansion = view_->image->expansion;
    for (std::size_t i = 0; i < expansion.targets.size(); ++i) {
        Row* row = find_row(rows_, expansion.targets[i].target);
        if (row == nullptr) continue;
        row->tasks.push_back(expansion.targets[i].key);
        row->region = expansion.tasks[i].region;
    }
    for (const runtime::InboundTargetPtr& target : view_->image->inbound->targets) {
        if (Row* row = find_row(rows_, target->key)) row->inbound = target.get();
        if (target->kind == model::ProtocolKind::kPush) hears_pushes_ = true;
    }
}

const FleetFrame::Row* FleetFrame::find(std::string_view key) const { return find_row(rows_, key); }

std::vector<std::uint32_t> FleetFrame::seen_by(const access::Principal& principal) const {
    std::vector<bool> seen;
    seen.reserve(label_sets_.size());
    for (const model::AlertLabels* labels : label_sets_) {
        seen.push_back(access::may_on(principal, access::Permission::kRead,
                                      access::Area::kMonitoring, *labels));
    }
    std::vector<std::uint32_t> rows;
    rows.reserve(rows_.size());
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
        if (seen[rows_[i].labels]) rows.push_back(i);
    }
    return rows;
}

std::shared_ptr<const FleetFrame> FrameKeeper::frame_of(
    std::shared_ptr<const runtime::FleetView> view) {
    if (!frame_ || &frame_->view() != view.get()) {
        frame_ = std::make_shared<const FleetFrame>(std::move(view));
    }
    return frame_;
}

}  // namespace pollux::api
