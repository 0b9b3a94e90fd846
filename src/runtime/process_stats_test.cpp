#include "runtime/process_stats.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace pollux::runtime {
namespace {

TEST(ProcessStats, CountsWhatTheProcessTakes) {
    const ProcessStats before = process_stats();
    EXPECT_GT(before.resident_bytes, std::size_t{1} << 20U);
    EXPECT_GT(before.peak_resident_bytes, std::size_t{1} << 20U);
    EXPECT_GT(before.open_fds, 0U);
    EXPECT_GE(before.cpu_seconds, 0);
    const int one = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int two = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const ProcessStats after = process_stats();
    EXPECT_EQ(after.open_fds, before.open_fds + 2);
    EXPECT_GE(after.cpu_seconds, before.cpu_seconds);
    close(one);
    close(two);
    EXPECT_EQ(process_stats().open_fds, before.open_fds);
}

}  // namespace
}  // namespace pollux::runtime
