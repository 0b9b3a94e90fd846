#include "feed/alertmanager_forwarder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace pollux::feed {
namespace {

// Orders of others on the same client have small numbers.
constexpr std::uint64_t kFirstOrder = 1ULL << 62U;
constexpr std::size_t kShownReply = 200;

model::HttpAuth auth_of(const model::Credentials* credentials) {
    if (credentials == nullptr) return model::HttpAuth::kNone;
    return credentials->token.empty() ? model::HttpAuth::kBasic : model::HttpAuth::kBearer;
}

std::string problem_of(const net::HttpOutcome& outcome) {
    if (outcome.problem != net::HttpProblem::kNone) return outcome.detail;
    const int status = outcome.reply.status;
    if (status >= 200 && status < 300) return {};
    return fmt::format("answered {}: {}", status,
                       base::plain_text(outcome.reply.body.substr(0, kShownReply)));
}

}  // namespace

struct AlertmanagerForwarder::Peer {
    ForwardTarget target;
    ForwardBook book;
    ForwardStatus status;
    bool posting = false;
};

AlertmanagerForwarder::AlertmanagerForwarder(net::EventLoop& loop, net::HttpClient& client,
                                             observe::Log& log, ForwarderPorts ports)
    : loop_(loop),
      client_(client),
      log_(log),
      ports_(std::move(ports)),
      next_order_(kFirstOrder),
      timer_(loop, [this] { look(); }) {}

AlertmanagerForwarder::~AlertmanagerForwarder() { *alive_ = false; }

void AlertmanagerForwarder::set_targets(const std::vector<ForwardTarget>& targets) {
    std::vector<std::shared_ptr<Peer>> peers;
    for (const ForwardTarget& target : targets) {
        const auto known =
            std::ranges::find_if(peers_, [&](const auto& one) { return one->target == target; });
        if (known != peers_.end()) {
            peers.push_back(*known);
            continue;
        }
        auto peer = std::make_shared<Peer>();
        peer->target = target;
        peer->status.url = target.url;
        peers.push_back(std::move(peer));
    }
    peers_ = std::move(peers);
    if (peers_.empty()) {
        timer_.cancel();
    } else {
        timer_.arm_in(base::Duration::zero());
    }
}

std::vector<ForwardStatus> AlertmanagerForwarder::status() const {
    std::vector<ForwardStatus> all;
    for (const auto& peer : peers_) {
        all.push_back(peer->status);
        all.back().alerts = peer->book.size();
    }
    return all;
}

void AlertmanagerForwarder::look() {
    timer_.arm_in(kLookEvery);
    if (std::exchange(asking_, true)) return;
    ports_.snapshot([this, alive = alive_, &loop = loop_](std::vector<model::Alert> alerts) {
        loop.post([this, alive, alerts = std::move(alerts)] {
            if (!*alive) return;
            asking_ = false;
            take(alerts);
        });
    });
}

void AlertmanagerForwarder::take(const std::vector<model::Alert>& alerts) {
    const base::WallTime now = net::wall_now();
    for (const auto& peer : peers_) {
        peer->book.set_open(alerts, now);
        if (!peer->posting) post(peer);
    }
}

void AlertmanagerForwarder::post(const std::shared_ptr<Peer>& peer) {
    std::string body = peer->book.next_post(net::wall_now(), ports_.external_url());
    if (body.empty()) return;
    auto ask = std::make_shared<model::HttpAsk>();
    ask->method = model::HttpMethod::kPost;
    ask->url = fmt::format("{}/api/v2/alerts", peer->target.url);
    ask->headers = {{"Content-Type", "application/json"}};
    ask->body = std::move(body);
    ask->auth = auth_of(peer->target.credentials.get());
    ask->max_body_bytes = 64U << 10U;
    net::HttpOrder order;
    order.id = next_order_++;
    order.ask = std::move(ask);
    order.credentials = peer->target.credentials;
    order.deadline = loop_.now() + kTimeout;
    peer->posting = true;
    client_.start(std::move(order), [this, alive = alive_, peer](net::HttpOutcome&& outcome) {
        if (!*alive) return;
        peer->posting = false;
        posted(*peer, outcome);
        // There may be more than one post could hold.
        const bool stays = std::ranges::find(peers_, peer) != peers_.end();
        if (stays && peer->status.last_error.empty()) post(peer);
    });
}

void AlertmanagerForwarder::posted(Peer& peer, const net::HttpOutcome& outcome) {
    const std::string problem = problem_of(outcome);
    const base::WallTime now = net::wall_now();
    peer.book.taken(problem.empty(), now);
    const bool was_well = peer.status.last_error.empty();
    peer.status.last_error = problem;
    if (problem.empty()) {
        peer.status.worked_at = now;
        if (!was_well) log_.info("alertmanager takes alerts again", {{"key", peer.target.url}});
    } else if (was_well) {
        log_.warn("alertmanager does not take alerts: it is tried again every 10 s",
                  {{"key", peer.target.url}, {"error", problem}});
    }
}

}  // namespace pollux::feed
