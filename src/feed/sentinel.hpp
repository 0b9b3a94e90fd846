// So that a dead monitor is noticed: a sign of life to outside, and an eye on another Pollux.
//
// The two state machines have no clock and no I/O; Sentinel runs them on an event loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/ask.hpp"
#include "model/credentials.hpp"
#include "model/notification.hpp"
#include "net/http_client.hpp"

namespace pollux::feed {

inline constexpr std::uint32_t kMissedHeartbeats = 3;

// When the next sign of life is due. One that cannot be sent because we are unwell is skipped, not
// made up for: silence is what tells the other side.
class Heartbeat {
  public:
    Heartbeat(base::Duration interval, base::BootTime now) : interval_(interval), next_(now) {}

    base::BootTime next() const { return next_; }
    // Whether to send now.
    bool due(base::BootTime now, bool healthy);

  private:
    base::Duration interval_;
    base::BootTime next_;
};

// kFound: the first good answer that this watch ever saw. What an earlier one told of a loss,
// before a restart or other settings, is over with it.
enum class PeerChange : std::uint8_t { kNone, kFound, kLost, kRecovered };

// Whether the other one lives: lost after three checks in a row without a good answer, found again
// with the first good one; each is told once.
class PeerWatch {
  public:
    PeerChange checked(bool good, base::WallTime now);

    bool lost() const { return lost_; }
    std::uint32_t missed() const { return missed_; }         // in a row
    base::WallTime last_seen() const { return last_seen_; }  // zero: never

  private:
    std::uint32_t missed_ = 0;
    bool lost_ = false;
    bool seen_ = false;
    base::WallTime last_seen_;
};

struct SentinelTarget {
    std::string url;  // may hold {secret}; empty: off
    model::HttpMethod method = model::HttpMethod::kGet;
    base::Duration interval = std::chrono::seconds(30);
    base::Duration timeout = std::chrono::seconds(10);  // at most the interval
    model::TlsOptions tls = {};
    // May be null; a token is sent as bearer unless it has its place in the URL.
    std::shared_ptr<const model::Credentials> credentials = nullptr;
};

struct SentinelOptions {
    SentinelTarget heartbeat;  // sends
    SentinelTarget peer;       // asks: the other one's /api/ready or /api/live
};

struct PeerReport {
    PeerChange change = PeerChange::kNone;
    base::WallTime at;
    base::WallTime last_seen;
    std::string message;  // what was seen the last time; no secret
};

class Sentinel {
  public:
    // `healthy` says whether the core loop and the store are; asked on the loop, before each sign.
    // `told` gets kFound at most once, kLost and kRecovered once each. `noted` hears of the status
    // at the beginning and after each sign and look.
    Sentinel(net::EventLoop& loop, net::HttpClient& client, SentinelOptions options,
             std::function<bool()> healthy, std::function<void(const PeerReport&)> told,
             std::function<void(const model::SentinelStatus&)> noted = {});
    ~Sentinel();
    Sentinel(const Sentinel&) = delete;
    Sentinel& operator=(const Sentinel&) = delete;

    const model::SentinelStatus& status() const { return status_; }

  private:
    void note() const;
    void beat();
    void look();
    void ask(const SentinelTarget& target, std::uint64_t id,
             std::move_only_function<void(std::optional<std::string> problem)> done);

    net::EventLoop& loop_;
    net::HttpClient& client_;
    SentinelOptions options_;
    std::function<bool()> healthy_;
    std::function<void(const PeerReport&)> told_;
    std::function<void(const model::SentinelStatus&)> noted_;
    Heartbeat heartbeat_;
    PeerWatch watch_;
    model::SentinelStatus status_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    net::Timer beat_timer_;
    net::Timer look_timer_;
};

}  // namespace pollux::feed
