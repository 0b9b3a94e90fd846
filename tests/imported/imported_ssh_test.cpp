// A manifest of ssh: what it asks, and what it makes of a radio's answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/imported/imported_device.hpp"

namespace pollux::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

model::PollSignals answer(const extract::CompiledAddon& addon, std::string out) {
    model::CommandReply command;
    command.out = std::move(out);
    model::Reply reply;
    reply.answer = std::move(command);
    const model::Reply* const replies[] = {&reply};
    return addon.signals(0, replies, {}, {"roof", "192.0.2.1"});
}

TEST(ImportedUbiquitiSsh, AsksWithItsDefaultsAndReadsLines) {
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

    auto signals =
        answer(*result.addon, "deviceName=roof\nlinkState=0\ncpuUsage=12.5\nsignal=-71\n");
    ASSERT_EQ(signals.signals.size(), 1U);
    EXPECT_EQ(signals.signals[0].type, "link_down");
    EXPECT_EQ(signals.signals[0].severity, "major");
    EXPECT_EQ(signals.signals[0].title, "roof has no link");
    EXPECT_THAT(signals.signals[0].fields,
                ElementsAre(Pair("alert_type", "link_down"), Pair("device_name", "roof"),
                            Pair("cpu", "12.5"), Pair("signal", "-71")));
    signals = answer(*result.addon, "deviceName=roof\nlinkState=1\n");
    ASSERT_EQ(signals.signals.size(), 1U);
    EXPECT_TRUE(signals.signals[0].clear);
    EXPECT_EQ(signals.signals[0].type, "link_down");
}

}  // namespace
}  // namespace pollux::tests
