// Watches everything the engine does from outside, with its own small model of what is allowed, and
// counts what must never happen. Shares no code with the core: a mistake there cannot hide here.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "engine/engine.hpp"
#include "model/settings.hpp"

namespace pollux::sim {

class Invariants {
  public:
    explicit Invariants(const model::CoreSettings& settings);

    // A process starts: nothing is in flight any more, the rate budget starts anew.
    void new_process(std::uint32_t epoch, base::BootTime now);
    void settings_changed(const model::CoreSettings& settings);
    void edited(const std::string& key) { edited_.insert(key); }

    // After every step of the engine.
    void after_step(base::BootTime now, const engine::Engine& engine, const engine::Output& out);
    void batch_committed(std::uint64_t sequence);

    // A result was handed to the engine: was its run still open?
    void finished(model::TaskHandle task, model::RunId run);

    // Looks at every task; called now and then, and at the end.
    void full_check(base::BootTime now, const engine::Engine& engine);
    void quiet_check(base::BootTime now, const engine::Engine& engine);

    std::uint64_t violations() const { return violations_; }
    const std::vector<std::string>& first_ones() const { return texts_; }

  private:
    void violated(base::BootTime now, const std::string& what);
    void check_start(base::BootTime now, const engine::Engine& engine,
                     const schedule::StartRun& start);
    void check_visible(base::BootTime now, const engine::TaskChange& change);
    void close_run(model::TaskHandle task);

    struct Open {
        model::RunId run;
        std::uint32_t device;
        std::uint16_t class_index;
    };

    model::CoreSettings settings_;
    double burst_ = 50;
    double tokens_ = 50;
    base::BootTime tokens_at_;
    std::map<std::uint32_t, Open> open_;  // by task index
    std::map<std::uint32_t, std::uint32_t> per_device_;
    std::set<std::uint64_t> committed_;  // change numbers
    std::map<std::uint64_t, std::vector<std::uint64_t>> batches_;
    std::uint64_t last_visible_ = 0;
    std::set<std::string> edited_;
    std::uint32_t epoch_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t violations_ = 0;
    std::vector<std::string> texts_;
};

}  // namespace pollux::sim
