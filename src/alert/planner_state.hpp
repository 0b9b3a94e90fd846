// What the planner remembers, and how it is written into rows. Used by notification_planner only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alert/alert_labels.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/alert.hpp"

namespace pollux::alert::planner {

// A sorted list of names as a set: small, and easy to write.
class NameSet {
  public:
    bool contains(std::string_view name) const;
    void insert(std::string_view name);
    void erase(std::string_view name);
    void clear() { names_.clear(); }
    bool empty() const { return names_.empty(); }
    std::size_t size() const { return names_.size(); }
    auto begin() const { return names_.begin(); }
    auto end() const { return names_.end(); }
    bool operator==(const NameSet&) const = default;

  private:
    std::vector<std::string> names_;
};

// An incident that is open, or of which somebody is still to be told. Not stored: incidents and
// alerts have rows of their own.
struct Case {
    model::Incident incident;
    // The root, wherever it belongs by now, then the first ones by number.
    std::vector<model::Alert> alerts;
    std::vector<std::string> groups;  // keys, in the order of joining

    const model::Alert* root() const;
    bool over() const { return incident.resolved_at != base::WallTime{}; }
    bool merged() const { return over() && !incident.merged_into.empty(); }
    bool has(const model::Alert& alert) const { return alert.incident == incident.id; }
    MatchLabels labels() const;       // of the root, else of the incident
    std::string fingerprint() const;  // of the cause: the same when it comes back
    bool recurs() const;              // it was there before, or changes all the time
    void sort_alerts();               // the root first, then by number
};

struct Member {
    std::string incident;
    model::Severity routed = model::Severity::kInfo;  // when routes were last asked
    std::string part_of;  // the title of the incident that it became part of
    bool operator==(const Member&) const = default;
};

// What one receiver knows of a group.
struct Told {
    NameSet open;  // incidents told as a problem and not yet as over
    NameSet owed;  // incidents held back by quiet hours or flapping: told later in any case
    NameSet lost;  // channels to which no problem could be delivered: no recovery goes there
    model::Severity severity = model::Severity::kInfo;
    base::WallTime last;
    std::uint32_t ordinal = 0;  // messages so far
    bool reviewed = false;      // recorded only, not sent
    bool operator==(const Told&) const = default;
};

// Incidents that share messages: one, or those that agree in the labels of `group_by`.
struct Group {
    std::string route;
    std::string leader;  // incident under which its messages go out, in one order
    model::AlertLabels labels;
    std::vector<Member> members;
    std::map<std::string, Told, std::less<>> told;  // by receiver
    base::WallTime wait_until;                      // before it, only what cannot wait is told
    base::WallTime first_told;                      // zero: nobody knows of it
    std::uint32_t steps = 0;                        // of the escalation, done
    std::uint64_t left_out = 0;                     // incidents above the bound of a group
    bool operator==(const Group&) const = default;
};

// One line of a digest.
struct DigestLine {
    std::string incident;
    std::string title;
    std::string device;
    model::Severity severity = model::Severity::kInfo;
    base::WallTime opened_at;
    base::WallTime resolved_at;
    std::string lane;  // the incident under which messages about it go out
    bool operator==(const DigestLine&) const = default;
};

// What went to one channel of late, and what is above its limit.
struct ChannelMemory {
    std::vector<base::WallTime> recent;
    std::vector<DigestLine> waiting;
    std::uint64_t more = 0;  // lines above the bound
    std::uint32_t ordinal = 0;
    bool operator==(const ChannelMemory&) const = default;
};

// When a receiver was told of one cause: the newest last.
using FlapMemory = std::vector<base::WallTime>;

std::string group_row(const Group& group);
std::string channel_row(const ChannelMemory& channel);
std::string flap_row(const FlapMemory& memory);
// Error planner.row: the row is not what was written.
base::Result<Group> read_group(std::string_view row);
base::Result<ChannelMemory> read_channel(std::string_view row);
base::Result<FlapMemory> read_flap(std::string_view row);

}  // namespace pollux::alert::planner
