#include "app/fleet_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace pollux::app {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class FleetFiles : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "fleet-files-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string put(const std::string& name, const std::string& text) {
        const std::string path = (folder_ / name).string();
        std::ofstream(path) << text;
        return path;
    }

    fs::path folder_;
};

TEST_F(FleetFiles, ListsAFolderInOrder) {
    put("b.yaml", "b");
    put("a.yml", "a");
    put("c.json", "c");
    put("notes.txt", "x");
    put(".hidden.yaml", "x");
    fs::create_directory(folder_ / "below.yaml.d");
    const auto files = read_fleet_files(std::vector{folder_.string()});
    ASSERT_TRUE(files) << files.error().message;
    ASSERT_EQ(files->size(), 3U);
    EXPECT_EQ((*files)[0].text, "a");
    EXPECT_EQ((*files)[1].text, "b");
    EXPECT_EQ((*files)[2].text, "c");
    EXPECT_THAT((*files)[0].file, HasSubstr("a.yml"));
}

TEST_F(FleetFiles, SaysWhatItCannotRead) {
    const auto missing = read_fleet_files(std::vector{(folder_ / "no.yaml").string()});
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("no.yaml"));
    EXPECT_THAT(missing.error().message, HasSubstr("No such file"));

    const auto empty = read_fleet_files(std::vector{folder_.string()});
    ASSERT_FALSE(empty);
    EXPECT_THAT(empty.error().message, HasSubstr("has no .yaml, .yml or .json files"));

    const auto wrong = read_fleet_files(std::vector{put("notes.txt", "x")});
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr("end in .yaml, .yml or .json"));

    fs::create_directory(folder_ / "dir.yaml");
    const auto folder = read_text_file((folder_ / "dir.yaml").string(), 10);
    ASSERT_FALSE(folder);
    EXPECT_THAT(folder.error().message, HasSubstr("no regular file"));

    const auto large = read_text_file(put("large.yaml", "0123456789x"), 10);
    ASSERT_FALSE(large);
    EXPECT_THAT(large.error().message, HasSubstr("11 bytes, at most 10"));
    EXPECT_EQ(read_text_file(put("fits.yaml", "0123456789"), 10).value(), "0123456789");
}

}  // namespace
}  // namespace pollux::app
