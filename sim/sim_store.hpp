// A store in memory that behaves like one on disk: a batch becomes durable when its commit is done,
// and a crash before that loses it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/persistence_pump.hpp"
#include "model/task_record.hpp"
#include "model/task_spec.hpp"
#include "schedule/event.hpp"

namespace pollux::sim {

class SimStore {
  public:
    // The API stores what it was asked to add before it answers: no loss is allowed there.
    void put_spec(const model::TaskSpec& spec) { specs_[spec.key] = spec; }
    void remove_spec(const std::string& key) {
        specs_.erase(key);
        rows_.erase(key);
    }

    void begin(std::shared_ptr<const engine::WriteBatch> batch, std::int64_t done_at_ns,
               bool fails) {
        under_way_ = Commit{std::move(batch), done_at_ns, fails};
    }

    std::int64_t next_ns() const { return under_way_ ? under_way_->done_at_ns : INT64_MAX; }

    // The commit that is done by now, if any: applied, or refused.
    std::optional<engine::StoreAnswer> finish(std::int64_t now_ns) {
        if (!under_way_ || under_way_->done_at_ns > now_ns) return std::nullopt;
        const Commit commit = std::move(*under_way_);
        under_way_.reset();
        if (!commit.fails) {
            for (const auto& key : commit.batch->removed) rows_.erase(key);
            for (const auto& row : commit.batch->rows) rows_[row.key] = row;
            for (const auto& change : commit.batch->changes) {
                last_change_ = std::max(last_change_, change.number);
            }
        }
        return engine::StoreAnswer{commit.batch->sequence, !commit.fails};
    }

    void crash() { under_way_.reset(); }

    std::vector<schedule::RestoredTask> load() const {
        std::vector<schedule::RestoredTask> all;
        for (const auto& [key, spec] : specs_) {
            const auto row = rows_.find(key);
            all.push_back({spec, row == rows_.end() ? model::TaskRecord{} : row->second});
        }
        return all;
    }

    const std::map<std::string, model::TaskRecord>& rows() const { return rows_; }
    const std::map<std::string, model::TaskSpec>& specs() const { return specs_; }

  private:
    struct Commit {
        std::shared_ptr<const engine::WriteBatch> batch;
        std::int64_t done_at_ns = 0;
        bool fails = false;
    };
    std::map<std::string, model::TaskSpec> specs_;
    std::map<std::string, model::TaskRecord> rows_;
    std::optional<Commit> under_way_;
    std::uint64_t last_change_ = 0;
};

}  // namespace pollux::sim
