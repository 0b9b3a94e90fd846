#include "feed/sentinel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "feed/webhook_channel.hpp"

namespace pollux::feed {
namespace {

// High, so that they meet no number of whoever else uses the client.
constexpr std::uint64_t kBeatId = ~std::uint64_t{0};
constexpr std::uint64_t kLookId = kBeatId - 1;
constexpr base::Duration kShortestInterval = std::chrono::seconds(1);

base::Duration interval_of(const SentinelTarget& target) {
    return std::max(target.interval, kShortestInterval);
}

}  // namespace

bool Heartbeat::due(base::BootTime now, bool healthy) {
    if (now < next_) return false;
    // In step with the start, whatever was missed while the machine slept.
    const auto missed = (now - next_).count() / interval_.count();
    next_ += interval_ * (missed + 1);
    return healthy;
}

PeerChange PeerWatch::checked(bool good, base::WallTime now) {
    if (good) {
        missed_ = 0;
        last_seen_ = now;
        const bool first = !std::exchange(seen_, true);
        if (std::exchange(lost_, false)) return PeerChange::kRecovered;
        return first ? PeerChange::kFound : PeerChange::kNone;
    }
    missed_ += missed_ < kMissedHeartbeats ? 1 : 0;
    if (lost_ || missed_ < kMissedHeartbeats) return PeerChange::kNone;
    lost_ = true;
    return PeerChange::kLost;
}

Sentinel::Sentinel(net::EventLoop& loop, net::HttpClient& client, SentinelOptions options,
                   std::function<bool()> healthy, std::function<void(const PeerReport&)> told,
                   std::function<void(const model::SentinelStatus&)> noted)
    : loop_(loop),
      client_(client),
      options_(std::move(options)),
      healthy_(std::move(healthy)),
      told_(std::move(told)),
      noted_(std::move(noted)),
      heartbeat_(interval_of(options_.heartbeat), net::boot_now()),
      beat_timer_(loop, [this] { beat(); }),
      look_timer_(loop, [this] { look(); }) {
    status_.sends = !options_.heartbeat.url.empty();
    status_.watches = !options_.peer.url.empty();
    if (status_.sends) beat_timer_.arm(heartbeat_.next());
    if (status_.watches) look_timer_.arm(net::boot_now());
    note();
}

Sentinel::~Sentinel() {
    *alive_ = false;
    client_.cancel(kBeatId);
    client_.cancel(kLookId);
}

void Sentinel::ask(const SentinelTarget& target, std::uint64_t id,
                   std::move_only_function<void(std::optional<std::string> problem)> done) {
    auto ask = std::make_shared<model::HttpAsk>();
    ask->method = target.method;
    ask->tls = target.tls;
    auto url = with_secret(target.url, target.credentials.get());
    if (!url) {
        loop_.post([alive = alive_, done = std::move(done), text = url.error().message]() mutable {
            if (*alive) done(std::move(text));
        });
        return;
    }
    ask->url = std::move(*url);
    const bool in_url = ask->url != target.url;
    const bool token = target.credentials != nullptr && !target.credentials->token.empty();
    if (token && !in_url) ask->auth = model::HttpAuth::kBearer;
    // No longer than until the next one, so that one at a time is under way.
    const base::Duration wait = std::min(target.timeout, interval_of(target) * 9 / 10);
    net::HttpOrder order{.id = id,
                         .ask = ask,
                         .credentials = target.credentials,
                         .deadline = net::boot_now() + wait,
                         .fresh = true};
    client_.start(std::move(order), [alive = alive_, ask, credentials = target.credentials,
                                     done = std::move(done)](net::HttpOutcome&& outcome) mutable {
        if (!*alive) return;
        AttemptOutcome result =
            outcome_of(*ask, std::move(outcome), credentials.get(), net::wall_now());
        const bool good = result.result == AttemptResult::kDelivered;
        done(good ? std::nullopt : std::optional(std::move(result.message)));
    });
}

void Sentinel::note() const {
    if (noted_) noted_(status_);
}

void Sentinel::beat() {
    const bool due = heartbeat_.due(net::boot_now(), healthy_());
    beat_timer_.arm(heartbeat_.next());
    if (!due) {
        status_.last_skipped = true;
        ++status_.skipped;
        return note();
    }
    ask(options_.heartbeat, kBeatId, [this](std::optional<std::string> problem) {
        status_.last_skipped = false;
        if (!problem) status_.last_sent = net::wall_now();
        ++(problem ? status_.failed : status_.sent);
        status_.last_send_error = problem.value_or("");
        note();
    });
}

void Sentinel::look() {
    look_timer_.arm(net::boot_now() + interval_of(options_.peer));
    ask(options_.peer, kLookId, [this](std::optional<std::string> problem) {
        const base::WallTime now = net::wall_now();
        const base::WallTime seen_before = watch_.last_seen();
        const PeerChange change = watch_.checked(!problem, now);
        status_.peer_lost = watch_.lost();
        status_.peer_seen = watch_.last_seen();
        status_.peer_error = problem.value_or("");
        note();
        if (change == PeerChange::kNone) return;
        told_(
            {.change = change, .at = now, .last_seen = seen_before, .message = status_.peer_error});
    });
}

}  // namespace pollux::feed
