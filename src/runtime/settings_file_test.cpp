#include "runtime/settings_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "net/test_process.hpp"

namespace pollux::runtime {
namespace {

using testing::HasSubstr;
using testing::Optional;

class SettingsFileTest : public testing::Test {
  protected:
    net::test::TempDir folder_;
    SettingsFile file_{folder_.file("system.json")};
};

TEST_F(SettingsFileTest, AnAbsentFileIsNoEdit) {
    EXPECT_EQ(file_.edited().value(), std::nullopt);
    EXPECT_EQ(file_.edited().value(), std::nullopt);
}

TEST_F(SettingsFileTest, TheFirstLookFindsWhatIsThere) {
    folder_.write("system.json", "{}");
    EXPECT_THAT(file_.edited().value(), Optional(std::string("{}")));
    EXPECT_EQ(file_.edited().value(), std::nullopt) << "known now";
}

TEST_F(SettingsFileTest, WhatWeWroteIsNoEdit) {
    ASSERT_TRUE(file_.write("{\"a\": 1}\n"));
    EXPECT_EQ(folder_.read("system.json"), "{\"a\": 1}\n");
    EXPECT_EQ(file_.edited().value(), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(folder_.file("system.json.new")));
    struct stat facts{};
    ASSERT_EQ(stat(file_.path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(SettingsFileTest, AnEditIsFoundByItsContent) {
    ASSERT_TRUE(file_.write("one"));
    folder_.write("system.json", "two");
    // An edit of the same size and with the old time is one all the same.
    std::filesystem::last_write_time(file_.path(), std::filesystem::file_time_type::min());
    EXPECT_THAT(file_.edited().value(), Optional(std::string("two")));
    EXPECT_EQ(file_.edited().value(), std::nullopt);
    folder_.write("system.json", "two");
    EXPECT_EQ(file_.edited().value(), std::nullopt) << "written again without a change";
    ASSERT_TRUE(file_.write("three"));
    folder_.write("system.json", "two");
    EXPECT_THAT(file_.edited().value(), Optional(std::string("two"))) << "back to an older text";
    std::filesystem::remove(file_.path());
    EXPECT_EQ(file_.edited().value(), std::nullopt);
}

TEST_F(SettingsFileTest, WhatCannotBeReadIsToldOnce) {
    std::filesystem::create_directory(file_.path());
    const auto first = file_.edited();
    ASSERT_FALSE(first);
    EXPECT_THAT(first.error().message, HasSubstr(file_.path()));
    EXPECT_EQ(first.error().code, "settings.file");
    const auto second = file_.edited();
    ASSERT_TRUE(second);
    EXPECT_EQ(*second, std::nullopt);
    std::filesystem::remove(file_.path());
    folder_.write("system.json", "{}");
    EXPECT_THAT(file_.edited().value(), Optional(std::string("{}")));
    std::filesystem::remove(file_.path());
    std::filesystem::create_directory(file_.path());
    EXPECT_FALSE(file_.edited()) << "it was readable in between";
}

TEST_F(SettingsFileTest, AFileThatIsTooLargeIsRefused) {
    folder_.write("system.json", std::string(SettingsFile::kMaxBytes, ' '));
    EXPECT_THAT(file_.edited().value(), Optional(testing::SizeIs(SettingsFile::kMaxBytes)));
    folder_.write("system.json", std::string(SettingsFile::kMaxBytes + 1, ' '));
    EXPECT_FALSE(file_.edited());
}

TEST_F(SettingsFileTest, AWriteThatFailsLeavesTheOldFile) {
    // A folder in the place of the file: the last step, the renaming, fails.
    std::filesystem::create_directory(file_.path());
    folder_.write("system.json/inside", "x");
    const auto status = file_.write("new");
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, HasSubstr(file_.path()));
    EXPECT_FALSE(std::filesystem::exists(file_.path() + ".new"));

    SettingsFile nowhere(folder_.file("missing/system.json"));
    EXPECT_FALSE(nowhere.write("x"));
}

}  // namespace
}  // namespace pollux::runtime
