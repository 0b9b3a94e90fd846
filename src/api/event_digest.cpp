#include "api/event_digest.hpp"

#include <chrono>
#include <utility>

#include "document/json_writer.hpp"

namespace pollux::api {
namespace {

constexpr std::string_view kBetween = "::";

// "snmp-system::sw-1#slow" -> its addon and the rest.
std::pair<std::string_view, std::string_view> parts_of(std::string_view key) {
    const std::size_t at = key.find(kBetween);
    if (at == std::string_view::npos) return {"", key};
    return {key.substr(0, at), key.substr(at + kBetween.size())};
}

}  // namespace

std::string brief_of(const runtime::PollNews& news) {
    const auto next =
        news.next_due == base::WallTime{} ? 0 : (news.next_due.us - news.at.us) / 1000;
    std::string row;
    document::JsonWriter json(row);
    json.array().value(parts_of(news.key).second).value(news.at.us / 1000);
    json.value(std::chrono::ceil<std::chrono::milliseconds>(news.duration).count()).value(next);
    json.value(std::chrono::floor<std::chrono::milliseconds>(news.lag).count());
    if (news.outcome != model::Outcome::kOk || news.failures > 0) {
        json.value(model::to_string(news.outcome)).value(news.failures).value(news.code);
    }
    json.end_array();
    return row;
}

void EventDigest::add(const Event& event) {
    const std::string_view addon = parts_of(event.key).first;
    auto rows = rows_.find(addon);
    if (rows == rows_.end()) rows = rows_.emplace(addon, std::string()).first;
    if (!rows->second.empty()) rows->second += ',';
    rows->second += event.brief;
    bytes_ += event.brief.size() + 1;
    newest_ = event.number;
}

std::string EventDigest::take() {
    std::string text;
    text.reserve(bytes_ + 200);
    document::JsonWriter json(text);
    json.object().field("type", "poll_results").field("seq", newest_).key("data").object();
    for (const auto& [addon, rows] : rows_) json.raw_field(addon, "[" + rows + "]");
    json.end_object().end_object();
    rows_.clear();
    bytes_ = 0;
    return text;
}

}  // namespace pollux::api
