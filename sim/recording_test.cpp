#include "sim/recording.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include "base/bytes.hpp"
#include "sim/fault_presets.hpp"

namespace pollux::sim {
namespace {

using namespace std::chrono_literals;
using schedule::Event;

// A file in a folder of its own, so that two runs of this test do not meet.
class TempFile {
  public:
    TempFile() : folder_(testing::TempDir() + "pollux-recording-XXXXXX") {
        EXPECT_NE(mkdtemp(folder_.data()), nullptr);
        path_ = folder_ + "/file";
    }
    ~TempFile() {
        std::remove(path_.c_str());
        std::remove(folder_.c_str());
    }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;

    const std::string& path() const { return path_; }
    std::string read() const {
        std::FILE* file = std::fopen(path_.c_str(), "rb");
        std::string bytes(std::size_t{1} << 24U, '\0');
        bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
        std::fclose(file);
        return bytes;
    }
    void write(std::string_view bytes) const {
        std::FILE* file = std::fopen(path_.c_str(), "wb");
        EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
        std::fclose(file);
    }

  private:
    std::string folder_;
    std::string path_;
};

// Passes everything on, after `edit` had a look at each event.
class EditingSink : public InputSink {
  public:
    EditingSink(InputSink& to, const World& world) : to_(to), world_(world) {}

    std::function<void(Event&)> edit;

    void process_started(base::Instant now, std::uint32_t epoch,
                         const model::CoreSettings& settings) override {
        announced_ = true;
        to_.process_started(now, epoch, settings);
    }
    void stepped(base::Instant now, std::span<const Event> events,
                 const schedule::Commands& commands) override {
        // The world's first process starts in its constructor, before anybody can listen.
        if (!announced_) process_started(now, 1, world_.engine().core().settings());
        std::vector<Event> edited(events.begin(), events.end());
        if (edit) {
            for (Event& event : edited) edit(event);
        }
        to_.stepped(now, edited, commands);
    }

  private:
    InputSink& to_;
    const World& world_;
    bool announced_ = false;
};

WorldOptions stormy() {
    WorldOptions options;
    options.targets = 60;
    options.budget = 6;
    options.hours = 0.3;
    options.warmup_hours = 0.2;
    apply_fault_preset("storm", options);
    options.faults.until_s = 0;  // so short a world has faults to its end
    options.faults.crash_every_s = 300;
    options.faults.settings_every_s = 200;
    return options;
}

WorldReport record_storm(const std::string& path, const std::function<void(Event&)>& edit = {}) {
    World world(stormy());
    auto writer = RecordingWriter::open(path);
    EXPECT_TRUE(writer);
    EditingSink sink(**writer, world);
    sink.edit = edit;
    world.record_to(&sink);
    const WorldReport report = world.run();
    const auto closed = (*writer)->close();
    EXPECT_TRUE(closed) << closed.error().message;
    EXPECT_TRUE((*writer)->close()) << "closing twice does nothing";
    return report;
}

TEST(Recording, ReplayOfAStormGivesTheSameCommands) {
    const TempFile file;
    const WorldReport report = record_storm(file.path());
    const auto replayed = replay_recording(file.path());
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_TRUE(replayed->same) << replayed->first_difference;
    EXPECT_EQ(replayed->first_difference, 0u);
    EXPECT_EQ(replayed->processes, report.restarts + 1);
    EXPECT_GE(report.restarts, 1u) << "a storm without a crash proves less";
    EXPECT_GT(replayed->steps, 5'000u);
    EXPECT_GT(replayed->events, report.starts / 2);
}

// Changes what a few events say (one alone may come while adaptive polling is off),
// and expects the replay to end in a difference.
void expect_difference(const std::function<void(schedule::RunFinished&)>& change) {
    const TempFile file;
    int results = 0;
    record_storm(file.path(), [&](Event& event) {
        auto* result = std::get_if<schedule::RunFinished>(&event);
        const bool good = result != nullptr && result->outcome == model::Outcome::kOk;
        if (!good || !result->has_digest) return;
        if (++results >= 1000 && results % 100 == 0) change(*result);
    });
    const auto replayed = replay_recording(file.path());
    ASSERT_TRUE(replayed) << replayed.error().message;
    EXPECT_FALSE(replayed->same);
    EXPECT_EQ(replayed->first_difference, replayed->steps) << "it stops there";
    EXPECT_GT(replayed->first_difference, 500u);
}

TEST(Recording, ADifferentOutcomeShows) {
    expect_difference([](schedule::RunFinished& r) { r.outcome = model::Outcome::kTransient; });
}

TEST(Recording, ADifferentDigestShows) {
    expect_difference([](schedule::RunFinished& r) { r.digest ^= 1U; });
}

TEST(Recording, DamageIsFoundWhereverItIs) {
    const TempFile file;
    record_storm(file.path());
    const std::string bytes = file.read();
    ASSERT_GT(bytes.size(), 100'000u);
    for (std::size_t at = 0; at < bytes.size(); at += at < 200 ? 7 : 99'991) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        file.write(damaged);
        const auto replayed = replay_recording(file.path());
        ASSERT_FALSE(replayed) << "flipped a bit at " << at;
        ASSERT_NE(replayed.error().message.find(file.path()), std::string::npos);
        ASSERT_NE(replayed.error().message.find("at offset"), std::string::npos);
    }
}

// A recording made by hand: one core, a few steps. Small enough to be cut everywhere.
std::string small_recording(int steps) {
    const TempFile file;
    auto writer = RecordingWriter::open(file.path());
    EXPECT_TRUE(writer);
    model::CoreSettings settings;
    settings.classes.emplace_back().name = "a";
    base::Instant now{base::BootTime{1}, base::WallTime{2}};
    schedule::SchedulerCore core(now, 1, settings);
    (*writer)->process_started(now, 1, settings);
    schedule::Commands commands;
    for (int i = 0; i < steps; ++i) {
        auto specs = std::make_shared<std::vector<model::TaskSpec>>(1);
        specs->front().key = "a::" + std::to_string(i % 10);
        specs->front().cadence = model::Cadence::fixed(10s);
        const std::vector<Event> events = {schedule::TasksUpserted{specs, 1}, schedule::Tick{}};
        now.boot += 1s;
        now.wall += 1s;
        commands.clear();
        core.step(now, events, commands);
        for (const auto& persist : commands.persists) core.take_record(persist.task);
        (*writer)->stepped(now, events, commands);
    }
    EXPECT_TRUE((*writer)->close());
    return file.read();
}

TEST(Recording, CutOffAnywhereIsACleanError) {
    const TempFile file;
    const std::string bytes = small_recording(12);
    file.write(bytes);
    const auto whole = replay_recording(file.path());
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_TRUE(whole->same);
    EXPECT_EQ(whole->steps, 12u);
    EXPECT_EQ(whole->events, 24u);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        file.write(std::string_view(bytes).substr(0, length));
        const auto replayed = replay_recording(file.path());
        ASSERT_FALSE(replayed) << length;
        ASSERT_EQ(replayed.error().code, "recording.truncated") << replayed.error().message;
    }
}

TEST(Recording, CutOffStormIsACleanError) {
    const TempFile file;
    record_storm(file.path());
    const std::string bytes = file.read();
    // Every thousandth offset of the first part, and further on ever fewer: each replays from the
    // beginning.
    for (std::size_t length = 1000; length < bytes.size();
         length += length < 40'000 ? 1000 : length / 1000 * 100) {
        file.write(std::string_view(bytes).substr(0, length));
        const auto replayed = replay_recording(file.path());
        ASSERT_FALSE(replayed) << length;
        ASSERT_EQ(replayed.error().code, "recording.truncated") << replayed.error().message;
        const std::string end = "ends at offset " + std::to_string(length);
        ASSERT_NE(replayed.error().message.find(end), std::string::npos);
    }
}

TEST(Recording, SmallFilesSurviveEveryFlip) {
    const TempFile file;
    const std::string bytes = small_recording(3);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const int bit : {0, 3, 7}) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
            file.write(damaged);
            ASSERT_FALSE(replay_recording(file.path())) << at;
        }
    }
}

base::Error error_of(std::string_view bytes) {
    const TempFile file;
    file.write(bytes);
    const auto replayed = replay_recording(file.path());
    EXPECT_FALSE(replayed);
    return replayed ? base::Error{} : replayed.error();
}

TEST(Recording, RefusesWhatIsNoRecording) {
    EXPECT_EQ(error_of("#!/bin/sh\n").code, "recording.magic");
    EXPECT_EQ(error_of("").code, "recording.truncated");
    const auto newer = error_of("PLXREC\x02");
    EXPECT_EQ(newer.code, "recording.version");
    EXPECT_NE(newer.message.find("found version 2, this program reads 1"), std::string::npos);
    const auto huge = error_of(std::string("PLXREC\x01") + "\xff\xff\xff\xff\x7f");
    EXPECT_EQ(huge.code, "recording.damaged");
    EXPECT_NE(huge.message.find("at offset 7"), std::string::npos) << huge.message;
    EXPECT_EQ(error_of(std::string("PLXREC\x01\x00", 8)).code, "recording.damaged");
}

TEST(Recording, RefusesAStepWithoutAProcess) {
    const TempFile file;
    auto writer = RecordingWriter::open(file.path());
    ASSERT_TRUE(writer);
    (*writer)->stepped({}, {}, {});
    ASSERT_TRUE((*writer)->close());
    const auto replayed = replay_recording(file.path());
    ASSERT_FALSE(replayed);
    EXPECT_EQ(replayed.error().code, "recording.order");
}

TEST(Recording, RefusesSettingsThatAreNotAllowed) {
    const TempFile file;
    auto writer = RecordingWriter::open(file.path());
    ASSERT_TRUE(writer);
    model::CoreSettings settings;
    settings.global_rate = -1;
    (*writer)->process_started({}, 1, settings);
    ASSERT_TRUE((*writer)->close());
    const auto replayed = replay_recording(file.path());
    ASSERT_FALSE(replayed);
    EXPECT_NE(replayed.error().message.find("global_rate"), std::string::npos);
}

TEST(Recording, ErrorsOfTheFileSystemNameTheFile) {
    const std::string nowhere = testing::TempDir() + "no-such-folder/file";
    const auto writer = RecordingWriter::open(nowhere);
    ASSERT_FALSE(writer);
    EXPECT_NE(writer.error().message.find(nowhere), std::string::npos);
    EXPECT_NE(writer.error().message.find("No such file"), std::string::npos);
    const auto missing = replay_recording(nowhere);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, "recording.open");
    const auto folder = replay_recording(testing::TempDir());
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().code, "recording.read") << folder.error().message;
}

TEST(Recording, AFullDiskShowsWhenClosing) {
    auto writer = RecordingWriter::open("/dev/full");
    if (!writer) GTEST_SKIP() << "no /dev/full here";
    (*writer)->process_started({}, 1, {});
    // More than one buffer, so that the error comes in the middle.
    for (int i = 0; i < 100; ++i) {
        const std::vector<Event> events = {schedule::TaskRemoved{std::string(50'000, 'x'), 1}};
        (*writer)->stepped({}, events, {});
    }
    const auto closed = (*writer)->close();
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code, "recording.write");
    EXPECT_NE(closed.error().message.find("/dev/full"), std::string::npos);
    EXPECT_NE(closed.error().message.find("No space left"), std::string::npos);
    EXPECT_FALSE((*writer)->close()) << "asked again, it says the same";
}

// A writer that is dropped leaves what it had, but no end mark.
TEST(Recording, WithoutCloseItCountsAsCutOff) {
    const TempFile file;
    {
        auto writer = RecordingWriter::open(file.path());
        ASSERT_TRUE(writer);
        model::CoreSettings settings;
        (*writer)->process_started({}, 1, settings);
    }
    const auto replayed = replay_recording(file.path());
    ASSERT_FALSE(replayed);
    EXPECT_EQ(replayed.error().code, "recording.truncated");
}

}  // namespace
}  // namespace pollux::sim
