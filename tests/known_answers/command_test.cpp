#include "tests/known_answers/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace pollux::known_answers {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

struct Answer {
    int code = 0;
    std::string out;
    std::string err;
};

Answer command(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = run_command(arguments, out, err);
    return {code, out.str(), err.str()};
}

// A file that is gone after the test; the name is the process's own, tests run side by side.
class TemporaryFile {
  public:
    explicit TemporaryFile(std::string_view text)
        : path_(std::filesystem::temp_directory_path() /
                ("known_answers_" + std::to_string(::getpid()) + ".json")) {
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

Answer command_on(std::string_view vectors) {
    const TemporaryFile file("{\"vectors\": [" + std::string(vectors) + "]}");
    return command({file.path()});
}

constexpr std::string_view kGood =
    R"({"name": "good", "category": "clamp", "inputs": {"v": 5, "min": 0, "max": 3},
        "expected": {"value": 3}})";
constexpr std::string_view kWrong =
    R"({"name": "wrong", "category": "clamp", "inputs": {"v": 5, "min": 0, "max": 3},
        "expected": {"value": 4}})";

TEST(Command, CountsAndShowsFailures) {
    const Answer good = command_on(kGood);
    EXPECT_EQ(good.code, kAllPassed);
    EXPECT_EQ(good.out, "1 passed, 0 failed\n");

    const Answer mixed = command_on(std::string(kGood) + "," + std::string(kWrong));
    EXPECT_EQ(mixed.code, kSomeFailed);
    EXPECT_EQ(mixed.out,
              "FAILED wrong (clamp)\n"
              "  inputs:   {\"v\":5,\"min\":0,\"max\":3}\n"
              "  expected: {\"value\":4}\n"
              "  value: expected 4, got 3\n"
              "1 passed, 1 failed\n");
}

TEST(Command, ArgumentsAndHelp) {
    EXPECT_EQ(command({"--help"}).code, kAllPassed);
    EXPECT_THAT(command({"-h"}).out, HasSubstr("usage: known_answers"));
    EXPECT_EQ(command({}).code, kNotRun);
    EXPECT_THAT(command({}).err, HasSubstr("FILE is missing"));
    EXPECT_THAT(command({"--lst"}).err, HasSubstr("unknown option \"--lst\""));
    EXPECT_THAT(command({"a", "b"}).err, HasSubstr("\"b\" is the second"));
    EXPECT_EQ(command({"a", "b"}).code, kNotRun);
}

TEST(Command, Lists) {
    const TemporaryFile file("{\"vectors\": [" + std::string(kWrong) + "]}");
    const Answer cases = command({"--list", file.path()});
    EXPECT_EQ(cases.code, kAllPassed);
    EXPECT_EQ(cases.out, "clamp              wrong\n");
    const Answer categories = command({"--list"});
    EXPECT_EQ(categories.code, kAllPassed);
    EXPECT_THAT(categories.out, AllOf(HasSubstr("backoff\n"), HasSubstr("queue_snapshot\n")));
}

TEST(Command, UnusableFiles) {
    const Answer missing = command({"/nonexistent.json"});
    EXPECT_EQ(missing.code, kNotRun);
    EXPECT_EQ(missing.err,
              "known_answers: cannot read /nonexistent.json: No such file or directory\n");
    const TemporaryFile file("{]");
    const Answer broken = command({file.path()});
    EXPECT_EQ(broken.code, kNotRun);
    EXPECT_THAT(broken.err, AllOf(HasSubstr(file.path()), HasSubstr("line 1, column 2")));
}

TEST(Command, BadCasesFailByName) {
    const Answer unknown =
        command_on(R"({"name": "odd", "category": "clmp", "inputs": {}, "expected": {}})");
    EXPECT_EQ(unknown.code, kSomeFailed);
    EXPECT_THAT(unknown.out, AllOf(HasSubstr("FAILED odd"), HasSubstr("\"clmp\" is unknown")));
    const Answer missing = command_on(
        R"({"name": "odd", "category": "clamp", "inputs": {"v": 1, "min": 0},
            "expected": {"value": 1}})");
    EXPECT_EQ(missing.code, kSomeFailed);
    EXPECT_THAT(missing.out,
                AllOf(HasSubstr("FAILED odd"), HasSubstr("inputs.max: missing field")));
    EXPECT_THAT(command_on("7").out, EndsWith("must be an object\n0 passed, 1 failed\n"));
}

}  // namespace
}  // namespace pollux::known_answers
