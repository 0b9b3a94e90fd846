// A core loop whose shards are played by the test, and a store that answers when it is told to.
// Included after gmock.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core_loop.hpp"
#include "runtime/runtime_test_support.hpp"
#include "schedule/core_test_support.hpp"
#include "store/memory/memory_store.hpp"

namespace pollux::runtime::test {

// A store that answers when it is told to, and may refuse.
class ToldStore final : public store::Store {
  public:
    base::Result<store::LoadedState> load(const store::LoadVisitor&) override { return {}; }
    base::Status submit(std::shared_ptr<const engine::WriteBatch> batch) override {
        batches.put(batch);
        if (refusals.fetch_sub(1) > 0) {
            return base::make_error(base::ErrorClass::kTransient, "store.queue_full", "full");
        }
        return {};
    }
    base::Status submit(store::ObjectBatch, store::ObjectDone) override { return {}; }
    base::Status submit(store::MemoryBatch, store::MemoryDone) override { return {}; }
    base::Status submit(store::ObservationBatch, store::ObservationDone) override { return {}; }
    base::Status submit(store::AuditBatch, store::AuditDone) override { return {}; }
    base::Status submit(store::JobBatch, store::JobDone) override { return {}; }
    base::Status submit(store::AlertBatch batch, store::AlertDone done) override {
        alert_batches.emplace_back(std::move(batch), std::move(done));
        return {};
    }
    store::AlertReader& alert_reader() override { return alerts_; }
    base::Result<std::vector<model::JobRun>> job_runs(const std::string&) override { return {}; }
    base::Status back_up(const std::string&, const std::function<bool()>&) override { return {}; }
    base::Status compact() override { return {}; }
    void flush() override {}
    base::Status close() override { return {}; }
    base::Result<std::vector<store::StoredChange>> changes(const store::ChangeQuery&) override {
        return {};
    }
    base::Result<std::vector<store::Observation>> observations(
        const store::ObservationQuery&) override {
        return {};
    }
    base::Result<std::vector<store::SettingsVersion>> settings_versions(std::uint64_t,
                                                                        std::size_t) override {
        return {};
    }
    base::Result<std::vector<store::AuditRecord>> audit(const store::AuditQuery&) override {
        return {};
    }
    store::AuditHead audit_head() override { return {}; }
    store::StoreStats stats() const override { return {}; }

    Inbox<std::shared_ptr<const engine::WriteBatch>> batches;
    std::vector<std::pair<store::AlertBatch, store::AlertDone>> alert_batches;  // of one thread
    std::atomic<int> refusals = 0;

  private:
    std::mutex mutex_;
    store::MemoryAlerts no_alerts_;
    store::MemoryAlertReader alerts_{mutex_, no_alerts_};
};

struct Dispatched {
    std::size_t shard = 0;
    RunOrder order;
};

// A core whose shards are played by the test, over the memory store or one that is told.
class CoreStage {
  public:
    explicit CoreStage(ToldStore* told = nullptr, engine::PumpOptions pump = {},
                       EventFeed* events = nullptr) {
        if (told == nullptr) {
            store_ = store::open_memory_store(
                disk, [this](engine::StoreAnswer answer, const base::Error* why) {
                    core->answer(answer, why);
                });
            EXPECT_TRUE(store_->load({}));
        }
        CoreWiring wiring;
        wiring.dispatch = [this](std::size_t shard, std::vector<RunOrder> all) {
            for (RunOrder& order : all) orders.put({shard, std::move(order)});
        };
        wiring.cancel = [this](std::vector<RunCancel> all, std::shared_ptr<const PollPlan>) {
            for (const RunCancel& one : all) cancels.put(one);
        };
        wiring.forgotten = [this](std::uint32_t, const PollPlan& plan) { forgotten.put(plan.key); };
        wiring.published = [this](const engine::TaskChange& change) { published.put(change); };
        wiring.events = events;
        store::Store& used = told == nullptr ? *store_ : static_cast<store::Store&>(*told);
        core = std::make_unique<CoreLoop>(used, lines.log(), std::move(wiring), 2, 100);
        core->start(1, 40, schedule::wide_settings({"lamp"}), pump);
    }
    ~CoreStage() {
        core->stop(std::chrono::seconds(0));
        if (store_) store_->close().value();
    }

    void flush() { store_->flush(); }
    std::vector<base::Error> edit(CoreEdit edit) {
        Inbox<std::vector<base::Error>> box;
        core->edit(std::move(edit), [&](std::vector<base::Error> errors) { box.put(errors); });
        return box.wait_for(1).at(0);
    }
    // One lamp that is polled every minute, and its first run.
    RunOrder add(const std::shared_ptr<const PollPlan>& plan) {
        const std::size_t before = orders.size();
        EXPECT_THAT(edit(with({schedule::poll(plan->key)}, {plan})), testing::IsEmpty());
        return orders.wait_for(before + 1).at(before).order;
    }
    static CoreEdit with(std::vector<model::TaskSpec> specs,
                         std::vector<std::shared_ptr<const PollPlan>> plans) {
        CoreEdit edit;
        edit.upserted = std::make_shared<const std::vector<model::TaskSpec>>(std::move(specs));
        edit.plans = std::move(plans);
        return edit;
    }
    base::Status operate(schedule::OperatorVerb verb, std::string key) {
        Inbox<base::Status> box;
        core->operate({verb, std::move(key), 0}, [&](base::Status status) { box.put(status); });
        return box.wait_for(1).at(0);
    }
    void report(const RunOrder& order, model::Outcome outcome, std::string message = "") {
        RunReport report;
        report.task = order.task;
        report.run = order.run;
        report.trigger = order.trigger;
        report.outcome = outcome;
        if (!model::is_success(outcome)) {
            report.kind = model::FailureKind::kTimeout;
            report.code = "http.timeout";
            report.message = std::move(message);
        }
        core->deliver({report});
    }
    template <class Answer>
    Answer ask(std::function<Answer(const CoreLoop::View&)> question) {
        Inbox<Answer> box;
        core->ask([&](const CoreLoop::View& view) { box.put(question(view)); });
        return box.wait_for(1).at(0);
    }
    std::optional<CoreLoop::LastFailure> failure_of(const std::string& key) {
        return ask<std::optional<CoreLoop::LastFailure>>([&](const CoreLoop::View& view) {
            const auto found = view.failures.find(view.engine.core().find(key).index);
            return found == view.failures.end() ? std::nullopt : std::optional(found->second);
        });
    }
    // Asks until it holds: turns of the core come one after the other.
    bool holds(std::function<bool(const CoreLoop::View&)> condition) {
        const auto end = std::chrono::steady_clock::now() + kPatience;
        while (std::chrono::steady_clock::now() < end) {
            if (ask<bool>(condition)) return true;
        }
        return false;
    }

    LogLines lines{observe::LogLevel::kDebug};
    Inbox<Dispatched> orders;
    Inbox<RunCancel> cancels;
    Inbox<std::string> forgotten;
    Inbox<engine::TaskChange> published;
    std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>();
    std::unique_ptr<CoreLoop> core;

  private:
    std::unique_ptr<store::Store> store_;
};

}  // namespace pollux::runtime::test
