// Brings to the hub what happens in the server: changes of tasks as they are committed, results of
// polls in batches, statistics each second, and the state of the whole when it changes. Lives on
// the API's loop.
//
// What costs something is collected only while somebody wants it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/event_hub.hpp"
#include "api/server_link.hpp"
#include "net/event_loop.hpp"
#include "runtime/event_feed.hpp"

namespace pollux::api {

// Taken on the core's thread.
struct SchedulerFacts {
    std::size_t tasks = 0;
    std::size_t depth = 0;
    std::size_t ready = 0;
    std::size_t in_flight = 0;
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
    double lag_p50 = 0;
    double lag_p99 = 0;
    std::size_t failing = 0;
    std::size_t breakers = 0;  // not closed
    std::size_t dead_letters = 0;
    bool store_failing = false;
    struct Addon {
        std::size_t targets = 0;
        std::size_t failing = 0;
        std::size_t dead_letters = 0;
        bool operator==(const Addon&) const = default;
    };
    std::map<std::string, Addon> addons;
};
// `whole`: with everything; otherwise only what costs nothing.
SchedulerFacts scheduler_facts(const runtime::CoreLoop::View& view, bool whole);

// The data of the events, as JSON.
std::string change_data(const runtime::TaskNews& news);
std::string poll_data(const runtime::PollNews& news);
// The alert, or the incident, as it is now, with what happened to it.
std::string alert_data(const alert::AlertChange& change, bool provisional);
std::string incident_data(const alert::IncidentChange& change, bool provisional);
std::string stats_data(const SchedulerFacts& facts);
std::string addon_data(const SchedulerFacts::Addon& addon);
std::string status_data(bool store_failing, bool core_answers, std::string_view version,
                        base::WallTime started_at);

class EventCollector {
  public:
    // `loop` is that of the API.
    EventCollector(ServerLink link, net::EventLoop& loop, EventHub& hub);
    ~EventCollector() { stop(); }
    EventCollector(const EventCollector&) = delete;
    EventCollector& operator=(const EventCollector&) = delete;

    // On the API's thread, or before it runs. stop(): nothing comes from other threads any more.
    void start();
    void stop();

    void interest_changed();
    // Somebody asks for events now and then, without a connection: for a while everything is
    // collected.
    void keep_collecting();
    // As of the last second. From any thread.
    EventHubCounts counts() const;

  private:
    void tick();
    bool wants(EventType type) const;
    void take_changes();
    void tell(const runtime::AlertNews& news);
    void ask_core();
    void take_facts(const SchedulerFacts& facts, bool whole);
    void tell_status();

    void note_counts();

    ServerLink link_;
    net::EventLoop& loop_;
    EventHub& hub_;
    mutable std::mutex counts_mutex_;  // guards counts_
    EventHubCounts counts_;
    net::Timer timer_;
    base::BootTime collect_until_;
    base::BootTime next_question_;
    base::BootTime asked_at_;
    bool asking_ = false;
    bool store_failing_ = false;
    bool core_answers_ = true;
    std::size_t tasks_ = 0;
    std::string status_;
    base::BootTime next_addons_;
    std::map<std::string, SchedulerFacts::Addon> addons_;  // as they were told
};

}  // namespace pollux::api
