#include "app/addon_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/addon_files.hpp"
#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/scalar.hpp"
#include "runtime/trial/addon_trial.hpp"
#include "runtime/trial/case_message.hpp"

namespace pollux::app {
namespace {

namespace fs = std::filesystem;
using document::MapReader;
using document::Need;
using document::Node;
using runtime::TrialStep;
using runtime::TrialTexts;

constexpr std::size_t kMaxReplyBytes = 16U << 20U;

bool same_text(const std::string& expected, const std::string& actual) {
    if (expected == actual) return true;
    const auto a = document::parse_number(expected);
    const auto b = document::parse_number(actual);
    return a && b && runtime::trial_number(*a) == runtime::trial_number(*b);
}

// Replies may lie beside the case.
runtime::CaseFiles files_beside(const std::string& file) {
    return [folder = fs::path(file).parent_path()](const std::string& name) {
        return read_text_file((folder / name).string(), kMaxReplyBytes);
    };
}

class CaseRunner {
  public:
    CaseRunner(std::shared_ptr<const extract::CompiledAddon> addon, std::string file)
        : file_(std::move(file)), trial_(std::move(addon), files_beside(file_), out_) {}

    std::vector<std::string> run(std::string_view text) {
        const document::Parsed parsed = document::parse(text, file_, out_);
        if (parsed.ok) run_document(parsed.root);
        std::vector<std::string> all;
        for (const auto& diagnostic : out_.items()) all.push_back(to_string(diagnostic));
        all.insert(all.end(), failures_.begin(), failures_.end());
        return all;
    }

  private:
    void run_document(const Node& root) {
        MapReader reader(root, "", out_);
        reader.string("description");
        const base::Status prepared = trial_.prepare(reader);
        const std::vector<std::string> urls = reader.strings("asks");
        const Node* steps = reader.list("steps", Need::kRequired);
        reader.finish();
        if (!out_.ok() || steps == nullptr) return;
        if (!prepared) {
            failures_.push_back(prepared.error().message);
            return;
        }
        if (!urls.empty()) compare_asks(urls);
        for (std::size_t i = 0; i < steps->items().size() && out_.ok(); ++i) {
            run_step(steps->items()[i], document::item_path("steps", i));
        }
    }

    void compare_asks(const std::vector<std::string>& urls) {
        const std::vector<std::string> actual = trial_.asks();
        if (actual == urls) return;
        failures_.push_back(fmt::format("asks: expected {}, made {}", fmt::join(urls, " "),
                                        fmt::join(actual, " ")));
    }

    void run_step(const Node& node, const std::string& path) {
        MapReader reader(node, path, out_);
        TrialStep step;
        const Node* expect = reader.map("expect", Need::kRequired);
        const bool ran = trial_.run(reader, step);
        reader.finish();
        if (!ran || !out_.ok() || expect == nullptr) return;
        compare(*expect, document::key_path(path, "expect"), step);
        if (step.failed && !expect->find("failed")) {
            failures_.push_back(path + ": the poll failed; expect failed: true");
        }
    }

    void compare(const Node& expect, const std::string& path, const TrialStep& step) {
        MapReader reader(expect, path, out_);
        compare_texts(reader, "readings", step.readings);
        compare_texts(reader, "samples", step.samples);
        compare_texts(reader, "conditions", step.conditions);
        for (const std::string& name : reader.strings("absent")) {
            if (step.readings.contains(name)) fail(path, fmt::format("{} was read", name));
        }
        compare_rest(reader, path, step);
        reader.finish();
    }

    void compare_rest(MapReader& reader, const std::string& path, const TrialStep& step) {
        if (const Node* rows = reader.list("rows")) {
            std::vector<std::string> expected;
            for (const Node& row : rows->items()) expected.push_back(row.scalar());
            std::vector<std::string> actual = step.rows;
            std::ranges::sort(expected);
            std::ranges::sort(actual);
            if (expected != actual) {
                fail(path, fmt::format("rows: expected {}, found {}", fmt::join(expected, ", "),
                                       fmt::join(actual, ", ")));
            }
        }
        const auto count = [&](std::string_view key, std::uint32_t actual) {
            const auto wanted = reader.integer(key, 0, 1'000'000);
            if (wanted && *wanted != actual) {
                fail(path, fmt::format("{}: expected {}, found {}", key, *wanted, actual));
            }
        };
        count("missing", step.missing);
        count("dropped", step.dropped);
        const auto flag = [&](std::string_view key, bool actual) {
            const auto wanted = reader.boolean(key);
            if (wanted && *wanted != actual) {
                fail(path, fmt::format("{}: expected {}, found {}", key, *wanted, actual));
            }
        };
        flag("degraded", step.degraded);
        flag("restarted", step.restarted);
        flag("unreadable", step.unreadable);
        flag("changed", step.changed);
        reader.boolean("failed");
        if (const Node* wanted = reader.list("signals")) {
            for (const std::string& problem : runtime::compare_signals(*wanted, step.signals)) {
                fail(path + ".signals", problem);
            }
        }
        for (const std::string& words : reader.strings("problems")) {
            const bool told = std::ranges::any_of(step.problems, [&](const std::string& text) {
                return text.find(words) != std::string::npos;
            });
            if (!told) {
                fail(path, fmt::format("no problem says {}; there are: {}", base::quoted(words),
                                       fmt::join(step.problems, " | ")));
            }
        }
    }

    void compare_texts(MapReader& reader, std::string_view key, const TrialTexts& actual) {
        const Node* expected = reader.map(key);
        if (expected == nullptr) return;
        for (const auto& entry : expected->entries()) {
            const auto found = actual.find(entry.key);
            const std::string wanted = entry.value.scalar();
            if (found == actual.end()) {
                fail(reader.path_of(key), fmt::format("{}: expected {}, there is none", entry.key,
                                                      base::quoted(wanted)));
            } else if (!same_text(wanted, found->second)) {
                fail(reader.path_of(key),
                     fmt::format("{}: expected {}, found {}", entry.key, base::quoted(wanted),
                                 base::quoted(found->second)));
            }
        }
    }

    void fail(const std::string& path, std::string message) {
        failures_.push_back(fmt::format("{}: {}: {}", file_, path, message));
    }

    std::string file_;
    document::Diagnostics out_;
    std::vector<std::string> failures_;
    runtime::AddonTrial trial_;
};

std::vector<std::string> case_files(const std::string& manifest) {
    std::vector<std::string> out;
    std::error_code error;
    const fs::path folder = fs::path(manifest).parent_path() / "cases";
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const std::string ending = entry.path().extension().string();
        if (ending == ".yaml" || ending == ".yml") out.push_back(entry.path().string());
    }
    std::ranges::sort(out);
    return out;
}

void print_result(const CaseResult& result, CaseTotals& totals) {
    ++(result.failures.empty() ? totals.passed : totals.failed);
    fmt::print("{} {}\n", result.failures.empty() ? "ok  " : "FAIL", result.name);
    for (const std::string& failure : result.failures) fmt::print("       {}\n", failure);
}

}  // namespace

CaseResult run_addon_case(const std::shared_ptr<const extract::CompiledAddon>& addon,
                          std::string_view text, const std::string& file) {
    return {file, CaseRunner(addon, file).run(text)};
}

CaseTotals run_addon_cases(const std::string& folder) {
    CaseTotals totals;
    const auto manifests = find_manifests(folder);
    if (!manifests || manifests->empty()) {
        print_result(
            {folder, {manifests ? "there is no manifest here" : manifests.error().message}},
            totals);
        return totals;
    }
    for (const std::string& manifest : *manifests) {
        const auto text = read_text_file(manifest, kMaxManifestBytes);
        if (!text) {
            print_result({manifest, {text.error().message}}, totals);
            continue;
        }
        const extract::CompileResult compiled = extract::compile(*text, manifest);
        std::vector<std::string> problems;
        for (const auto& item : compiled.diagnostics.items()) problems.push_back(to_string(item));
        const auto files = case_files(manifest);
        if (compiled.addon != nullptr && files.empty()) {
            problems.emplace_back("there are no cases; add cases/*.yaml beside the manifest");
        }
        if (compiled.addon == nullptr || files.empty()) {
            print_result({manifest, problems}, totals);
            continue;
        }
        for (const std::string& file : files) {
            const auto case_text = read_text_file(file, kMaxManifestBytes);
            print_result(case_text ? run_addon_case(compiled.addon, *case_text, file)
                                   : CaseResult{file, {case_text.error().message}},
                         totals);
        }
    }
    return totals;
}

}  // namespace pollux::app
