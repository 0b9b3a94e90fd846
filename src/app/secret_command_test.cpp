// `pollux secret rotate-key`: everything stays readable, wherever the key comes from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "app/command_test_support.hpp"
#include "app/commands.hpp"
#include "net/test_process.hpp"
#include "runtime/secret_files.hpp"

namespace pollux::app {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// 32 bytes each.
constexpr const char* kOldKey = "b29vb29vb29vb29vb29vb29vb29vb29vb29vb29vb28=";
constexpr const char* kNewKey = "bm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm4=";
constexpr const char* kSecret = "correct-horse-battery";

class RotateKey : public testing::Test {
  protected:
    ~RotateKey() override { unsetenv("POLLUX_KEY"); }

    Printed rotate(std::vector<std::string> more = {}) const {
        std::vector<std::string> arguments = {"secret", "rotate-key", "--data", data()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        CLI::App app;
        Printed printed;
        add_secret(app, printed.status);
        printed.run(app, arguments);
        return printed;
    }
    std::string data() const { return folder_.file("data"); }
    store::SecretVault vault() const {
        return store::SecretVault::open(store::KeySources::of_process(data() + "/pollux.key"))
            .value();
    }
    void put(const std::string& name) const {
        std::filesystem::create_directories(data());
        const store::SecretVault now = vault();
        ASSERT_TRUE(
            runtime::SecretFiles(data() + "/secrets", now).set(name, base::Secret(kSecret)));
    }
    base::Result<base::Secret> get(const std::string& name) const {
        const store::SecretVault now = vault();
        return runtime::SecretFiles(data() + "/secrets", now).get(name);
    }
    std::string key_file(const char* key) const {
        const std::string path = folder_.write("key", std::string(key) + "\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_read);
        return path;
    }

    net::test::TempDir folder_;
};

TEST_F(RotateKey, SealsFilesUnderTheNewKeyOfTheFolder) {
    put("inbound-key");
    put("web");
    const std::string before = vault().key_id();
    const Printed printed = rotate();
    EXPECT_EQ(printed.status, 0) << printed.err;
    EXPECT_NE(vault().key_id(), before);
    EXPECT_THAT(printed.out, AllOf(HasSubstr(vault().key_id()), Not(HasSubstr(kSecret))));
    for (const std::string name : {"inbound-key", "web"}) {
        const auto secret = get(name);
        ASSERT_TRUE(secret) << secret.error().message;
        EXPECT_EQ(secret->reveal(), kSecret);
    }
}

TEST_F(RotateKey, AFileThatCannotBeOpenedKeepsTheOldKeyInForce) {
    put("web");
    const std::string before = vault().key_id();
    folder_.write("data/secrets/broken", "not sealed at all");
    const Printed printed = rotate();
    EXPECT_EQ(printed.status, 1) << printed.out;
    EXPECT_THAT(printed.err, HasSubstr("broken"));
    EXPECT_EQ(vault().key_id(), before);
    EXPECT_EQ(get("web").value().reveal(), kSecret) << "half of them may be under the new key";
    std::filesystem::remove(data() + "/secrets/broken");
    EXPECT_EQ(rotate().status, 0) << "and it can be finished";
    EXPECT_NE(vault().key_id(), before);
    EXPECT_EQ(get("web").value().reveal(), kSecret);
    EXPECT_FALSE(std::filesystem::exists(data() + "/pollux.key.new"));
}

TEST_F(RotateKey, AKeyFromElsewhereIsNotItsToChange) {
    setenv("POLLUX_KEY", kOldKey, 1);
    put("web");
    const Printed refused = rotate();
    EXPECT_EQ(refused.status, 1) << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("POLLUX_KEY"), HasSubstr("--to FILE")));
    EXPECT_EQ(get("web").value().reveal(), kSecret);

    const Printed printed = rotate({"--to", key_file(kNewKey)});
    EXPECT_EQ(printed.status, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("POLLUX_KEY"));
    EXPECT_FALSE(get("web")) << "the old key does not open it any more";
    setenv("POLLUX_KEY", kNewKey, 1);
    EXPECT_EQ(get("web").value().reveal(), kSecret);
}

}  // namespace
}  // namespace pollux::app
