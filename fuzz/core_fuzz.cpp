// Bytes become events and time steps against a small core: two classes, few devices, one resource,
// everything scarce. After each step the core's books must balance.
//
// Input: a list of operations, each one byte and its arguments; missing bytes read as zero.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "fuzz/event_text.hpp"
#include "fuzz/fuzz_input.hpp"
#include "schedule/scheduler_core.hpp"

namespace {

using namespace pollux;
using namespace std::chrono_literals;
using fuzz::Input;
using model::TaskHandle;
using schedule::Event;

constexpr int kMaxOperations = 300;
constexpr int kMaxIdleSteps = 20;
constexpr int kCalmSteps = 30;
constexpr base::Duration kCalmStep = 4min;  // in all, longer than a device may ask us to wait
constexpr base::Duration kLongestJump = 25h;

struct Started {
    TaskHandle task;
    model::RunId run;
};

class Session {
  public:
    explicit Session(Input in) : in_(in), core_(now_, 1, settings()) {}

    void run() {
        for (int i = 0; i < kMaxOperations && !in_.empty(); ++i) operate();
        step();
        calm_down();
    }

  private:
    static model::CoreSettings settings() {
        model::CoreSettings settings;
        settings.mode = model::AdaptiveMode::kOn;
        settings.global_rate = 20;
        settings.global_slots = 6;
        settings.device_slots = 2;
        settings.device_rate = 2;
        settings.max_starts_per_step = 4;
        settings.aging_step = 5s;
        model::ClassSettings a;
        a.name = "a";
        a.rate = 5;
        a.slots = 4;
        model::ClassSettings b;
        b.name = "b";
        b.weight = 3;
        b.policy = model::PolicyKind::kClassic;
        settings.classes = {a, b};
        settings.resources = {{"lane", 2}};
        return settings;
    }

    std::string key() {
        const std::uint32_t n = in_.below(12);
        return std::string(n % 2 == 0 ? "a::" : "b::") + static_cast<char>('0' + n / 2);
    }
    std::string device() { return std::string("d") + static_cast<char>('0' + in_.below(3)); }
    std::string region() { return in_.below(4) == 0 ? "r" : ""; }

    TaskHandle task() {
        const std::uint32_t index = in_.below(16);
        const bool known = index < core_.capacity() && core_.occupied(index);
        return known ? core_.handle_at(index) : TaskHandle{index, in_.byte()};
    }

    model::NeedGroup need() {
        model::NeedGroup group;
        for (std::uint32_t n = 1 + in_.below(2); n > 0; --n) {
            if (in_.flag()) {
                group.any_of.push_back({model::ParentKind::kDevice, device()});
            } else {
                group.any_of.push_back({model::ParentKind::kTask, key()});
            }
        }
        group.when_unmet = in_.flag() ? model::WhenUnmet::kSlow : model::WhenUnmet::kHold;
        return group;
    }

    model::TaskSpec spec() {
        model::TaskSpec spec;
        spec.key = key();
        const std::uint8_t shape = in_.byte();
        if ((shape & 3U) == 0) {
            spec.cadence = model::Cadence::once();
            spec.max_attempts = 1 + in_.below(3);
            if (in_.flag()) spec.on_parent_failure = model::ParentFailure::kHold;
        } else if ((shape & 3U) == 1) {
            spec.cadence = model::Cadence::fixed(in_.duration());
        } else {
            spec.cadence = model::Cadence::adaptive(1s, 10s, in_.flag() ? 300s : 20s);
        }
        spec.tier = static_cast<model::Tier>(shape >> 2U & 3U);
        spec.failure_profile = static_cast<model::FailureProfile>((shape >> 4U & 3U) % 3);
        spec.enabled = (shape >> 6U & 1U) == 0;
        spec.adaptive = (shape >> 7U & 1U) == 0;
        const std::uint8_t extras = in_.byte();
        if ((extras & 1U) != 0) spec.device = device();
        if ((extras & 2U) != 0) spec.region = region();
        if ((extras & 4U) != 0) spec.needs.push_back(need());
        if ((extras & 8U) != 0) spec.needs.push_back(need());
        if ((extras & 16U) != 0) spec.demand = {{"lane", in_.number()}};
        if ((extras & 32U) != 0) spec.slots = in_.number();
        if ((extras & 64U) != 0) spec.timeout = in_.duration();
        if ((extras & 128U) != 0) spec.staleness_bound = in_.duration();
        return spec;
    }

    base::WallTime wall() {
        const std::uint8_t b = in_.byte();
        if (b == 0) return base::WallTime{model::kNever};
        if (b == 255) return base::WallTime{static_cast<std::int64_t>(in_.word())};
        return now_.wall + std::chrono::seconds((b - 128) * 10);
    }

    model::TaskRecord record(const std::string& name) {
        model::TaskRecord record;
        record.key = name;
        record.enabled = in_.below(8) != 0;
        record.job = static_cast<model::JobState>(in_.below(5));
        record.attempt = in_.byte();
        record.next_due = wall();
        record.last_success = wall();
        record.has_digest = in_.flag();
        record.was_up = in_.flag();
        record.interval_ms = static_cast<std::uint32_t>(in_.number()) * 1000;
        if (in_.flag()) {
            record.failure.consecutive = in_.byte();
            record.failure.permanent_streak = in_.below(4);
            record.failure.interruptions = in_.below(6);
            record.failure.breaker = static_cast<model::BreakerState>(in_.below(3));
            record.failure.dead_letter = static_cast<model::DeadLetterReason>(in_.below(4));
            record.failure.breaker_since = wall();
            record.failure.breaker_delay = in_.duration();
        }
        if (in_.flag()) {
            for (auto& one : record.learned.probability) {
                one = static_cast<std::uint16_t>(in_.byte() * 257);
            }
            record.learned.age_s = std::bit_cast<float>(static_cast<std::uint32_t>(in_.word()));
            record.learned.memory = static_cast<float>(in_.rate());
        }
        return record;
    }

    schedule::RunFinished result() {
        schedule::RunFinished event;
        if (!started_.empty() && in_.below(8) != 0) {
            const Started& one = started_[in_.byte() % started_.size()];
            event.task = one.task;
            event.run = one.run;
        } else {
            event.task = task();
            event.run = {in_.below(3), in_.byte()};
        }
        event.outcome = static_cast<model::Outcome>(in_.below(5));
        event.has_digest = in_.flag();
        event.digest = in_.below(3);
        const std::uint8_t extras = in_.byte();
        if (extras == 254) {
            event.known_rate = std::bit_cast<float>(static_cast<std::uint32_t>(in_.word()));
        }
        if (extras == 255) event.retry_after = in_.duration();
        return event;
    }

    model::CoreSettings changed_settings() {
        model::CoreSettings changed = core_.settings();
        changed.mode = static_cast<model::AdaptiveMode>(in_.below(3));
        model::ClassSettings& one = changed.classes[in_.byte() % changed.classes.size()];
        one.policy = static_cast<model::PolicyKind>(in_.below(5));
        one.preset = static_cast<model::Preset>(in_.below(3));
        switch (in_.below(8)) {
            case 0: changed.global_rate = in_.rate(); break;
            case 1: changed.global_slots = 1 + in_.below(8); break;
            case 2: one.rate = in_.rate(); break;
            case 3: one.slots = in_.below(5); break;
            case 4: one.host_slots_exempt = in_.flag(); break;
            case 5: changed.resources[0].capacity = 1 + in_.below(4); break;
            case 6: one.staleness_bound = in_.duration(); break;
            default: changed.adaptive_percent = in_.byte(); break;
        }
        return changed;
    }

    void operate() {
        switch (in_.below(20)) {
            case 0:
            case 1:
            case 2: {
                auto specs = std::make_shared<std::vector<model::TaskSpec>>();
                for (std::uint32_t n = 1 + in_.below(3); n > 0; --n) specs->push_back(spec());
                events_.push_back(schedule::TasksUpserted{std::move(specs), 1});
                break;
            }
            case 3: events_.push_back(schedule::TaskRemoved{key(), 2}); break;
            case 4: {
                auto tasks = std::make_shared<std::vector<schedule::RestoredTask>>();
                for (std::uint32_t n = 1 + in_.below(3); n > 0; --n) {
                    model::TaskSpec wanted = spec();
                    model::TaskRecord row = record(wanted.key);
                    tasks->push_back({std::move(wanted), std::move(row)});
                }
                events_.push_back(schedule::TasksRestored{std::move(tasks), 3});
                break;
            }
            case 5:
            case 6:
            case 7: events_.push_back(result()); break;
            case 8: {
                const auto event = result();
                events_.push_back(schedule::RunExpired{event.task, event.run});
                break;
            }
            case 9:
                events_.push_back(schedule::Observed{
                    task(), now_.boot + (in_.duration() - in_.duration()), in_.flag()});
                break;
            case 10:
                events_.push_back(
                    schedule::Poked{task(), static_cast<schedule::PokeReason>(in_.below(6))});
                break;
            case 11: events_.push_back(schedule::ParentChanged{device(), in_.flag()}); break;
            case 12: {
                model::DeviceSpec limits{device(), in_.rate(), in_.below(4), in_.below(3)};
                events_.push_back(schedule::DeviceChanged{
                    std::make_shared<model::DeviceSpec>(std::move(limits)), 4});
                break;
            }
            case 13: events_.push_back(schedule::CreditChanged{region(), in_.number()}); break;
            case 14:
                events_.push_back(schedule::OperatorAction{
                    static_cast<schedule::OperatorVerb>(in_.below(10)), key(), 5});
                break;
            case 15:
                events_.push_back(schedule::SettingsChanged{
                    std::make_shared<model::CoreSettings>(changed_settings()), 6});
                break;
            default: advance(); break;
        }
    }

    void advance() {
        const std::uint8_t way = in_.byte();
        if (way < 128) {
            now_.boot = std::max(now_.boot, wake_at_);
        } else {
            now_.boot += std::clamp<base::Duration>(in_.duration(), 0ns, kLongestJump);
        }
        if (way % 16 == 15) now_.wall += std::chrono::seconds(in_.number() % 1'000'000);
        step();
        // Called again at once for no reason would be a process that spins.
        for (int idle = 0; wake_at_ <= now_.boot; ++idle) {
            POLLUX_CHECK_MSG(idle < kMaxIdleSteps, "asks to be stepped at once, and does nothing");
            step();
            if (!commands_.starts.empty()) idle = 0;
        }
    }

    void step() {
        commands_.clear();
        trace_events();
        core_.step(now_, events_, commands_);
        events_.clear();
        wake_at_ = commands_.wake_at;
        trace_starts();
        std::set<TaskHandle> once;
        for (const auto& start : commands_.starts) {
            POLLUX_CHECK(core_.is_live(start.task) && start.deadline > now_.boot);
            POLLUX_CHECK_MSG(once.insert(start.task).second, "one run per task");
            if (started_.size() >= 32) started_.erase(started_.begin(), started_.begin() + 16);
            started_.push_back({start.task, start.run});
            last_runs_[start.task] = start.run;
        }
        check();
    }

    // Nothing is scarce any more and every run succeeds: whoever waited for a turn must get it.
    void calm_down() {
        const base::BootTime from = now_.boot;
        auto plenty = std::make_shared<model::CoreSettings>(settings());
        plenty->global_slots = 1'000'000;
        plenty->classes[0].slots = 0;
        plenty->resources[0].capacity = std::numeric_limits<std::int32_t>::max();
        events_.push_back(schedule::SettingsChanged{plenty, 7});
        for (const char* name : {"", "r"}) events_.push_back(schedule::CreditChanged{name, 1'000});
        for (const char* name : {"d0", "d1", "d2"}) {
            events_.push_back(schedule::ParentChanged{name, true});
            events_.push_back(schedule::DeviceChanged{
                std::make_shared<model::DeviceSpec>(model::DeviceSpec{name, 0, 0, 0}), 8});
        }
        for (const auto& [task, run] : last_runs_) {
            events_.push_back(schedule::RunFinished{task, run});  // those that are over are ignored
        }
        for (int i = 0; i < kCalmSteps; ++i) {
            step();
            for (const auto& start : commands_.starts) {
                events_.push_back(schedule::RunFinished{start.task, start.run});
            }
            now_.boot += kCalmStep;
        }
        for (std::uint32_t i = 0; i < core_.capacity(); ++i) {
            const schedule::TaskSlot& slot = core_.slot({i, 0});
            const bool waits = slot.place == schedule::Place::kReady ||
                               slot.place == schedule::Place::kDeviceRate ||
                               slot.place == schedule::Place::kDeviceQueue ||
                               slot.place == schedule::Place::kRegionQueue ||
                               slot.place == schedule::Place::kResourceQueue;
            if (!waits || slot.ready_since > from) continue;
            const auto why = core_.explain(core_.key(core_.handle_at(i)));
            fmt::print(stderr, "{} ({}): {}\n", why->key, to_string(why->place), why->verdict);
            POLLUX_CHECK_MSG(false, "it waits for ever");
        }
    }

    // CORE_FUZZ_TRACE=1: tells what happens, before it happens.
    static bool tracing() {
        static const bool on = std::getenv("CORE_FUZZ_TRACE") != nullptr;
        return on;
    }
    void trace_events() const {
        if (!tracing() || events_.empty()) return;
        fmt::print(stderr, "step at {} ns\n", now_.boot.ns);
        for (const Event& event : events_) fmt::print(stderr, "    {}\n", fuzz::text(event));
    }
    void trace_starts() const {
        if (!tracing()) return;
        for (const auto& start : commands_.starts) {
            fmt::print(stderr, "  at {} ns: starts {} as {} {}\n", now_.boot.ns,
                       core_.key(start.task), fuzz::text(start.task), fuzz::text(start.run));
        }
    }

    void check() {
        const schedule::CoreStats& stats = core_.stats();
        POLLUX_CHECK(stats.started ==
                     stats.finished + stats.expired + stats.cancelled + core_.in_flight());
        POLLUX_CHECK(stats.sweep_repairs == 0);
        POLLUX_CHECK(commands_.wake_at != base::BootTime::max());
        POLLUX_CHECK(core_.audit(0, core_.capacity()) == 0);
        const auto plan = core_.plan(now_.boot, 8);
        POLLUX_CHECK(std::ranges::is_sorted(plan, {}, &schedule::PlanEntry::due));
        std::size_t running = 0;
        for (std::uint32_t i = 0; i < core_.capacity(); ++i) {
            if (core_.slot({i, 0}).place == schedule::Place::kRunning) ++running;
        }
        POLLUX_CHECK(running == core_.in_flight());
        if (core_.capacity() == 0) return;
        const TaskHandle some = core_.handle_at(++turn_ % core_.capacity());
        if (core_.is_live(some)) {
            POLLUX_CHECK(core_.explain(core_.key(some)).has_value());
            if (turn_ % 4 == 0) core_.take_record(some);
        }
    }

    Input in_;
    base::Instant now_{base::BootTime{1'000'000'000}, base::WallTime{1'700'000'000'000'000}};
    schedule::SchedulerCore core_;
    schedule::Commands commands_;
    base::BootTime wake_at_ = now_.boot;
    std::vector<Event> events_;
    std::vector<Started> started_;
    std::map<TaskHandle, model::RunId> last_runs_;
    std::uint32_t turn_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Session(Input(std::span(data, size))).run();
    return 0;
}
