// Our driver against a real agent by v3: what it reads, and how each refusal is told.
#include <gtest/gtest.h>

#include "protocol/snmp/driver_test_support.hpp"
#include "protocol/snmp/test_snmpd.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;
using model::SnmpVersion;
using test::answer_in;
using test::differences;
using test::DriverFixture;
using test::failure_in;
using test::gets_of;
using test::make_ask;
using test::share;
using test::Snmpd;
using test::Values;
using test::values_of_walk;
using test::walks_of;

constexpr std::string_view kAuthPassword = "auth-pass-word";
constexpr std::string_view kPrivacyPassword = "priv-pass-word";
const std::string kUptime = "1.3.6.1.2.1.1.3.0";
const std::string kLocation = "1.3.6.1.2.1.1.6.0";

struct User {
    std::string name;
    SnmpAuth auth = SnmpAuth::kNone;
    std::string auth_name;  // as net-snmp writes it
    SnmpPrivacy privacy = SnmpPrivacy::kNone;
    std::string privacy_name;

    std::string level() const {
        return auth == SnmpAuth::kNone ? "noauth" : privacy == SnmpPrivacy::kNone ? "auth" : "priv";
    }
    // What lets an agent know the user.
    std::string configuration() const {
        std::string line = "createUser " + name;
        if (auth != SnmpAuth::kNone) line += " " + auth_name + " " + std::string(kAuthPassword);
        if (privacy != SnmpPrivacy::kNone) {
            line += " " + privacy_name + " " + std::string(kPrivacyPassword);
        }
        return line + "\nrouser " + name + " " + level() + "\n";
    }
    std::vector<std::string> tool_options() const {
        std::vector<std::string> options = {"-v3", "-u", name, "-l"};
        options.push_back(auth == SnmpAuth::kNone         ? "noAuthNoPriv"
                          : privacy == SnmpPrivacy::kNone ? "authNoPriv"
                                                          : "authPriv");
        if (auth != SnmpAuth::kNone) {
            options.insert(options.end(), {"-a", auth_name, "-A", std::string(kAuthPassword)});
        }
        if (privacy != SnmpPrivacy::kNone) {
            options.insert(options.end(),
                           {"-x", privacy_name, "-X", std::string(kPrivacyPassword)});
        }
        return options;
    }
    std::shared_ptr<model::Credentials> credentials() const {
        auto made = std::make_shared<model::Credentials>();
        made->username = name;
        made->snmp_auth = auth;
        made->snmp_privacy = privacy;
        if (auth != SnmpAuth::kNone) {
            made->snmp_auth_password = base::Secret(std::string(kAuthPassword));
        }
        if (privacy != SnmpPrivacy::kNone) {
            made->snmp_privacy_password = base::Secret(std::string(kPrivacyPassword));
        }
        return made;
    }
};

const User kOpen{"open", SnmpAuth::kNone, "", SnmpPrivacy::kNone, ""};
const User kSigned{"signed", SnmpAuth::kSha384, "SHA-384", SnmpPrivacy::kNone, ""};
const User kSealed{"sealed", SnmpAuth::kSha256, "SHA-256", SnmpPrivacy::kAes128, "AES"};

std::vector<User> all_users() {
    return {kOpen,
            kSigned,
            kSealed,
            {"md5", SnmpAuth::kMd5, "MD5", SnmpPrivacy::kNone, ""},
            {"md5des", SnmpAuth::kMd5, "MD5", SnmpPrivacy::kDes, "DES"},
            {"sha1des", SnmpAuth::kSha1, "SHA", SnmpPrivacy::kDes, "DES"},
            {"sha1aes", SnmpAuth::kSha1, "SHA", SnmpPrivacy::kAes128, "AES"},
            {"md5aes256", SnmpAuth::kMd5, "MD5", SnmpPrivacy::kAes256, "AES-256"},
            {"sha1aes192", SnmpAuth::kSha1, "SHA", SnmpPrivacy::kAes192, "AES-192"},
            {"sha1aes256", SnmpAuth::kSha1, "SHA", SnmpPrivacy::kAes256, "AES-256"},
            {"sha1aes256c", SnmpAuth::kSha1, "SHA", SnmpPrivacy::kAes256c, "AES-256-C"},
            {"md5aes192c", SnmpAuth::kMd5, "MD5", SnmpPrivacy::kAes192c, "AES-192-C"},
            {"sha224aes192", SnmpAuth::kSha224, "SHA-224", SnmpPrivacy::kAes192, "AES-192"},
            {"sha256aes256", SnmpAuth::kSha256, "SHA-256", SnmpPrivacy::kAes256, "AES-256"},
            {"sha384aes256", SnmpAuth::kSha384, "SHA-384", SnmpPrivacy::kAes256, "AES-256"},
            {"sha512aes256", SnmpAuth::kSha512, "SHA-512", SnmpPrivacy::kAes256, "AES-256"}};
}

std::string configuration_of(const std::vector<User>& users) {
    std::string text;
    for (const User& user : users) text += user.configuration();
    return text;
}

model::Ask v3_ask(const Snmpd& snmpd, std::shared_ptr<const model::Credentials> credentials,
                  model::SnmpAsk snmp, const std::string& host = "127.0.0.1") {
    snmp.version = SnmpVersion::kV3;
    model::Ask ask = make_ask(host, snmpd.port(), std::move(snmp));
    ask.credentials = std::move(credentials);
    return ask;
}

std::shared_ptr<const model::Ask> get_ask(const Snmpd& snmpd, const User& user) {
    return share(v3_ask(snmpd, user.credentials(), gets_of({kLocation, kUptime})));
}

void expect_location(const model::Reply& reply) {
    ASSERT_TRUE(reply.ok()) << failure_in(reply).message;
    ASSERT_EQ(answer_in(reply).gets.size(), 2U);
    EXPECT_EQ(answer_in(reply).gets[0].bytes, "a room");
}

TEST(SnmpdV3Live, EveryDigestAndCipherOfTheAgentIsSpoken) {
    Snmpd snmpd(configuration_of(all_users()));
    for (const User& user : all_users()) {
        DriverFixture fixture;
        for (const std::string& host : {std::string("127.0.0.1"), std::string("::1")}) {
            const auto ask =
                share(v3_ask(snmpd, user.credentials(), gets_of({kLocation, kUptime}), host));
            const model::Reply reply = fixture.ask(ask);
            ASSERT_TRUE(reply.ok()) << user.name << ": " << failure_in(reply).message;
            expect_location(reply);
            // The discovery and the request: the agent's clock comes with the discovery.
            EXPECT_EQ(answer_in(reply).pdus, 2U) << user.name;
            EXPECT_EQ(answer_in(fixture.ask(ask)).pdus, 1U) << user.name;
        }
        EXPECT_EQ(fixture.driver().counters().discoveries, 2U);
        EXPECT_EQ(fixture.driver().counters().resyncs, 0U);
        EXPECT_EQ(fixture.driver().counters().untrusted, 0U);
    }
}

void compare_full_walk(const User& user) {
    Snmpd snmpd(user.configuration());
    DriverFixture fixture;
    model::SnmpAsk walk = walks_of({"1.3.6.1"});
    walk.max_rows = 1'000'000;
    const auto reference = [&] {
        return snmpd.read_with("snmpbulkwalk", user.tool_options(), snmpd.v4(), {"1.3.6.1"});
    };
    reference();  // the agent fills its caches
    const Values before = reference();
    const model::Reply reply = fixture.ask(share(v3_ask(snmpd, user.credentials(), walk)));
    const Values after = reference();
    ASSERT_EQ(answer_in(reply).walks.size(), 1U);
    EXPECT_EQ(differences(before, values_of_walk(walk, answer_in(reply)), after), "");
    EXPECT_EQ(fixture.driver().counters().malformed, 0U);
    EXPECT_EQ(fixture.driver().counters().untrusted, 0U);
}

TEST(SnmpdV3Live, FullWalkInTheOpenEqualsBulkwalk) { compare_full_walk(kOpen); }
TEST(SnmpdV3Live, FullWalkSignedEqualsBulkwalk) { compare_full_walk(kSigned); }
TEST(SnmpdV3Live, FullWalkSealedEqualsBulkwalk) { compare_full_walk(kSealed); }
TEST(SnmpdV3Live, FullWalkWithDesEqualsBulkwalk) {
    compare_full_walk({"md5des", SnmpAuth::kMd5, "MD5", SnmpPrivacy::kDes, "DES"});
}
TEST(SnmpdV3Live, FullWalkWithSha256AndAes256EqualsBulkwalk) {
    compare_full_walk(
        {"sha256aes256", SnmpAuth::kSha256, "SHA-256", SnmpPrivacy::kAes256, "AES-256"});
}
TEST(SnmpdV3Live, FullWalkWithSha1AndAes128EqualsBulkwalk) {
    compare_full_walk({"sha1aes", SnmpAuth::kSha1, "SHA", SnmpPrivacy::kAes128, "AES"});
}

TEST(SnmpdV3Live, EachRefusalHasItsCodeAndShowsNoPassword) {
    Snmpd snmpd(configuration_of({kOpen, kSigned, kSealed}));
    DriverFixture fixture;
    const auto refusal = [&](const std::shared_ptr<model::Credentials>& user) {
        model::Ask ask = v3_ask(snmpd, user, gets_of({kUptime}));
        ask.timeout = std::chrono::seconds(1);
        const model::Reply reply = fixture.ask(share(ask), test::kFar, true);
        std::string all = failure_in(reply).message;
        for (const std::string& line : reply.trace) all += line;
        for (const std::string_view secret :
             {kAuthPassword, kPrivacyPassword, std::string_view("wrong-pass-word")}) {
            EXPECT_EQ(all.find(secret), std::string::npos) << all;
        }
        EXPECT_FALSE(reply.ok());
        return failure_in(reply);
    };
    auto wrong_password = kSealed.credentials();
    wrong_password->snmp_auth_password = base::Secret("wrong-pass-word");
    EXPECT_EQ(refusal(wrong_password).code, "snmp.wrong_digest");
    EXPECT_EQ(refusal(wrong_password).kind, model::FailureKind::kAuth);
    auto wrong_digest = kSealed.credentials();
    wrong_digest->snmp_auth = SnmpAuth::kSha1;
    EXPECT_EQ(refusal(wrong_digest).code, "snmp.wrong_digest");
    auto wrong_user = kSealed.credentials();
    wrong_user->username = "nobody";
    EXPECT_EQ(refusal(wrong_user).code, "snmp.unknown_user");
    EXPECT_NE(refusal(wrong_user).message.find("\"nobody\""), std::string::npos);
    auto wrong_level = kOpen.credentials();
    wrong_level->snmp_auth = SnmpAuth::kSha1;
    wrong_level->snmp_auth_password = base::Secret(std::string(kAuthPassword));
    EXPECT_EQ(refusal(wrong_level).code, "snmp.unsupported_level");
    // Below the level that the agent wants of the user: an error of access.
    auto too_open = kSealed.credentials();
    too_open->snmp_privacy = SnmpPrivacy::kNone;
    EXPECT_EQ(refusal(too_open).code, "snmp.error_status");
    EXPECT_EQ(refusal(too_open).kind, model::FailureKind::kAuth);
    // This agent is silent about a context that it does not have.
    auto wrong_context = kSealed.credentials();
    wrong_context->snmp_context = "elsewhere";
    const model::PollFailure silent = refusal(wrong_context);
    EXPECT_EQ(silent.code, "snmp.timeout");
    EXPECT_NE(silent.message.find("context"), std::string::npos) << silent.message;
    EXPECT_GT(
        fixture.driver().counters().reports[static_cast<std::size_t>(ReportKind::kWrongDigest)],
        0U);
}

TEST(SnmpdV3Live, AWrongPrivacyPasswordIsTold) {
    Snmpd snmpd(kSealed.configuration());
    DriverFixture fixture;
    auto user = kSealed.credentials();
    user->snmp_privacy_password = base::Secret("wrong-pass-word");
    model::Ask ask = v3_ask(snmpd, user, gets_of({kUptime}));
    ask.timeout = std::chrono::milliseconds(500);
    const model::Reply reply = fixture.ask(share(ask));
    EXPECT_FALSE(reply.ok());
    EXPECT_NE(failure_in(reply).message.find("privacy password"), std::string::npos)
        << failure_in(reply).code << failure_in(reply).message;
}

TEST(SnmpdV3Live, ARestartedAgentCostsOneResyncAndNoPoll) {
    Snmpd snmpd(kSealed.configuration());
    DriverFixture fixture;
    const auto ask = get_ask(snmpd, kSealed);
    expect_location(fixture.ask(ask));
    for (std::uint64_t restarts = 1; restarts <= 3; ++restarts) {
        snmpd.restart();
        const model::Reply reply = fixture.ask(ask);
        expect_location(reply);
        EXPECT_EQ(answer_in(reply).pdus, 2U);
        EXPECT_EQ(fixture.driver().counters().resyncs, restarts);
        EXPECT_EQ(answer_in(fixture.ask(ask)).pdus, 1U);
    }
    EXPECT_EQ(fixture.driver().counters().discoveries, 1U);
    EXPECT_EQ(fixture.driver().counters().clock_resets, 0U);
}

TEST(SnmpdV3Live, AnAgentThatLostItsBootsIsFollowedBack) {
    Snmpd snmpd("exactEngineID 0x80001f8804706f6c6c7578\n" + kSealed.configuration());
    DriverFixture fixture;
    const auto ask = get_ask(snmpd, kSealed);
    snmpd.restart();
    snmpd.restart();
    expect_location(fixture.ask(ask));
    snmpd.restart_wiped();
    const model::Reply reply = fixture.ask(ask);
    expect_location(reply);
    EXPECT_EQ(answer_in(reply).pdus, 2U);
    EXPECT_EQ(fixture.driver().counters().clock_resets, 1U);
    EXPECT_EQ(answer_in(fixture.ask(ask)).pdus, 1U);
}

TEST(SnmpdV3Live, AnotherDeviceAtTheAddressIsDiscovered) {
    Snmpd snmpd(kSealed.configuration());
    DriverFixture fixture;
    const auto ask = get_ask(snmpd, kSealed);
    expect_location(fixture.ask(ask));
    snmpd.restart_wiped();  // a new engine id
    expect_location(fixture.ask(ask));
    EXPECT_EQ(answer_in(fixture.ask(ask)).pdus, 1U);
    EXPECT_EQ(fixture.driver().known_engines(), 1U);
}

TEST(SnmpdV3Live, WhatWasLearnedSavesTheDiscoveryAfterARestart) {
    Snmpd snmpd(kSealed.configuration());
    const auto ask = get_ask(snmpd, kSealed);
    base::ByteWriter kept;
    {
        DriverFixture before;
        expect_location(before.ask(ask));
        before.driver().learned(kept);
    }
    DriverFixture after;
    base::ByteReader reader(kept.view());
    ASSERT_TRUE(after.driver().recall(reader).has_value());
    const model::Reply reply = after.ask(ask);
    expect_location(reply);
    EXPECT_EQ(answer_in(reply).pdus, 1U);
    EXPECT_EQ(after.driver().counters().discoveries, 0U);
}

TEST(SnmpdV3Live, ManyAsksAtOnceToANewDeviceAllSucceed) {
    Snmpd snmpd(kSealed.configuration());
    DriverFixture fixture;
    const auto ask = get_ask(snmpd, kSealed);
    std::size_t good = 0;
    std::size_t ended = 0;
    for (std::uint64_t i = 1; i <= 50; ++i) {
        fixture.driver().start({.id = i, .ask = ask, .deadline = net::boot_now() + test::kFar},
                               [&](model::Reply&& reply) {
                                   ++ended;
                                   good += reply.ok() ? 1U : 0U;
                               });
    }
    ASSERT_TRUE(fixture.run_until([&] { return ended == 50; }));
    EXPECT_EQ(good, 50U);
}

TEST(SnmpdV3Live, TheTraceTellsTheStepsAndNoSecret) {
    Snmpd snmpd(kSealed.configuration());
    DriverFixture fixture;
    const model::Reply reply = fixture.ask(get_ask(snmpd, kSealed), test::kFar, true);
    std::string all;
    for (const std::string& line : reply.trace) all += line + "\n";
    EXPECT_NE(all.find("a question for its engine"), std::string::npos) << all;
    EXPECT_NE(all.find("received a report: unknown_engine"), std::string::npos) << all;
    EXPECT_NE(all.find("GetRequest for 2 variables"), std::string::npos) << all;
    EXPECT_EQ(all.find(kAuthPassword), std::string::npos);
    EXPECT_EQ(all.find(kPrivacyPassword), std::string::npos);
}

}  // namespace
}  // namespace pollux::protocol::snmp
