#include "runtime/inbound/intake.hpp"

#include <fmt/format.h>

namespace pollux::runtime {
namespace {

constexpr base::Duration kRetryAfter = std::chrono::milliseconds(200);

struct Size {
    std::size_t operator()(const model::TrapMessage& trap) const {
        std::size_t bytes = 0;
        for (const auto& [name, value] : trap.varbinds) {
            bytes += 128 + 4 * name.arcs.size() + value.bytes.size();
        }
        return bytes;
    }
    std::size_t operator()(const model::WebhookMessage& hook) const { return hook.body.size(); }
    std::size_t operator()(const model::PushMessage& push) const { return push.message.size(); }
};

}  // namespace

Intake::Intake(std::shared_ptr<net::EventLoop> loop, store::Store& store, observe::Log& log,
               TargetBook& book, InboundCounts& counts, Told told, Stored stored)
    : loop_(std::move(loop)),
      store_(store),
      log_(log),
      book_(book),
      counts_(counts),
      told_(std::move(told)),
      stored_(std::move(stored)),
      retry_(*loop_, [this] { commit(); }) {}

std::size_t Intake::bytes_of(const Incoming& incoming) {
    std::size_t bytes = 512 + std::visit(Size{}, incoming.heard.message.content);
    for (const model::Signal& signal : incoming.heard.signals) {
        bytes += 256 + signal.message.size() + signal.title.size();
        for (const auto& [name, value] : signal.fields) bytes += name.size() + value.size();
    }
    return bytes;
}

void Intake::set_limits(store::ObservationLimits limits, base::Duration age) {
    limits_ = limits;
    age_ = age;
}

bool Intake::take(Incoming incoming) {
    const std::size_t bytes = bytes_of(incoming);
    if (waiting() >= kMostWaiting || bytes_ + bytes > kMostBytes) return false;
    bytes_ += bytes;
    queue_.push_back(std::move(incoming));
    // At the end of this turn: what came together is stored together.
    if (!busy_ && !retry_.armed()) retry_.arm(loop_->now());
    return true;
}

void Intake::commit() {
    if (busy_ || queue_.empty()) return;
    busy_ = true;
    store::ObservationBatch batch;
    batch.keep = limits_;
    batch.keep.not_before = net::wall_now() - age_;
    draft_.emplace(book_.draft());
    has_row_.clear();
    while (!queue_.empty() && under_way_.size() < kMostInBatch) {
        under_way_.push_back(std::move(queue_.front()));
        queue_.pop_front();
        auto row = draft_->add(under_way_.back().heard);
        has_row_.push_back(row.has_value());
        if (row) batch.rows.push_back(std::move(*row));
    }
    batch.memory = draft_->memory();
    auto accepted = store_.submit(std::move(batch), [this, loop = loop_](auto result) {
        loop->post([this, result = std::move(result)]() mutable { committed(std::move(result)); });
    });
    if (!accepted) committed(std::unexpected(accepted.error()));
}

void Intake::committed(base::Result<std::uint64_t> first) {
    busy_ = false;
    if (first.has_value() == failing_since_.has_value()) {
        if (first) {
            failing_since_.reset();
            log_.info("messages of devices are stored again");
        } else {
            failing_since_ = loop_->now();
            log_.error("messages of devices cannot be stored: senders are told to repeat them",
                       {{"error", first.error().message}});
        }
    }
    if (first) {
        finish(*first);
    } else {
        give_back();
    }
    draft_.reset();
    if (!queue_.empty()) retry_.arm(loop_->now() + (first ? base::Duration::zero() : kRetryAfter));
}

void Intake::finish(std::uint64_t first) {
    std::vector<Incoming> done = std::exchange(under_way_, {});
    const std::vector<HeardChange> changes = draft_->changes();
    book_.take(std::move(*draft_));
    std::vector<std::uint64_t> rows;
    for (std::size_t i = 0; i < done.size(); ++i) {
        Incoming& one = done[i];
        bytes_ -= bytes_of(one);
        counts_.add(one.kind, InboundResult::kStored);
        rows.push_back(has_row_[i] ? first++ : 0);
        if (one.answer) one.answer(Delivery::kStored, rows.back());
        stored_(one.heard);
    }
    for (const HeardChange& change : changes) {
        told_(change, rows[change.message], done[change.message].told);
    }
}

void Intake::give_back() {
    if (loop_->now() - *failing_since_ >= kProvisionalAfter) tell_provisionally();
    std::vector<Incoming> failed = std::exchange(under_way_, {});
    for (std::size_t i = failed.size(); i > 0; --i) {
        Incoming& one = failed[i - 1];
        if (one.keep) {
            queue_.push_front(std::move(one));
            continue;
        }
        bytes_ -= bytes_of(one);
        counts_.add(one.kind, InboundResult::kStoreFailed);
        if (one.answer) one.answer(Delivery::kFailed, 0);
    }
}

// Only what is kept: the others are repeated by who sent them.
void Intake::tell_provisionally() {
    for (const HeardChange& change : draft_->changes()) {
        Incoming& one = under_way_[change.message];
        if (one.keep && !std::exchange(one.told, true)) told_(change, 0, false);
    }
}

void Intake::look_after() {
    const base::BootTime now = loop_->now();
    const auto tell = [&](Incoming& one) {
        if (!one.answer || now - one.at < kPatience) return;
        auto answer = std::exchange(one.answer, nullptr);
        answer(Delivery::kLate, 0);
    };
    for (Incoming& one : under_way_) tell(one);
    for (Incoming& one : queue_) tell(one);
}

void Intake::trim() {
    store::ObservationBatch batch;
    batch.keep = limits_;
    batch.keep.not_before = net::wall_now() - age_;
    [[maybe_unused]] const auto status = store_.submit(std::move(batch), {});
}

}  // namespace pollux::runtime
