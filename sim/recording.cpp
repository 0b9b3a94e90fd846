// The file: "PLXREC", a version byte, then frames to the end:
//
//   varint length of what follows up to the checksum
//   u8     kind
//   ...    fields
//   u32    checksum of kind and fields: a damaged file must not look like a core that decides
//          differently
//
//   process  boot and wall time, epoch, settings
//   step     boot and wall time, the tasks whose row was taken since the step before, events, hash
//            of the commands
//   end      number of steps; without it the file was cut off
//
// Taking a task's row is an input too: from then on the core asks for the next one. The writer does
// not see it happen, but knows it from the commands, see taken_before().
#include "sim/recording.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/siphash.hpp"
#include "base/text.hpp"
#include "engine/command_hash.hpp"
#include "engine/event_codec.hpp"
#include "model/validate.hpp"
#include "schedule/scheduler_core.hpp"

namespace pollux::sim {
namespace {

using base::ByteReader;
using base::ByteWriter;
using engine::FieldReader;
using model::TaskHandle;
using schedule::Event;

constexpr std::string_view kMagic = "PLXREC";
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kMaxFrame = std::size_t{1} << 30U;
constexpr std::size_t kFlushAt = std::size_t{1} << 20U;
constexpr std::size_t kReadAtOnce = std::size_t{1} << 16U;
constexpr std::size_t kLeastHandleBytes = 2;
constexpr base::SipKey kChecksumKey{0x7265636f7264ULL, 0x6672616d65ULL};

enum class FrameKind : std::uint8_t { kProcess, kStep, kEnd };

std::uint32_t checksum(std::string_view bytes) {
    return static_cast<std::uint32_t>(base::siphash24(kChecksumKey, bytes));
}

std::string error_text(int number) { return std::generic_category().message(number); }

void write_now(ByteWriter& out, base::Instant now) {
    out.zigzag(now.boot.ns);
    out.zigzag(now.wall.us);
}

base::Instant read_now(FieldReader& in) {
    base::Instant now;
    now.boot = in.boot("now.boot");
    now.wall = in.wall("now.wall");
    return now;
}

// A task asks for a write-behind only if its row was taken after it last asked, or if it never did.
std::vector<TaskHandle> taken_before(const schedule::Commands& commands) {
    std::vector<TaskHandle> taken;
    std::set<TaskHandle> seen;
    for (const schedule::PersistTask& persist : commands.persists) {
        const bool first = seen.insert(persist.task).second;
        if (first && persist.durability == schedule::Durability::kWriteBehind) {
            taken.push_back(persist.task);
        }
    }
    return taken;
}

}  // namespace

struct RecordingWriter::State {
    std::FILE* file = nullptr;
    std::string path;
    ByteWriter buffer;
    std::uint64_t steps = 0;
    base::Status status;  // of the first write that failed; nothing is written after that

    void flush() {
        if (status && std::fwrite(buffer.view().data(), 1, buffer.size(), file) < buffer.size()) {
            fail(fmt::format("writing failed: {}", error_text(errno)));
        }
        buffer.clear();
    }
    void frame(const ByteWriter& content) {
        if (content.size() > kMaxFrame) {
            fail(fmt::format("step {} takes {} bytes, at most {} are allowed", steps,
                             content.size(), kMaxFrame));
        }
        if (!status) return;
        buffer.varint(content.size());
        buffer.raw(content.view());
        buffer.u32(checksum(content.view()));
        if (buffer.size() >= kFlushAt) flush();
    }
    void fail(const std::string& why) {
        if (!status) return;
        status = base::config_error(
            "recording.write",
            fmt::format("recording {}: {}: free some space or choose another file", path, why));
    }
};

RecordingWriter::RecordingWriter(std::FILE* file, std::string path)
    : state_(std::make_unique<State>()) {
    state_->file = file;
    state_->path = std::move(path);
    state_->buffer.raw(kMagic);
    state_->buffer.u8(kVersion);
}

RecordingWriter::~RecordingWriter() {
    if (state_->file == nullptr) return;
    state_->flush();
    std::fclose(state_->file);
}

base::Result<std::unique_ptr<RecordingWriter>> RecordingWriter::open(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        return base::config_error(
            "recording.open",
            fmt::format("recording {} cannot be written: {}", path, error_text(errno)));
    }
    std::setvbuf(file, nullptr, _IONBF, 0);  // ours is enough, and errors show where they happen
    return std::unique_ptr<RecordingWriter>(new RecordingWriter(file, path));
}

void RecordingWriter::process_started(base::Instant now, std::uint32_t epoch,
                                      const model::CoreSettings& settings) {
    ByteWriter content;
    content.u8(std::to_underlying(FrameKind::kProcess));
    write_now(content, now);
    content.varint(epoch);
    engine::encode(content, settings);
    state_->frame(content);
}

void RecordingWriter::stepped(base::Instant now, std::span<const Event> events,
                              const schedule::Commands& commands) {
    ByteWriter content;
    content.u8(std::to_underlying(FrameKind::kStep));
    write_now(content, now);
    const std::vector<TaskHandle> taken = taken_before(commands);
    content.varint(taken.size());
    for (const TaskHandle task : taken) {
        content.varint(task.index);
        content.varint(task.generation);
    }
    content.u64(engine::hash_commands(0, commands));
    content.varint(events.size());
    for (const Event& event : events) engine::encode(content, event);
    ++state_->steps;
    state_->frame(content);
}

base::Status RecordingWriter::close() {
    if (state_->file == nullptr) return state_->status;
    ByteWriter content;
    content.u8(std::to_underlying(FrameKind::kEnd));
    content.varint(state_->steps);
    state_->frame(content);
    state_->flush();
    std::FILE* file = std::exchange(state_->file, nullptr);
    if (std::fclose(file) != 0) {
        state_->fail(fmt::format("closing failed: {}", error_text(errno)));
    }
    return state_->status;
}

namespace {

class Replay {
  public:
    explicit Replay(std::string path) : path_(std::move(path)) {}
    ~Replay() {
        if (file_ != nullptr) std::fclose(file_);
    }
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

    base::Result<ReplayResult> run() {
        if (auto status = open(); !status) return std::unexpected(std::move(status.error()));
        while (!ended_ && result_.same) {
            if (auto status = next_frame(); !status) {
                return std::unexpected(std::move(status.error()));
            }
        }
        return result_;
    }

  private:
    base::Status open();
    base::Status next_frame();
    base::Result<std::size_t> read_length();
    base::Status read_bytes(std::size_t length, std::string& bytes);
    base::Status take(std::string_view content);
    base::Status take_process(ByteReader& in);
    base::Status take_step(ByteReader& in);
    base::Status take_end(ByteReader& in);
    base::Status error(std::string_view code, std::string_view what) const {
        return base::config_error(
            fmt::format("recording.{}", code),
            fmt::format("recording {}: at offset {}: {}", path_, frame_at_, what));
    }
    base::Status inside(const base::Error& why) const {
        return error("damaged",
                     fmt::format("the frame that begins here cannot be read: {} (counted "
                                 "from its first byte after the length)",
                                 why.message));
    }

    std::string path_;
    std::FILE* file_ = nullptr;
    std::uint64_t offset_ = 0;
    std::uint64_t frame_at_ = 0;
    bool ended_ = false;
    std::unique_ptr<schedule::SchedulerCore> core_;
    schedule::Commands commands_;
    ReplayResult result_;
};

base::Status Replay::open() {
    file_ = std::fopen(path_.c_str(), "rb");
    if (file_ == nullptr) {
        return base::config_error("recording.open", fmt::format("recording {} cannot be read: {}",
                                                                path_, error_text(errno)));
    }
    std::string head;
    auto status = read_bytes(kMagic.size() + 1, head);
    if (!head.starts_with(kMagic) && !kMagic.starts_with(head)) {
        return error("magic", fmt::format("it begins with {}, not with {}: it is no recording",
                                          base::quoted(head), base::quoted(kMagic)));
    }
    if (!status) return status;
    const auto version = static_cast<std::uint8_t>(head.back());
    if (version == kVersion) return {};
    return error("version", fmt::format("found version {}, this program reads {}: replay it with "
                                        "the program that wrote it, or record it again",
                                        version, kVersion));
}

// Appends to `bytes`. Memory grows with what is really there, not with what a length promises.
base::Status Replay::read_bytes(std::size_t length, std::string& bytes) {
    while (length > 0) {
        std::array<char, kReadAtOnce> part;
        const std::size_t wanted = std::min(length, part.size());
        const std::size_t got = std::fread(part.data(), 1, wanted, file_);
        bytes.append(part.data(), got);
        offset_ += got;
        length -= got;
        if (got == wanted) continue;
        if (std::ferror(file_) != 0) return error("read", error_text(errno));
        return error("truncated",
                     fmt::format("the file ends at offset {}, inside of what begins here or before "
                                 "its end mark; the {} steps up to here gave the same commands. It "
                                 "was cut off, or its writer died: record it again",
                                 offset_, result_.steps));
    }
    return {};
}

base::Result<std::size_t> Replay::read_length() {
    std::string bytes;
    do {
        if (auto status = read_bytes(1, bytes); !status) return std::unexpected(status.error());
    } while ((static_cast<unsigned char>(bytes.back()) & 0x80U) != 0 && bytes.size() < 10);
    ByteReader in{std::string_view(bytes)};
    const std::uint64_t length = in.varint();
    if (in.ok() && length > 0 && length <= kMaxFrame) return static_cast<std::size_t>(length);
    return std::unexpected(
        error("damaged", fmt::format("no frame has a length of {} bytes, 1 to {} "
                                     "are possible: the file is damaged",
                                     length, kMaxFrame))
            .error());
}

base::Status Replay::next_frame() {
    frame_at_ = offset_;
    const auto length = read_length();
    if (!length) return std::unexpected(length.error());
    std::string bytes;
    constexpr std::size_t kChecksumBytes = 4;
    if (auto status = read_bytes(*length + kChecksumBytes, bytes); !status) return status;
    const std::string_view content = std::string_view(bytes).substr(0, *length);
    ByteReader tail(std::string_view(bytes).substr(*length));
    if (tail.u32() != checksum(content)) {
        return error("damaged",
                     "the checksum of the frame that begins here is wrong: the file is "
                     "damaged");
    }
    return take(content);
}

base::Status Replay::take(std::string_view content) {
    ByteReader in(content);
    FieldReader fields(in, "frame");
    const auto kind = fields.choice("kind", FrameKind::kEnd);
    if (!fields.ok()) return inside(fields.error());
    base::Status status;
    switch (kind) {
        case FrameKind::kProcess: status = take_process(in); break;
        case FrameKind::kStep: status = take_step(in); break;
        case FrameKind::kEnd: status = take_end(in); break;
    }
    if (status && !in.at_end()) {
        return error("damaged", fmt::format("the frame that begins here has {} bytes too many",
                                            in.remaining()));
    }
    return status;
}

base::Status Replay::take_process(ByteReader& in) {
    FieldReader fields(in, "process frame");
    const base::Instant now = read_now(fields);
    const std::uint32_t epoch = fields.u32("epoch");
    if (!fields.ok()) return inside(fields.error());
    auto settings = engine::decode_core_settings(in);
    if (!settings) return inside(settings.error());
    model::CoreSettings checked = *settings;
    if (auto status = model::validate(checked); !status) return inside(status.error());
    core_ = std::make_unique<schedule::SchedulerCore>(now, epoch, std::move(*settings));
    ++result_.processes;
    return {};
}

base::Status Replay::take_step(ByteReader& in) {
    if (!core_) return error("order", "a step stands before the first process");
    FieldReader fields(in, "step frame");
    const base::Instant now = read_now(fields);
    const auto taken = fields.list<TaskHandle>("taken", kLeastHandleBytes, [](FieldReader& from) {
        TaskHandle task;
        task.index = from.u32("taken.index");
        task.generation = from.u32("taken.generation");
        return task;
    });
    const std::uint64_t wanted = fields.hash("commands");
    std::optional<base::Error> damage;
    const auto events =
        fields.list<Event>("events", engine::kLeastEventBytes, [&](FieldReader&) -> Event {
            auto event = engine::decode_event(in);
            if (event) return std::move(*event);
            damage = std::move(event.error());
            return schedule::Tick{};
        });
    if (damage) return inside(*damage);
    if (!fields.ok()) return inside(fields.error());
    for (const TaskHandle task : taken) {
        if (core_->is_live(task)) static_cast<void>(core_->take_record(task));
    }
    commands_.clear();
    core_->step(now, events, commands_);
    result_.events += events.size();
    result_.same = engine::hash_commands(0, commands_) == wanted;
    ++result_.steps;
    if (!result_.same) result_.first_difference = result_.steps;
    return {};
}

base::Status Replay::take_end(ByteReader& in) {
    FieldReader fields(in, "end frame");
    const std::uint64_t steps = fields.u64("steps");
    if (!fields.ok()) return inside(fields.error());
    if (steps != result_.steps) {
        return error("damaged", fmt::format("the end mark counts {} steps, the file has {}", steps,
                                            result_.steps));
    }
    ended_ = true;
    return {};
}

}  // namespace

base::Result<ReplayResult> replay_recording(const std::string& path) { return Replay(path).run(); }

}  // namespace pollux::sim
