// The command line as a whole: exit codes, and that no secret is an argument.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "app/api_command_test_support.hpp"

namespace pollux::app {
namespace {

using test::ApiStage;
using test::Ran;
using ::testing::HasSubstr;

TEST(Program, HelpIsNoMistakeAndMistakesAreCodeTwo) {
    EXPECT_EQ(ApiStage::run({"--help"}).status, 0);
    EXPECT_EQ(ApiStage::run({"get", "targets", "--help"}).status, 0);
    EXPECT_EQ(ApiStage::run({"--version"}).status, 0);
    for (const std::vector<std::string>& wrong : {std::vector<std::string>{},
                                                  {"nonsense"},
                                                  {"get"},
                                                  {"rm", "device"},
                                                  {"health", "--no"},
                                                  {"completion", "tcsh"},
                                                  {"dlq", "rm", "k", "--target", "burn"}}) {
        const Ran ran = ApiStage::run(wrong);
        EXPECT_EQ(ran.status, 2);
        EXPECT_THAT(ran.err, HasSubstr("--help"));
    }
}

TEST(Program, TheReferenceOfAllCommandsIsUpToDate) {
    std::ifstream file("docs/cli-reference.md", std::ios::binary);
    const std::string page(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(ApiStage::run({"commands"}).out, page)
        << "write it again: pollux commands > docs/cli-reference.md";
}

// Arguments can be seen by everybody on the machine.
TEST(Program, NoCommandOfTheApiTakesASecretAsAnArgument) {
    CLI::App app;
    int status = 0;
    const FleetPorts ports = real_fleet_ports();
    add_all_commands(app, status, ports);
    std::size_t looked_at = 0;
    const std::function<void(const CLI::App&)> look = [&](const CLI::App& at) {
        for (const CLI::Option* option : at.get_options()) {
            const bool api = at.get_option_no_throw("--token-file") != nullptr;
            if (!api || at.get_name() == "poll") continue;  // poll takes references only
            ++looked_at;
            for (const std::string& name : option->get_lnames()) {
                EXPECT_FALSE(name == "token" || name == "password" || name == "api-token") << name;
            }
        }
        for (const CLI::App* below : at.get_subcommands([](const CLI::App*) { return true; })) {
            look(*below);
        }
    };
    look(app);
    EXPECT_GT(looked_at, 100U);
}

}  // namespace
}  // namespace pollux::app
