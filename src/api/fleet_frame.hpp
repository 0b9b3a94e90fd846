// What does not change about the rows of the fleet until the fleet itself does: names, groups,
// labels, parents, tasks. Made once for each view of the fleet and kept, so that a snapshot of ten
// thousand targets only has to look at what moves. Immutable; it shares the view.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access/principal.hpp"
#include "alert/alert_fleet.hpp"
#include "runtime/fleet_view.hpp"

namespace pollux::api {

class FleetFrame {
  public:
    struct Row {
        const alert::TargetFacts* target = nullptr;       // key, device, addon, address
        std::uint32_t labels = 0;                         // in label_sets()
        std::vector<std::uint32_t> groups;                // in groups()
        const alert::ParentGroups* parents = nullptr;     // null: none
        std::vector<std::string_view> tasks;              // keys; the main one first
        std::string_view region;                          // empty: none, or it is only heard
        const runtime::InboundTarget* inbound = nullptr;  // it is heard, and has no task
    };

    explicit FleetFrame(std::shared_ptr<const runtime::FleetView> view);
    FleetFrame(const FleetFrame&) = delete;
    FleetFrame& operator=(const FleetFrame&) = delete;

    const runtime::FleetView& view() const { return *view_; }
    const std::vector<Row>& rows() const { return rows_; }  // sorted by key
    const Row* find(std::string_view key) const;            // null: no such target
    const std::vector<std::string_view>& groups() const { return groups_; }
    const std::vector<const model::AlertLabels*>& label_sets() const { return label_sets_; }
    bool hears_pushes() const { return hears_pushes_; }

    // Numbers of the rows that the principal may read.
    std::vector<std::uint32_t> seen_by(const access::Principal& principal) const;

  private:
    void add_tasks();

    std::shared_ptr<const runtime::FleetView> view_;
    std::vector<Row> rows_;
    std::vector<std::string_view> groups_;
    std::vector<const model::AlertLabels*> label_sets_;
    bool hears_pushes_ = false;
};

// The frame of the newest view. Not thread-safe: handlers ask it on the API's thread.
class FrameKeeper {
  public:
    std::shared_ptr<const FleetFrame> frame_of(std::shared_ptr<const runtime::FleetView> view);

  private:
    std::shared_ptr<const FleetFrame> frame_;
};

}  // namespace pollux::api
