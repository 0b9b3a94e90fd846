#include "net/test_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::net::test {
namespace {

TEST(TestProcess, FolderHoldsFilesAndGoesAway) {
    std::string path;
    {
        const TempDir folder;
        path = folder.path();
        EXPECT_EQ(folder.write("a/b.txt", "text"), path + "/a/b.txt");
        EXPECT_EQ(folder.read("a/b.txt"), "text");
        EXPECT_EQ(folder.read("nothing"), "");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TestProcess, RunsAProgramWithoutAShell) {
    const TempDir folder;
    EXPECT_EQ(run_tool({"echo", "$HOME; *"}, folder), "$HOME; *\n");
    EXPECT_EQ(run_tool({"pwd"}, folder), folder.path() + "\n");
    Process with_environment({"printenv", "POLLUX_TEST"}, folder, {{"POLLUX_TEST", "yes"}});
    ASSERT_TRUE(with_environment.wait_for_end());
    EXPECT_EQ(with_environment.output(), "yes\n");
}

TEST(TestProcess, StopsByPid) {
    const TempDir folder;
    Process sleeper({"sleep", "1000"}, folder);
    EXPECT_TRUE(sleeper.running());
    EXPECT_EQ(sleeper.stop(), 128 + SIGTERM);
    EXPECT_FALSE(sleeper.running());
}

TEST(TestProcess, AMissingProgramSaysWhichOne) {
    const TempDir folder;
    Process missing({"/no/such/program"}, folder);
    EXPECT_FALSE(missing.wait_for_tcp("127.0.0.1", free_port()));
    EXPECT_EQ(missing.exit_code(), 127);
    EXPECT_THAT(missing.output(), testing::HasSubstr("/no/such/program"));
}

TEST(TestProcess, WaitsForAServer) {
    const TempDir folder;
    const std::uint16_t port = free_port();
    Process server({"openssl", "s_server", "-nocert", "-accept", std::to_string(port)}, folder);
    EXPECT_TRUE(server.wait_for_tcp("127.0.0.1", port)) << server.output();
}

TEST(TestProcess, FreePortsExistForBothFamilies) {
    EXPECT_NE(free_port(), 0);
    EXPECT_NE(free_port("::1"), 0);
}

}  // namespace
}  // namespace pollux::net::test
