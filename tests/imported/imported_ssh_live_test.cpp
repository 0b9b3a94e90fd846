// A manifest of ssh: what it asks, and what a real sshd answers where a program plays the radio.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "derive/signal_keeper.hpp"
#include "protocol/ssh/test_sshd.hpp"
#include "tests/imported/imported_device.hpp"

namespace pollux::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ImportedUbiquitiSsh, AsksWithItsDefaults) {
    const extract::CompileResult result = load_imported("ubiquiti-ssh");
    ASSERT_NE(result.addon, nullptr) << result.diagnostics.text();
    EXPECT_THAT(result.diagnostics.text(), HasSubstr("parse_type: warning: counts for this"));
    extract::TargetBinding binding;
    binding.host = "192.0.2.1";
    const auto asks = result.addon->asks(0, binding);
    ASSERT_TRUE(asks.has_value());
    ASSERT_EQ(asks->size(), 1U);
    EXPECT_EQ(std::get<model::SshAsk>(asks->front()->request).command, "mca-status");
    EXPECT_EQ(asks->front()->port, 22);
    ASSERT_NE(asks->front()->credentials, nullptr);
    EXPECT_EQ(asks->front()->credentials->username, "ubnt");
}

TEST(ImportedUbiquitiSsh, ReadsWhatTheRadioPrints) {
    const extract::CompileResult result = load_imported("ubiquiti-ssh");
    ASSERT_NE(result.addon, nullptr) << result.diagnostics.text();
    const net::test::TempDir folder;
    const std::string key = protocol::ssh::test::make_key(folder, "user_key", "ed25519");
    folder.write("authorized_keys", folder.read("user_key.pub"));
    const std::string program = folder.write("bin/mca-status", "#!/bin/sh\ncat $0.out\n");
    chmod(program.c_str(), 0755);
    const protocol::ssh::test::Sshd sshd(folder,
                                         "SetEnv PATH=" + folder.file("bin") + ":/usr/bin:/bin\n");
    auto credentials = std::make_shared<model::Credentials>();
    credentials->username = "root";
    credentials->ssh_key = key;
    ImportedDevice asker;
    auto binding = asker.binding();
    binding.port = sshd.port();
    binding.credentials = std::move(credentials);
    const auto radio = [&](const std::string& says) {
        folder.write("bin/mca-status.out", says);
        auto poll = asker.poll(*result.addon, binding);
        EXPECT_FALSE(poll.failed) << sshd.log();
        return poll;
    };
    derive::SignalKeeper keeper;
    auto poll = radio("deviceName=roof\nlinkState=0\ncpuUsage=12.5\nsignal=-71\n");
    ASSERT_THAT(poll.told(), ElementsAre("link_down major"));
    EXPECT_EQ(poll.signals.signals[0].title, "roof has no link");
    EXPECT_THAT(poll.signals.signals[0].fields,
                ElementsAre(Pair("alert_type", "link_down"), Pair("device_name", "roof"),
                            Pair("cpu", "12.5"), Pair("signal", "-71")));
    EXPECT_EQ(keeper.apply(poll.signals, {1}).size(), 1U);
    poll = radio("deviceName=roof\nlinkState=1\n");
    EXPECT_THAT(poll.told(), ElementsAre("clear link_down major"));
    EXPECT_EQ(keeper.apply(poll.signals, {2}).size(), 1U);
    EXPECT_THAT(keeper.raised(), IsEmpty());
    EXPECT_EQ(sshd.logins(), 1U);  // the connection was kept
    // A radio without the program says so, and fails the poll.
    std::filesystem::remove(program);
    EXPECT_TRUE(asker.poll(*result.addon, binding).failed);
}

}  // namespace
}  // namespace pollux::tests
