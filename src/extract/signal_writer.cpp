#include "extract/signal_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "extract/time_text.hpp"
#include "extract/value_math.hpp"

namespace pollux::extract {
namespace {

using model::Signal;
using model::Value;

constexpr std::size_t kMaxTitle = 256;
constexpr std::size_t kMaxMessage = 4096;
constexpr std::size_t kMaxSubject = 256;
constexpr std::size_t kMaxType = 128;
constexpr std::size_t kMaxFields = 64;
constexpr std::size_t kMaxFieldText = 1024;

// At most `most` bytes, one line where wanted, always UTF-8 without controls but line ends.
std::string tidy(std::string text, std::size_t most, bool one_line) {
    if (text.size() > most) {
        std::size_t end = most;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
        text.resize(end);
    }
    const bool plain = base::is_valid_utf8(text);
    for (char& c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && (one_line || (c != '\n' && c != '\t'))) || byte == 0x7F) c = ' ';
        if (!plain && byte >= 0x80) c = '?';
    }
    return text;
}

std::optional<bool> truth(const Value& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    const auto number = as_double(value);
    return number ? std::optional(*number != 0) : std::nullopt;
}

// link_down becomes Link Down.
std::string in_words(std::string_view type) {
    std::string out;
    bool start = true;
    for (const char c : type) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == '_') {
            out.push_back(' ');
        } else if (letter && start) {
            out.push_back(c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c);
        } else if (letter) {
            out.push_back(c < 'a' ? static_cast<char>(c - 'A' + 'a') : c);
        } else {
            out.push_back(c);
        }
        start = !letter;
    }
    return out;
}

}  // namespace

SignalWriter::SignalWriter(const AddonPlan& plan, std::size_t group, const SignalContext& context,
                           model::PollSignals& out)
    : plan_(plan), group_(group), context_(context), out_(out) {}

void SignalWriter::record(std::optional<std::size_t> set, std::string_view row,
                          std::span<const Value> values) {
    for (const SignalRule& rule : plan_.signals) {
        if (rule.group != group_) continue;
        const bool here = set ? rule.row_set == *set : !rule.row_set.has_value();
        if (here) apply(rule, {row, values});
    }
}

void SignalWriter::rows_read(std::size_t set, bool complete) {
    if (complete) complete_rows_.insert(set);
}

void SignalWriter::unreadable(std::size_t endpoint) { unreadable_.insert(endpoint); }

std::string SignalWriter::shown(std::uint16_t index, const Record& record) const {
    if (index + std::size_t{1} >= record.values.size()) return {};
    const Value& value = record.values[index + std::size_t{1}];
    const Rule& rule = plan_.rules[index];
    if (rule.metric && rule.type == model::MetricType::kState) {
        const auto& states = plan_.addon.metrics[*rule.metric].states;
        const auto* number = std::get_if<std::int64_t>(&value);
        const bool word = number != nullptr && *number >= 0 &&
                          static_cast<std::size_t>(*number) < states.size() &&
                          !states[static_cast<std::size_t>(*number)].empty();
        if (word) return states[static_cast<std::size_t>(*number)];
    }
    return to_text(value);
}

std::string SignalWriter::type_of(const SignalRule& rule, const Record& record) const {
    if (!rule.type_template) return rule.type;
    Signal none;
    return tidy(fill(*rule.type_template, none, &rule, record), kMaxType, true);
}

std::string SignalWriter::subject_of(const SignalRule& rule, const Record& record) const {
    if (rule.fingerprint.empty() && rule.one_subject) return {};
    if (rule.fingerprint.empty()) return tidy(std::string(record.row), kMaxSubject, true);
    std::string out;
    for (const std::uint16_t field : rule.fingerprint) {
        if (!out.empty()) out.push_back('|');
        for (const char c : shown(field, record)) {
            if (c == '|' || c == '\\') out.push_back('\\');
            out.push_back(c);
        }
    }
    return tidy(std::move(out), kMaxSubject, true);
}

const SignalType* SignalWriter::known_type(std::string_view type) const {
    const auto& types = plan_.signal_types;
    const auto find = [&](std::string_view wanted) -> const SignalType* {
        const auto found = std::ranges::lower_bound(types, wanted, {}, &SignalType::type);
        return found != types.end() && found->type == wanted ? &*found : nullptr;
    };
    const SignalType* exact = find(type);
    return exact != nullptr ? exact : find("*");
}

std::string SignalWriter::fill(const Template& text, const Signal& signal, const SignalRule* rule,
                               const Record& record) const {
    return text.fill([&](std::string_view name) -> std::optional<std::string> {
        if (rule != nullptr) {
            for (const auto& [field, index] : rule->fields) {
                if (field == name) return shown(index, record);
            }
        }
        for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
            if (plan_.rules[i].name == name) return shown(static_cast<std::uint16_t>(i), record);
        }
        if (name == "type") return signal.type;
        if (name == "severity") return signal.severity;
        if (name == "row") return std::string(record.row);
        if (name == "message") return signal.message;
        if (name == "device" && !context_.device.empty()) return context_.device;
        if (name != "host") return std::nullopt;
        if (!signal.device_address.empty()) return signal.device_address;
        return context_.address.empty() ? std::nullopt : std::optional(context_.address);
    });
}

Signal SignalWriter::dressed(const std::string& type, const SignalRule* rule,
                             const Record& record) {
    const SignalType* known = known_type(type);
    Signal out;
    out.type = type;
    const auto pick = [&](auto member) {
        const auto* own = rule == nullptr ? nullptr : &(rule->look.*member);
        if (own != nullptr && own->has_value()) return *own;
        return known == nullptr ? decltype(rule->look.*member){} : known->look.*member;
    };
    out.severity = pick(&SignalLook::severity).value_or("warning");
    out.category = pick(&SignalLook::category).value_or(plan_.addon.category);
    if (rule != nullptr) {
        const auto text = [&](const std::optional<std::uint16_t>& field) {
            return field ? tidy(shown(*field, record), kMaxTitle, true) : std::string();
        };
        out.rule = rule->name;
        out.subject = subject_of(*rule, record);
        out.device_address = text(rule->device_address);
        out.device_name = text(rule->device_name);
        if (rule->time && *rule->time + std::size_t{1} < record.values.size()) {
            out.at = guess_time(record.values[*rule->time + std::size_t{1}]);
        }
        for (const auto& [name, index] : rule->fields) {
            if (out.fields.size() >= kMaxFields) break;
            if (index + std::size_t{1} >= record.values.size() ||
                is_null(record.values[index + std::size_t{1}])) {
                continue;
            }
            out.fields.emplace_back(name, tidy(shown(index, record), kMaxFieldText, false));
        }
    }
    if (const auto message = pick(&SignalLook::message)) {
        out.message = tidy(fill(*message, out, rule, record), kMaxMessage, false);
    }
    // What the answer says comes first; where it says nothing, what the type says.
    if (out.message.empty() && known != nullptr && known->look.message) {
        out.message = tidy(fill(*known->look.message, out, rule, record), kMaxMessage, false);
    }
    static const Template kDefault = Template::compile(" on {host}");
    const auto title = pick(&SignalLook::title);
    out.title = title ? fill(*title, out, rule, record)
                      : fmt::format("{}: {}{}", plan_.addon.title, in_words(type),
                                    fill(kDefault, out, rule, record));
    out.title = tidy(std::move(out.title), kMaxTitle, true);
    return out;
}

void SignalWriter::emit(Signal signal) {
    if (out_.signals.size() >= kMaxSignals) {
        ++out_.dropped;
        return;
    }
    out_.signals.push_back(std::move(signal));
}

void SignalWriter::apply(const SignalRule& rule, const Record& record) {
    bool clear = false;
    if (rule.trap || rule.clear_trap) {
        const bool raises = trap_ != nullptr && rule.trap && *rule.trap == *trap_;
        clear = trap_ != nullptr && rule.clear_trap && *rule.clear_trap == *trap_;
        if (!raises && !clear) return;
    }
    std::string type = type_of(rule, record);
    if (type.empty()) return;
    if (rule.clear_suffix && type.size() > rule.clear_suffix->size() &&
        type.ends_with(*rule.clear_suffix)) {
        type.resize(type.size() - rule.clear_suffix->size());
        clear = true;
    }
    const SignalType* known = known_type(type);
    if (rule.type_template && known == nullptr) return;
    if (known != nullptr && !known->look.enabled) return;
    if (rule.when) {
        const auto holds = truth(rule.when->evaluate(record.values));
        if (!holds && out_.open.size() < kMaxSignals) {
            out_.open.emplace_back(std::move(type), subject_of(rule, record));
        }
        if (!holds.value_or(false)) return;
    }
    if (rule.clear_when) clear = clear || truth(rule.clear_when->evaluate(record.values)) == true;
    Signal signal = dressed(type, &rule, record);
    const auto& own = rule.look.clears;
    const std::vector<std::string> clears =
        own.empty() && known != nullptr ? known->look.clears : own;
    // A recovery is nothing by itself: it only ends what it names.
    const bool recovery = signal.severity == "clear";
    for (const std::string& ended : clears) {
        if (clear) break;
        Signal end = signal;
        end.type = ended;
        end.clear = true;
        emit(std::move(end));
    }
    if (recovery) return;
    signal.clear = clear;
    emit(std::move(signal));
}

void SignalWriter::emit_failure(const EndpointPlan& endpoint, const std::string& type,
                                const model::PollFailure& failure) {
    const SignalType* known = known_type(type);
    if (known != nullptr && !known->look.enabled) return;
    Signal signal = dressed(type, nullptr, {});
    signal.rule = std::string(kEndpointRule) + endpoint.name;
    if (signal.message.empty()) signal.message = tidy(failure.message, kMaxMessage, false);
    signal.fields.emplace_back("error", tidy(failure.message, kMaxFieldText, false));
    signal.fields.emplace_back("code", failure.code);
    if (failure.http_status != 0) {
        signal.fields.emplace_back("status", fmt::format("{}", failure.http_status));
    }
    emit(std::move(signal));
}

void SignalWriter::exchange(const EndpointPlan& endpoint, const model::Reply& reply) {
    if (endpoint.on_failure.empty() && endpoint.on_status.empty()) return;
    const auto* failure = std::get_if<model::PollFailure>(&reply.answer);
    if (failure != nullptr && failure->kind == model::FailureKind::kCancelled) return;
    const std::string rule = std::string(kEndpointRule) + endpoint.name;
    if (failure == nullptr) {
        const auto* http = std::get_if<model::HttpReply>(&reply.answer);
        const std::string* type = http == nullptr ? nullptr : endpoint.signal_of(http->status);
        out_.settled.push_back(rule);
        if (type == nullptr) return;
        model::PollFailure answered;
        answered.http_status = http->status;
        answered.code = "http.status";
        answered.message = fmt::format("endpoint {} answered {}", endpoint.name, http->status);
        emit_failure(endpoint, *type, answered);
        return;
    }
    if (const std::string* type = endpoint.signal_of(failure->http_status)) {
        // It answered: whatever its failure had raised is over.
        out_.settled.push_back(rule);
        emit_failure(endpoint, *type, *failure);
        return;
    }
    if (endpoint.on_failure.empty()) return;
    emit_failure(endpoint, endpoint.on_failure, *failure);
}

bool SignalWriter::decided(const SignalRule& rule) const {
    if (rule.row_set && !complete_rows_.contains(*rule.row_set)) return false;
    return std::ranges::none_of(
        rule.endpoints, [&](std::uint16_t endpoint) { return unreadable_.contains(endpoint); });
}

void SignalWriter::finish() {
    for (const SignalRule& rule : plan_.signals) {
        if (rule.group != group_ || !rule.reconcile || !decided(rule)) continue;
        if (out_.dropped == 0) out_.settled.push_back(rule.name);
    }
}

}  // namespace pollux::extract
