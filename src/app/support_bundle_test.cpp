#include "app/support_bundle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "net/test_process.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;
using testing::Not;

// What tar says, which is the reader that people have.
std::string tar(const std::vector<std::string>& arguments, const net::test::TempDir& folder) {
    std::vector<std::string> command = {"tar"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    net::test::Process process(command, folder);
    EXPECT_TRUE(process.wait_for_end() && process.exit_code() == 0) << process.output();
    return process.output();
}

TEST(SupportBundle, IsAnArchiveThatTarReads) {
    const net::test::TempDir folder;
    SupportBundle bundle;
    bundle.add("empty.txt", "");
    bundle.add("short.txt", "one line\n");
    bundle.add("block.txt", std::string(512, 'b'));
    bundle.add("long.txt", std::string(100'000, 'l'));
    ASSERT_TRUE(bundle.write(folder.file("bundle.tar.gz")));
    struct stat facts{};
    ASSERT_EQ(stat(folder.file("bundle.tar.gz").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
    EXPECT_LT(facts.st_size, 5000);
    EXPECT_EQ(tar({"-tzf", "bundle.tar.gz"}, folder),
              "empty.txt\nshort.txt\nblock.txt\nlong.txt\n");
    tar({"-xzf", "bundle.tar.gz"}, folder);
    for (const auto& [name, text] : bundle.files()) EXPECT_EQ(folder.read(name), text) << name;
}

TEST(SupportBundle, TakesSecretsOutInEveryForm) {
    SupportBundle bundle;
    bundle.hide(base::Secret("p\"ss word"));
    bundle.hide(base::Secret("p\"ss word and more"));
    bundle.hide(base::Secret("abc"));  // too short to be taken out
    bundle.add("all.txt",
               "plain p\"ss word json p\\\"ss word url p%22ss%20word base64 cCJzcyB3b3Jk longer "
               "p\"ss word and more short abc");
    EXPECT_EQ(bundle.files()[0].second,
              "plain (secret) json (secret) url (secret) base64 (secret) longer (secret) short "
              "abc");
    EXPECT_EQ(bundle.hidden(), 5U);
}

TEST(SupportBundle, SaysWhyItCannotBeWritten) {
    const auto written = SupportBundle().write("/nowhere/bundle.tar.gz");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, "bundle.write");
    EXPECT_THAT(written.error().message, HasSubstr("/nowhere/bundle.tar.gz"));
}

}  // namespace
}  // namespace pollux::app
