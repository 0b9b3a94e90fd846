#include "api/event_hub.hpp"

#include <utility>

#include "api/event_digest.hpp"
#include "api/event_message.hpp"
#include "document/json_writer.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"

namespace pollux::api {
namespace {

constexpr std::size_t kLongestData = 16 * 1024;
constexpr std::size_t kLookedAtPerTurn = 4096;   // events, for one client
constexpr std::size_t kOwedAnswers = 48 * 1024;  // bytes, one large answer at least

// What is left of data that are too large: which one it is, so that who follows can ask for it.
std::string shortened(std::string_view data) {
    constexpr std::size_t kLongestText = 512;
    std::string text;
    document::JsonWriter json(text);
    json.object();
    document::Diagnostics ignored;
    const document::Parsed whole = document::parse_json(data, "event", ignored);
    for (const std::string_view name :
         {"id", "number", "version", "device_name", "target", "status", "severity", "incident"}) {
        const document::Node* value = whole.ok ? whole.root.find(name) : nullptr;
        if (value == nullptr || !value->is_scalar()) continue;
        if (value->scalar().size() > kLongestText) continue;
        json.raw_field(name, document::to_json(*value));
    }
    json.field("left_out", "too large").end_object();
    return text;
}

std::string encoded(std::string_view text) {
    std::string frame;
    net::append_frame(frame, net::WebSocketOpcode::kText, text);
    return frame;
}

// Whose connections are counted together. Users and what only has a name are kept apart.
std::string owner_of(const access::Principal& principal) {
    return principal.owner.empty() ? principal.kind + " " + principal.name
                                   : "user " + principal.owner;
}

}  // namespace

struct EventHub::Client {
    std::uint64_t id = 0;
    access::Principal principal;
    std::string login;
    std::string owner;  // by which it is counted; empty: it is not, and goes
    std::shared_ptr<EventSight> sight;
    EventFilter filter;
    std::uint64_t position = 0;  // the last event that was sent or passed over
    bool resumed = false;        // the position was chosen; it waits for a subscription
    bool behind = false;         // the buffer is full: goes on when it is drained
    bool again = false;          // has more to look at in the next turn
    bool gathers = false;        // takes results of polls together
    bool deflate = false;        // takes compressed messages
    EventDigest digest;          // of those that were not sent yet
    std::string owed;            // answers for which there was no room
    std::uint32_t messages = 0;  // since the last look at the login
    std::unique_ptr<net::WebSocket> socket;
};

EventHub::EventHub(net::EventLoop& loop, EventHubPorts ports, EventHubOptions options)
    : loop_(loop),
      ports_(std::move(ports)),
      options_(options),
      ring_(options.epoch, options.ring),
      view_(ports_.view()),
      logins_timer_(loop, [this] { look_at_logins(); }),
      digest_timer_(loop, [this] { send_digests(); }),
      go_on_timer_(loop, [this] { go_on(); }) {
    logins_timer_.arm_in(options_.look_at_logins);
}

EventHub::~EventHub() = default;

// --- events -------------------------------------------------------------------------------------

std::uint64_t EventHub::publish(EventType type, std::string key, std::string_view data,
                                std::shared_ptr<const EventScope> scope, std::string brief) {
    ++counts_.published;
    const std::string less = data.size() > kLongestData ? shortened(data) : std::string();
    const auto event = ring_.add(type, std::move(key), ports_.wall(), less.empty() ? data : less,
                                 std::move(scope), std::move(brief));
    fan_out(event);
    return event->number;
}

void EventHub::lost() {
    ring_.forget();
    for (const auto& [id, client] : clients_) {
        if (!client->filter.empty() && !client->behind) advance(*client);
    }
}

// Most followers are up to date: for them the event is looked at once, and its frame is shared.
void EventHub::fan_out(const std::shared_ptr<const Event>& event) {
    if (clients_.empty()) return;
    look_at_fleet();
    const config::TargetPlanInput* target = target_of(*event);
    for (const auto& [id, client] : clients_) {
        if (client->filter.empty() || client->behind || client->again) continue;
        if (client->position + 1 != event->number) {
            advance(*client);
            continue;
        }
        if (due_to(*client, *event, target) && !send(*client, *event)) continue;
        client->position = event->number;
    }
}

// False: there is no room; it is sent when there is.
bool EventHub::send(Client& client, const Event& event) {
    if (client.gathers && EventDigest::takes(event)) {
        if (client.digest.full()) send_digest(client);
        if (client.behind) return false;
        client.digest.add(event);
        if (!digest_timer_.armed()) digest_timer_.arm_in(options_.digest);
        return true;
    }
    // Numbers rise: who comes back with the last one it saw has missed nothing before it.
    if (!client.digest.empty()) send_digest(client);
    if (client.behind) return false;
    client.behind = client.socket->send_encoded(event.frame) == net::WebSocket::Sent::kFull;
    if (!client.behind) ++counts_.sent;
    return !client.behind;
}

void EventHub::send_digest(Client& client) {
    answer(client, client.digest.take());
    ++counts_.sent;
}

// Who reads slowly gets it later; meanwhile nothing is added.
void EventHub::send_digests() {
    for (const auto& [id, client] : clients_) {
        if (client->digest.empty()) continue;
        if (!client->behind) {
            send_digest(*client);
        } else if (!digest_timer_.armed()) {
            digest_timer_.arm_in(options_.digest);
        }
    }
}

bool EventHub::due_to(Client& client, const Event& event, const config::TargetPlanInput* target) {
    return client.filter.matches(event, target) && client.sight->sees(event, target, fleet_);
}

// Sends what a client has not seen yet, until its buffer is full or there is nothing more.
void EventHub::advance(Client& client) {
    look_at_fleet();
    client.again = false;
    for (std::size_t i = 0; i < kLookedAtPerTurn; ++i) {
        const EventRing::Next next = ring_.after(client.position);
        if (next.found == EventRing::Found::kLost) return tell_resync(client);
        if (next.found == EventRing::Found::kNothing) {
            client.position = ring_.newest();
            return;
        }
        const Event& event = *next.event;
        if (due_to(client, event, target_of(event)) && !send(client, event)) return;
        client.position = event.number;
    }
    client.again = true;
    go_on_timer_.arm_in(base::Duration::zero());
}

void EventHub::go_on() {
    for (const auto& [id, client] : clients_) {
        if (client->again) advance(*client);
    }
}

void EventHub::tell_resync(Client& client) {
    ++counts_.resyncs;
    client.position = ring_.newest();
    answer(client, numbered_message("resync", ring_.newest()));
}

const config::TargetPlanInput* EventHub::target_of(const Event& event) {
    const bool of_task =
        event.type == EventType::kTaskStateChanged || event.type == EventType::kPollResult;
    return of_task && view_ ? runtime::find_target(*view_, event.key) : nullptr;
}

void EventHub::look_at_fleet() {
    auto view = ports_.view();
    if (view == view_) return;
    view_ = std::move(view);
    ++fleet_;
}

bool EventHub::sees(EventSight& sight, const Event& event) {
    look_at_fleet();
    return sight.sees(event, target_of(event), fleet_);
}

bool EventHub::matches(const Subscription& subscription, const Event& event) {
    look_at_fleet();
    return subscription.matches(event, target_of(event));
}

// --- clients ------------------------------------------------------------------------------------

std::optional<Problem> EventHub::no_room_for(const access::Principal& principal) const {
    Problem problem{.status = 503,
                    .code = "event.clients",
                    .detail =
                        "as many connections follow events as the setting api_ws_clients "
                        "allows: try again later",
                    .errors = {},
                    .headers = {{"Retry-After", "30"}}};
    if (clients_.size() >= options_.clients) return problem;
    const auto own = by_owner_.find(owner_of(principal));
    if (own == by_owner_.end() || own->second < options_.clients_of_one) return std::nullopt;
    problem.status = 429;
    problem.code = "event.clients_of_one";
    problem.detail =
        "as many connections of this user follow events as the setting api_ws_clients_per_user "
        "allows: close one, or try again later";
    return problem;
}

void EventHub::accept(Call call) {
    const net::WebSocketHandshake handshake = net::websocket_handshake(call.request, true);
    if (handshake.status != 101) {
        call.problem(Problem{.status = handshake.status,
                             .code = "api.websocket",
                             .detail = handshake.reason,
                             .errors = {},
                             .headers = handshake.head.headers});
        return;
    }
    if (auto problem = no_room_for(call.principal)) {
        ++counts_.refused;
        call.problem(std::move(*problem));
        return;
    }
    call.upgrade(handshake.head,
                 [this, principal = call.principal, deflate = handshake.deflate](
                     std::unique_ptr<net::ByteStream> stream, std::string unread) mutable {
                     adopt(std::move(principal), std::move(stream), std::move(unread), deflate);
                 });
}

void EventHub::adopt(access::Principal principal, std::unique_ptr<net::ByteStream> stream,
                     std::string unread, bool deflate) {
    // Several may have been on their way at once.
    const bool room = !no_room_for(principal);
    auto made = std::make_unique<Client>();
    Client& client = *made;
    client.id = next_id_++;
    client.login = ports_.login(principal);
    client.sight = sight_of(principal);
    if (room) {
        client.owner = owner_of(principal);
        ++by_owner_[client.owner];
    }
    client.principal = std::move(principal);
    client.position = ring_.newest();
    client.deflate = deflate;
    net::WebSocketOptions options;
    options.deflate = deflate;
    options.send_limit = options_.send_limit;
    options.ping_interval = options_.ping_interval;
    options.pong_timeout = options_.pong_timeout;
    options.gather = options_.gather;
    net::WebSocketEvents events;
    events.on_message = [this, &client](std::string text, bool) { take_message(client, text); };
    events.on_drained = [this, &client] { drained(client); };
    events.on_closed = [this, id = client.id](std::uint16_t, std::string_view) { closed(id); };
    client.socket = std::make_unique<net::WebSocket>(loop_, std::move(stream), std::move(unread),
                                                     options, std::move(events));
    clients_.emplace(client.id, std::move(made));
    answer(client, connected_message(ring_.newest(), ring_.epoch(), status_));
    if (!room) {
        ++counts_.refused;
        client.socket->close(net::kCloseTryLater, "as many follow events as may");
    }
}

void EventHub::closed(std::uint64_t id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    count_interest(found->second->filter, false);
    const auto own = by_owner_.find(found->second->owner);
    if (own != by_owner_.end() && --own->second == 0) by_owner_.erase(own);
    clients_.erase(found);
}

void EventHub::close_all(std::uint16_t code, std::string_view reason) {
    for (const auto& [id, client] : clients_) client->socket->close(code, reason);
}

void EventHub::answer(Client& client, std::string_view text) {
    const bool pack = client.deflate && text.size() >= net::kWorthDeflating;
    answer_encoded(client, pack ? packed(text) : encoded(text));
}

const std::string& EventHub::packed(std::string_view text) {
    if (text != packed_text_) {
        packed_text_ = text;
        packed_frame_.clear();
        deflater_.append_text(packed_frame_, text);
    }
    return packed_frame_;
}

// Answers come in their order; a few of them wait for who reads slowly.
void EventHub::answer_encoded(Client& client, std::string frame) {
    if (client.owed.empty() && client.socket->send_encoded(frame) != net::WebSocket::Sent::kFull) {
        return;
    }
    client.behind = true;
    if (client.owed.size() + frame.size() > kOwedAnswers) {
        client.socket->close(net::kClosePolicy, "asks much and reads nothing");
        return;
    }
    client.owed += frame;
}

void EventHub::drained(Client& client) {
    client.behind = false;
    if (!client.owed.empty()) answer_encoded(client, std::exchange(client.owed, {}));
    if (!client.behind && !client.filter.empty()) advance(client);
}

void EventHub::take_message(Client& client, const std::string& text) {
    if (++client.messages > options_.messages) {
        ++counts_.released;
        client.socket->close(net::kClosePolicy, "too many messages");
        return;
    }
    auto message = read_follower_message(text);
    if (!message) return answer(client, error_message(message.error()));
    using Kind = FollowerMessage::Kind;
    Subscription& wanted = message->subscription;
    switch (message->kind) {
        case Kind::kPing: return answer(client, numbered_message("pong", ring_.newest()));
        case Kind::kResume: return resume(client, message->number);
        case Kind::kSubscribe:
            client.gathers = client.gathers || message->gather;
            return change_filter(
                client, [&](EventFilter& filter) { return filter.add(std::move(wanted)); },
                "subscribed");
        case Kind::kUnsubscribe:
            return change_filter(
                client,
                [&](EventFilter& filter) {
                    filter.remove(wanted);
                    return base::Status{};
                },
                "unsubscribed");
    }
}

void EventHub::change_filter(Client& client,
                             const std::function<base::Status(EventFilter&)>& change,
                             std::string_view answer_type) {
    EventFilter filter = client.filter;
    if (const auto status = change(filter); !status) {
        return answer(client, error_message(status.error()));
    }
    // Who asked for nothing until now begins now, unless it said where to go on.
    if (client.filter.empty() && !client.resumed) client.position = ring_.newest();
    client.resumed = client.resumed && filter.empty();
    count_interest(client.filter, false);
    client.filter = std::move(filter);
    count_interest(client.filter, true);
    answer(client, filter_message(answer_type, client.position, client.filter));
    if (!client.behind && !client.filter.empty()) advance(client);
}

void EventHub::resume(Client& client, std::uint64_t number) {
    if (!ring_.can_resume(number)) return tell_resync(client);
    client.position = number;
    client.resumed = client.filter.empty();
    answer(client, numbered_message("resumed", number));
    if (!client.behind && !client.filter.empty()) advance(client);
}

void EventHub::count_interest(const EventFilter& filter, bool more) {
    bool changed = false;
    for (std::size_t i = 0; i < kEventTypes; ++i) {
        if (!filter.wants(static_cast<EventType>(i))) continue;
        const bool before = wanted_[i] > 0;
        wanted_[i] = more ? wanted_[i] + 1 : wanted_[i] - 1;
        changed = changed || before != (wanted_[i] > 0);
    }
    if (changed && ports_.interest_changed) ports_.interest_changed();
}

// --- who may see --------------------------------------------------------------------------------

std::shared_ptr<EventSight> EventHub::sight_of(const access::Principal& principal) {
    std::weak_ptr<EventSight>& known = sights_[EventSight::signature(principal)];
    auto sight = known.lock();
    if (!sight) {
        sight = std::make_shared<EventSight>(principal);
        known = sight;
    }
    return sight;
}

void EventHub::look_at_logins() {
    logins_timer_.arm_in(options_.look_at_logins);
    for (const auto& [id, client] : clients_) look_at_login(*client);
    std::erase_if(sights_, [](const auto& one) { return one.second.expired(); });
}

void EventHub::look_at_login(Client& client) {
    client.messages = 0;
    auto now = ports_.renew(client.principal, client.login);
    if (!now || !access::may(*now, access::Permission::kRead, access::Area::kMonitoring)) {
        ++counts_.released;
        client.socket->close(net::kClosePolicy, "the login is over or may not see events any more");
        return;
    }
    client.sight = sight_of(*now);
    client.principal = std::move(*now);
}

EventHubCounts EventHub::counts() const {
    EventHubCounts counts = counts_;
    counts.clients = clients_.size();
    for (const auto& [id, client] : clients_) {
        counts.waiting += client->socket->waiting() + client->owed.size();
    }
    return counts;
}

}  // namespace pollux::api
