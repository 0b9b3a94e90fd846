// Completion, asked of the real shells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "app/api_command_test_support.hpp"

namespace pollux::app {
namespace {

using test::ApiStage;
using test::Ran;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;

class Completion : public testing::Test {
  protected:
    // The script for a shell as a file, which its parser takes.
    std::string script(const std::string& shell) {
        const Ran made = ApiStage::run({"completion", shell});
        EXPECT_EQ(made.status, 0) << made.err;
        const std::string file = folder.write("pollux." + shell, made.out);
        EXPECT_EQ(output({shell, "-n", file}), "") << "it parses";
        return file;
    }
    // Of a program that must succeed.
    std::string output(std::vector<std::string> command) {
        net::test::Process process(
            std::move(command), folder,
            {{"HOME", folder.path()}, {"XDG_CONFIG_HOME", folder.path()}, {"TERM", "vt100"}});
        EXPECT_TRUE(process.wait_for_end());
        EXPECT_EQ(process.exit_code(), 0) << process.output();
        return process.output();
    }
    // Sorted, without what stands behind a tab.
    static std::vector<std::string> words(const std::string& text) {
        std::istringstream lines(text);
        std::vector<std::string> all;
        for (std::string line; std::getline(lines, line);) {
            if (!line.empty()) all.push_back(line.substr(0, line.find('\t')));
        }
        std::ranges::sort(all);
        return all;
    }

    net::test::TempDir folder;
};

TEST_F(Completion, Bash) {
    const std::string use = folder.write("use.bash", "source " + script("bash") + R"SH(
complete_words() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pollux; printf '%s\n' "${COMPREPLY[@]}"
}
complete_words "${@}"
)SH");
    const auto completed = [&](std::vector<std::string> typed) {
        typed.insert(typed.begin(), {"bash", use, "pollux"});
        return words(output(typed));
    };
    EXPECT_THAT(completed({"jo"}), ElementsAre("job"));
    EXPECT_THAT(completed({"breaker", ""}), ElementsAre("ls", "reset"));
    EXPECT_THAT(completed({"get", "ta"}), ElementsAre("targets"));
    EXPECT_THAT(completed({"--x", "breaker", "reset", "--re"}), ElementsAre("--reason"));
    EXPECT_THAT(completed({"job", ""}),
                IsSupersetOf({"cancel", "graph", "hold", "ls", "release", "retry", "submit"}));
    folder.write("nightly.yaml", "");
    EXPECT_THAT(completed({"job", "submit", "night"}), ElementsAre("nightly.yaml"));
}

// Types into an interactive shell on a terminal of its own, and notes what it offers.
TEST_F(Completion, Zsh) {
    const std::string offered = folder.file("offered");
    const std::string use =
        folder.write("use.zsh", "file=" + script("zsh") + "\noffered=" + offered + R"SH(
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -U compinit; compinit -u -D; source $file
compadd() {
    local -a got; builtin compadd -O got \"\$@\"; print -rl -- \$got >> $offered
    builtin compadd \"\$@\"
}
note() { : > $offered.done }
zle -N note; bindkey '^I' complete-word; bindkey '^X' note; : > $offered.ready"
await() { repeat 2400; do [[ -e $1 ]] && return 0; sleep 0.05; done; print "no $1"; exit 1 }
await $offered.ready
zpty -w -n shell "$1"$'\t\x18'
await $offered.done
zpty -d shell
cat $offered
rm $offered $offered.done $offered.ready
)SH");
    const auto completed = [&](const std::string& typed) {
        return words(output({"zsh", "-f", use, typed}));
    };
    EXPECT_THAT(completed("pollux jo"), ElementsAre("job"));
    EXPECT_THAT(completed("pollux breaker "), ElementsAre("ls", "reset"));
    EXPECT_THAT(completed("pollux breaker reset --re"), ElementsAre("--reason"));
}

TEST_F(Completion, Fish) {
    const std::string file = script("fish");
    const auto completed = [&](const std::string& typed) {
        return words(output(
            {"fish", "--no-config", "-c", "source " + file + "; complete -C '" + typed + "'"}));
    };
    EXPECT_THAT(completed("pollux jo"), ElementsAre("job"));
    EXPECT_THAT(completed("pollux breaker "), ElementsAre("ls", "reset"));
    EXPECT_THAT(completed("pollux breaker --url http://x re"), ElementsAre("reset"));
    EXPECT_THAT(completed("pollux breaker reset --re"), ElementsAre("--reason"));
    EXPECT_THAT(completed("pollux breaker reset "), Not(Contains("ls")));
    folder.write("nightly.yaml", "");
    EXPECT_THAT(completed("pollux job submit night"), ElementsAre("nightly.yaml"));
}

}  // namespace
}  // namespace pollux::app
