// For the tests of jobs: a desk with a real core loop and a real store, and types whose work the
// test does itself. Included after gtest.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/event_loop.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/jobs/job_desk.hpp"
#include "runtime/runtime_test_support.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::runtime::test {

inline JobType worker_type(std::string name, std::uint32_t weight,
                           std::function<JobResult(const model::JobSpec&, JobControl&)> run) {
    JobType type;
    type.def.name = std::move(name);
    type.def.weight = weight;
    type.def.slots = 0;
    type.def.device = model::JobPlace::kOptional;
    type.def.arguments = {
        {.name = "n", .kind = model::ArgumentKind::kInteger, .low = 0, .high = 1e9}};
    type.host = JobHost::kWorker;
    type.run = [run = std::move(run)](const model::JobSpec& job, const JobSurroundings&,
                                      JobControl& control) { return run(job, control); };
    return type;
}

struct StageOptions {
    std::string folder;
    std::vector<model::ResourceSettings> resources = {};
    std::uint32_t global_slots = 100;
    std::size_t threads = 4;
};

// What a server does with jobs, without the rest of it.
class JobStage {
  public:
    JobStage(StageOptions options, std::vector<JobType> types) {
        auto directory = store::DataDirectory::open(options.folder);
        EXPECT_TRUE(directory) << directory.error().message;
        store_ = store::open_sqlite_store(*directory, [this](engine::StoreAnswer answer,
                                                             const base::Error* why) {
                     if (core_) core_->answer(answer, why);
                 }).value();
        JobTypes all;
        for (JobType& type : types) all.add(std::move(type));
        desk_ = std::make_unique<JobDesk>(*loop_, *store_, lines.log(), std::move(all));
        desk_->on_event([this](const JobEvent& event) { events.push_back(event); });
        auto around = std::make_shared<JobSurroundings>();
        for (const auto& one : options.resources) around->resources[one.name] = one.capacity;
        around->global_slots = options.global_slots;
        desk_->set_surroundings(around);
        open(options);
    }
    ~JobStage() { close(); }

    void close() {
        if (!core_) return;
        core_->stop(std::chrono::seconds(5));
        desk_->stop();
        EXPECT_TRUE(store_->close());
        desk_.reset();
        core_.reset();
    }

    JobDesk& desk() { return *desk_; }
    CoreLoop& core() { return *core_; }
    store::Store& store() { return *store_; }
    net::EventLoop& loop() { return *loop_; }
    std::size_t restored() const { return restored_; }

    // Turns of the loop until the condition holds.
    bool until(const std::function<bool()>& condition,
               std::chrono::seconds patience = std::chrono::seconds(60)) {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) return false;
            loop_->run_once(std::chrono::milliseconds(5));
        }
        return true;
    }
    template <class T, class Ask>
    base::Result<T> answer(Ask ask) {
        auto box = std::make_shared<std::optional<base::Result<T>>>();
        ask([box](base::Result<T> result) { *box = std::move(result); });
        EXPECT_TRUE(until([&] { return box->has_value(); }));
        return std::move(**box);
    }
    base::Result<JobSubmitted> submit(const std::string& text) {
        document::Diagnostics diagnostics;
        config::JobBatch batch = desk_->read(text, "jobs.yaml", diagnostics);
        if (!diagnostics.ok()) return base::config_error("job.invalid", diagnostics.text());
        return answer<JobSubmitted>(
            [&](auto done) { desk_->submit(std::move(batch), "user:test", std::move(done)); });
    }
    JobView get(const std::string& id) {
        auto view = answer<JobView>([&](auto done) { desk_->get(id, std::move(done)); });
        EXPECT_TRUE(view) << (view ? "" : view.error().message);
        return view ? *view : JobView{};
    }
    bool reaches(const std::string& id, model::JobPhase phase) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (std::chrono::steady_clock::now() < end) {
            if (get(id).phase == phase) return true;
        }
        return false;
    }
    base::Status retry(const std::string& id) {
        return answer<void>([&](auto done) { desk_->retry(id, std::move(done)); });
    }
    base::Status hold(const std::string& id) {
        return answer<void>([&](auto done) { desk_->hold(id, std::move(done)); });
    }
    base::Status release(const std::string& id) {
        return answer<void>([&](auto done) { desk_->release(id, std::move(done)); });
    }
    base::Result<std::vector<std::string>> cancel(const std::string& id, bool cascade = false) {
        return answer<std::vector<std::string>>(
            [&](auto done) { desk_->cancel(id, cascade, std::move(done)); });
    }
    JobPage list(JobFilter filter) {
        return answer<JobPage>([&](auto done) { desk_->list(std::move(filter), std::move(done)); })
            .value();
    }

    LogLines lines;
    std::vector<JobEvent> events;
    std::map<std::string, model::JobState> found;  // by key, as the store had them

  private:
    void open(const StageOptions& options) {
        std::map<std::string, model::TaskRecord, std::less<>> records;
        store::LoadVisitor visitor;
        visitor.task = [&](model::TaskRecord&& record) {
            found[record.key] = record.job;
            records.emplace(record.key, std::move(record));
        };
        visitor.job = [&](store::JobRow&& row) { desk_->remember(std::move(row)); };
        const auto loaded = store_->load(visitor).value();
        CoreWiring wiring;
        wiring.dispatch = [](std::size_t, std::vector<RunOrder>) {};
        wiring.cancel = [](std::vector<RunCancel>, std::shared_ptr<const PollPlan>) {};
        desk_->wire(wiring);
        core_ = std::make_unique<CoreLoop>(*store_, lines.log(), std::move(wiring), 1, 100);
        desk_->start(*core_, options.threads);
        model::CoreSettings settings;
        settings.global_rate = 1e6;
        settings.global_slots = options.global_slots;
        settings.resources = options.resources;
        desk_->types().add_classes(settings.classes);
        core_->start(loaded.epoch, loaded.first_change, settings);
        CoreEdit edit;
        auto restored = std::make_shared<std::vector<schedule::RestoredTask>>();
        auto fresh = std::make_shared<std::vector<model::TaskSpec>>();
        desk_->restore(records, edit, *restored, *fresh);
        restored_ = restored->size() + fresh->size();
        edit.restored = restored;
        edit.upserted = fresh;
        std::promise<std::vector<base::Error>> taken;
        core_->edit(std::move(edit),
                    [&](std::vector<base::Error> errors) { taken.set_value(std::move(errors)); });
        const auto errors = taken.get_future().get();
        EXPECT_TRUE(errors.empty()) << errors.front().message;
    }

    std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::create().value();
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<JobDesk> desk_;
    std::unique_ptr<CoreLoop> core_;
    std::size_t restored_ = 0;
};

}  // namespace pollux::runtime::test
