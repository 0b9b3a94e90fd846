// Who is told what and when: changes of incidents and alerts in, notifications out. Pure: no clock,
// no I/O; the same inputs at the same times give the same notifications with the same ids, with and
// without a restart in between.
//
//     PlannerOutput out;
//     planner.step(now, input, out);      // also with nothing new, at next_wake()
//     store(out);                         // notifications and rows in one transaction
//
// Not thread-safe. Invariants
// 1. A receiver hears of an incident once (problem), of a higher severity (update), and of its end
//    once (recovery) if and only if it heard of the problem; also if the end is that it became part
//    of another one.
// 2. What is held by quiet hours, by a silence, by flapping or by the limit of a channel is told
//    afterwards: as it is then. What began and ended in between is told in one digest; what began
//    and ended within a silence is not told.
// 3. Acknowledged incidents lead to no problem, update, reminder or escalation.
// 4. Notifications of one incident and channel have rising numbers in the order in which they are
//    to be sent.
// 5. An incident or alert that is given again changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alert/planner_state.hpp"
#include "alert/router.hpp"
#include "alert/silence_book.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/alert.hpp"
#include "model/notification.hpp"

namespace pollux::alert {

inline constexpr std::size_t kMostMembers = 1'000;   // incidents in one group
inline constexpr std::size_t kMostGroups = 100'000;  // above it, a route has one group for the rest
inline constexpr std::size_t kMostDigestLines = 200;  // above it, lines are counted

struct PlannerSettings {
    bool review = true;  // nothing is sent: notifications are recorded as held
    std::uint32_t flap_limit = 3;
    base::Duration flap_cool_down = std::chrono::minutes(15);
    std::string external_url;  // without a slash at its end; empty: none
    bool operator==(const PlannerSettings&) const = default;
};

struct PlannerInput {
    std::vector<model::Incident> incidents;  // after their change
    std::vector<model::Alert> alerts;        // after their change
    // As the outbox has them, when they are delivered or given up.
    std::vector<model::Notification> answers;
};

struct PlannerRow {
    std::string key;
    std::string body;
    bool operator==(const PlannerRow&) const = default;
};

struct PlannerOutput {
    std::vector<model::Notification> notifications;
    std::vector<PlannerRow> rows;       // to be written, or replaced
    std::vector<std::string> gone;      // keys of rows to be removed; none of those above
    std::vector<model::Silence> begun;  // flexible silences whose time began: to be stored
};

class NotificationPlanner {
  public:
    explicit NotificationPlanner(ZoneLookup zones) : silences_(std::move(zones)) {}

    // Each takes effect with the next step.
    void set_router(Router router);
    void set_settings(PlannerSettings settings);
    base::Status put_silence(model::Silence silence);
    bool end_silence(std::string_view id, base::WallTime now);
    void remove_silence(std::string_view id);
    SilenceBook& silences() { return silences_; }
    const SilenceBook& silences() const { return silences_; }
    const Router& router() const { return router_; }
    const PlannerSettings& settings() const { return settings_; }

    // Once, before the first step: the stored rows, all open incidents and those that
    // incidents_of() names, with all alerts of these. Error planner.row.
    base::Status restore(std::span<const PlannerRow> rows,
                         std::span<const model::Incident> incidents,
                         std::span<const model::Alert> alerts);
    // Incidents that rows refer to; some are over, with people who are still to be told.
    static base::Result<std::vector<std::string>> incidents_of(std::span<const PlannerRow> rows);

    void step(base::WallTime now, const PlannerInput& input, PlannerOutput& out);
    // When step() is next needed without inputs; max: never.
    base::WallTime next_wake() const;

    // A message to every channel of a receiver, to see whether it arrives; the review switch does
    // not hold it. Error notify.receiver.
    base::Result<std::vector<model::Notification>> test(std::string_view receiver,
                                                        base::WallTime now);

    std::size_t cases() const { return cases_.size(); }
    std::size_t groups() const { return groups_.size(); }

  private:
    using Case = planner::Case;
    using Group = planner::Group;
    using Told = planner::Told;
    using DigestLine = planner::DigestLine;

    enum class Standing : std::uint8_t {
        kWaiting,  // nothing to tell, yet or at the moment
        kOpen,
        kTaken,  // acknowledged
        kOver,
    };
    // A member of a group at one moment.
    struct View {
        const std::string* id = nullptr;
        const Case* of = nullptr;  // null: gone, which is over
        Standing standing = Standing::kOver;
        model::Severity severity = model::Severity::kInfo;
        std::optional<base::WallTime> silent_until;
        std::string_view part_of;  // the title of the one that it became part of
    };
    // What there is to tell one receiver.
    struct Wish {
        std::vector<const View*> fresh;
        std::vector<const View*> gone;
        std::vector<const View*> past;
        bool higher = false;
        bool unattended = false;  // something told is open, and nobody has it
        model::Severity highest = model::Severity::kInfo;
        base::WallTime next = base::WallTime::max();
    };
    struct Step;  // what one call of step() carries along

    // notification_planner.cpp
    void take(Step& step, const model::Incident& incident);
    void take(Step& step, const model::Alert& alert);
    void take(Step& step, const model::Notification& answer);
    bool keep(Case& one, const model::Alert& alert);
    void leave_home(Step& step, const model::Alert& alert);
    void merge(Step& step, const std::string& incident);
    void changed(Step& step, const std::string& incident);
    void forget(const std::string& incident);
    void ask_routes(Step& step, const std::string& incident, Case& one);
    void join(Step& step, const std::string& incident, Case& one, const model::NotifyRoute& route);
    std::string group_key(const std::string& incident, const MatchLabels& labels,
                          const model::NotifyRoute& route, model::AlertLabels& group_labels) const;
    void wake_at(const std::string& key, base::WallTime at);
    void write_rows(Step& step);

    // planner_evaluate.cpp
    void evaluate(Step& step, const std::string& key);
    std::vector<View> views_of(const Group& group, base::WallTime now) const;
    static Standing standing_of(const Case& one);
    std::optional<base::WallTime> silent_until(const Case& one, base::WallTime now) const;
    std::optional<base::WallTime> flapping_until(const Case& one, const std::string& receiver,
                                                 base::WallTime now) const;
    bool told_elsewhere(const Case& one, std::string_view key, const std::string& receiver) const;
    std::set<std::string, std::less<>> due_steps(const Group& group,
                                                 const model::NotifyRoute* route,
                                                 const std::vector<View>& views, base::WallTime now,
                                                 base::WallTime& next) const;
    Wish wish_of(const std::string& key, const Group& group, const std::string& receiver,
                 Told& told, const std::vector<View>& views,
                 std::optional<base::WallTime> quiet_until, const Step& step) const;
    void take_past(Step& step, const std::string& receiver, Told& told, const Wish& wish);
    bool tell(Step& step, const Group& group, const std::string& receiver, Told& told, Wish& wish,
              const std::vector<View>& views, bool escalate);
    void tidy(Step& step, const std::string& key, const std::vector<View>& views);

    // planner_emit.cpp
    static DigestLine line_of(const model::Incident& incident);
    static std::string title_of(const View& view);
    static void add_alerts(const View& view, std::vector<model::Alert>& into);
    void emit(Step& step, const Group& group, const std::string& receiver, Told& told,
              model::NotificationKind kind, const std::vector<View>& views);
    std::string body_of(const Group& group, const std::string& receiver,
                        model::NotificationKind kind, const std::vector<const View*>& about) const;
    void emit_digest(Step& step, const std::string& receiver, const std::vector<DigestLine>& lines);
    void flush_channel(Step& step, const std::string& key);
    void send_digest(Step& step, const std::string& receiver, const std::string& channel,
                     const std::vector<DigestLine>& lines, std::uint64_t more);
    bool may_send(Step& step, const std::string& receiver, const model::Channel& channel,
                  std::span<const DigestLine> lines);
    void push(Step& step, model::Notification notification);
    void remember_flap(Step& step, const Case& one, const std::string& receiver);

    SilenceBook silences_;
    Router router_;
    PlannerSettings settings_;
    bool reconsider_ = false;

    std::map<std::string, Case, std::less<>> cases_;                 // by incident
    std::map<std::string, std::string, std::less<>> case_of_alert_;  // of the alerts that are kept
    std::multimap<std::string, std::string, std::less<>> roots_;  // that moved on, with their case
    std::map<std::string, Group, std::less<>> groups_;            // by row key
    std::map<std::string, planner::ChannelMemory, std::less<>> channels_;
    std::map<std::string, planner::FlapMemory, std::less<>> flaps_;
    std::map<std::pair<std::string, std::string>, std::string> leaders_;  // route, leader -> group
    std::set<std::pair<base::WallTime, std::string>> wakes_;
    std::map<std::string, base::WallTime, std::less<>> wake_of_;
    std::uint64_t number_ = 0;
};

}  // namespace pollux::alert
