#include "protocol/ssh/host_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_process.hpp"

namespace pollux::protocol::ssh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Of the right form; nobody has the private half.
constexpr const char* kEd25519 =
    "AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB";
constexpr const char* kOther =
    "AAAAC3NzaC1lZDI1NTE5AAAAIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIC";

TEST(HostKeys, RecordsAndRecognises) {
    const net::test::TempDir folder;
    HostKeys keys(folder.file("known"));
    const HostKey key{"db1", "ssh-ed25519", kEd25519};
    EXPECT_EQ(keys.check(key).verdict, HostKeys::Verdict::kNew);
    ASSERT_TRUE(keys.remember(key));
    ASSERT_TRUE(keys.remember(key));
    EXPECT_EQ(keys.check(key).verdict, HostKeys::Verdict::kKnown);
    EXPECT_EQ(folder.read("known"), std::string("db1 ssh-ed25519 ") + kEd25519 + "\n");
    const auto changed = keys.check({"db1", "ssh-ed25519", kOther});
    EXPECT_EQ(changed.verdict, HostKeys::Verdict::kChanged);
    EXPECT_THAT(changed.known_fingerprint, HasSubstr("SHA256:"));
    EXPECT_NE(fingerprint_of(kEd25519), fingerprint_of(kOther));
    EXPECT_EQ(keys.check({"[db1]:2222", "ssh-ed25519", kOther}).verdict, HostKeys::Verdict::kNew);
    EXPECT_THAT(keys.types_of("db1"), ElementsAre("ssh-ed25519"));
    // Another process sees it.
    HostKeys other(folder.file("known"));
    EXPECT_EQ(other.check(key).verdict, HostKeys::Verdict::kKnown);
}

TEST(HostKeys, ReadsWhatPeopleWriteAndKeepsTheRest) {
    const net::test::TempDir folder;
    folder.write("known", std::string("# ours\n|1|abc=|def= ssh-rsa AAAA\n\n"
                                      "a.example,192.0.2.1 ssh-ed25519 ") +
                              kEd25519 + " a comment\nbroken line\n[b]:22 x y\n");
    HostKeys keys(folder.file("known"));
    EXPECT_EQ(keys.check({"192.0.2.1", "ssh-ed25519", kEd25519}).verdict,
              HostKeys::Verdict::kKnown);
    EXPECT_EQ(*keys.forget("a.example"), 1U);
    EXPECT_EQ(*keys.forget("a.example"), 0U);
    EXPECT_EQ(*keys.forget("b"), 1U);
    const std::string text = folder.read("known");
    EXPECT_THAT(text, HasSubstr("# ours\n"));
    EXPECT_THAT(text, HasSubstr("|1|abc=|def= ssh-rsa AAAA\n"));
    EXPECT_THAT(text, HasSubstr("192.0.2.1 ssh-ed25519"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("a.example")));
}

TEST(HostKeys, ForgetsAHostAtEveryPortButNoOther) {
    HostKeys keys("");
    for (const char* host : {"db", "[db]:2222", "db2", "[db2]:2222"}) {
        ASSERT_TRUE(keys.remember({host, "ssh-ed25519", kEd25519}));
    }
    EXPECT_EQ(*keys.forget("db"), 2U);
    EXPECT_EQ(keys.list()->size(), 2U);
    EXPECT_EQ(*keys.forget("[db2]:2222"), 1U);
}

TEST(HostKeys, TellsThatItCannotWrite) {
    HostKeys keys("/proc/no/such/folder/known");
    EXPECT_FALSE(keys.remember({"db", "ssh-ed25519", kEd25519}));
    EXPECT_EQ(fingerprint_of("no key"), "");
}

// Else every host would be a new one, to be believed at first sight.
TEST(HostKeys, AFileThatCannotBeReadIsNotAnEmptyOne) {
    const net::test::TempDir folder;
    const std::string path = folder.file("known");
    std::filesystem::create_directories(path);  // root may read every file, but no folder as one
    HostKeys keys(path);
    EXPECT_FALSE(keys.list());
    EXPECT_FALSE(keys.remember({"db", "ssh-ed25519", kEd25519}));
    EXPECT_FALSE(keys.forget("db"));
    // It is looked at again when it is what it should be.
    std::filesystem::remove(path);
    ASSERT_TRUE(keys.remember({"db", "ssh-ed25519", kEd25519}));
    EXPECT_EQ(keys.list()->size(), 1U);
}

TEST(HostKeys, NamesPortsLikeOpenSsh) {
    EXPECT_EQ(HostKeys::name_of("db", 22), "db");
    EXPECT_EQ(HostKeys::name_of("::1", 2222), "[::1]:2222");
}

}  // namespace
}  // namespace pollux::protocol::ssh
