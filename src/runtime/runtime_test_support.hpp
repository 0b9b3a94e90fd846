// For the tests of the runtime: an addon, plans for it, drivers that answer as told, and boxes in
// which threads leave what a test waits for. Nobody sleeps; every wait has a generous end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/time.hpp"
#include "extract/compiled_addon.hpp"
#include "model/reply.hpp"
#include "net/event_loop.hpp"
#include "observe/log.hpp"
#include "protocol/driver.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/run_order.hpp"
#include "runtime/shard.hpp"

namespace pollux::runtime::test {

inline constexpr std::chrono::seconds kPatience{30};

// What other threads hand in, in their order.
template <class T>
class Inbox {
  public:
    void put(T item) {
        const std::scoped_lock lock(mutex_);
        items_.push_back(std::move(item));
        changed_.notify_all();
    }
    // All that came, once there are at least `count`; what there is if they do not come.
    std::vector<T> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kPatience, [&] { return items_.size() >= count; });
        return items_;
    }
    std::size_t size() {
        const std::scoped_lock lock(mutex_);
        return items_.size();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<T> items_;
};

// A log whose lines can be read.
class LogLines {
  public:
    explicit LogLines(observe::LogLevel level = observe::LogLevel::kInfo)
        : log_({.level = level}, &net::wall_now,
               [this](std::string_view line) { lines_.put(std::string(line)); }) {}

    observe::Log& log() { return log_; }
    std::string text() {
        std::string all;
        for (const std::string& line : lines_.wait_for(0)) all += line;
        return all;
    }
    // The first line that holds `part`; empty if none comes.
    std::string wait_for(std::string_view part) {
        const auto end = std::chrono::steady_clock::now() + kPatience;
        for (std::size_t seen = 0; std::chrono::steady_clock::now() < end;) {
            const std::vector<std::string> lines = lines_.wait_for(seen + 1);
            for (; seen < lines.size(); ++seen) {
                if (lines[seen].find(part) != std::string::npos) return lines[seen];
            }
        }
        return "";
    }

  private:
    Inbox<std::string> lines_;
    observe::Log log_;
};

inline constexpr std::string_view kLampManifest = R"yaml(schema: pollux/1
name: lamp
version: 1.0.0
protocol: http
interval: 60s
timeout: 5s
http:
  base: "http://{host}:{port}"
  endpoints:
    - {name: main, path: /main, format: json}
    - {name: extra, path: /extra, format: json, optional: true}
metrics:
  - {name: level, unit: percent, help: How bright., endpoint: main, path: $.level}
  - {name: turns, type: counter, endpoint: main, path: $.turns}
  - {name: mood, type: text, endpoint: main, path: $.mood, optional: true}
  - {name: dust, endpoint: extra, path: $.dust}
)yaml";

inline std::shared_ptr<const extract::CompiledAddon> compiled(std::string_view manifest) {
    auto result = extract::compile(manifest, "test.yaml");
    POLLUX_CHECK_MSG(result.addon != nullptr, "the manifest of a test is right");
    return result.addon;
}

inline std::shared_ptr<const extract::CompiledAddon> lamp_addon() {
    static const auto addon = compiled(kLampManifest);
    return addon;
}

// A plan for the lamp of a device, with one list of requests for each of its addresses.
inline std::shared_ptr<PollPlan> lamp_plan(const std::string& device,
                                           const std::vector<std::string>& addresses = {
                                               "10.0.0.1"}) {
    auto plan = std::make_shared<PollPlan>();
    plan->key = "lamp::" + device;
    plan->class_name = "lamp";
    plan->device = device;
    plan->target_id = "id-" + device;
    plan->addon = lamp_addon();
    plan->stale_after = std::chrono::minutes(5);
    for (const std::string& address : addresses) {
        extract::TargetBinding binding;
        binding.host = address;
        binding.port = 80;
        plan->asks.push_back(plan->addon->asks(0, binding).value());
    }
    return plan;
}

inline model::Reply http_reply(std::string body) {
    model::HttpReply http;
    http.status = 200;
    http.body = std::move(body);
    model::Reply reply;
    reply.answer = std::move(http);
    reply.bytes_in = 100;
    reply.bytes_out = 10;
    return reply;
}

inline model::Reply failed_reply(model::FailureKind kind, std::string code, std::string message) {
    model::PollFailure failure;
    failure.kind = kind;
    failure.code = std::move(code);
    failure.message = std::move(message);
    model::Reply reply;
    reply.answer = std::move(failure);
    return reply;
}

// Keeps every ask until the test answers it; what is cancelled ends as the contract says. Lives on
// the loop of its shard; the test speaks to it from its own thread.
class ManualDriver final : public protocol::Driver {
  public:
    struct Asked {
        std::uint64_t id = 0;
        std::string host;
        std::string path;
        base::BootTime deadline;
        bool fresh_login = false;
    };

    explicit ManualDriver(net::EventLoop& loop, Inbox<Asked>& asked) : loop_(loop), asked_(asked) {}

    void start(protocol::Order order, protocol::Done done) override {
        const auto& http = std::get<model::HttpAsk>(order.ask->request);
        waiting_.emplace(order.id, std::move(done));
        asked_.put({order.id, order.ask->host, http.url.substr(http.url.rfind('/')), order.deadline,
                    order.fresh_login});
    }
    void cancel(std::uint64_t id) override {
        if (!waiting_.contains(id)) return;
        loop_.post([this, id] {
            finish(id, failed_reply(model::FailureKind::kCancelled, "http.cancelled", "cancelled"));
        });
    }
    std::size_t in_flight() const override { return waiting_.size(); }

    void finish(std::uint64_t id, model::Reply reply) {
        const auto found = waiting_.find(id);
        if (found == waiting_.end()) return;
        protocol::Done done = std::move(found->second);
        waiting_.erase(found);
        done(std::move(reply));
    }
    net::EventLoop& loop() { return loop_; }

  private:
    net::EventLoop& loop_;
    Inbox<Asked>& asked_;
    std::map<std::uint64_t, protocol::Done> waiting_;
};

// A shard whose devices are played by the test.
class ShardStage {
  public:
    explicit ShardStage(store::History* history = nullptr, const SeriesDirectory* series = nullptr)
        : shard_(0, [this](net::EventLoop& loop) { return make(loop); },
                 {.report =
                      [this](std::vector<RunReport> reports) {
                          for (RunReport& report : reports) reports_.put(std::move(report));
                      },
                  .history = history,
                  .series = series,
                  .signals =
                      [this](std::vector<PolledSignals> polls) {
                          for (PolledSignals& poll : polls) signals_.put(std::move(poll));
                      }}) {
        shard_.start();
    }

    Shard& shard() { return shard_; }
    Inbox<ManualDriver::Asked>& asked() { return asked_; }
    Inbox<RunReport>& reports() { return reports_; }
    Inbox<PolledSignals>& signals() { return signals_; }

    void answer(std::uint64_t id, model::Reply reply) {
        driver_->loop().post([this, id, reply = std::move(reply)]() mutable {
            driver_->finish(id, std::move(reply));
        });
    }
    // A run of the task from its start to its report, both requests answered.
    RunReport poll(const std::shared_ptr<const PollPlan>& plan, std::string main,
                   std::uint32_t task = 0, std::uint32_t generation = 1) {
        const std::size_t before = asked_.size();
        const std::size_t reported = reports_.size();
        shard_.dispatch({order(plan, task, generation)});
        answer(asked_.wait_for(before + 1).at(before).id, http_reply(std::move(main)));
        answer(asked_.wait_for(before + 2).at(before + 1).id, http_reply(R"({"dust": 1})"));
        return reports_.wait_for(reported + 1).at(reported);
    }
    RunOrder order(const std::shared_ptr<const PollPlan>& plan, std::uint32_t task = 0,
                   std::uint32_t generation = 1) {
        RunOrder order;
        order.task = {task, generation};
        order.run = {1, ++runs_};
        order.deadline = net::boot_now() + std::chrono::minutes(1);
        order.plan = plan;
        return order;
    }
    std::vector<std::pair<std::string, std::string>> memories() {
        Inbox<std::vector<std::pair<std::string, std::string>>> box;
        shard_.collect_memories([&box](auto memories) { box.put(std::move(memories)); });
        return box.wait_for(1).at(0);
    }
    std::string page() {
        Inbox<std::string> box;
        shard_.collect_devices([&box](const DevicePage& page) { box.put(page.text()); });
        return box.wait_for(1).at(0);
    }
    ShardCounts counts() {
        Inbox<ShardCounts> box;
        shard_.collect_counts([&box](ShardCounts counts) { box.put(std::move(counts)); });
        return box.wait_for(1).at(0);
    }

  private:
    class Stand final : public Drivers {
      public:
        explicit Stand(std::unique_ptr<ManualDriver> driver) : driver_(std::move(driver)) {}
        protocol::Driver& of(const model::Ask&) override { return *driver_; }
        void set_egress(std::shared_ptr<const net::EgressPolicy>) override {}
        // Gives back what it was told, once.
        std::string learned() override { return std::exchange(learned_, {}); }
        void recall(std::string_view learned) override { learned_ = learned; }

      private:
        std::unique_ptr<ManualDriver> driver_;
        std::string learned_;
    };

    std::unique_ptr<Drivers> make(net::EventLoop& loop) {
        auto driver = std::make_unique<ManualDriver>(loop, asked_);
        driver_ = driver.get();
        return std::make_unique<Stand>(std::move(driver));
    }

    Inbox<ManualDriver::Asked> asked_;
    Inbox<RunReport> reports_;
    Inbox<PolledSignals> signals_;
    ManualDriver* driver_ = nullptr;
    std::uint64_t runs_ = 0;
    Shard shard_;  // last: its thread uses what stands above
};

// Returns when the thread took a turn: everything given to it before is done.
inline bool answers(Shard& shard) {
    auto answered = std::make_shared<std::promise<void>>();
    auto future = answered->get_future();
    shard.ask_alive([answered](WorkCounts) { answered->set_value(); });
    return future.wait_for(kPatience) == std::future_status::ready;
}
inline bool answers(CoreLoop& core) {
    auto answered = std::make_shared<std::promise<void>>();
    auto future = answered->get_future();
    core.ask([answered](const CoreLoop::View&) { answered->set_value(); });
    return future.wait_for(kPatience) == std::future_status::ready;
}

}  // namespace pollux::runtime::test
