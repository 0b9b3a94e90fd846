#include "feed/deliverer.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"

namespace pollux::feed {

Deliverer::Deliverer(net::EventLoop& loop, net::Resolver& resolver,
                     std::shared_ptr<const net::EgressPolicy> egress, DelivererOptions options,
                     Report report)
    : loop_(loop),
      report_(std::move(report)),
      queue_(options.limits),
      http_(loop, resolver, egress),
      webhook_(loop, http_),
      email_(loop, resolver, egress, std::move(options.email)),
      exec_(loop, std::move(options.exec)),
      timer_(loop, [this] { pump(); }),
      stop_timer_(loop, [this] { finish_stop(); }) {}

Deliverer::~Deliverer() { *alive_ = false; }

void Deliverer::set_endpoints(Endpoints endpoints) {
    queue_.set_endpoints(std::move(endpoints), net::boot_now());
    wake();
}

void Deliverer::set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
    http_.set_egress(egress);
    email_.set_egress(std::move(egress));
}

base::Status Deliverer::offer(model::Notification notification) {
    auto status = queue_.add(std::move(notification), net::instant_now());
    if (status) wake();
    return status;
}

void Deliverer::cancel(const std::string& id) {
    queue_.cancel(id);
    wake();
}

void Deliverer::wake() {
    const base::BootTime next = queue_.next_due();
    if (stopping_ || next == base::BootTime::max()) return timer_.cancel();
    timer_.arm(next);
}

void Deliverer::pump() {
    if (stopping_) return;
    for (Attempt& attempt : queue_.start_due(net::instant_now())) run(std::move(attempt));
    wake();
}

ChannelDriver& Deliverer::driver_of(model::ChannelKind kind) {
    if (kind == model::ChannelKind::kEmail) return email_;
    if (kind == model::ChannelKind::kExec) return exec_;
    return webhook_;
}

void Deliverer::run(Attempt attempt) {
    const std::uint64_t id = attempt.id;
    auto done = [this, id, alive = alive_](AttemptOutcome&& outcome) {
        if (*alive) finished(id, std::move(outcome));
    };
    std::optional<base::Error> problem;
    if (attempt.endpoint == nullptr) {
        problem = base::Error{"feed.no_channel", base::ErrorClass::kConfig,
                              fmt::format("the receiver {} has no channel {} any more",
                                          base::quoted(attempt.notification->receiver),
                                          base::quoted(attempt.notification->channel))};
    } else {
        problem = attempt.endpoint->problem;
    }
    if (problem) {
        AttemptOutcome outcome{.result = AttemptResult::kTransient,
                               .code = problem->code,
                               .message = problem->message};
        loop_.post([done = std::move(done), outcome = std::move(outcome)]() mutable {
            done(std::move(outcome));
        });
        return;
    }
    const model::ChannelKind kind = attempt.endpoint->channel.kind;
    under_way_[id] = kind;
    driver_of(kind).start(std::move(attempt), std::move(done));
}

void Deliverer::finished(std::uint64_t attempt, AttemptOutcome outcome) {
    under_way_.erase(attempt);
    if (auto report = queue_.finished(attempt, std::move(outcome), net::instant_now())) {
        report_(std::move(report));
    }
    if (!stopping_) return wake();
    if (queue_.in_flight() == 0) stop_timer_.arm(loop_.now());
}

void Deliverer::stop(base::Duration at_most, std::move_only_function<void()> stopped) {
    stopping_ = true;
    stopped_ = std::move(stopped);
    timer_.cancel();
    stop_timer_.arm(queue_.in_flight() == 0 ? loop_.now() : net::boot_now() + at_most);
}

void Deliverer::finish_stop() {
    for (const auto& [attempt, kind] : std::exchange(under_way_, {})) {
        queue_.taken_back(attempt);
        driver_of(kind).cancel(attempt);
    }
    if (stopped_) std::exchange(stopped_, nullptr)();
}

}  // namespace pollux::feed
