#include "protocol/ssh/host_keys.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

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

HostKeys::Verdict verdict(HostKeys& keys, const HostKey& seen) {
    const auto answer = keys.check(seen);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->verdict : HostKeys::Verdict::kRevoked;
}

HostKey shown(std::string host, const char* key = kEd25519) {
    return {std::move(host), "ssh-ed25519", key};
}

TEST(HostKeys, RecordsAndRecognises) {
    const net::test::TempDir folder;
    HostKeys keys(folder.file("known"));
    const HostKey key{"db1", "ssh-ed25519", kEd25519};
    EXPECT_EQ(verdict(keys, key), HostKeys::Verdict::kNew);
    ASSERT_TRUE(keys.remember(key));
    ASSERT_TRUE(keys.remember(key));
    EXPECT_EQ(verdict(keys, key), HostKeys::Verdict::kKnown);
    EXPECT_EQ(folder.read("known"), std::string("db1 ssh-ed25519 ") + kEd25519 + "\n");
    const auto changed = keys.check({"db1", "ssh-ed25519", kOther}).value();
    EXPECT_EQ(changed.verdict, HostKeys::Verdict::kChanged);
    EXPECT_THAT(changed.known_fingerprint, HasSubstr("SHA256:"));
    EXPECT_NE(fingerprint_of(kEd25519), fingerprint_of(kOther));
    EXPECT_EQ(verdict(keys, {"[db1]:2222", "ssh-ed25519", kOther}), HostKeys::Verdict::kNew);
    EXPECT_THAT(keys.types_of("db1").value(), ElementsAre("ssh-ed25519"));
    // Another process sees it.
    HostKeys other(folder.file("known"));
    EXPECT_EQ(verdict(other, key), HostKeys::Verdict::kKnown);
}

TEST(HostKeys, ReadsWhatPeopleWriteAndKeepsTheRest) {
    const net::test::TempDir folder;
    folder.write("known", std::string("# ours\n|1|abc=|def= ssh-rsa AAAA\n\n"
                                      "a.example,192.0.2.1 ssh-ed25519 ") +
                              kEd25519 + " a comment\nbroken line\n[b]:22 x y\n");
    HostKeys keys(folder.file("known"));
    EXPECT_EQ(verdict(keys, {"192.0.2.1", "ssh-ed25519", kEd25519}), HostKeys::Verdict::kKnown);
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

TEST(HostKeys, AnswersNothingAndWritesNothingWhileTheFileCannotBeRead) {
    const net::test::TempDir folder;
    const std::string text = std::string("db1 ssh-ed25519 ") + kEd25519 + "\n";
    folder.write("known", text);
    HostKeys keys(folder.file("known"));
    ASSERT_EQ(verdict(keys, shown("db1", kOther)), HostKeys::Verdict::kChanged);
    // Whatever the user: a folder cannot be read as a file, nor a path go through a file.
    std::filesystem::rename(folder.file("known"), folder.file("aside"));
    std::filesystem::create_directory(folder.file("known"));
    HostKeys through(folder.file("aside/known"));
    for (HostKeys* each : {&keys, &through}) {
        const auto answer = each->check(shown("db1", kOther));
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, "ssh.host_keys");
        EXPECT_EQ(answer.error().error_class, base::ErrorClass::kConfig);
        EXPECT_THAT(answer.error().message, HasSubstr(each->path()));
        EXPECT_FALSE(each->types_of("db1"));
        EXPECT_FALSE(each->remember(shown("db2")));
        EXPECT_FALSE(each->list());
        EXPECT_FALSE(each->forget("db1"));
    }
    EXPECT_EQ(folder.read("aside"), text);
    std::filesystem::remove(folder.file("known"));
    std::filesystem::rename(folder.file("aside"), folder.file("known"));
    EXPECT_EQ(verdict(keys, shown("db1", kOther)), HostKeys::Verdict::kChanged);
    // That there is no file is what there is before the first host.
    std::filesystem::remove(folder.file("known"));
    EXPECT_EQ(verdict(keys, shown("db1", kOther)), HostKeys::Verdict::kNew);
}

TEST(HostKeys, RefusesAFileWithMoreKeysThanItKeeps) {
    const net::test::TempDir folder;
    std::string text;
    for (std::size_t i = 0; i <= HostKeys::kMaxKeys; ++i) text += "a b c\n";
    folder.write("known", text);
    HostKeys keys(folder.file("known"));
    EXPECT_EQ(keys.check(shown("db1")).error().code, "ssh.host_keys");
    EXPECT_FALSE(keys.remember(shown("db1")));
    EXPECT_EQ(folder.read("known").size(), text.size());
}

TEST(HostKeys, KeepsModeAndOwnerOfTheFile) {
    const net::test::TempDir folder;
    const std::string path = folder.write("known", std::string("a,b ssh-ed25519 ") + kEd25519);
    const bool root = geteuid() == 0;
    ASSERT_EQ(chmod(path.c_str(), 0640), 0);
    if (root) {
        ASSERT_EQ(chown(path.c_str(), 12345, 23456), 0);
    }
    HostKeys keys(path);
    ASSERT_TRUE(keys.remember(shown("c")));
    ASSERT_EQ(*keys.forget("a"), 1U);
    struct stat facts{};
    ASSERT_EQ(stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0640U);
    EXPECT_EQ(facts.st_uid, root ? 12345 : geteuid());
    if (root) {
        EXPECT_EQ(facts.st_gid, 23456U);
    }
    EXPECT_EQ(folder.read("known"),
              std::string("b ssh-ed25519 ") + kEd25519 + "\nc ssh-ed25519 " + kEd25519 + "\n");
}

TEST(HostKeys, GivesTheFilesThatRootMakesToTheOwnerOfTheFolder) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    const net::test::TempDir folder;
    ASSERT_EQ(chown(folder.path().c_str(), 12345, 23456), 0);
    HostKeys keys(folder.file("known"));
    ASSERT_TRUE(keys.remember(shown("a")));
    for (const char* name : {"known", "known.lock"}) {
        struct stat facts{};
        ASSERT_EQ(stat(folder.file(name).c_str(), &facts), 0);
        EXPECT_EQ(facts.st_uid, 12345U) << name;
    }
}

TEST(HostKeys, AddsALineAndLeavesTheRestAlone) {
    const net::test::TempDir folder;
    const std::string text = std::string("# ours\n\nodd line\n  a.example,192.0.2.1 ssh-ed25519 ") +
                             kEd25519 + " a comment";
    folder.write("known", text);
    HostKeys keys(folder.file("known"));
    struct stat before{};
    ASSERT_EQ(stat(folder.file("known").c_str(), &before), 0);
    ASSERT_TRUE(keys.remember(shown("b")));
    ASSERT_TRUE(keys.remember(shown("c")));
    EXPECT_EQ(folder.read("known"),
              text + "\nb ssh-ed25519 " + kEd25519 + "\nc ssh-ed25519 " + kEd25519 + "\n");
    struct stat after{};
    ASSERT_EQ(stat(folder.file("known").c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino) << "it was written anew";
    EXPECT_EQ(verdict(keys, shown("A.EXAMPLE")), HostKeys::Verdict::kKnown);
}

TEST(HostKeys, CutsOffHalfALineThatAPowerFailureLeft) {
    const net::test::TempDir folder;
    const std::string whole = std::string("a ssh-ed25519 ") + kEd25519 + "\n";
    folder.write("known", whole + "b ssh-ed25519 " + std::string(kEd25519).substr(0, 40));
    HostKeys keys(folder.file("known"));
    EXPECT_EQ(verdict(keys, shown("b")), HostKeys::Verdict::kNew);
    ASSERT_TRUE(keys.remember(shown("b")));
    EXPECT_EQ(folder.read("known"), whole + "b ssh-ed25519 " + kEd25519 + "\n");
    // A whole line without an end is one that a person wrote.
    folder.write("known", std::string("b ssh-ed25519 ") + kEd25519);
    EXPECT_EQ(verdict(keys, shown("b", kOther)), HostKeys::Verdict::kChanged);
}

TEST(HostKeys, SeesWhatOthersAddMeanwhile) {
    const net::test::TempDir folder;
    HostKeys keys(folder.file("known"));
    HostKeys command(folder.file("known"));
    ASSERT_TRUE(keys.remember(shown("a")));
    ASSERT_TRUE(command.remember(shown("b")));
    ASSERT_TRUE(keys.remember(shown("c")));
    EXPECT_EQ(*command.forget("a"), 1U);
    ASSERT_TRUE(keys.remember(shown("d")));
    EXPECT_EQ(command.list()->size(), 3U);
    // Two logins saw the host as new; only one key can be believed.
    ASSERT_TRUE(command.remember(shown("e")));
    EXPECT_FALSE(keys.remember(shown("e", kOther)));
    EXPECT_EQ(verdict(keys, shown("e")), HostKeys::Verdict::kKnown);
}

TEST(HostKeys, DoesNotWaitForALockThatIsNotGivenBack) {
    const net::test::TempDir folder;
    HostKeys keys(folder.file("known"));
    ASSERT_TRUE(keys.remember(shown("a")));
    const int lock = open(folder.file("known.lock").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
    const auto refused = keys.remember(shown("b"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().error_class, base::ErrorClass::kTransient);
    EXPECT_THAT(refused.error().message, HasSubstr("known.lock"));
    close(lock);
    EXPECT_TRUE(keys.remember(shown("b")));
}

// Lines as OpenSSH itself makes and reads them.
TEST(HostKeys, MatchesHashedNamesAsOpenSshWritesThem) {
    const net::test::TempDir folder;
    folder.write("known", std::string("db1 ssh-ed25519 ") + kEd25519 + "\n[db2]:2222 ssh-ed25519 " +
                              kEd25519 + "\n");
    net::test::run_tool({"ssh-keygen", "-q", "-H", "-f", folder.file("known")}, folder);
    ASSERT_THAT(folder.read("known"), ::testing::Not(HasSubstr("db1")));
    HostKeys keys(folder.file("known"));
    for (const char* host : {"db1", "DB1", "[db2]:2222"}) {
        EXPECT_EQ(verdict(keys, shown(host)), HostKeys::Verdict::kKnown) << host;
        EXPECT_EQ(verdict(keys, shown(host, kOther)), HostKeys::Verdict::kChanged) << host;
        EXPECT_THAT(keys.types_of(host).value(), ElementsAre("ssh-ed25519"));
    }
    for (const char* host : {"db2", "[db1]:2222", "db3"}) {
        EXPECT_EQ(verdict(keys, shown(host)), HostKeys::Verdict::kNew) << host;
    }
    ASSERT_TRUE(keys.remember(shown("db3")));
    EXPECT_EQ(*keys.forget("db1"), 1U);
    EXPECT_EQ(*keys.forget("[db2]:2222"), 1U);
    EXPECT_EQ(folder.read("known"), std::string("db3 ssh-ed25519 ") + kEd25519 + "\n");
}

TEST(HostKeys, MatchesPatternsAndTheirExceptions) {
    const net::test::TempDir folder;
    folder.write("known",
                 std::string("*.lab,!secret.lab,web?,[*.lab]:2222 ssh-ed25519 ") + kEd25519 + "\n");
    HostKeys keys(folder.file("known"));
    for (const char* host : {"a.lab", "A.b.Lab", "web1", "[a.lab]:2222"}) {
        EXPECT_EQ(verdict(keys, shown(host)), HostKeys::Verdict::kKnown) << host;
        EXPECT_EQ(verdict(keys, shown(host, kOther)), HostKeys::Verdict::kChanged) << host;
    }
    for (const char* host : {"secret.lab", "lab", "web", "web12", "[web1]:2222"}) {
        EXPECT_EQ(verdict(keys, shown(host, kOther)), HostKeys::Verdict::kNew) << host;
    }
    EXPECT_EQ(*keys.forget("a.lab"), 0U);  // the line means others too
}

TEST(HostKeys, RefusesRevokedKeys) {
    const net::test::TempDir folder;
    folder.write("known", std::string("db1,db2 ssh-ed25519 ") + kEd25519 +
                              "\n@revoked db1 ssh-ed25519 " + kEd25519 + "\n@revoked * ssh-rsa " +
                              kOther + "\n");
    HostKeys keys(folder.file("known"));
    const auto revoked = keys.check(shown("db1")).value();
    EXPECT_EQ(revoked.verdict, HostKeys::Verdict::kRevoked);
    EXPECT_EQ(revoked.line, 2U);
    EXPECT_EQ(verdict(keys, shown("[db1]:2222")), HostKeys::Verdict::kRevoked);
    EXPECT_EQ(verdict(keys, shown("db2")), HostKeys::Verdict::kKnown);
    EXPECT_EQ(verdict(keys, shown("db9")), HostKeys::Verdict::kNew);
    EXPECT_EQ(verdict(keys, shown("db9", kOther)), HostKeys::Verdict::kRevoked);
    EXPECT_FALSE(keys.remember(shown("db9", kOther)));
    EXPECT_THAT(keys.types_of("db1").value(), ElementsAre("ssh-ed25519"));
}

TEST(HostKeys, TellsOnceThatCertificatesAreNotUsed) {
    const net::test::TempDir folder;
    const std::string line = std::string("@cert-authority *.lab ssh-ed25519 ") + kEd25519 + "\n";
    folder.write("known", line);
    std::vector<std::string> told;
    HostKeys keys(folder.file("known"), [&](std::string_view what) { told.emplace_back(what); });
    const auto answer = keys.check(shown("a.lab")).value();
    EXPECT_EQ(answer.verdict, HostKeys::Verdict::kNew);  // its own key is no authority
    EXPECT_TRUE(answer.authority);
    ASSERT_TRUE(keys.remember(shown("a.lab", kOther)));
    EXPECT_EQ(verdict(keys, shown("a.lab", kOther)), HostKeys::Verdict::kKnown);
    folder.write("known", line + line);
    EXPECT_FALSE(keys.check(shown("b.lab")).value().known_fingerprint.size());
    EXPECT_THAT(told, ElementsAre(HasSubstr("@cert-authority")));
    EXPECT_THAT(told, ElementsAre(HasSubstr(keys.path())));
    EXPECT_EQ(keys.list()->front().host, "@cert-authority *.lab");
}

TEST(HostKeys, TakesAnyTextForALine) {
    for (const char* line :
         {"", " ", "@", "@revoked", "@revoked a", "@other a b c", "|1|", "|", ","}) {
        EXPECT_FALSE(parse_known_host(line)) << line;
    }
    for (const char* names : {"|1|", "|1||", "|1|a|b", "|1|====|====", "|2|abcd|abcd",
                              "|1|AAAA|AAAA", ",,", "!", "!*", "!a", "[", "[]:"}) {
        EXPECT_FALSE(match(names, "a")) << names;
    }
    EXPECT_TRUE(match(std::string(2000, '*') + "b", std::string(2000, 'a') + "b"));
    EXPECT_FALSE(is_whole_key("AAAA"));
    EXPECT_FALSE(is_whole_key("x"));
    EXPECT_TRUE(is_whole_key(kEd25519));
}

TEST(HostKeys, NamesPortsLikeOpenSsh) {
    EXPECT_EQ(HostKeys::name_of("db", 22), "db");
    EXPECT_EQ(HostKeys::name_of("::1", 2222), "[::1]:2222");
}

}  // namespace
}  // namespace pollux::protocol::ssh
