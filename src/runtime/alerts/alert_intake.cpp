// What comes in at the desk of alerts, as inputs of the engine.
#include <algorithm>
#include <utility>

#include "extract/compiled_addon.hpp"
#include "net/socket_address.hpp"
#include "runtime/alerts/alert_work.hpp"

namespace pollux::runtime {
namespace {

// An endpoint that failed without an answer: one that came has a status.
bool is_silence(const model::Signal& signal) {
    return signal.rule.starts_with(extract::kEndpointRule) &&
           std::ranges::none_of(signal.fields,
                                [](const auto& field) { return field.first == "status"; });
}

alert::TargetHealth health_of(const std::string& target, alert::Health health) {
    alert::TargetHealth told;
    told.target = target;
    told.health = health;
    told.at = net::wall_now();
    return told;
}

}  // namespace

void AlertDesk::Work::gather(alert::Input input) {
    inputs_.push_back(std::move(input));
    decide_soon();
}

// At the end of this turn of the loop: what came together is decided together.
void AlertDesk::Work::decide_soon() {
    if (!timer_.armed() || timer_.at() > loop_->now()) timer_.arm(loop_->now());
}

// A poll whose device does not answer says so by a signal too, where the manifest names one. The
// health of the target stands for it: that one waits for confirmation and for the parents.
bool AlertDesk::Work::is_failure_of_device(const SignalNews& news,
                                           const model::Signal& signal) const {
    const auto type = failure_types_.find(target_of(news.key));
    return !news.message && type != failure_types_.end() && type->second == signal.type &&
           signal.rule.starts_with(extract::kEndpointRule);
}

void AlertDesk::Work::add_signals(const SignalNews& news) {
    if (news.row != 0) {
        // A row that was read at the start may come once more from who stored it.
        std::uint64_t& seen = news.message ? messages_seen_ : polls_seen_;
        if (news.row <= seen) return;
        seen = news.row;
        ledger_.set_cursor(std::string(news.message ? kMessageCursor : kPollCursor), news.row);
    }
    if (news.told) return;
    for (const derive::SignalChange& change : news.changes) {
        if (is_failure_of_device(news, change.signal)) continue;
        alert::Observed observed;
        observed.target = target_of(news.key);
        observed.source = news.message ? model::AlertSource::kMessage : model::AlertSource::kPoll;
        observed.signal = change.signal;
        switch (change.step) {
            case derive::SignalStep::kRaised: observed.step = alert::ObservedStep::kRaised; break;
            case derive::SignalStep::kUpdated: observed.step = alert::ObservedStep::kUpdated; break;
            case derive::SignalStep::kCleared: observed.step = alert::ObservedStep::kCleared; break;
        }
        observed.occurrences = change.occurrences;
        observed.at = news.at;
        observed.missing_answer = !news.message && is_silence(change.signal);
        gather(std::move(observed));
    }
}

void AlertDesk::Work::observed(std::vector<SignalNews> news) {
    for (const SignalNews& one : news) add_signals(one);
}

void AlertDesk::Work::changed(const TaskNews& news) {
    if (news.kind == schedule::ChangeKind::kEnabled) {
        const std::string target(target_of(news.key));
        const bool other =
            news.to != 0 ? disabled_.erase(target) != 0 : disabled_.insert(target).second;
        if (other) note_fleet();
    }
    if (auto health = book_.take(news)) gather(std::move(*health));
}

void AlertDesk::Work::take_rows(std::vector<TaskRow> rows) {
    for (const TaskRow& row : rows) {
        if (auto health = book_.take(row)) gather(std::move(*health));
    }
    // Health alerts of an earlier life whose targets do not fail any more.
    if (std::exchange(recovered_checked_, true)) return;
    for (const auto& [id, alert] : open_) {
        if (alert.source != model::AlertSource::kHealth || book_.fails(alert.target)) continue;
        gather(health_of(alert.target, alert::Health::kUp));
    }
}

void AlertDesk::Work::take_survey(FleetHealth health) {
    const base::Instant now = net::instant_now();
    Inputs said;
    self_.step(now, health.self, said);
    doubt_names(health);
    std::set<std::string, std::less<>> stale;
    for (const std::string& key : health.stale) stale.emplace(target_of(key));
    for (const std::string& target : stale) {
        if (stale_.contains(target)) continue;
        said.emplace_back(health_of(target, alert::Health::kStale));
    }
    for (const std::string& target : stale_) {
        if (stale.contains(target) || book_.fails(target)) continue;
        said.emplace_back(health_of(target, alert::Health::kUp));
    }
    stale_ = std::move(stale);
    // Whether what fails answers at least may change without a transition.
    if (auto changed = book_.changed_answers(health.answering); !changed.empty()) {
        watch_.look(std::move(changed));
    }
    for (alert::Input& input : said) gather(std::move(input));
}

// Of the names that targets are reached by, each counts once.
void AlertDesk::Work::doubt_names(const FleetHealth& health) {
    const auto count = [this](const std::vector<std::string>& tasks) {
        std::set<std::string_view> names;
        for (const std::string& key : tasks) {
            if (const auto name = names_.find(target_of(key)); name != names_.end()) {
                names.insert(name->second);
            }
        }
        return names.size();
    };
    doubt_.see_names({.all = all_names_,
                      .failing = count(health.unresolved),
                      .failing_lately = count(health.unresolved_lately)});
    tell_doubt();
}

void AlertDesk::Work::tell_doubt() {
    if (auto report = doubt_.take()) gather(std::move(*report));
}

void AlertDesk::Work::observed_ourselves(model::Signal signal, base::WallTime at) {
    alert::Observed observed;
    observed.source = model::AlertSource::kSelf;
    observed.step = signal.clear ? alert::ObservedStep::kCleared : alert::ObservedStep::kRaised;
    observed.signal = std::move(signal);
    observed.at = at;
    gather(std::move(observed));
}

void AlertDesk::Work::report_observer(bool bad, std::string why) {
    doubt_.see_loops(bad ? std::move(why) : std::string());
    tell_doubt();
}

void AlertDesk::Work::set_image(AlertImage image) {
    image_ = std::move(image);
    failure_types_.clear();
    names_.clear();
    remote_targets_ = false;
    std::set<std::string_view> names;
    for (const alert::TargetFacts& target : image_.fleet->targets) {
        failure_types_.emplace(target.key, target.failure_type);
        const auto literal = net::SocketAddress::parse(target.address, 1);
        const bool local = literal ? literal->is_loopback() : target.address == "localhost";
        remote_targets_ = remote_targets_ || !local;
        if (literal || local) continue;
        names.insert(names_.emplace(target.key, target.address).first->second);
    }
    all_names_ = names.size();
    verifier_.set_tasks(image_.tasks);
    note_fleet();
}

// A bulk edit switches thousands of targets one by one: the fleet is looked at once, by the turn
// that takes them all in.
void AlertDesk::Work::note_fleet() {
    fleet_changed_ = true;
    decide_soon();
}

// What an operator switched off is off for the engine too.
alert::FleetChanged AlertDesk::Work::fleet_now() const {
    if (disabled_.empty()) return {image_.fleet};
    auto fleet = std::make_shared<alert::AlertFleet>(*image_.fleet);
    for (alert::TargetFacts& target : fleet->targets) {
        if (disabled_.contains(target.key)) target.enabled = false;
    }
    return {std::move(fleet)};
}

}  // namespace pollux::runtime
