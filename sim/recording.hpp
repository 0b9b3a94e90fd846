// Records what goes into the core to a file, and replays it: the same inputs must give the same
// commands, on any machine and in any later build that claims to decide the same.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "sim/world.hpp"

namespace pollux::sim {

class RecordingWriter : public InputSink {
  public:
    static base::Result<std::unique_ptr<RecordingWriter>> open(const std::string& path);
    ~RecordingWriter() override;

    void process_started(base::Instant now, std::uint32_t epoch,
                         const model::CoreSettings& settings) override;
    void stepped(base::Instant now, std::span<const schedule::Event> events,
                 const schedule::Commands& commands) override;

    // Flushes and closes; an error of any earlier write shows here.
    base::Status close();

  private:
    explicit RecordingWriter(std::FILE* file, std::string path);
    struct State;
    std::unique_ptr<State> state_;
};

struct ReplayResult {
    std::uint64_t processes = 0;
    std::uint64_t steps = 0;
    std::uint64_t events = 0;
    bool same = true;
    std::uint64_t first_difference = 0;  // step
};

base::Result<ReplayResult> replay_recording(const std::string& path);

}  // namespace pollux::sim
