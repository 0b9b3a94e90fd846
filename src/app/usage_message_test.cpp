#include "app/usage_message.hpp"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

#include "app/commands.hpp"

namespace pollux::app {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string told(const std::string& line) {
    CLI::App app;
    app.name("pollux");
    app.require_subcommand(1);
    int status = 0;
    add_addon(app, status);
    add_inbound(app, status);
    add_ssh(app, status);
    try {
        app.parse(line);
    } catch (const CLI::ParseError& error) {
        return usage_message(&app, error);
    }
    return "";
}

TEST(UsageMessage, AnUnknownCommandIsNamedWithThoseThatThereAre) {
    EXPECT_THAT(told("frob"), HasSubstr("pollux: there is no command `pollux frob`; there are "));
    EXPECT_THAT(told("frob"), HasSubstr("messages, inbound, push, hook"));
    EXPECT_THAT(told("addon list"), HasSubstr("there is no command `pollux addon list`"));
    EXPECT_THAT(told("addon list"), HasSubstr("import"));
    EXPECT_THAT(told("addon list"), HasSubstr("See `pollux addon --help`."));
    EXPECT_THAT(told("push address alive::door"), HasSubstr("no command `pollux push address`"));
}

TEST(UsageMessage, AMissingCommandIsToldWithThoseThatThereAre) {
    EXPECT_THAT(told(""), HasSubstr("`pollux` wants a command behind it; there are "));
    EXPECT_THAT(
        told("ssh host-keys"),
        HasSubstr("`pollux ssh host-keys` wants a command behind it; there are ls, forget"));
}

TEST(UsageMessage, WhatIsWrongWithAnOptionIsToldAsItIs) {
    EXPECT_THAT(told("push url"), HasSubstr("pollux: target is required\nSee `pollux push url"));
    EXPECT_THAT(told("messages --limit 0"), HasSubstr("--limit"));
    EXPECT_THAT(told("messages --limit 0"), Not(HasSubstr("there are")));
    EXPECT_THAT(told("messages --bogus"), HasSubstr("--bogus"));
    EXPECT_THAT(told("inbound extra"), HasSubstr("extra"));
}

}  // namespace
}  // namespace pollux::app
