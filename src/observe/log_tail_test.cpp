#include "observe/log_tail.hpp"

#include <gtest/gtest.h>

namespace pollux::observe {
namespace {

TEST(LogTail, KeepsTheNewestLinesInOrder) {
    LogTail tail(2);
    for (const char* line : {"one\n", "two\n", "three\n"}) tail.add(line);
    EXPECT_EQ(tail.text(), "two\nthree\n");
}

TEST(LogTail, IsBoundedInBytes) {
    LogTail tail(100, 10);
    tail.add("12345\n");
    tail.add("1234\n");
    EXPECT_EQ(tail.text(), "1234\n");
    tail.add(std::string(50, 'x'));
    EXPECT_EQ(tail.text(), std::string(10, 'x'));
}

TEST(LogTail, HandsEveryLineOn) {
    LogTail tail;
    std::string written;
    const auto sink = tail.before([&](std::string_view line) { written += line; });
    sink("a\n");
    sink("b\n");
    EXPECT_EQ(written, "a\nb\n");
    EXPECT_EQ(tail.text(), written);
}

}  // namespace
}  // namespace pollux::observe
