#include "config/resolve_alerts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/map_reader.hpp"

namespace pollux::config {

using base::quoted;
using model::AlertOverride;

namespace {

class AlertResolver {
  public:
    AlertResolver(const Levels& levels, const model::Addon& addon,
                  const std::set<std::string, std::less<>>& known,
                  std::vector<AlertComplaint>& complaints)
        : levels_(levels), addon_(addon), known_(known), complaints_(complaints) {}

    model::AlertPolicy run() {
        policy_.failure_alert =
            levels_.find(&PollSettings::failure_alert).value_or(model::FailureAlert::kConfirmed);
        for (const Level& level : levels_.near) take(level);
        take({levels_.defaults, "defaults", "", false});
        for (auto& [type, rule] : policy_.types) {
            std::ranges::sort(rule.rows, [](const auto& a, const auto& b) {
                return model::is_more_exact(a.first, b.first);
            });
            check(type, rule);
        }
        return std::move(policy_);
    }

  private:
    void take(const Level& level) {
        for (const auto& [type, settings] : level.settings->alerts) {
            const std::string place = level.name.empty()
                                          ? fmt::format("{}/alerts", level.kind)
                                          : fmt::format("{}/{}/alerts", level.kind, level.name);
            const bool ours =
                model::find_alert_type(addon_, type) != nullptr || addon_.any_alert_type;
            if (!ours) {
                if (level.one_addon || !known_.contains(type)) complain_of_type(place, type, level);
                continue;
            }
            model::AlertRule& rule = policy_.types[type];
            model::fill_from(rule.all, settings.all);
            for (const auto& [pattern, values] : settings.rows) {
                const auto found = std::ranges::find(rule.rows, pattern,
                                                     &std::pair<std::string, AlertOverride>::first);
                if (found == rule.rows.end()) {
                    rule.rows.emplace_back(pattern, values);
                } else {
                    model::fill_from(found->second, values);
                }
            }
            places_.try_emplace(type, place);
        }
    }

    void complain_of_type(const std::string& place, const std::string& type, const Level& level) {
        std::vector<std::string_view> names;
        if (level.one_addon) {
            for (const model::AlertType& known : addon_.alert_types) names.push_back(known.name);
        } else {
            names.assign(known_.begin(), known_.end());
        }
        const std::string what =
            level.one_addon
                ? fmt::format("addon {} has no condition or signal", quoted(addon_.name))
                : std::string("no addon has a condition or signal");
        std::string advice = "docs/addons.md lists them";
        if (const auto near = base::nearest(type, names)) {
            advice = fmt::format("did you mean {}?", *near);
        } else if (level.one_addon) {
            advice = names.empty() ? "it has none" : "it has " + document::word_list(names);
        }
        complaints_.push_back({place, fmt::format("{} {}; {}", what, quoted(type), advice)});
    }

    // Limits belong to conditions that have one, and clear lies on the good side of trigger.
    void check(const std::string& type, const model::AlertRule& rule) {
        const auto found = std::ranges::find(addon_.conditions, type, &model::ConditionDef::name);
        const model::ConditionDef* condition = found == addon_.conditions.end() ? nullptr : &*found;
        check_limits(type, condition, rule.all, "");
        for (const auto& [pattern, values] : rule.rows) {
            AlertOverride whole = values;
            model::fill_from(whole, rule.all);
            check_limits(type, condition, whole, pattern);
            if (condition != nullptr && !addon_.metrics[condition->metric].per_row) {
                complaints_.push_back(
                    {places_[type],
                     fmt::format("{} has no rows: its metric {} is of the target; "
                                 "leave out `rows`",
                                 quoted(type), addon_.metrics[condition->metric].name)});
                return;
            }
        }
    }

    void check_limits(const std::string& type, const model::ConditionDef* condition,
                      const AlertOverride& values, const std::string& pattern) {
        if (!values.trigger && !values.clear) return;
        const std::string name =
            pattern.empty() ? quoted(type) : fmt::format("{} of {}", quoted(type), quoted(pattern));
        const model::AlertType* known = model::find_alert_type(addon_, type);
        const bool by_condition = known != nullptr && known->by_condition;
        // One that an empty parameter leaves out is known by its name only.
        if (condition == nullptr && by_condition) return;
        const bool limited = condition != nullptr && condition->word.empty() &&
                             condition->kind != model::ConditionKind::kAbsent &&
                             condition->kind != model::ConditionKind::kChanged;
        if (!limited) {
            complaints_.push_back(
                {places_[type], fmt::format("{} has no limit that could be moved; `enabled`, "
                                            "`severity`, `for` and `keep_firing_for` can be set",
                                            name)});
            return;
        }
        const double trigger = values.trigger.value_or(condition->trigger);
        const double clear =
            values.clear.value_or(trigger + (condition->clear - condition->trigger));
        const bool upward = model::is_upward(condition->comparison);
        if (upward ? clear <= trigger : clear >= trigger) return;
        complaints_.push_back(
            {places_[type], fmt::format("{}: clear {:g} lies on the wrong side of trigger {:g}; it "
                                        "is {} it, so that the alert can end",
                                        name, clear, trigger, upward ? "below" : "above")});
    }

    const Levels& levels_;
    const model::Addon& addon_;
    const std::set<std::string, std::less<>>& known_;
    std::vector<AlertComplaint>& complaints_;
    model::AlertPolicy policy_;
    ByName<std::string> places_;  // type -> the nearest place that names it
};

}  // namespace

model::AlertPolicy resolve_alerts(const Levels& levels, const model::Addon& addon,
                                  const std::set<std::string, std::less<>>& known,
                                  std::vector<AlertComplaint>& complaints) {
    return AlertResolver(levels, addon, known, complaints).run();
}

}  // namespace pollux::config
