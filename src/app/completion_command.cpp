// `pollux completion bash|zsh|fish` and `pollux commands`: scripts for shells and the page
// docs/cli-reference.md, made from the commands themselves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.hpp"

namespace pollux::app {
namespace {

struct Command {
    std::string path;  // "get targets"; empty: the program itself
    std::vector<std::pair<std::string, std::string>> commands;  // name, help
    std::vector<std::pair<std::string, std::string>> options;   // "--url", help
};

std::vector<Command> all_commands(const CLI::App& app) {
    std::vector<Command> all;
    const std::function<void(const CLI::App&, const std::string&)> visit =
        [&](const CLI::App& at, const std::string& path) {
            Command command{path, {}, {}};
            for (const CLI::Option* option : at.get_options()) {
                for (const std::string& name : option->get_lnames()) {
                    command.options.emplace_back("--" + name, option->get_description());
                }
            }
            const auto below = at.get_subcommands([](const CLI::App*) { return true; });
            for (const CLI::App* one : below) {
                command.commands.emplace_back(one->get_name(), one->get_description());
            }
            all.push_back(std::move(command));
            for (const CLI::App* one : below) {
                visit(*one, path.empty() ? one->get_name() : path + " " + one->get_name());
            }
        };
    visit(app, "");
    return all;
}

std::string words(const std::vector<std::pair<std::string, std::string>>& named) {
    std::string text;
    for (const auto& [name, help] : named) text += (text.empty() ? "" : " ") + name;
    return text;
}

// A case per command, for shells of the Bourne family.
std::string cases(const std::vector<Command>& all) {
    std::string text;
    for (const Command& one : all) {
        text += fmt::format("        '{}') commands='{}'; options='{}' ;;\n", one.path,
                            words(one.commands), words(one.options));
    }
    return text;
}

std::string with_cases(std::string script, const std::string& text) {
    constexpr std::string_view mark = "@CASES@";
    return script.replace(script.find(mark), mark.size(), text);
}

std::string bash_script(const std::vector<Command>& all) {
    return with_cases(
        R"SCRIPT(# bash completion of pollux. Load it with: source <(pollux completion bash)
_pollux_words() {
    local commands options
    case "$1" in
@CASES@        *) commands=''; options='' ;;
    esac
    if [ "$2" = options ]; then printf '%s' "$options"; else printf '%s' "$commands"; fi
}
_pollux() {
    local current="${COMP_WORDS[COMP_CWORD]}" path='' word known i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        known=" $(_pollux_words "$path" commands) "
        if [[ "$word" != -* && "$known" == *" $word "* ]]; then path="${path:+$path }$word"; fi
    done
    COMPREPLY=()
    if [[ "$current" == -* ]]; then
        COMPREPLY=($(compgen -W "$(_pollux_words "$path" options)" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$(_pollux_words "$path" commands)" -- "$current"))
        if [ ${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
    fi
}
complete -F _pollux pollux
)SCRIPT",
        cases(all));
}

std::string zsh_script(const std::vector<Command>& all) {
    return with_cases(R"SCRIPT(#compdef pollux
# zsh completion of pollux. Load it with: source <(pollux completion zsh)
_pollux_words() {
    local commands options
    case "$1" in
@CASES@        *) commands=''; options='' ;;
    esac
    if [ "$2" = options ]; then printf '%s' "$options"; else printf '%s' "$commands"; fi
}
_pollux() {
    local route='' word known i
    for ((i = 2; i < CURRENT; i++)); do
        word="${words[i]}"
        known=" $(_pollux_words "$route" commands) "
        if [[ "$word" != -* && "$known" == *" $word "* ]]; then route="${route:+$route }$word"; fi
    done
    local -a commands options
    commands=(${=$(_pollux_words "$route" commands)})
    options=(${=$(_pollux_words "$route" options)})
    if [[ "${words[CURRENT]}" == -* ]]; then
        compadd -- $options
    elif (( ${#commands} )); then
        compadd -- $commands
    else
        _files
    fi
}
if (( $+functions[compdef] )); then compdef _pollux pollux; fi
)SCRIPT",
                      cases(all));
}

std::string fish_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

// Where one stands is found as in the other shells: options and their values are passed over.
std::string fish_script(const std::vector<Command>& all) {
    std::string known;
    for (const Command& one : all) {
        if (!one.path.empty()) known += fmt::format(" '{}'", one.path);
    }
    std::string text = fmt::format(
        R"SCRIPT(# fish completion of pollux. Load it with: pollux completion fish | source
set -g __pollux_commands{}
function __pollux_at
    set -l route ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$route $word")
        if contains -- $next $__pollux_commands
            set route $next
        end
    end
    test "$route" = "$argv[1]"
end
complete -c pollux -f
)SCRIPT",
        known);
    for (const Command& one : all) {
        const std::string where = fmt::format("-n '__pollux_at \"{}\"'", one.path);
        for (const auto& [name, help] : one.commands) {
            text += fmt::format("complete -c pollux {} -a '{}' -d '{}'\n", where, name,
                                fish_text(help));
        }
        if (one.commands.empty()) text += fmt::format("complete -c pollux {} -F\n", where);
        for (const auto& [name, help] : one.options) {
            text += fmt::format("complete -c pollux {} -l '{}' -d '{}'\n", where, name.substr(2),
                                fish_text(help));
        }
    }
    return text;
}

bool is_shared(std::string_view option) {
    constexpr std::array<std::string_view, 9> kShared = {
        "help", "version", "url", "token-file", "ca-file", "pin", "insecure", "timeout", "verbose"};
    return std::ranges::find(kShared, option) != kShared.end();
}

// What can be typed behind a command: `[KEY] --all --type …`.
std::string reference_rows(const CLI::App& at) {
    std::string rows;
    for (const CLI::Option* option : at.get_options()) {
        const auto& names = option->get_lnames();
        if (!names.empty() && is_shared(names.front())) continue;
        std::string name = option->get_positional()
                               ? fmt::format("{}", option->get_name(true, false))
                               : option->get_name(false, true);
        std::ranges::replace(name, ',', ' ');
        std::string help = option->get_description();
        std::ranges::replace(help, '\n', ' ');
        for (std::size_t i = help.find('|'); i != std::string::npos; i = help.find('|', i + 2)) {
            help.insert(i, "\\");
        }
        rows +=
            fmt::format("| `{}` | {}{} |\n", name, help, option->get_required() ? " (needed)" : "");
    }
    return rows;
}

std::string reference_page(const CLI::App& app) {
    std::string page =
        "# All commands\n\n"
        "Made by `pollux commands`. [cli.md](cli.md) explains them. Commands marked **API** also "
        "take `--url`, `--token-file`, `--ca-file`, `--pin`, `--insecure`, `--timeout` and `-v`.\n";
    const std::function<void(const CLI::App&, const std::string&)> visit =
        [&](const CLI::App& at, const std::string& path) {
            const auto below = at.get_subcommands([](const CLI::App*) { return true; });
            if (!path.empty()) {
                const bool api = at.get_option_no_throw("--token-file") != nullptr;
                page += fmt::format("\n## {}\n\n{}{}\n", path, at.get_description(),
                                    api ? " **API**" : "");
                const std::string rows = reference_rows(at);
                if (!rows.empty()) page += "\n| argument | meaning |\n|---|---|\n" + rows;
            }
            for (const CLI::App* one : below) {
                visit(*one, path.empty() ? one->get_name() : path + " " + one->get_name());
            }
        };
    visit(app, "");
    return page;
}

}  // namespace

void add_commands(CLI::App& app, int& status) {
    auto* command =
        app.add_subcommand("commands", "The page docs/cli-reference.md, from the program itself.");
    command->callback([&app, &status] {
        fmt::print("{}", reference_page(app));
        status = 0;
    });
}

void add_completion(CLI::App& app, int& status) {
    auto* command =
        app.add_subcommand("completion", "Completion for a shell, to be sourced by it.");
    auto shell = std::make_shared<std::string>();
    command->add_option("shell", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command->callback([shell, &app, &status] {
        const std::vector<Command> all = all_commands(app);
        fmt::print("{}", *shell == "bash"  ? bash_script(all)
                         : *shell == "zsh" ? zsh_script(all)
                                           : fish_script(all));
        status = 0;
    });
}

}  // namespace pollux::app
