#include "app/addon_catalogue.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "derive/condition_signals.hpp"
#include "document/scalar.hpp"
#include "extract/compiled_addon.hpp"
#include "extract/shipped_addons.hpp"

namespace pollux::app {
namespace {

// A cell of a table in Markdown.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string code(std::string_view text) {
    return text.empty() ? std::string() : fmt::format("`{}`", cell(text));
}

// "warning; critical at 90".
std::string severity_text(const model::ConditionDef& condition) {
    std::string text = condition.severity;
    for (const model::SeverityStep& step : condition.steps) {
        text += fmt::format("; {} at {:g}", step.severity, step.trigger);
    }
    return text;
}

void add_parameters(const extract::CompiledAddon& addon, std::string& out) {
    const auto parameters = addon.parameters();
    if (parameters.empty()) return;
    out += "| parameter | type | default | |\n|---|---|---|---|\n";
    for (const extract::ParameterInfo& parameter : parameters) {
        out += fmt::format("| `{}` | {} | {} | {} |\n", parameter.name, parameter.type,
                           parameter.required ? "(required)" : code(parameter.initial.value_or("")),
                           cell(parameter.description));
    }
    out += '\n';
}

void add_metrics(const model::Addon& addon, std::string& out) {
    if (addon.metrics.empty()) return;
    out += "| metric | type | unit | each | |\n|---|---|---|---|---|\n";
    for (const model::MetricDef& metric : addon.metrics) {
        const bool rate = metric.type == model::MetricType::kCounter;
        const std::string unit =
            rate ? metric.unit + (metric.unit.empty() ? "per second" : " per second") : metric.unit;
        out += fmt::format("| `{}` | {} | {} | {} | {} |\n", metric.name,
                           rate ? "rate" : model::to_string(metric.type), cell(unit),
                           metric.per_row ? "row" : "target", cell(metric.help));
    }
    out += '\n';
}

void add_conditions(const model::Addon& addon, std::string& out) {
    if (addon.conditions.empty()) return;
    out += "| condition | severity | when | |\n|---|---|---|---|\n";
    for (const model::ConditionDef& condition : addon.conditions) {
        out += fmt::format("| `{}` | {} | `{}` | {} |\n", condition.name, severity_text(condition),
                           cell(derive::rule_text(addon, condition)), cell(condition.summary));
    }
    out += '\n';
}

}  // namespace

std::string addon_catalogue() {
    std::vector<extract::CompileResult> addons;
    std::string list =
        "# Addons that come with Pollux\n\n"
        "Made by `pollux addon catalogue`. A copy in your own addon folder takes the place of a "
        "shipped one.\nHow to write one: [addon-authoring.md](addon-authoring.md). Limits that "
        "depend on parameters are shown with\ntheir defaults.\n\n"
        "| addon | protocol | interval | what it reads |\n|---|---|---|---|\n";
    std::string details;
    for (const extract::ShippedAddon& shipped : extract::shipped_addons()) {
        const auto compiled = extract::compile(shipped.manifest, std::string(shipped.file));
        if (compiled.addon == nullptr) continue;
        const model::Addon& addon = compiled.addon->addon();
        list += fmt::format(
            "| [{0}](#{0}) | {1} | {2} | {3} |\n", addon.name, model::to_string(addon.protocol),
            addon.interval ? document::duration_text(*addon.interval) : "", cell(addon.title));
        details += fmt::format("\n## {}\n\n{}\n\n", addon.name, addon.description);
        for (const model::PollGroup& group : addon.groups) {
            if (group.name.empty() || !group.interval) continue;
            details += fmt::format("Group `{}` every {}.\n\n", group.name,
                                   document::duration_text(*group.interval));
        }
        add_parameters(*compiled.addon, details);
        add_metrics(addon, details);
        add_conditions(addon, details);
        details.pop_back();
    }
    return list + details;
}

}  // namespace pollux::app
