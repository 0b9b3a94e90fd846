#include "runtime/alerts/alert_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "alert/notification_body.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kRetryAfter = std::chrono::seconds(1);

template <class T>
void append_all(std::vector<T>& to, std::vector<T>& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// A store that fails for days must not fill the memory: the oldest steps are given up.
void append_events(std::vector<model::AlertEvent>& to, std::vector<model::AlertEvent>& from) {
    append_all(to, from);
    if (to.size() <= AlertLedger::kMostEvents) return;
    to.erase(to.begin(), to.end() - static_cast<std::ptrdiff_t>(AlertLedger::kMostEvents));
}

template <class Map>
void take_over_all(Map& first, Map& second) {
    for (auto& [key, value] : second) first.insert_or_assign(key, std::move(value));
}

template <class Map>
auto values_of(const Map& map) {
    std::vector<typename Map::mapped_type> values;
    values.reserve(map.size());
    for (const auto& [key, value] : map) values.push_back(value);
    return values;
}

// When it was over; nothing: it is not.
std::optional<base::WallTime> over_at(const model::Alert& alert) {
    if (model::is_open(alert)) return std::nullopt;
    return alert.resolved_at;
}
std::optional<base::WallTime> over_at(const model::Incident& incident) {
    if (incident.resolved_at == base::WallTime{}) return std::nullopt;
    return incident.resolved_at;
}
std::optional<base::WallTime> over_at(const model::Notification& row) {
    if (row.state == model::DeliveryState::kWaiting) return std::nullopt;
    return row.made;
}

// Takes out the oldest of those that are over and were never stored, until `most` are left; their
// ids.
template <class Rows>
std::set<std::string, std::less<>> give_up_oldest(Rows& rows, std::size_t most) {
    std::set<std::string, std::less<>> gone;
    if (rows.size() < rows.bound) return gone;
    std::vector<std::pair<base::WallTime, std::string>> over;
    for (const std::string& id : rows.fresh) {
        const auto row = rows.all.find(id);
        const auto at = row == rows.all.end() ? std::nullopt : over_at(row->second);
        if (at) over.emplace_back(*at, id);
    }
    if (over.size() > most) {
        std::ranges::sort(over);
        over.resize(over.size() - most);
        for (auto& [at, id] : over) {
            rows.all.erase(id);
            rows.fresh.erase(id);
            gone.insert(std::move(id));
        }
    }
    rows.bound = rows.size() + most;
    return gone;
}

}  // namespace

struct AlertLedger::Life {
    AlertLedger* ledger = nullptr;
};

bool AlertLedger::Parcel::empty() const {
    return alerts.empty() && incidents.empty() && notifications.empty() && memory.empty() &&
           removed_alerts.empty() && removed_incidents.empty() && events.empty() && audit.empty() &&
           acts.empty() && !trim;
}

AlertLedger::AlertLedger(std::shared_ptr<net::EventLoop> loop, store::Store& store,
                         observe::Log& log, Outlets outlets)
    : loop_(std::move(loop)),
      store_(store),
      log_(log),
      outlets_(std::move(outlets)),
      life_(std::make_shared<Life>(this)),
      retry_(*loop_, [this] { commit(); }) {}

AlertLedger::~AlertLedger() {
    life_->ledger = nullptr;
    for (Parcel* parcel : {under_way_ ? &*under_way_ : nullptr, &gathered_}) {
        if (parcel == nullptr) continue;
        for (Act& act : parcel->acts) {
            if (act.answer) {
                act.answer(base::make_error(base::ErrorClass::kTransient, "alert.stopped",
                                            "the server is being stopped"));
            }
        }
    }
}

// --- what is added ------------------------------------------------------------------------------

void AlertLedger::add(alert::AlertChange change, base::WallTime at) {
    const std::string& id = change.alert.id;
    if (change.kind == alert::ChangeKind::kRemoved) {
        remove(gathered_.alerts, gathered_.removed_alerts, id);
    } else {
        if (change.kind == alert::ChangeKind::kCreated) gathered_.alerts.fresh.insert(id);
        gathered_.alerts.all.insert_or_assign(id, change.alert);
    }
    gathered_.news.push_back({std::move(change), at, false});
    bound_news(gathered_);
    bound_rows(gathered_);
}

void AlertLedger::add(alert::IncidentChange change, base::WallTime at) {
    const std::string& id = change.incident.id;
    if (change.kind == alert::ChangeKind::kRemoved) {
        remove(gathered_.incidents, gathered_.removed_incidents, id);
    } else {
        if (change.kind == alert::ChangeKind::kCreated) gathered_.incidents.fresh.insert(id);
        gathered_.incidents.all.insert_or_assign(id, change.incident);
    }
    gathered_.news.push_back({std::move(change), at, false});
    bound_news(gathered_);
    bound_rows(gathered_);
}

void AlertLedger::add(std::vector<model::AlertEvent> events) {
    append_events(gathered_.events, events);
}

void AlertLedger::add(model::Notification row, bool deliver, bool made) {
    const std::string id = row.id;
    if (deliver) gathered_.deliver.push_back(id);
    if (made) gathered_.notifications.fresh.insert(id);
    gathered_.notifications.all.insert_or_assign(id, std::move(row));
    bound_rows(gathered_);
}

void AlertLedger::add_memory(std::string key, std::string bytes) {
    gathered_.memory.insert_or_assign(std::move(key), std::move(bytes));
}

void AlertLedger::set_cursor(const std::string& name, std::uint64_t value) {
    gathered_.cursors[name] = value;
}

void AlertLedger::add_act(std::optional<model::AuditEntry> entry, Answer answer) {
    if (entry) gathered_.audit.push_back(std::move(*entry));
    gathered_.acts.push_back({std::move(answer), loop_->now()});
}

void AlertLedger::trim(base::WallTime before) { gathered_.trim = before; }

base::Status AlertLedger::room_for_acts() const {
    const std::size_t waiting =
        gathered_.audit.size() + (under_way_ ? under_way_->audit.size() : 0);
    if (waiting < kMostEntries) return {};
    return base::make_error(
        base::ErrorClass::kTransient, "store.queue_full",
        fmt::format("{} recorded acts wait to be written: the disk is full, too slow or gone, and "
                    "nothing that must be recorded is done until it is back",
                    waiting));
}

std::size_t AlertLedger::waiting() const {
    const auto size = [](const Parcel& parcel) {
        return parcel.alerts.size() + parcel.incidents.size() + parcel.notifications.size();
    };
    return size(gathered_) + (under_way_ ? size(*under_way_) : 0);
}

// --- commits ------------------------------------------------------------------------------------

store::AlertBatch AlertLedger::batch_of(const Parcel& parcel) {
    store::AlertBatch batch;
    batch.removed_alerts = parcel.removed_alerts;
    batch.removed_incidents = parcel.removed_incidents;
    batch.alerts = values_of(parcel.alerts.all);
    batch.incidents = values_of(parcel.incidents.all);
    batch.events = parcel.events;
    batch.notifications = values_of(parcel.notifications.all);
    for (const auto& [key, bytes] : parcel.memory) {
        if (bytes.empty()) {
            batch.removed_memory.push_back(key);
        } else {
            batch.memory.push_back({key, bytes});
        }
    }
    batch.cursors = parcel.cursors;
    batch.audit = parcel.audit;
    if (parcel.trim) batch.retention = store::AlertRetention{*parcel.trim};
    return batch;
}

void AlertLedger::commit() {
    if (under_way_ || retry_.armed() || gathered_.empty()) return;
    under_way_ = std::exchange(gathered_, {});
    const auto accepted =
        store_.submit(batch_of(*under_way_), [loop = loop_, life = life_](auto result) {
            loop->post([life, result = std::move(result)]() mutable {
                if (life->ledger != nullptr) life->ledger->answered(std::move(result));
            });
        });
    if (!accepted) answered(std::unexpected(accepted.error()));
}

void AlertLedger::answered(base::Result<store::AlertCommit> result) {
    if (result.has_value() == failing_since_.has_value()) {
        if (result) {
            failing_since_.reset();
            log_.info("alerts are stored again");
            if (given_up_ > 0) {
                log_.warn("rows of alerts that were over are never written",
                          {{"rows", std::to_string(std::exchange(given_up_, 0))}});
            }
        } else {
            failing_since_ = loop_->now();
            log_.error("alerts cannot be stored: they are tried again",
                       {{"error", result.error().message}});
        }
    }
    if (!result) {
        give_back(result.error());
        return;
    }
    Parcel parcel = std::move(*under_way_);
    under_way_.reset();
    if (parcel.trim && result->removed >= store::kMostAlertRemovals) trim(*parcel.trim);
    published(std::move(parcel));
    commit();
}

void AlertLedger::published(Parcel parcel) {
    if (outlets_.uncommitted) outlets_.uncommitted(nullptr);
    if (parcel.news_lost > 0) parcel.news.push_back({NewsLost{parcel.news_lost}, {}, false});
    hand_over(parcel, false);
    if (outlets_.news && !parcel.news.empty()) outlets_.news(parcel.news);
    for (Act& act : parcel.acts) {
        if (act.answer) act.answer({});
    }
}

// What could not be written is written with what comes next.
void AlertLedger::give_back(const base::Error& why) {
    Parcel parcel = std::move(*under_way_);
    under_way_.reset();
    append(parcel, std::exchange(gathered_, {}));
    if (loop_->now() - *failing_since_ >= kProvisionalAfter) tell_provisionally(parcel, why);
    gathered_ = std::move(parcel);
    retry_.arm_in(kRetryAfter);
}

void AlertLedger::append(Parcel& first, Parcel second) {
    for (const std::string& id : second.removed_alerts) {
        remove(first.alerts, first.removed_alerts, id);
    }
    for (const std::string& id : second.removed_incidents) {
        remove(first.incidents, first.removed_incidents, id);
    }
    take_over(first.alerts, second.alerts);
    take_over(first.incidents, second.incidents);
    take_over(first.notifications, second.notifications);
    take_over_all(first.memory, second.memory);
    append_events(first.events, second.events);
    take_over_all(first.cursors, second.cursors);
    append_all(first.audit, second.audit);
    if (second.trim) first.trim = second.trim;
    append_all(first.news, second.news);
    first.news_lost += second.news_lost;
    bound_news(first);
    append_all(first.deliver, second.deliver);
    append_all(first.acts, second.acts);
    bound_rows(first);
}

template <class Row>
void AlertLedger::take_over(Rows<Row>& first, Rows<Row>& second) {
    take_over_all(first.all, second.all);
    first.fresh.merge(second.fresh);
    first.bound = std::max(first.bound, second.bound);
}

// What the store has never had need not be removed from it.
template <class Row>
void AlertLedger::remove(Rows<Row>& rows, std::vector<std::string>& removed,
                         const std::string& id) {
    rows.all.erase(id);
    if (rows.fresh.erase(id) == 0) removed.push_back(id);
}

// Only while commits fail or take very long.
void AlertLedger::bound_rows(Parcel& parcel) {
    const auto alerts = give_up_oldest(parcel.alerts, kMostOver);
    const auto incidents = give_up_oldest(parcel.incidents, kMostOver);
    const auto notifications = give_up_oldest(parcel.notifications, kMostOver);
    if (parcel.memory.size() > kMostMemory) {
        std::erase_if(parcel.memory, [](const auto& row) { return row.second.empty(); });
    }
    const std::size_t gone = alerts.size() + incidents.size() + notifications.size();
    if (gone == 0) return;
    given_up_ += gone;
    // What will not be committed is not told as committed.
    std::size_t told = 0;
    std::size_t at = 0;
    std::erase_if(parcel.news, [&](const AlertNews& one) {
        const bool was_told = at++ < parcel.news_told;
        const auto* alert = std::get_if<alert::AlertChange>(&one.change);
        const auto* incident = std::get_if<alert::IncidentChange>(&one.change);
        const bool drop =
            was_told && ((alert != nullptr && alerts.contains(alert->alert.id)) ||
                         (incident != nullptr && incidents.contains(incident->incident.id)));
        told += was_told && !drop ? 1 : 0;
        return drop;
    });
    parcel.news_told = told;
    if (given_up_ != gone) return;
    log_.error(
        "alerts that are over are given up: too many wait to be written; nothing that is open, and "
        "nothing that was stored before, is lost");
}

void AlertLedger::tell_provisionally(Parcel& parcel, const base::Error& why) {
    hand_over(parcel, true);
    if (outlets_.news && parcel.news_told < parcel.news.size()) {
        std::vector<AlertNews> news(
            parcel.news.begin() + static_cast<std::ptrdiff_t>(parcel.news_told), parcel.news.end());
        for (AlertNews& one : news) one.provisional = true;
        outlets_.news(news);
    }
    parcel.news_told = parcel.news.size();
    keep_newest(parcel);
    show_uncommitted(parcel);
    const base::BootTime now = loop_->now();
    for (Act& act : parcel.acts) {
        if (!act.answer || now - act.since < kProvisionalAfter) continue;
        std::exchange(act.answer, nullptr)(
            base::make_error(base::ErrorClass::kTransient, "store.not_committed",
                             "it is done, but could not be written yet: " + why.message +
                                 "; it is written as soon as the disk takes it, and lost if "
                                 "the server ends before"));
    }
    // One stays, so that there is something to be committed.
    while (parcel.acts.size() > 1 && !parcel.acts.back().answer) parcel.acts.pop_back();
}

// Whoever follows has seen the others: after the commit the newest of each kind is enough. That it
// was made is told too, as of any other.
void AlertLedger::keep_newest(Parcel& parcel) {
    std::set<std::tuple<std::size_t, alert::ChangeKind, std::string_view>> seen;
    const auto what = [](const AlertNews& one) {
        using What = std::pair<alert::ChangeKind, std::string_view>;
        const auto* alert = std::get_if<alert::AlertChange>(&one.change);
        if (alert != nullptr) return What(alert->kind, alert->alert.id);
        const auto& incident = std::get<alert::IncidentChange>(one.change);
        return What(incident.kind, incident.incident.id);
    };
    std::vector<std::size_t> places;
    for (std::size_t i = parcel.news.size(); i-- > 0;) {
        const auto [kind, id] = what(parcel.news[i]);
        if (seen.emplace(parcel.news[i].change.index(), kind, id).second) places.push_back(i);
    }
    std::vector<AlertNews> kept;
    kept.reserve(places.size());
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
        kept.push_back(std::move(parcel.news[*place]));
    }
    parcel.news = std::move(kept);
    parcel.news_told = parcel.news.size();
}

// The oldest go, many at once.
void AlertLedger::bound_news(Parcel& parcel) {
    if (parcel.news.size() < 2 * kMostNews) return;
    const std::size_t gone = parcel.news.size() - kMostNews;
    parcel.news.erase(parcel.news.begin(), parcel.news.begin() + static_cast<std::ptrdiff_t>(gone));
    parcel.news_told -= std::min(parcel.news_told, gone);
    parcel.news_lost += gone;
}

void AlertLedger::show_uncommitted(const Parcel& parcel) const {
    if (!outlets_.uncommitted) return;
    auto rows = std::make_shared<store::UncommittedAlerts>();
    rows->alerts = parcel.alerts.all;
    rows->incidents = parcel.incidents.all;
    rows->removed_alerts.insert(parcel.removed_alerts.begin(), parcel.removed_alerts.end());
    rows->removed_incidents.insert(parcel.removed_incidents.begin(),
                                   parcel.removed_incidents.end());
    rows->events = parcel.events;
    outlets_.uncommitted(std::move(rows));
}

void AlertLedger::hand_over(Parcel& parcel, bool provisional) {
    std::vector<model::Notification> rows;
    for (const std::string& id : parcel.deliver) {
        const auto row = parcel.notifications.all.find(id);
        if (row == parcel.notifications.all.end()) continue;
        rows.push_back(row->second);
        if (!provisional) continue;
        rows.back().provisional = true;
        rows.back().body = alert::as_provisional(rows.back().body);
    }
    parcel.deliver.clear();
    if (outlets_.deliver && !rows.empty()) outlets_.deliver(std::move(rows));
}

}  // namespace pollux::runtime
