#include "api/event_message.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"

namespace pollux::api {
namespace {

constexpr std::size_t kLongestName = 300;
constexpr const char* kCode = "event.message";

base::Status check_names(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (name.empty() || name.size() > kLongestName) {
            return base::config_error(
                kCode, fmt::format("names of targets and groups have 1 to {} bytes", kLongestName));
        }
    }
    return {};
}

}  // namespace

base::Result<std::uint32_t> event_types(const std::vector<std::string>& names) {
    if (names.empty()) return Subscription::kAllTypes;
    std::uint32_t types = 0;
    for (const std::string& name : names) {
        const auto type = parse_event_type(name);
        if (!type) {
            std::vector<std::string_view> known;
            for (std::size_t i = 0; i < kEventTypes; ++i) {
                known.push_back(to_string(static_cast<EventType>(i)));
            }
            return base::config_error(kCode,
                                      fmt::format("there are no events of type {}; there are {}",
                                                  base::quoted(name), fmt::join(known, ", ")));
        }
        types |= Subscription::bit(*type);
    }
    return types;
}

base::Result<FollowerMessage> read_follower_message(const std::string& text) {
    using Kind = FollowerMessage::Kind;
    document::Diagnostics diagnostics;
    const auto parsed = document::parse_json(text, "message", diagnostics);
    if (!parsed.ok) return std::unexpected(diagnostics.as_error(kCode));
    document::MapReader reader(parsed.root, "", diagnostics);
    FollowerMessage message;
    const auto kind = reader.choice<Kind>("type",
                                          {{"subscribe", Kind::kSubscribe},
                                           {"unsubscribe", Kind::kUnsubscribe},
                                           {"resume", Kind::kResume},
                                           {"ping", Kind::kPing}},
                                          document::Need::kRequired);
    message.kind = kind.value_or(Kind::kPing);
    std::vector<std::string> types;
    if (message.kind == Kind::kSubscribe || message.kind == Kind::kUnsubscribe) {
        types = reader.strings("event_types");
        message.subscription.targets = reader.strings("targets");
        message.subscription.groups = reader.strings("groups");
        if (message.kind == Kind::kSubscribe) {
            message.gather = reader.boolean("gather").value_or(false);
        }
    } else if (message.kind == Kind::kResume) {
        const auto number = reader.integer("seq", 0, std::numeric_limits<std::int64_t>::max(),
                                           document::Need::kRequired);
        message.number = static_cast<std::uint64_t>(number.value_or(0));
    }
    reader.finish();
    if (!diagnostics.ok()) return std::unexpected(diagnostics.as_error(kCode));
    const auto bits = event_types(types);
    if (!bits) return std::unexpected(bits.error());
    message.subscription.types = *bits;
    for (const auto* names : {&message.subscription.targets, &message.subscription.groups}) {
        if (auto status = check_names(*names); !status) return std::unexpected(status.error());
    }
    return message;
}

std::string numbered_message(std::string_view type, std::uint64_t number) {
    std::string text;
    document::JsonWriter json(text);
    json.object().field("type", type).field("seq", number).end_object();
    return text;
}

std::string connected_message(std::uint64_t number, std::uint32_t epoch, std::string_view status) {
    std::string text;
    document::JsonWriter json(text);
    json.object().field("type", "connected").field("seq", number).field("epoch", epoch);
    if (!status.empty()) json.raw_field("status", status);
    json.end_object();
    return text;
}

std::string filter_message(std::string_view type, std::uint64_t number, const EventFilter& filter) {
    std::string text;
    document::JsonWriter json(text);
    json.object().field("type", type).field("seq", number).key("subscriptions");
    filter.write(json);
    json.end_object();
    return text;
}

std::string error_message(const base::Error& error) {
    std::string text;
    document::JsonWriter json(text);
    json.object().field("type", "error").field("code", error.code);
    json.field("detail", error.message).end_object();
    return text;
}

}  // namespace pollux::api
