#include "runtime/inbound/inbound_desk.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <future>

#include "runtime/signal_log.hpp"

namespace pollux::runtime {
namespace {

constexpr base::Duration kHouseEvery = std::chrono::seconds(1);
constexpr std::uint64_t kResolveEvery = 300;  // turns of the house
constexpr std::uint64_t kTrimEvery = 3600;    // turns of the house
constexpr std::uint64_t kCrowdEvery = 10;     // turns of the house
constexpr std::uint64_t kClocksEvery = 2;     // turns of the house
constexpr base::Duration kStopWait = std::chrono::seconds(5);
constexpr std::uint64_t kMostKept = INT64_MAX;

}  // namespace

base::Result<InboundLimits> inbound_limits(const config::Settings& settings) {
    InboundLimits limits;
    limits.rates = {settings.inbound_source_rate, settings.inbound_rate};
    limits.confirm_rate = settings.inbound_confirm_rate;
    limits.confirm_pause = settings.inbound_confirm_pause;
    limits.keep.most = std::min(kMostKept, static_cast<std::uint64_t>(settings.inbound_keep_rows));
    limits.keep.most_per_key = static_cast<std::uint64_t>(settings.inbound_keep_rows_per_target);
    limits.keep_for = std::chrono::hours(24 * settings.inbound_keep_days);
    for (const std::string& text : settings.trap_forwarders) {
        auto range = net::IpRange::parse(text);
        if (!range) {
            return base::config_error("settings.trap_forwarders",
                                      fmt::format("trap_forwarders: {}", range.error().message));
        }
        limits.forwarders.push_back(*range);
    }
    return limits;
}

InboundDesk::InboundDesk(store::Store& store, observe::Log& log, InboundOptions options,
                         InboundWiring wiring)
    : store_(store), log_(log), options_(std::move(options)), wiring_(std::move(wiring)) {}

base::Result<std::unique_ptr<InboundDesk>> InboundDesk::start(
    store::Store& store, observe::Log& log, InboundOptions options, InboundWiring wiring,
    std::vector<std::pair<std::string, std::string>> memories,
    std::shared_ptr<const InboundImage> image) {
    std::unique_ptr<InboundDesk> desk(
        new InboundDesk(store, log, std::move(options), std::move(wiring)));
    if (auto status = desk->open(); !status) return std::unexpected(status.error());
    if (const auto status = desk->traps_->recall(memories); !status) {
        log.warn(status.error().message);
    }
    desk->book_.recall(std::move(memories));
    desk->take_limits(desk->options_.limits);
    desk->take_image(std::move(image));
    desk->house_timer_->arm_in(kHouseEvery);
    desk->listener_->start(
        [traps = desk->traps_.get()](const Datagram& datagram) { traps->on_datagram(datagram); });
    desk->thread_ = std::thread([loop = desk->loop_] {
        pthread_setname_np(pthread_self(), "pollux-inbound");
        loop->run();
    });
    return desk;
}

base::Status InboundDesk::open() {
    auto loop = net::EventLoop::create();
    if (!loop) return std::unexpected(loop.error());
    loop_ = std::move(*loop);
    auto resolver = net::Resolver::create(*loop_, {});
    if (!resolver) return std::unexpected(resolver.error());
    resolver_ = std::move(*resolver);
    intake_ = std::make_unique<Intake>(
        loop_, store_, log_, book_, counts_,
        [this](const HeardChange& change, std::uint64_t row, bool known) {
            tell(change, row, known);
        },
        [this](const HeardMessage& heard) { follow(heard); });
    trap_limiter_ = std::make_unique<SourceLimiter>(options_.limits.rates);
    http_limiter_ = std::make_unique<SourceLimiter>(options_.limits.rates);
    gate_ =
        std::make_unique<ConfirmGate>(options_.limits.confirm_rate, options_.limits.confirm_pause);
    listener_ = std::make_unique<TrapListener>(*loop_);
    if (auto status = listener_->open(options_.trap_listen, options_.passed_sockets); !status) {
        return status;
    }
    trap_addresses_ = listener_->addresses();
    traps_ = std::make_unique<TrapDesk>(*loop_, *listener_, *intake_, *trap_limiter_, counts_,
                                        options_.engine, options_.random);
    http_ = std::make_unique<InboundHttp>(*loop_, *intake_, book_, *http_limiter_, counts_,
                                          options_.random, options_.body_bytes);
    if (auto status = http_->listen(options_.http_listen, options_.tls); !status) return status;
    http_addresses_ = http_->addresses();
    push_timer_ = std::make_unique<net::Timer>(*loop_, [this] { watch_pushes(); });
    house_timer_ = std::make_unique<net::Timer>(*loop_, [this] { keep_house(); });
    return {};
}

InboundDesk::~InboundDesk() { stop(); }

void InboundDesk::stop() {
    if (!thread_.joinable()) return;
    auto closed = std::make_shared<std::promise<void>>();
    auto future = closed->get_future();
    loop_->post([this, closed] {
        listener_->close();
        push_timer_->cancel();
        http_->close(kStopWait, [closed] { closed->set_value(); });
    });
    future.wait_for(2 * kStopWait);
    // Traps that came before the end are stored too, unless the store cannot.
    const base::BootTime give_up = net::boot_now() + kStopWait;
    for (bool idle = false; !idle && net::boot_now() < give_up;) {
        auto asked = std::make_shared<std::promise<bool>>();
        auto answer = asked->get_future();
        loop_->post([this, asked] { asked->set_value(intake_->idle()); });
        idle = answer.wait_for(kStopWait) == std::future_status::ready && answer.get();
        if (!idle) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    loop_->post([this] {
        save_clocks();
        loop_->stop();
    });
    thread_.join();
    // Everything that lives on the loop goes before it, and not by the thread that ended.
    http_.reset();
    traps_.reset();
    listener_.reset();
    intake_.reset();
    push_timer_.reset();
    house_timer_.reset();
    resolver_.reset();
}

// --- from any thread ----------------------------------------------------------------------------

void InboundDesk::set_image(std::shared_ptr<const InboundImage> image) {
    loop_->post([this, image = std::move(image)]() mutable { take_image(std::move(image)); });
}

void InboundDesk::set_limits(InboundLimits limits) {
    loop_->post([this, limits = std::move(limits)] { take_limits(limits); });
}

void InboundDesk::prove(std::string engine_id, protocol::snmp::EngineClock clock) {
    loop_->post(
        [this, engine_id = std::move(engine_id), clock] { traps_->prove(engine_id, clock); });
}

void InboundDesk::forget_sender(std::string engine,
                                std::move_only_function<void(base::Status)> done) {
    loop_->post([this, engine = std::move(engine), done = std::move(done)]() mutable {
        auto status = traps_->forget_sender(engine);
        if (status) save_clocks();
        done(std::move(status));
    });
}

void InboundDesk::present(std::move_only_function<void(std::vector<SignalNews>)> done) {
    loop_->post([this, done = std::move(done)]() mutable { done(book_.present()); });
}

void InboundDesk::collect_counts(std::move_only_function<void(InboundCounts)> done) {
    loop_->post([this, done = std::move(done)]() mutable { done(counts()); });
}

void InboundDesk::ask_alive(std::move_only_function<void(WorkCounts)> answer) {
    loop_->post([this, answer = std::move(answer)]() mutable {
        WorkCounts work;
        work.active = intake_->waiting();
        for (const auto& of_kind : counts_.messages) {
            for (std::size_t result = 0; result < of_kind.size(); ++result) {
                const bool stored = result == static_cast<std::size_t>(InboundResult::kStored);
                (stored ? work.completed : work.failed) += of_kind[result];
            }
        }
        answer(work);
    });
}

// --- on the desk's thread -----------------------------------------------------------------------

void InboundDesk::take_image(std::shared_ptr<const InboundImage> image) {
    traps_->set_image(*image);
    http_->set_image(*image);
    store::MemoryBatch gone;
    gone.removed = book_.set_image(std::move(image), net::instant_now());
    if (!gone.removed.empty()) {
        // What is lost here is only in the way.
        [[maybe_unused]] const auto status = store_.submit(std::move(gone), {});
    }
    resolve_names();
    arm_push_timer();
}

void InboundDesk::take_limits(const InboundLimits& limits) {
    const base::BootTime now = loop_->now();
    trap_limiter_->set_rates(now, limits.rates);
    http_limiter_->set_rates(now, limits.rates);
    gate_->set(now, limits.confirm_rate, limits.confirm_pause);
    intake_->set_limits(limits.keep, limits.keep_for);
    traps_->router().set_forwarders(limits.forwarders);
}

void InboundDesk::resolve_names() {
    for (const std::string& name : traps_->router().names()) {
        resolver_->lookup(name, [this, name](const base::Result<net::SharedAddresses>& found) {
            if (found) {
                traps_->router().set_resolved(name, **found);
            } else {
                log_.warn("the name of a device that sends traps is not known",
                          {{"key", name}, {"error", found.error().message}});
            }
        });
    }
}

void InboundDesk::tell(const HeardChange& change, std::uint64_t row, bool known) {
    if (wiring_.signals && !change.signals.empty()) {
        std::vector<SignalNews> news(1);
        news[0] = {row,           known,     true,          change.target->key, change.target->id,
                   change.source, change.at, change.signals};
        wiring_.signals(std::move(news));
    }
    if (known) return;
    for (const derive::SignalChange& one : change.signals) {
        ++counts_.signals[static_cast<std::size_t>(one.step)];
        log_signal(log_, change.target->key, one, change.source);
    }
    if (!change.push) return;
    const PushRecord& record = change.push->record;
    const bool up = change.push->to == PushState::kUp;
    log_.write(up ? observe::LogLevel::kInfo : observe::LogLevel::kWarn,
               up ? "push target is up" : "push target is down",
               {{"key", change.target->key},
                {"from", std::string(to_string(change.push->from))},
                {"to", std::string(to_string(change.push->to))},
                {"reason", record.message},
                {"last_heartbeat", record.last.us == 0 ? "" : base::format_utc(record.last)}});
}

void InboundDesk::follow(const HeardMessage& heard) {
    const InboundTarget& target = *heard.target;
    if (target.kind == model::ProtocolKind::kPush) arm_push_timer();
    if (target.confirmed_by.empty() || heard.signals.empty() || !wiring_.confirm) return;
    if (!gate_->admit(target.device, loop_->now())) {
        ++counts_.confirms_held;
        return;
    }
    ++counts_.confirms_asked;
    wiring_.confirm(target.confirmed_by, target.kind);
}

void InboundDesk::arm_push_timer() {
    const base::BootTime next = book_.next_deadline();
    if (next == base::BootTime::max()) {
        push_timer_->cancel();
    } else {
        push_timer_->arm(next);
    }
}

// A heartbeat that did not come is told as a push that says down.
void InboundDesk::watch_pushes() {
    const base::Instant now = net::instant_now();
    for (InboundTargetPtr& target : book_.take_late(now.boot)) {
        const InboundMemory* memory = book_.find(target->key);
        const bool heard_before = memory != nullptr && memory->push.last.us != 0;
        Incoming incoming;
        incoming.kind = InboundKind::kPush;
        incoming.keep = true;
        incoming.at = loop_->now();
        HeardMessage& heard = incoming.heard;
        heard.silence = true;
        heard.message.source = "pollux";
        heard.message.received = now.wall;
        model::PushMessage silence;
        silence.up = false;
        silence.message = heard_before
                              ? fmt::format("no heartbeat since {}: one is expected every {}",
                                            base::format_utc(memory->push.last),
                                            base::format_duration(target->interval))
                              : fmt::format("no heartbeat yet: one is expected every {}",
                                            base::format_duration(target->interval));
        heard.message.content = std::move(silence);
        heard.signals =
            target->addon->signals(heard.message, {.device = target->device, .address = ""});
        heard.target = target;
        if (!intake_->take(std::move(incoming))) book_.heard(*target, now.boot);  // once more
    }
    arm_push_timer();
}

void InboundDesk::keep_house() {
    ++house_turn_;
    intake_->look_after();
    if (house_turn_ % kResolveEvery == 0) resolve_names();
    if (house_turn_ % kTrimEvery == 0) intake_->trim();
    if (house_turn_ % kCrowdEvery == 0) tell_crowd();
    if (house_turn_ % kClocksEvery == 0) save_clocks();
    arm_push_timer();
    house_timer_->arm_in(kHouseEvery);
}

// The loop is kept by what is under way in the store; after its end nothing runs on it.
void InboundDesk::save_clocks() {
    store::MemoryBatch batch = traps_->unsaved();
    if (batch.rows.empty() && batch.removed.empty()) return;
    std::vector<std::string> keys = batch.removed;
    for (const store::MemoryRow& row : batch.rows) keys.push_back(row.key);
    const auto again = [this, loop = loop_, keys = std::move(keys)](const base::Status& status) {
        if (status) return;
        loop->post([this, keys] { traps_->not_saved(keys); });
    };
    if (auto status = store_.submit(std::move(batch), again); !status) again(status);
}

void InboundDesk::tell_crowd() {
    const std::string sender = http_->take_crowded();
    if (sender.empty()) return;
    log_.warn("a sender holds too many connections for webhooks and pushes: more are refused",
              {{"source", sender}, {"limit", std::to_string(InboundHttp::kMostConnectionsOfOne)}});
}

InboundCounts InboundDesk::counts() {
    InboundCounts all = counts_;
    // What the server of HTTP refused by itself: too large, too slow, no HTTP, one connection too
    // many (of which nobody knows what it would have said).
    all.messages[static_cast<std::size_t>(InboundKind::kWebhook)]
                [static_cast<std::size_t>(InboundResult::kBadRequest)] +=
        http_->counters().rejected;
    all.messages[static_cast<std::size_t>(InboundKind::kWebhook)]
                [static_cast<std::size_t>(InboundResult::kLimited)] += http_->counters().refused;
    all.waiting = intake_->waiting();
    all.unknown_senders = traps_->unknown().size();
    all.datagrams_dropped = listener_->dropped();
    for (const PushState state : {PushState::kUnknown, PushState::kUp, PushState::kDown}) {
        all.push_targets[static_cast<std::size_t>(state)] = book_.push_targets(state);
    }
    all.longest_turn = loop_->take_longest_turn();
    return all;
}

}  // namespace pollux::runtime
