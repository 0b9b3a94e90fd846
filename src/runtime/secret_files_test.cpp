#include "runtime/secret_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "net/test_process.hpp"

namespace pollux::runtime {
namespace {

using config::SecretKind;
using config::SecretReference;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSecret = "correct-horse-battery";

class SecretFilesTest : public testing::Test {
  protected:
    static store::SecretVault vault_with(char fill) {
        return store::SecretVault::with_key(base::Secret(std::string(store::kMasterKeyBytes, fill)))
            .value();
    }

    net::test::TempDir folder_;
    store::SecretVault vault_ = vault_with('k');
    SecretFiles files_{folder_.file("secrets"), vault_};
};

TEST_F(SecretFilesTest, KeepsSecretsSealed) {
    EXPECT_THAT(files_.names().value(), IsEmpty()) << "no folder yet";
    ASSERT_TRUE(files_.set("web", base::Secret(kSecret)));
    ASSERT_TRUE(files_.set("db.main-1_x", base::Secret("other")));
    EXPECT_EQ(files_.get("web").value().reveal(), kSecret);
    EXPECT_EQ(files_.get("db.main-1_x").value().reveal(), "other");
    EXPECT_THAT(files_.names().value(), ElementsAre("db.main-1_x", "web"));
    EXPECT_THAT(folder_.read("secrets/web"), Not(HasSubstr(kSecret)));
    struct stat facts{};
    ASSERT_EQ(stat(folder_.file("secrets/web").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
    ASSERT_EQ(stat(folder_.file("secrets").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0700U);

    ASSERT_TRUE(files_.set("web", base::Secret("changed")));
    EXPECT_EQ(files_.get("web").value().reveal(), "changed");
    ASSERT_TRUE(files_.remove("web"));
    EXPECT_FALSE(files_.remove("web"));
    EXPECT_THAT(files_.names().value(), ElementsAre("db.main-1_x"));
}

TEST_F(SecretFilesTest, SaysHowToPutAMissingOne) {
    const auto missing = files_.get("web");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, "secret.unknown");
    EXPECT_THAT(missing.error().message, HasSubstr("web"));
}

TEST_F(SecretFilesTest, NamesCannotLeaveTheFolder) {
    for (const std::string name :
         {"", ".", "..", "../key", "a/b", ".hidden", "a b", "a\n", "\xc3\xa9"}) {
        EXPECT_EQ(files_.set(name, base::Secret(kSecret)).error().code, "secret.name") << name;
        EXPECT_EQ(files_.get(name).error().code, "secret.name") << name;
        EXPECT_EQ(files_.remove(name).error().code, "secret.name") << name;
    }
    EXPECT_EQ(files_.get(std::string(101, 'a')).error().code, "secret.name");
    EXPECT_TRUE(files_.set(std::string(96, 'a'), base::Secret(kSecret)));
}

TEST_F(SecretFilesTest, AFileBeingWrittenIsNoSecret) {
    // `x.new` is where a new `x` is written before it takes the place of the old one.
    EXPECT_EQ(files_.set("x.new", base::Secret(kSecret)).error().code, "secret.name");
    ASSERT_TRUE(files_.set("x", base::Secret(kSecret)));
    folder_.write("secrets/x.new", "half");
    EXPECT_THAT(files_.names().value(), ElementsAre("x"));
    ASSERT_TRUE(files_.set("x", base::Secret("after")));
    EXPECT_EQ(files_.get("x").value().reveal(), "after");
}

TEST_F(SecretFilesTest, ASealedFileBelongsToItsNameAndKey) {
    ASSERT_TRUE(files_.set("web", base::Secret(kSecret)));
    folder_.write("secrets/moved", folder_.read("secrets/web"));
    const auto moved = files_.get("moved");
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code, "vault.damaged");
    EXPECT_THAT(moved.error().message, Not(HasSubstr(kSecret)));
    const store::SecretVault other = vault_with('o');
    const auto wrong = SecretFiles(folder_.file("secrets"), other).get("web");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, "vault.wrong_key");
}

TEST_F(SecretFilesTest, TheFirstLineOfAFileIsTheSecret) {
    const auto read = [&](const std::string& text) {
        return read_secret_file(folder_.write("file", text));
    };
    EXPECT_EQ(read("one\ntwo\n").value().reveal(), "one");
    EXPECT_EQ(read("one").value().reveal(), "one");
    EXPECT_EQ(read("one\r\n").value().reveal(), "one");
    EXPECT_EQ(read(" a b \n").value().reveal(), " a b ") << "blanks may belong to it";
    EXPECT_FALSE(read(""));
    EXPECT_FALSE(read("\nsecond"));
    EXPECT_EQ(read(std::string(kMaxSecretBytes, 'x')).value().reveal().size(), kMaxSecretBytes);
    const auto large = read(std::string(kMaxSecretBytes + 1, 'x'));
    ASSERT_FALSE(large);
    EXPECT_THAT(large.error().message, Not(HasSubstr("xxx")));
    EXPECT_THAT(read_secret_file(folder_.file("none")).error().message,
                HasSubstr(folder_.file("none")));
    EXPECT_FALSE(read_secret_file(folder_.path()));
}

TEST_F(SecretFilesTest, TheSourceReadsEveryKind) {
    ASSERT_TRUE(files_.set("web", base::Secret("from vault")));
    const std::string path = folder_.write("file", "from file\n");
    const auto source = secret_source({{"WEB", "from environment"}, {"EMPTY", ""}}, &files_);
    const auto named = [](SecretKind kind, std::string name) {
        return SecretReference{kind, std::move(name), {}};
    };
    EXPECT_EQ(source(named(SecretKind::kEnvironment, "WEB")).value().reveal(), "from environment");
    EXPECT_EQ(source(named(SecretKind::kFile, path)).value().reveal(), "from file");
    EXPECT_EQ(source(named(SecretKind::kVault, "web")).value().reveal(), "from vault");
    EXPECT_EQ(source(SecretReference{SecretKind::kLiteral, "", base::Secret("x")}).value().reveal(),
              "x");
    for (const std::string name : {"EMPTY", "MISSING"}) {
        const auto unset = source(named(SecretKind::kEnvironment, name));
        ASSERT_FALSE(unset);
        EXPECT_THAT(unset.error().message, HasSubstr(name));
    }
    const auto without = secret_source({}, nullptr);
    EXPECT_EQ(without(named(SecretKind::kVault, "web")).error().code, "secret.vault");
}

}  // namespace
}  // namespace pollux::runtime
