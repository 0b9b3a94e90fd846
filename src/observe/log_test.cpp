#include "observe/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

namespace pollux::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Recorder {
    base::WallTime now{1'700'000'000'000'000};
    std::vector<std::string> lines;

    Log log(LogOptions options = {}) {
        return Log(
            options, [this] { return now; },
            [this](std::string_view line) { lines.emplace_back(line); });
    }
};

TEST(Log, WritesLogfmt) {
    Recorder recorder;
    Log log = recorder.log();
    log.info("started", {{"key", "pve::node 1"}, {"failures", "3"}, {"empty", ""}});
    EXPECT_THAT(recorder.lines, ElementsAre("time=2023-11-14T22:13:20.000Z level=info msg=started "
                                            "key=\"pve::node 1\" failures=3 empty=\"\"\n"));
}

TEST(Log, WritesJson) {
    Recorder recorder;
    Log log = recorder.log({.format = LogFormat::kJson});
    log.warn("a \"b\"", {{"key", "x"}});
    EXPECT_THAT(recorder.lines,
                ElementsAre("{\"time\":\"2023-11-14T22:13:20.000Z\",\"level\":\"warn\","
                            "\"msg\":\"a \\\"b\\\"\",\"key\":\"x\"}\n"));
}

TEST(Log, ADeviceCannotForgeOrFloodALine) {
    Recorder recorder;
    Log log = recorder.log();
    log.info("reply", {{"text", "a\nlevel=error msg=forged\x1b[2J\x7f\t\\"}});
    ASSERT_EQ(recorder.lines.size(), 1U);
    EXPECT_EQ(std::count(recorder.lines[0].begin(), recorder.lines[0].end(), '\n'), 1);
    EXPECT_THAT(recorder.lines[0],
                HasSubstr("a\\nlevel=error msg=forged\\u001b[2J\\u007f\\t\\\\\""));
    // Cut at a whole character: two bytes each, an odd limit would split one.
    std::string umlauts;
    for (int i = 0; i < 3000; ++i) umlauts += "\xC3\xA4";
    log.info("x" + std::string("y"), {{"text", "a" + umlauts}});
    EXPECT_LT(recorder.lines[1].size(), Log::kMaxValueBytes + 200);
    EXPECT_THAT(recorder.lines[1], testing::EndsWith("\xC3\xA4\n"));
}

TEST(Log, LeavesOutWhatIsBelowItsLevel) {
    Recorder recorder;
    Log log = recorder.log();
    log.debug("hidden");
    log.set_level(LogLevel::kDebug);
    log.debug("seen");
    EXPECT_EQ(recorder.lines.size(), 1U);
    EXPECT_EQ(log.lines(LogLevel::kDebug), 1U);
}

TEST(Log, LimitsRepeatsByMessageAndKeyAndCountsWhatItLeftOut) {
    Recorder recorder;
    Log log = recorder.log({.repeats_per_minute = 2});
    for (int i = 0; i < 5; ++i) log.warn("poll failed", {{"key", "a"}});
    log.warn("poll failed", {{"key", "b"}});
    EXPECT_EQ(recorder.lines.size(), 3U);
    recorder.now += std::chrono::minutes(1);
    log.warn("poll failed", {{"key", "a"}});
    EXPECT_THAT(recorder.lines.back(), HasSubstr("left_out=3"));
    log.warn("poll failed", {{"key", "a"}});
    EXPECT_THAT(recorder.lines.back(), testing::Not(HasSubstr("left_out")));
}

TEST(Log, ForgetsRepeatsRatherThanGrowing) {
    Recorder recorder;
    Log log = recorder.log({.repeats_per_minute = 1});
    for (std::size_t i = 0; i <= Log::kMaxRemembered; ++i) log.warn("m" + std::to_string(i));
    log.warn("m" + std::to_string(Log::kMaxRemembered));
    log.warn("m0");  // forgotten, so it passes again
    EXPECT_EQ(recorder.lines.size(), Log::kMaxRemembered + 2);
}

TEST(Log, LinesOfSeveralThreadsDoNotMix) {
    std::array<int, 2> fds{};
    ASSERT_EQ(pipe(fds.data()), 0);
    Log log({.repeats_per_minute = 0}, [] { return base::WallTime{}; }, descriptor_sink(fds[1]));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&log] {
            for (int i = 0; i < 50; ++i) log.info("0123456789");
        });
    }
    for (auto& thread : threads) thread.join();
    close(fds[1]);
    std::string all;
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = read(fds[0], buffer.data(), buffer.size())) > 0;) {
        all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    close(fds[0]);
    const std::string line = "time=1970-01-01T00:00:00.000Z level=info msg=0123456789\n";
    ASSERT_EQ(all.size(), 200 * line.size());
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(all.substr(i * line.size(), line.size()), line);
}

}  // namespace
}  // namespace pollux::observe
