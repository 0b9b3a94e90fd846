// Live events: numbers them, keeps the newest, and sends them to everybody who follows over a
// WebSocket, each what they asked for and may see. Lives on the API's loop.
//
// Invariants
// 1. A follower gets events in the order of their numbers, each at most once unless it resumes
//    earlier; what it misses it is told (resync).
// 2. Memory is bounded: the ring, and for each of a bounded number of followers one buffer. Who
//    reads slowly has no queue but its place in the ring.
// 3. Nobody sees what his grants do not give him now: asked for each event when it is sent, with
//    the fleet of that moment; logins are looked at again every few seconds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "access/principal.hpp"
#include "api/call.hpp"
#include "api/event_filter.hpp"
#include "api/event_ring.hpp"
#include "net/event_loop.hpp"
#include "net/websocket.hpp"
#include "net/websocket_deflate.hpp"
#include "runtime/fleet_view.hpp"

namespace pollux::api {

struct EventHubPorts {
    std::function<std::shared_ptr<const runtime::FleetView>()> view;
    std::function<base::WallTime()> wall;
    // What names the login of a principal, to know it again; see Accounts::login_of.
    std::function<std::string(const access::Principal&)> login;
    // The principal as it is now; nothing: its login ended. `login` as the port above gave it.
    std::function<std::optional<access::Principal>(const access::Principal&,
                                                   const std::string& login)>
        renew;
    // Somebody began or ceased to want a type of events; may be empty.
    std::function<void()> interest_changed;
};

struct EventHubOptions {
    std::uint32_t epoch = 0;
    EventRingLimits ring = {};
    std::size_t clients = 1000;
    std::size_t clients_of_one = 50;     // of one user, with all their logins and tokens
    std::size_t send_limit = 64 * 1024;  // bytes that wait for one client
    base::Duration ping_interval = std::chrono::seconds(30);
    base::Duration pong_timeout = std::chrono::seconds(30);
    base::Duration gather = std::chrono::milliseconds(50);
    base::Duration digest = std::chrono::seconds(1);  // for who takes results together
    base::Duration look_at_logins = std::chrono::seconds(10);
    // Messages of one client between two looks at its login.
    std::uint32_t messages = 200;
};

struct EventHubCounts {
    std::size_t clients = 0;
    std::uint64_t published = 0;
    std::uint64_t sent = 0;      // to all clients together
    std::uint64_t resyncs = 0;   // clients that were told to start over
    std::uint64_t refused = 0;   // there were as many clients, or of one user, as there may be
    std::uint64_t released = 0;  // closed: login over, or talked too much
    std::size_t waiting = 0;     // bytes for clients to read
};

class EventHub {
  public:
    EventHub(net::EventLoop& loop, EventHubPorts ports, EventHubOptions options);
    ~EventHub();
    EventHub(const EventHub&) = delete;
    EventHub& operator=(const EventHub&) = delete;

    // Numbers and sends. `data` is a JSON value; of one that is too large only what names it is
    // left. Returns the number.
    std::uint64_t publish(EventType type, std::string key, std::string_view data,
                          std::shared_ptr<const EventScope> scope = nullptr,
                          std::string brief = {});
    // Events were lost before they came here: everybody is told to start over.
    void lost();
    // The state of the server that a new follower is told, as JSON.
    void set_status(std::string status) { status_ = std::move(status); }

    // A request for a WebSocket.
    void accept(Call call);
    // A connection that is one already; `deflate` as its handshake said.
    void adopt(access::Principal principal, std::unique_ptr<net::ByteStream> stream,
               std::string unread, bool deflate = false);

    bool wanted(EventType type) const { return wanted_[static_cast<std::size_t>(type)] > 0; }
    const EventRing& ring() const { return ring_; }
    // Whether the principal may see the event now.
    bool sees(EventSight& sight, const Event& event);
    bool matches(const Subscription& subscription, const Event& event);
    std::size_t clients() const { return clients_.size(); }
    EventHubCounts counts() const;
    // Those above a smaller limit stay.
    void set_client_limits(std::size_t clients, std::size_t of_one) {
        options_.clients = clients;
        options_.clients_of_one = of_one;
    }
    void close_all(std::uint16_t code, std::string_view reason);

  private:
    struct Client;

    void take_message(Client& client, const std::string& text);
    void change_filter(Client& client, const std::function<base::Status(EventFilter&)>& change,
                       std::string_view answer);
    void resume(Client& client, std::uint64_t number);
    void answer(Client& client, std::string_view text);
    void answer_encoded(Client& client, std::string frame);
    const std::string& packed(std::string_view text);
    void drained(Client& client);
    void advance(Client& client);
    void tell_resync(Client& client);
    void fan_out(const std::shared_ptr<const Event>& event);
    bool send(Client& client, const Event& event);
    void send_digest(Client& client);
    void send_digests();
    bool due_to(Client& client, const Event& event, const config::TargetPlanInput* target);
    const config::TargetPlanInput* target_of(const Event& event);
    void look_at_fleet();
    void count_interest(const EventFilter& filter, bool more);
    std::shared_ptr<EventSight> sight_of(const access::Principal& principal);
    void look_at_logins();
    void look_at_login(Client& client);
    void go_on();
    void closed(std::uint64_t id);
    // What is wrong with one more client, if there is anything.
    std::optional<Problem> no_room_for(const access::Principal& principal) const;

    net::EventLoop& loop_;
    EventHubPorts ports_;
    EventHubOptions options_;
    EventRing ring_;
    std::map<std::uint64_t, std::unique_ptr<Client>> clients_;
    std::uint64_t next_id_ = 1;
    std::map<std::string, std::size_t> by_owner_;              // clients; never 0
    std::map<std::string, std::weak_ptr<EventSight>> sights_;  // by signature
    std::shared_ptr<const runtime::FleetView> view_;
    std::uint64_t fleet_ = 1;  // changes with view_
    std::array<std::uint32_t, kEventTypes> wanted_{};
    std::string status_;
    net::MessageDeflater deflater_;
    std::string packed_text_;   // the last text that was compressed,
    std::string packed_frame_;  // and its frame: most who gather follow the same
    EventHubCounts counts_;
    net::Timer logins_timer_;
    net::Timer digest_timer_;
    net::Timer go_on_timer_;  // for those who have more to catch up than a turn allows
};

}  // namespace pollux::api
