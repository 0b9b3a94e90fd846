#include "api/alertmanager_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/parse.hpp"
#include "model/matcher.hpp"

namespace pollux::api {
namespace {

using document::Node;

constexpr std::size_t kMostLabels = 64;
constexpr std::size_t kLongestLabel = 1024;
constexpr std::size_t kLongestAnnotation = 8192;
constexpr document::ParseLimits kLimits{
    .max_bytes = kMostPostedBytes, .max_depth = 16, .max_nodes = 1'000'000};

std::unexpected<base::Error> wrong_alert(std::size_t index, std::string_view what) {
    return base::config_error("alertmanager.alert", fmt::format("alert {}: {}", index, what));
}

std::unexpected<base::Error> wrong_silence(std::string_view what) {
    return base::config_error("alertmanager.silence", std::string(what));
}

base::Result<Node> parsed(std::string_view body, const char* code) {
    document::Diagnostics diagnostics;
    auto result = document::parse_json(body, "body", diagnostics, kLimits);
    if (!result.ok) return std::unexpected(diagnostics.as_error(code));
    return std::move(result.root);
}

bool is_label_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// A map of texts. Empty values are no labels: left out.
base::Result<model::AlertLabels> read_texts(const Node* node, std::size_t longest) {
    model::AlertLabels texts;
    if (node == nullptr || node->is_null()) return texts;
    if (!node->is_map()) return base::config_error("", "an object of texts is expected");
    for (const document::MapEntry& entry : node->entries()) {
        if (!is_label_name(entry.key) || entry.key.size() > kLongestLabel) {
            return base::config_error("",
                                      fmt::format("{} is no name of a label: letters, digits and _",
                                                  base::quoted(entry.key)));
        }
        if (!entry.value.is_scalar() || entry.value.scalar().size() > longest) {
            return base::config_error(
                "", fmt::format("{} must be a text of at most {} bytes", entry.key, longest));
        }
        if (!entry.value.scalar().empty()) texts.emplace(entry.key, entry.value.scalar());
    }
    if (texts.size() > kMostLabels) {
        return base::config_error("", fmt::format("more than {} of them", kMostLabels));
    }
    return texts;
}

// The zero time of Go and a time that is not there are the same. False: no time.
bool read_time(const Node& map, std::string_view name, base::WallTime& time) {
    const Node* node = map.find(name);
    if (node == nullptr || node->is_null()) return true;
    if (!node->is_scalar()) return false;
    if (node->scalar().empty() || node->scalar().starts_with("0001-01-01T")) return true;
    const auto read = base::parse_utc(node->scalar());
    if (read) time = *read;
    return read.has_value();
}

std::string text_of(const Node& map, std::string_view name) {
    const Node* node = map.find(name);
    return node == nullptr || !node->is_scalar() ? "" : node->scalar();
}

base::Result<alert::External> read_alert(const Node& node, std::size_t index, base::WallTime now) {
    if (!node.is_map()) return wrong_alert(index, "an object is expected");
    alert::External external;
    auto labels = read_texts(node.find("labels"), kLongestLabel);
    if (!labels) return wrong_alert(index, "labels: " + labels.error().message);
    external.labels = std::move(*labels);
    if (!external.labels.contains("alertname")) {
        return wrong_alert(index, "the label alertname, which names what is wrong, is missing");
    }
    auto annotations = read_texts(node.find("annotations"), kLongestAnnotation);
    if (!annotations) return wrong_alert(index, "annotations: " + annotations.error().message);
    external.annotations = std::move(*annotations);
    external.starts = now;
    if (!read_time(node, "startsAt", external.starts)) {
        return wrong_alert(index, "startsAt is no time such as 2026-01-02T03:04:05Z");
    }
    external.ends = std::max(now, external.starts) + kPostedAlertLife;
    if (!read_time(node, "endsAt", external.ends)) {
        return wrong_alert(index, "endsAt is no time such as 2026-01-02T03:04:05Z");
    }
    if (external.ends < external.starts) {
        return wrong_alert(index, "endsAt must not be before startsAt");
    }
    return external;
}

base::Result<model::LabelMatcher> read_matcher(const Node& node) {
    const auto flag = [&](std::string_view name, bool standard) {
        const std::string text = text_of(node, name);
        return text.empty() ? standard : text == "true";
    };
    model::LabelMatcher matcher;
    matcher.label = text_of(node, "name");
    matcher.value = text_of(node, "value");
    const bool equal = flag("isEqual", true);
    if (flag("isRegex", false)) {
        matcher.op = equal ? model::MatchOperator::kMatches : model::MatchOperator::kNotMatches;
    } else {
        matcher.op = equal ? model::MatchOperator::kEqual : model::MatchOperator::kNotEqual;
    }
    if (!is_label_name(matcher.label)) {
        return wrong_silence(fmt::format("{} is no name of a label", base::quoted(matcher.label)));
    }
    if (auto compiled = model::CompiledMatcher::compile(matcher); !compiled) {
        return std::unexpected(compiled.error());
    }
    return matcher;
}

}  // namespace

base::Result<std::vector<alert::External>> read_posted_alerts(std::string_view body,
                                                              base::WallTime now) {
    const auto root = parsed(body, "alertmanager.alert");
    if (!root) return std::unexpected(root.error());
    if (!root->is_sequence() || root->items().size() > kMostPostedAlerts) {
        return base::config_error(
            "alertmanager.alert",
            fmt::format("a list of at most {} alerts is expected", kMostPostedAlerts));
    }
    std::vector<alert::External> alerts;
    alerts.reserve(root->items().size());
    for (const Node& node : root->items()) {
        auto one = read_alert(node, alerts.size(), now);
        if (!one) return std::unexpected(one.error());
        alerts.push_back(std::move(*one));
    }
    return alerts;
}

base::Result<model::Silence> read_posted_silence(std::string_view body, base::WallTime now) {
    const auto root = parsed(body, "alertmanager.silence");
    if (!root) return std::unexpected(root.error());
    if (!root->is_map()) return wrong_silence("an object is expected");
    model::Silence silence;
    silence.id = text_of(*root, "id");
    silence.owner = text_of(*root, "createdBy");
    silence.reason = text_of(*root, "comment");
    silence.from = now;
    if (!read_time(*root, "startsAt", silence.from) || !read_time(*root, "endsAt", silence.until)) {
        return wrong_silence("startsAt and endsAt are times such as 2026-01-02T03:04:05Z");
    }
    if (silence.owner.empty() || silence.reason.empty()) {
        return wrong_silence("createdBy and comment say who silences, and why: both are needed");
    }
    if (silence.until <= now || silence.until <= silence.from) {
        return wrong_silence("endsAt must be in the future and after startsAt");
    }
    const Node* matchers = root->find("matchers");
    if (matchers == nullptr || matchers->items().empty() ||
        matchers->items().size() > model::kMostMatchers) {
        return wrong_silence(fmt::format("1 to {} matchers are needed", model::kMostMatchers));
    }
    for (const Node& node : matchers->items()) {
        auto matcher = read_matcher(node);
        if (!matcher) return std::unexpected(matcher.error());
        silence.matchers.push_back(std::move(*matcher));
    }
    return silence;
}

base::Result<std::vector<model::LabelMatcher>> read_filters(
    const std::vector<std::string_view>& filters) {
    std::vector<model::LabelMatcher> all;
    for (const std::string_view text : filters) {
        auto some = model::parse_matchers(text);
        if (!some) return std::unexpected(some.error());
        std::ranges::move(*some, std::back_inserter(all));
        if (all.size() > model::kMostMatchers) {
            return base::config_error("matcher.invalid",
                                      fmt::format("at most {} matchers", model::kMostMatchers));
        }
    }
    return all;
}

}  // namespace pollux::api
