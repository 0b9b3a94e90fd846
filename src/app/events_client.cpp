#include "app/events_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "document/json_writer.hpp"
#include "document/parse.hpp"
#include "net/event_loop.hpp"
#include "net/websocket_client.hpp"

namespace pollux::app {
namespace {

using document::Node;

std::string text_of(const Node& node, std::string_view field) {
    const Node* found = node.find(field);
    return found == nullptr || !found->is_scalar() ? "" : found->scalar();
}

std::uint64_t number_of(const Node& node) {
    const std::string text = text_of(node, "seq");
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::string subscribe_message(const FollowOptions& options) {
    std::string text;
    document::JsonWriter json(text);
    const auto names = [&](std::string_view field, const std::vector<std::string>& all) {
        if (all.empty()) return;
        json.key(field).array();
        for (const std::string& one : all) json.value(one);
        json.end_array();
    };
    json.object().field("type", "subscribe");
    names("event_types", options.types);
    names("targets", options.targets);
    names("groups", options.groups);
    json.end_object();
    return text;
}

// One follower over as many connections as it takes.
class Following {
  public:
    Following(const FollowOptions& options, const EventSink& sink)
        : options_(options), sink_(sink), last_(options.since) {}

    // Until the connection ends. An error of class transient: to be made again.
    base::Status run() {
        net::WebSocketTarget target{.url = options_.url + "/ws"};
        if (!options_.token.empty()) {
            target.headers.emplace_back("X-API-Token", options_.token.reveal());
        }
        target.trust = options_.trust;
        auto client = net::WebSocketClient::connect(target);
        if (!client) return std::unexpected(client.error());
        connected = true;
        if (back) back("connected again");
        if (last_ > 0) {
            const auto sent =
                (*client)->send(fmt::format(R"({{"type":"resume","seq":{}}})", last_));
            if (!sent) return sent;
        }
        if (auto sent = (*client)->send(subscribe_message(options_)); !sent) return sent;
        while (!done) {
            auto message = (*client)->receive(options_.look_up);
            if (!message) {
                // Not allowed any more: to connect again shows why.
                return std::unexpected(message.error());
            }
            if (auto status = take(message->value_or("")); !status) return status;
        }
        (*client)->close();
        return {};
    }

    bool done = false;
    bool connected = false;  // at least once since it was cleared
    EventNotice back;        // told when the connection is there again; may be empty

  private:
    base::Status take(const std::string& message) {
        if (message.empty()) {
            done = !sink_("");
            return {};
        }
        document::Diagnostics diagnostics;
        const auto parsed = document::parse_json(message, "event", diagnostics);
        if (!parsed.ok) return base::internal_error("events.answer", "the server sent no JSON");
        const std::string type = text_of(parsed.root, "type");
        if (type == "error") {
            return base::config_error(text_of(parsed.root, "code"), text_of(parsed.root, "detail"));
        }
        // Where a new connection stands does not matter to who resumes.
        const std::uint64_t number = number_of(parsed.root);
        if (number > 0 && (last_ == 0 || type != "connected")) last_ = number;
        const bool own = type == "connected" || type == "subscribed" || type == "resumed";
        if (!own) done = !sink_(message);
        return {};
    }

    const FollowOptions& options_;
    const EventSink& sink_;
    std::uint64_t last_;  // seen; 0: none
};

// Whether the sink wants to go on after the pause.
bool rest(const FollowOptions& options, const EventSink& sink, base::Duration pause) {
    const base::BootTime until = net::boot_now() + pause;
    while (net::boot_now() < until) {
        std::this_thread::sleep_for(std::min(options.look_up, until - net::boot_now()));
        if (!sink("")) return false;
    }
    return true;
}

}  // namespace

base::Status follow_events(const FollowOptions& options, const EventSink& sink,
                           const EventNotice& notice) {
    Following following(options, sink);
    base::Duration pause = options.first_pause;
    bool ever = false;
    while (true) {
        following.connected = false;
        following.back = !ever ? EventNotice{} : notice;
        const base::Status status = following.run();
        if (following.done) return {};
        const base::Error error = status.error();
        // What never worked is told at once; what worked is made to work again.
        ever = ever || following.connected;
        if (!ever || error.error_class != base::ErrorClass::kTransient) {
            return std::unexpected(error);
        }
        if (following.connected) pause = options.first_pause;
        if (notice) notice(fmt::format("{}; trying again", error.message));
        if (!rest(options, sink, pause)) return {};
        pause = std::min(pause * 2, options.longest_pause);
    }
}

std::string live_event_line(std::string_view message) {
    document::Diagnostics diagnostics;
    const auto parsed = document::parse_json(message, "event", diagnostics);
    if (!parsed.ok) return std::string(message);
    const Node& event = parsed.root;
    const std::string type = text_of(event, "type");
    if (type == "resync") return "events were missed: what was shown before may be out of date";
    const std::string at = text_of(event, "at");
    std::string line = at.size() >= 19 ? at.substr(11, 8) : at;
    line += fmt::format(" {:<18} {}", type, text_of(event, "key"));
    const Node* data = event.find("data");
    if (data == nullptr || !data->is_map()) return line;
    if (const std::string words = text_of(*data, "message"); !words.empty()) {
        line += " " + words;
        if (const std::string reason = text_of(*data, "reason"); !reason.empty()) {
            line += ": " + reason;
        }
        if (text_of(*data, "provisional") == "true") line += " (not stored yet)";
        return line;
    }
    for (const auto& entry : data->entries()) {
        if (entry.value.is_scalar()) line += fmt::format(" {}={}", entry.key, entry.value.scalar());
    }
    return line;
}

}  // namespace pollux::app
