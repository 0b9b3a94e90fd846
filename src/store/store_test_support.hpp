// For the tests of the store: folders that go away, batches, and a sink that remembers answers.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/codec_samples.hpp"
#include "store/store.hpp"

namespace pollux::store {

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "pollux_XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) std::abort();
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

// Shared with the sink it makes, so it may go before the store does.
class Answers {
  public:
    struct Given {
        engine::StoreAnswer answer;
        std::optional<base::Error> why;
    };

    AnswerSink sink() {
        return [state = state_](engine::StoreAnswer answer, const base::Error* why) {
            const std::scoped_lock lock(state->mutex);
            state->given.push_back({answer, why ? std::optional(*why) : std::nullopt});
        };
    }
    std::vector<Given> all() const {
        const std::scoped_lock lock(state_->mutex);
        return state_->given;
    }

  private:
    struct State {
        std::mutex mutex;
        std::vector<Given> given;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

inline model::TaskRecord task_row(const std::string& key, std::uint32_t attempt = 1) {
    model::TaskRecord record = engine::sample_record();
    record.key = key;
    record.attempt = attempt;
    return record;
}

inline engine::TaskChange task_change(std::uint64_t number, const std::string& key) {
    engine::TaskChange change;
    change.number = number;
    change.key = key;
    change.change.kind = schedule::ChangeKind::kBreaker;
    change.change.from = 0;
    change.change.to = 1;
    change.change.failures = 3;
    change.at = base::WallTime{1'700'000'000'000'000 + static_cast<std::int64_t>(number)};
    return change;
}

inline std::shared_ptr<engine::WriteBatch> task_batch(std::uint64_t sequence,
                                                      std::vector<model::TaskRecord> rows = {},
                                                      std::vector<std::string> removed = {}) {
    auto batch = std::make_shared<engine::WriteBatch>();
    batch->sequence = sequence;
    batch->rows = std::move(rows);
    batch->removed = std::move(removed);
    return batch;
}

inline model::ConfigObject config_object(const std::string& id, const std::string& name,
                                         const std::string& body = "{}") {
    return {model::ObjectKind::kDevice, id, name, model::Origin::kApi, 0, base::WallTime{5}, body};
}

// Everything a store holds.
struct Loaded {
    LoadedState state;
    std::vector<model::ConfigObject> objects;
    std::vector<model::TaskRecord> tasks;
    std::vector<MemoryRow> memory;
};

inline base::Result<Loaded> load_all(Store& store) {
    Loaded loaded;
    LoadVisitor visitor;
    visitor.object = [&](auto&& object) { loaded.objects.push_back(std::move(object)); };
    visitor.task = [&](auto&& task) { loaded.tasks.push_back(std::move(task)); };
    visitor.memory = [&](auto&& row) { loaded.memory.push_back(std::move(row)); };
    auto state = store.load(visitor);
    if (!state) return std::unexpected(state.error());
    loaded.state = *state;
    return loaded;
}

// Submits and waits.
inline base::Result<ObjectCommit> apply(Store& store, ObjectBatch batch) {
    auto result = std::make_shared<std::optional<base::Result<ObjectCommit>>>();
    auto accepted = store.submit(std::move(batch), [result](auto answer) { *result = answer; });
    if (!accepted) return std::unexpected(accepted.error());
    store.flush();
    return result->value();
}

}  // namespace pollux::store
