#include "tests/known_answers/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>
#include <optional>
#include <ostream>

#include "base/text.hpp"
#include "tests/known_answers/categories.hpp"

namespace pollux::known_answers {
namespace {

constexpr std::string_view kUsage = R"(usage: known_answers [--list] FILE

Runs every case of FILE through the code of the product and compares the answers.
Prints each case that fails, then `N passed, N failed`.

  --list       print the categories and names of the cases instead; without FILE, the
               categories that are known
  -h, --help   print this text

Exit code: 0 all passed, 1 some failed, 2 wrong arguments or a file that cannot be used.
)";

struct Options {
    bool help = false;
    bool list = false;
    std::optional<std::string> file;
};

base::Result<Options> read_arguments(std::span<const std::string> arguments) {
    Options options;
    for (const std::string& argument : arguments) {
        if (argument == "--help" || argument == "-h") {
            options.help = true;
        } else if (argument == "--list") {
            options.list = true;
        } else if (argument.starts_with('-')) {
            return base::config_error("known_answers.arguments",
                                      fmt::format("unknown option {}", base::quoted(argument)));
        } else if (options.file) {
            return base::config_error(
                "known_answers.arguments",
                fmt::format("one FILE is enough, {} is the second", base::quoted(argument)));
        } else {
            options.file = argument;
        }
    }
    if (!options.file && !options.help && !options.list) {
        return base::config_error("known_answers.arguments", "FILE is missing");
    }
    return options;
}

void print_failure(const Case& source, const Problems& problems, std::ostream& out) {
    out << fmt::format("FAILED {} ({})\n", source.name, source.category);
    out << "  inputs:   " << boost::json::serialize(source.inputs) << '\n';
    out << "  expected: " << boost::json::serialize(source.expected) << '\n';
    for (const std::string& problem : problems) out << "  " << problem << '\n';
}

int run_cases(const Cases& cases, std::ostream& out) {
    std::size_t failed = 0;
    for (const Case& source : cases) {
        const Problems problems = run_case(source);
        if (problems.empty()) continue;
        ++failed;
        print_failure(source, problems, out);
    }
    out << fmt::format("{} passed, {} failed\n", cases.size() - failed, failed);
    return failed == 0 ? kAllPassed : kSomeFailed;
}

}  // namespace

Problems run_case(const Case& source) {
    CaseRun run(source);
    if (!source.problems.empty()) return source.problems;
    const Category* category = find_category(source.category);
    if (category == nullptr) {
        return {fmt::format("category: {} is unknown; known are {}", base::quoted(source.category),
                            fmt::join(category_names(), ", "))};
    }
    category->run(run);
    return run.finish();
}

int run_command(std::span<const std::string> arguments, std::ostream& out, std::ostream& err) {
    const auto refuse = [&](std::string_view message) {
        err << "known_answers: " << message << '\n';
        return kNotRun;
    };
    const auto options = read_arguments(arguments);
    if (!options) return refuse(options.error().message + "; see known_answers --help");
    if (options->help) {
        out << kUsage;
        return kAllPassed;
    }
    if (!options->file) {
        for (const std::string_view name : category_names()) out << name << '\n';
        return kAllPassed;
    }
    const auto cases = load_cases(*options->file);
    if (!cases) return refuse(cases.error().message);
    if (!options->list) return run_cases(*cases, out);
    for (const Case& source : *cases)
        out << fmt::format("{:<18} {}\n", source.category, source.name);
    return kAllPassed;
}

}  // namespace pollux::known_answers
