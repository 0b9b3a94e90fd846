#include "alert/router.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "base/text.hpp"

namespace pollux::alert {

using base::quoted;
using base::WallTime;
using model::NotifyRoute;

base::Result<Router> Router::compile(std::vector<NotifyRoute> routes,
                                     std::vector<model::Receiver> receivers,
                                     const ZoneLookup& zones) {
    Router router;
    std::ranges::sort(routes, [](const NotifyRoute& a, const NotifyRoute& b) {
        return std::tie(a.order, a.name) < std::tie(b.order, b.name);
    });
    for (NotifyRoute& route : routes) {
        const auto fault = [&](const base::Error& error) {
            return base::config_error(
                error.code, fmt::format("route {}: {}", quoted(route.name), error.message));
        };
        Entry entry;
        auto matchers = Matchers::compile(route.matchers);
        if (!matchers) return fault(matchers.error());
        auto only_during = Windows::compile(route.only_during, zones);
        if (!only_during) return fault(only_during.error());
        auto quiet = Windows::compile(route.quiet, zones);
        if (!quiet) return fault(quiet.error());
        entry.matchers = std::move(*matchers);
        entry.only_during = std::move(*only_during);
        entry.quiet = std::move(*quiet);
        entry.route = std::move(route);
        router.entries_.push_back(std::move(entry));
    }
    for (model::Receiver& receiver : receivers) {
        const std::string name = receiver.name;
        router.receivers_.insert_or_assign(name, std::move(receiver));
    }
    return router;
}

Router::Fit Router::fit(const Entry& entry, const MatchLabels& labels, model::Severity severity,
                        WallTime now) {
    if (entry.route.at_least && severity < *entry.route.at_least) return Fit::kNo;
    if (!entry.matchers.hold(labels)) return Fit::kNo;
    const bool on_duty = entry.only_during.empty() || entry.only_during.covered_until(now);
    return on_duty ? Fit::kYes : Fit::kNotNow;
}

std::vector<const NotifyRoute*> Router::choose(const MatchLabels& labels, model::Severity severity,
                                               WallTime now) const {
    std::vector<const NotifyRoute*> chosen;
    for (const Entry& entry : entries_) {
        if (fit(entry, labels, severity, now) != Fit::kYes) continue;
        chosen.push_back(&entry.route);
        if (!entry.route.go_on) break;
    }
    return chosen;
}

bool Router::may_apply_later(const MatchLabels& labels, model::Severity severity,
                             WallTime now) const {
    return std::ranges::any_of(entries_, [&](const Entry& entry) {
        return fit(entry, labels, severity, now) == Fit::kNotNow;
    });
}

const Router::Entry* Router::find(std::string_view route) const {
    const auto found = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.route.name == route; });
    return found == entries_.end() ? nullptr : &*found;
}

std::optional<WallTime> Router::quiet_until(std::string_view route, WallTime now) const {
    const Entry* entry = find(route);
    return entry == nullptr ? std::nullopt : entry->quiet.covered_until(now);
}

const NotifyRoute* Router::route(std::string_view name) const {
    const Entry* entry = find(name);
    return entry == nullptr ? nullptr : &entry->route;
}

const model::Receiver* Router::receiver(std::string_view name) const {
    const auto found = receivers_.find(name);
    return found == receivers_.end() ? nullptr : &found->second;
}

std::vector<std::string> Router::receivers(std::span<const std::string> names,
                                           const MatchLabels& labels) const {
    std::vector<std::string> result;
    for (const std::string& name : names) {
        const std::string_view wanted =
            name.starts_with(kReceiverByLabel)
                ? labels.find(std::string_view(name).substr(kReceiverByLabel.size()))
                : std::string_view(name);
        const bool known = receiver(wanted) != nullptr;
        if (known && std::ranges::find(result, wanted) == result.end()) {
            result.emplace_back(wanted);
        }
    }
    return result;
}

std::string Router::why_not(const Entry& entry, const MatchLabels& labels,
                            model::Severity severity) {
    if (entry.route.at_least && severity < *entry.route.at_least) {
        return fmt::format("no: it is for {} and above, this is {}",
                           to_string(*entry.route.at_least), to_string(severity));
    }
    const model::LabelMatcher* failing = entry.matchers.failing(labels);
    if (failing == nullptr) return "no: it is outside of its hours now";
    const std::string text = model::to_string(*failing);
    if (failing->label == "group" && !labels.groups.empty()) {
        return fmt::format("no: {} does not hold, the groups are {}", text,
                           fmt::join(labels.groups, ", "));
    }
    const std::string_view value = labels.find(failing->label);
    if (value.empty()) return fmt::format("no: {} does not hold, there is no such label", text);
    return fmt::format("no: {} does not hold, it is {}", text, quoted(value));
}

std::string Router::who(const Entry& entry, const MatchLabels& labels, WallTime now) const {
    std::vector<std::string> told;
    for (const std::string& name : receivers(entry.route.receivers, labels)) {
        std::vector<std::string_view> channels;
        for (const model::Channel& channel : receiver(name)->channels) {
            channels.push_back(channel.name);
        }
        told.push_back(fmt::format("{} ({})", name, fmt::join(channels, ", ")));
    }
    std::string text = told.empty() ? "yes, but none of its receivers exists: nobody is told"
                                    : fmt::format("yes: tells {}", fmt::join(told, ", "));
    if (const auto until = entry.quiet.covered_until(now)) {
        text += fmt::format("\n    quiet hours: held until {}", base::format_utc(*until));
    }
    for (const model::EscalationStep& step : entry.route.escalation) {
        text += fmt::format("\n    after {} without an acknowledgement: {}",
                            base::format_duration(step.after),
                            fmt::join(receivers(step.receivers, labels), ", "));
    }
    return text;
}

std::string Router::explain(const MatchLabels& labels, model::Severity severity,
                            WallTime now) const {
    if (entries_.empty()) return "There are no routes: nobody is told. Add one under `routes:`.\n";
    std::string text;
    bool decided = false;
    bool any = false;
    for (const Entry& entry : entries_) {
        std::string answer = "not asked: a route before it decided";
        if (!decided) {
            const bool applies = fit(entry, labels, severity, now) == Fit::kYes;
            answer = applies ? who(entry, labels, now) : why_not(entry, labels, severity);
            any = any || applies;
            decided = applies && !entry.route.go_on;
            if (applies && entry.route.go_on) answer += "\n    and the routes after it are asked";
        }
        text += fmt::format("{}: {}\n", entry.route.name, answer);
    }
    if (!any) text += "No route applies: nobody is told.\n";
    return text;
}

}  // namespace pollux::alert
