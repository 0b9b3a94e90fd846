#include "sim/recording.hpp"
namespace pollux::sim {
struct RecordingWriter::State {};
RecordingWriter::RecordingWriter(std::FILE*, std::string) {}
RecordingWriter::~RecordingWriter() = default;
base::Result<std::unique_ptr<RecordingWriter>> RecordingWriter::open(const std::string&) { return base::config_error("x", "x"); }
void RecordingWriter::process_started(base::Instant, std::uint32_t, const model::CoreSettings&) {}
void RecordingWriter::stepped(base::Instant, std::span<const schedule::Event>, const schedule::Commands&) {}
base::Status RecordingWriter::close() { return {}; }
base::Result<ReplayResult> replay_recording(const std::string&) { return base::config_error("x", "x"); }
}
