#include "extract/compiled_addon.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/siphash.hpp"
#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/scalar.hpp"
#include "extract/addon_builder.hpp"
#include "extract/addon_plan.hpp"
#include "extract/dialect/dialect.hpp"
#include "extract/signal_writer.hpp"
#include "extract/value_math.hpp"

namespace pollux::extract {
namespace {

using base::quoted;

constexpr std::size_t kMaxParameterText = 4096;
constexpr base::SipKey kFingerprintKey{0x6164646f6e0001ULL, 0};

std::string_view type_name(ParameterType type) {
    switch (type) {
        case ParameterType::kString: return "string";
        case ParameterType::kInteger: return "integer";
        case ParameterType::kNumber: return "number";
        case ParameterType::kBoolean: return "boolean";
        case ParameterType::kPath: return "path";
    }
    return "string";
}

bool fits(ParameterType type, const std::string& value) {
    if (value.size() > kMaxParameterText || base::has_control(value)) return false;
    switch (type) {
        case ParameterType::kString: return true;
        case ParameterType::kInteger: return document::parse_integer(value).has_value();
        case ParameterType::kNumber: return document::parse_number(value).has_value();
        case ParameterType::kBoolean: return document::parse_boolean(value).has_value();
        case ParameterType::kPath: return value.starts_with('/');
    }
    return false;
}

}  // namespace

const model::Value* ValueMap::find(const model::Value& value) const {
    for (const auto& [from, to] : entries) {
        if (compare_values(from, value) == std::partial_ordering::equivalent) return &to;
    }
    // A device may write its numbers as text, or the manifest its words without quotes.
    const std::string text = to_text(value);
    for (const auto& [from, to] : entries) {
        if (to_text(from) == text) return &to;
    }
    return otherwise ? &*otherwise : nullptr;
}

const model::Addon& CompiledAddon::addon() const { return plan_->addon; }

std::string_view CompiledAddon::file() const { return plan_->file; }

std::vector<ParameterInfo> CompiledAddon::parameters() const {
    std::vector<ParameterInfo> out;
    for (const ParameterDef& parameter : plan_->parameters) {
        out.push_back({parameter.name, std::string(type_name(parameter.type)), parameter.required,
                       parameter.initial, parameter.description});
    }
    return out;
}

base::Status CompiledAddon::check(const Parameters& parameters) const {
    const auto refuse = [&](std::string message) {
        return base::config_error("addon.parameter", std::move(message));
    };
    for (const auto& [name, value] : parameters) {
        const auto found = std::ranges::find(plan_->parameters, name, &ParameterDef::name);
        if (found == plan_->parameters.end()) {
            std::vector<std::string_view> names;
            for (const ParameterDef& known : plan_->parameters) names.push_back(known.name);
            const auto near = base::nearest(name, names);
            return refuse(fmt::format("addon {} has no parameter {}; {}", plan_->addon.name,
                                      quoted(name),
                                      near            ? fmt::format("did you mean {}?", *near)
                                      : names.empty() ? std::string("it has none")
                                                      : "it has " + document::word_list(names)));
        }
        if (!fits(found->type, value)) {
            return refuse(
                fmt::format("parameter {} of addon {}: {} is no {}{}", name, plan_->addon.name,
                            quoted(value), type_name(found->type),
                            found->type == ParameterType::kPath ? ", which begins with /" : ""));
        }
    }
    for (const ParameterDef& parameter : plan_->parameters) {
        if (!parameter.required || parameters.contains(parameter.name)) continue;
        return refuse(
            fmt::format("addon {} needs the parameter {}{}", plan_->addon.name, parameter.name,
                        parameter.description.empty() ? "" : " (" + parameter.description + ")"));
    }
    return {};
}

std::optional<model::Signal> CompiledAddon::failure_signal(const SignalContext& context) const {
    for (const EndpointPlan& endpoint : plan_->http.endpoints) {
        if (endpoint.optional || endpoint.on_failure.empty()) continue;
        model::PollSignals said;
        model::Reply reply;
        reply.answer = model::PollFailure{};
        SignalWriter(*plan_, endpoint.group, context, said).exchange(endpoint, reply);
        if (!said.signals.empty()) return std::move(said.signals.front());
    }
    return std::nullopt;
}

bool CompiledAddon::imported() const { return plan_->imported; }

std::uint64_t CompiledAddon::fingerprint() const { return plan_->fingerprint; }

std::vector<std::pair<model::Oid, std::string>> CompiledAddon::object_names() const {
    std::vector<std::pair<model::Oid, std::string>> names;
    for (const SnmpGet& get : plan_->snmp.gets) names.emplace_back(get.oid, get.name);
    for (const RowSet& rows : plan_->row_sets) {
        for (const SnmpColumn& column : rows.columns) names.emplace_back(column.oid, column.name);
    }
    return names;
}

bool CompiledAddon::same_as(const CompiledAddon& other) const {
    return plan_ == other.plan_ || plan_->fingerprint == other.plan_->fingerprint;
}

CompileResult compile(std::string_view text, std::string file) {
    CompileResult result;
    document::Parsed parsed = document::parse(text, file, result.diagnostics);
    if (!parsed.ok) return result;
    bool imported = false;
    if (is_imported(parsed.root)) {
        document::Node translated = translate(parsed.root, result.diagnostics);
        if (!result.diagnostics.ok()) return result;
        parsed.root = std::move(translated);
        imported = true;
    }
    auto root = std::make_shared<const document::Node>(std::move(parsed.root));
    AddonBuilder builder(std::move(root), std::move(file), nullptr, result.diagnostics);
    auto plan = builder.build();
    if (plan == nullptr) return result;
    plan->fingerprint = base::siphash24(kFingerprintKey, text);
    plan->imported = imported;
    result.addon = std::make_shared<const CompiledAddon>(std::move(plan));
    return result;
}

base::Result<std::shared_ptr<const CompiledAddon>> specialise(
    const std::shared_ptr<const CompiledAddon>& addon, const Parameters& parameters) {
    if (const auto checked = addon->check(parameters); !checked) {
        return std::unexpected(checked.error());
    }
    const AddonPlan& plan = addon->plan();
    if (!plan.parametric) return addon;
    document::Diagnostics diagnostics;
    AddonBuilder builder(plan.source, plan.file, &parameters, diagnostics);
    auto special = builder.build();
    if (special == nullptr) return std::unexpected(diagnostics.as_error("addon.parameter"));
    base::ByteWriter given;
    given.u64(plan.fingerprint);
    for (const auto& [name, value] : parameters) {
        given.string(name);
        given.string(value);
    }
    special->fingerprint = base::siphash24(kFingerprintKey, given.view());
    special->imported = plan.imported;
    return std::make_shared<const CompiledAddon>(std::move(special));
}

}  // namespace pollux::extract
