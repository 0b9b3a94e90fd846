#include "api/alert_queries.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace pollux::api {
namespace {

using access::Area;
using access::Permission;
using model::AlertState;
using model::Severity;

constexpr std::array kSeverities = {Severity::kInfo, Severity::kWarning, Severity::kMinor,
                                    Severity::kMajor, Severity::kCritical};
constexpr std::array kSources = {model::AlertSource::kPoll, model::AlertSource::kMessage,
                                 model::AlertSource::kHealth, model::AlertSource::kSelf,
                                 model::AlertSource::kExternal};
constexpr std::array kDeliveryStates = {
    model::DeliveryState::kWaiting, model::DeliveryState::kDelivered, model::DeliveryState::kFailed,
    model::DeliveryState::kCancelled, model::DeliveryState::kHeld};

// The values of a parameter as members of an enumeration; words were checked before.
template <class Enum, std::size_t N>
std::vector<Enum> chosen(const Call& call, std::string_view name,
                         const std::array<Enum, N>& values) {
    std::vector<Enum> result;
    for (const std::string_view word : call.query.texts(name)) {
        const auto found = std::ranges::find(values, word, [](Enum one) { return to_string(one); });
        if (found != values.end()) result.push_back(*found);
    }
    return result;
}

template <class Enum, std::size_t N>
Parameter choice(std::string_view name, std::string_view description,
                 const std::array<Enum, N>& values) {
    Parameter parameter{
        .name = name, .type = ParameterType::kWord, .description = description, .repeated = true};
    for (const Enum one : values) parameter.words.push_back(to_string(one));
    return parameter;
}

Parameter time(std::string_view name, std::string_view description) {
    return {.name = name, .type = ParameterType::kTime, .description = description};
}

std::optional<std::string> text_of(const Call& call, std::string_view name) {
    const auto text = call.query.text(name);
    if (!text) return std::nullopt;
    return std::string(*text);
}

// What all three share: place, limit, span.
template <class Query>
std::expected<void, Problem> read_page(const Call& call, Query& query) {
    const auto page = Page::read(call);
    if (!page) return std::unexpected(page.error());
    query.limit = page->limit;
    query.before = number_after(*page, query.before);
    return {};
}

template <class Query>
std::expected<void, Problem> read_span(const Call& call, Query& query) {
    query.from = call.query.time("from");
    query.until = call.query.time("until");
    if (query.from && query.until && *query.from >= *query.until) {
        return std::unexpected(bad_request("query.range", "`from` must be before `until`"));
    }
    return {};
}

std::expected<access::Selector, Problem> read_selector(const Call& call) {
    auto selector = access::Selector::parse(call.query.text_or("label", ""));
    if (selector) return std::move(*selector);
    Problem problem = bad_request(selector.error().code, selector.error().message);
    problem.errors.push_back({.parameter = "label", .detail = selector.error().message});
    return std::unexpected(std::move(problem));
}

}  // namespace

const std::vector<AlertState>& open_states() {
    static const std::vector<AlertState> kOpen = {AlertState::kPending, AlertState::kActive,
                                                  AlertState::kAcknowledged,
                                                  AlertState::kSuppressed};
    return kOpen;
}

std::vector<Parameter> alert_filters() {
    return {{.name = "status",
             .type = ParameterType::kWord,
             .description = "any of these; `open` is all but resolved",
             .repeated = true,
             .words = {"open", "pending", "active", "acknowledged", "suppressed", "resolved"}},
            choice("severity", "any of these", kSeverities),
            choice("source", "any of these", kSources),
            {.name = "addon", .description = "only of this addon", .longest = 128},
            {.name = "alert_type", .description = "only of this type", .longest = 128},
            {.name = "device_name", .description = "only of this device", .longest = 253},
            {.name = "target", .description = "only of this target, addon::device"},
            {.name = "group", .description = "only of devices in this group", .longest = 128},
            {.name = "incident", .description = "only of this incident", .longest = 64},
            {.name = "fingerprint", .description = "only of this fingerprint", .longest = 64},
            {.name = "label",
             .description = "a selector of labels such as site=berlin,role!=lab",
             .longest = access::Selector::kMaxText},
            {.name = "q",
             .description = "somewhere in title, message, names, address or labels",
             .longest = 200},
            time("from", "was open at or after this time"),
            time("until", "was open before this time")};
}

std::vector<Parameter> incident_filters() {
    return {{.name = "status",
             .type = ParameterType::kWord,
             .description = "open or resolved; all unless given",
             .words = {"open", "resolved"}},
            choice("severity", "any of these", kSeverities),
            {.name = "device_name", .description = "only with this device as root", .longest = 253},
            {.name = "q", .description = "in title or device", .longest = 200},
            time("from", "was open at or after this time"),
            time("until", "was open before this time")};
}

std::vector<Parameter> notification_filters() {
    return {choice("state", "any of these", kDeliveryStates),
            {.name = "receiver", .description = "only to this receiver", .longest = 128},
            {.name = "channel", .description = "only by this channel", .longest = 128},
            {.name = "incident", .description = "only about this incident", .longest = 64}};
}

std::expected<store::AlertQuery, Problem> alert_query(const Call& call) {
    store::AlertQuery query;
    if (auto read = read_page(call, query); !read) return std::unexpected(read.error());
    if (auto read = read_span(call, query); !read) return std::unexpected(read.error());
    auto selector = read_selector(call);
    if (!selector) return std::unexpected(selector.error());
    for (const std::string_view word : call.query.texts("status")) {
        if (word == "open") {
            query.states.insert(query.states.end(), open_states().begin(), open_states().end());
        } else if (const auto state = model::alert_state_of(word)) {
            query.states.push_back(*state);
        }
    }
    query.severities = chosen(call, "severity", kSeverities);
    query.sources = chosen(call, "source", kSources);
    query.addon = text_of(call, "addon");
    query.type = text_of(call, "alert_type");
    query.device = text_of(call, "device_name");
    query.target = text_of(call, "target");
    query.group = text_of(call, "group");
    query.incident = text_of(call, "incident");
    query.fingerprint = text_of(call, "fingerprint");
    query.text = call.query.text_or("q", "");
    query.visible = sight_of(call.principal);
    if (!selector->everything()) {
        query.visible = [wanted = std::move(*selector),
                         sees = std::move(query.visible)](const model::Alert& alert) {
            return wanted.matches(alert.labels) && (!sees || sees(alert));
        };
    }
    return query;
}

std::expected<store::IncidentQuery, Problem> incident_query(const Call& call) {
    store::IncidentQuery query;
    if (auto read = read_page(call, query); !read) return std::unexpected(read.error());
    if (auto read = read_span(call, query); !read) return std::unexpected(read.error());
    if (const auto status = call.query.text("status")) query.open = *status == "open";
    query.severities = chosen(call, "severity", kSeverities);
    query.device = text_of(call, "device_name");
    query.text = call.query.text_or("q", "");
    return query;
}

std::expected<store::NotificationQuery, Problem> notification_query(const Call& call) {
    store::NotificationQuery query;
    if (auto read = read_page(call, query); !read) return std::unexpected(read.error());
    query.states = chosen(call, "state", kDeliveryStates);
    query.receiver = text_of(call, "receiver");
    query.channel = text_of(call, "channel");
    query.incident = text_of(call, "incident");
    return query;
}

bool may_on_alert(const access::Principal& principal, Permission permission,
                  const model::Alert& alert) {
    return access::may_on(principal, permission, Area::kMonitoring, alert.labels);
}

std::function<bool(const model::Alert&)> sight_of(const access::Principal& principal) {
    if (access::may_everywhere(principal, Permission::kRead, Area::kMonitoring)) return {};
    return [principal](const model::Alert& alert) {
        return may_on_alert(principal, Permission::kRead, alert);
    };
}

std::uint64_t number_after(const Page& page, std::uint64_t standard) {
    std::uint64_t number = standard;
    const char* begin = page.after.data();
    std::from_chars(begin, begin + page.after.size(), number);
    return number;
}

}  // namespace pollux::api
