#include "store/secret_vault.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "store/memory/memory_store.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kPlanted = "hunter2-planted";

base::Secret key_of(char fill) { return base::Secret(std::string(kMasterKeyBytes, fill)); }

SecretVault vault_of(char fill) { return SecretVault::with_key(key_of(fill)).value(); }

std::string content(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

void put_file(const std::string& path, const std::string& text, mode_t mode) {
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
}

// 32 times 'a'.
constexpr const char* kKeyText = "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=";

KeySources sources_of(const std::string& file) {
    KeySources sources;
    sources.key_file = file;
    return sources;
}

TEST(SecretVault, OpensWhatItSealedForThatNameOnly) {
    const auto vault = vault_of('a');
    for (const std::string& plain : {std::string(kPlanted), std::string(), std::string("\0\xff", 2),
                                     std::string(100'000, 'x')}) {
        const auto sealed = vault.seal("snmp/core", base::Secret(plain));
        ASSERT_TRUE(sealed);
        EXPECT_TRUE(plain.size() < 4 || sealed->find(plain.substr(0, 10)) == std::string::npos);
        const auto back = vault.unseal("snmp/core", *sealed);
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_EQ(back->reveal(), plain);
        const auto moved = vault.unseal("snmp/edge", *sealed);
        ASSERT_FALSE(moved);
        EXPECT_EQ(moved.error().code, "vault.damaged");
        EXPECT_THAT(moved.error().message, HasSubstr("snmp/edge"));
    }
}

TEST(SecretVault, TheSameSecretLooksDifferentEachTime) {
    const auto vault = vault_of('a');
    EXPECT_NE(*vault.seal("n", base::Secret(kPlanted)), *vault.seal("n", base::Secret(kPlanted)));
}

TEST(SecretVault, EveryChangedOrMissingByteIsNoticed) {
    const auto vault = vault_of('a');
    const std::string sealed = *vault.seal("n", base::Secret(kPlanted));
    for (std::size_t i = 0; i < sealed.size(); ++i) {
        std::string changed = sealed;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        const auto back = vault.unseal("n", changed);
        ASSERT_FALSE(back) << i;
        EXPECT_THAT(back.error().message, Not(HasSubstr(kPlanted)));
        EXPECT_FALSE(vault.unseal("n", std::string_view(sealed).substr(0, i))) << i;
    }
    EXPECT_FALSE(vault.unseal("n", sealed + "x"));
    EXPECT_FALSE(vault.unseal("n", "{\"password\":\"plain\"}"));
}

TEST(SecretVault, AWrongKeyIsToldByItsId) {
    const auto first = vault_of('a');
    const auto second = vault_of('b');
    EXPECT_NE(first.key_id(), second.key_id());
    EXPECT_EQ(first.key_id(), vault_of('a').key_id());
    EXPECT_EQ(first.key_id().size(), 16u);
    const auto sealed = *first.seal("n", base::Secret(kPlanted));
    EXPECT_EQ(SecretVault::key_id_of(sealed), first.key_id());
    const auto back = second.unseal("n", sealed);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, "vault.wrong_key");
    EXPECT_THAT(back.error().message, HasSubstr(first.key_id()));
    EXPECT_THAT(back.error().message, HasSubstr(second.key_id()));
    EXPECT_THAT(back.error().message, Not(HasSubstr("aaaa")));
    EXPECT_TRUE(first.followed_by(second).unseal("n", sealed));
}

TEST(SecretVault, AKeyFileIsMadePrivateAndFoundAgain) {
    TemporaryFolder folder;
    const auto first = SecretVault::open(sources_of(folder.file("key")));
    ASSERT_TRUE(first) << first.error().message;
    struct stat found{};
    ASSERT_EQ(stat(folder.file("key").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600u);
    const auto again = SecretVault::open(sources_of(folder.file("key")));
    ASSERT_TRUE(again);
    EXPECT_EQ(first->key_id(), again->key_id());
    EXPECT_THAT(again->origin(), HasSubstr(folder.file("key")));
}

TEST(SecretVault, AKeyFileOthersCanReadIsRefused) {
    TemporaryFolder folder;
    for (const mode_t mode : {0640U, 0604U, 0660U, 0644U}) {
        put_file(folder.file("key"), kKeyText, mode);
        const auto vault = SecretVault::open(sources_of(folder.file("key")));
        ASSERT_FALSE(vault);
        EXPECT_EQ(vault.error().code, "vault.key_file");
        EXPECT_THAT(vault.error().message, HasSubstr("chmod 600"));
        EXPECT_THAT(vault.error().message, Not(HasSubstr("YWFh")));
    }
    chmod(folder.file("key").c_str(), 0600);
    const auto vault = SecretVault::open(sources_of(folder.file("key")));
    ASSERT_TRUE(vault);
    EXPECT_EQ(vault->key_id(), vault_of('a').key_id());
}

TEST(SecretVault, BadKeyTextIsRefusedWithoutShowingIt) {
    TemporaryFolder folder;
    for (const char* text : {"", "short", "YWFh", "!!!!", kKeyText + 4,
                             "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh"}) {
        put_file(folder.file("key"), text, 0600);
        const auto vault = SecretVault::open(sources_of(folder.file("key")));
        ASSERT_FALSE(vault) << text;
        EXPECT_EQ(vault.error().code, "vault.key");
        EXPECT_THAT(vault.error().message, HasSubstr("openssl rand -base64 32"));
        EXPECT_THAT(vault.error().message, Not(HasSubstr("YWFh")));
    }
    EXPECT_FALSE(SecretVault::with_key(base::Secret("short")));
    EXPECT_FALSE(SecretVault::open({}));
    EXPECT_FALSE(SecretVault::open(sources_of(folder.path()))) << "a folder is no key file";
}

TEST(SecretVault, EnvironmentThenSystemdThenFile) {
    TemporaryFolder folder;
    KeySources sources = sources_of(folder.file("key"));
    sources.credentials_directory = folder.path();
    auto vault = SecretVault::open(sources);
    ASSERT_TRUE(vault);
    EXPECT_THAT(vault->origin(), HasSubstr("key file"));
    put_file(folder.file("pollux.key"), std::string(kKeyText) + "\n", 0440);
    vault = SecretVault::open(sources);
    ASSERT_TRUE(vault) << vault.error().message;
    EXPECT_THAT(vault->origin(), HasSubstr("systemd"));
    EXPECT_EQ(vault->key_id(), vault_of('a').key_id());
    sources.environment = base::Secret("YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmI=");
    vault = SecretVault::open(sources);
    ASSERT_TRUE(vault);
    EXPECT_EQ(vault->key_id(), vault_of('b').key_id());
}

class KeyRotation : public testing::Test {
  protected:
    void SetUp() override {
        vault_ = SecretVault::open(sources_of(file()));
        ASSERT_TRUE(vault_);
        ObjectBatch batch;
        for (int i = 0; i < 20; ++i) {
            auto object = config_object(fmt::format("{}", i), fmt::format("login-{}", i));
            object.kind = model::ObjectKind::kCredential;
            object.body = *vault_->seal(object.name, base::Secret(fmt::format("secret-{}", i)));
            batch.writes.push_back({object, 0});
        }
        batch.writes.push_back({config_object("d", "device", "not sealed"), 0});
        ASSERT_TRUE(apply(*store_, batch));
    }
    std::string file() const { return folder_.file("key"); }
    void expect_all_open_with(const SecretVault& vault) {
        auto all = load_all(*store_);
        ASSERT_TRUE(all);
        for (const auto& object : all->objects) {
            if (object.kind != model::ObjectKind::kCredential) {
                EXPECT_EQ(object.body, "not sealed");
                continue;
            }
            const auto secret = vault.unseal(object.name, object.body);
            ASSERT_TRUE(secret) << secret.error().message;
            EXPECT_EQ(secret->reveal(), "secret-" + object.id);
        }
    }

    TemporaryFolder folder_;
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::unique_ptr<Store> store_ = open_memory_store(disk_, {});
    base::Result<SecretVault> vault_ = std::unexpected(base::Error{});
};

TEST_F(KeyRotation, EverythingIsUnderTheNewKeyAndTheOldOneIsGone) {
    const auto next = rotate_key_file(*store_, file());
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_NE(next->key_id(), vault_->key_id());
    expect_all_open_with(*next);
    expect_all_open_with(*SecretVault::open(sources_of(file())));
    EXPECT_FALSE(std::filesystem::exists(file() + ".new"));
    const auto all = load_all(*store_);
    for (const auto& object : all->objects) {
        EXPECT_EQ(object.version, object.kind == model::ObjectKind::kCredential ? 2u : 1u);
        EXPECT_FALSE(object.kind == model::ObjectKind::kCredential &&
                     vault_->unseal(object.name, object.body));
    }
}

TEST_F(KeyRotation, InterruptedAfterTheNewKeyWasMade) {
    put_file(file() + ".new", kKeyText, 0600);
    expect_all_open_with(*SecretVault::open(sources_of(file())));
    const auto next = rotate_key_file(*store_, file());
    ASSERT_TRUE(next);
    EXPECT_EQ(next->key_id(), vault_of('a').key_id());
    expect_all_open_with(*next);
}

TEST_F(KeyRotation, InterruptedBetweenCommitAndRename) {
    put_file(file() + ".new", kKeyText, 0600);
    EXPECT_EQ(*reseal_all(*store_, *vault_, vault_of('a')), 20u);
    expect_all_open_with(*SecretVault::open(sources_of(file())));
    EXPECT_EQ(*reseal_all(*store_, *vault_, vault_of('a')), 0u) << "nothing is left to do";
    const auto next = rotate_key_file(*store_, file());
    ASSERT_TRUE(next);
    EXPECT_EQ(next->key_id(), vault_of('a').key_id());
    expect_all_open_with(*next);
    EXPECT_THAT(content(file()), testing::StartsWith(kKeyText));
}

TEST_F(KeyRotation, OneThatCannotBeOpenedStopsItAndNothingChanges) {
    auto object = config_object("x", "stranger");
    object.kind = model::ObjectKind::kCredential;
    object.body = *vault_of('z').seal(object.name, base::Secret(kPlanted));
    ASSERT_TRUE(apply(*store_, {{}, {{object, 0}}, ""}));
    const auto next = rotate_key_file(*store_, file());
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, "vault.wrong_key");
    EXPECT_THAT(next.error().message, HasSubstr("stranger"));
    const auto all = load_all(*store_);
    for (const auto& stored : all->objects) EXPECT_EQ(stored.version, 1u);
    EXPECT_EQ(SecretVault::open(sources_of(file()))->key_id(), vault_->key_id());
}

}  // namespace
}  // namespace pollux::store
