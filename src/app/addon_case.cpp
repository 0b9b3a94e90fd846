#include "app/addon_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/addon_files.hpp"
#include "app/case_checks.hpp"
#include "app/case_message.hpp"
#include "app/case_reply.hpp"
#include "base/text.hpp"
#include "derive/condition_signals.hpp"
#include "derive/derive.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "document/scalar.hpp"

namespace pollux::app {
namespace {

namespace fs = std::filesystem;
using document::MapReader;
using document::Need;
using document::Node;
using namespace std::chrono_literals;

constexpr base::WallTime kCaseStart{1'700'000'000'000'000};

// "in_octets[eth0]" names the value of a row, "uptime" the target's own.
std::string series_text(const model::Addon& addon, std::uint16_t metric, std::string_view row) {
    const std::string& name = addon.metrics[metric].name;
    return row.empty() ? name : fmt::format("{}[{}]", name, row);
}

std::string number_text(double value) {
    // Seven digits are more than any case wants to write, and hide the last bit of a division.
    return fmt::format("{:.7g}", value);
}

std::string value_text(const model::MetricDef& metric, const model::Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
    if (const auto* d = std::get_if<double>(&value)) return number_text(*d);
    const auto* i = std::get_if<std::int64_t>(&value);
    if (i != nullptr && *i >= 0 && static_cast<std::size_t>(*i) < metric.states.size() &&
        !metric.states[static_cast<std::size_t>(*i)].empty()) {
        return metric.states[static_cast<std::size_t>(*i)];
    }
    if (i != nullptr) return fmt::format("{}", *i);
    if (const auto* u = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *u);
    return "";
}

std::string_view level_text(model::Level level) {
    switch (level) {
        case model::Level::kUnknown: return "unknown";
        case model::Level::kClear: return "clear";
        case model::Level::kBetween: return "between";
        case model::Level::kTriggered: return "triggered";
    }
    return "unknown";
}

bool same_text(const std::string& expected, const std::string& actual) {
    if (expected == actual) return true;
    const auto a = document::parse_number(expected);
    const auto b = document::parse_number(actual);
    return a && b && number_text(*a) == number_text(*b);
}

using Texts = std::map<std::string, std::string, std::less<>>;

class CaseRunner {
  public:
    CaseRunner(std::shared_ptr<const extract::CompiledAddon> addon, std::string file)
        : addon_(std::move(addon)), file_(std::move(file)) {}

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
        binding_.host = reader.string("host").value_or("192.0.2.1");
        binding_.port = static_cast<std::uint16_t>(reader.integer("port", 1, 65535).value_or(0));
        if (const Node* parameters = reader.map("parameters")) {
            for (const auto& entry : parameters->entries()) {
                binding_.parameters[entry.key] = entry.value.scalar();
            }
        }
        const std::string group = reader.string("group").value_or("");
        const std::vector<std::string> urls = reader.strings("asks");
        const Node* steps = reader.list("steps", Need::kRequired);
        reader.finish();
        if (!out_.ok() || steps == nullptr || !prepare(group)) return;
        if (!urls.empty()) compare_asks(urls);
        for (std::size_t i = 0; i < steps->items().size() && out_.ok(); ++i) {
            run_step(steps->items()[i], document::item_path("steps", i));
        }
    }

    bool prepare(const std::string& group) {
        const auto special = extract::specialise(addon_, binding_.parameters);
        if (!special) {
            failures_.push_back(special.error().message);
            return false;
        }
        addon_ = *special;
        const auto& groups = addon_->addon().groups;
        const auto found = std::ranges::find(groups, group, &model::PollGroup::name);
        if (found == groups.end()) {
            failures_.push_back(fmt::format("the addon has no group {}", base::quoted(group)));
            return false;
        }
        group_ = static_cast<std::size_t>(found - groups.begin());
        auto asks = addon_->asks(group_, binding_);
        if (!asks) {
            failures_.push_back(asks.error().message);
            return false;
        }
        asks_ = std::move(*asks);
        return true;
    }

    void compare_asks(const std::vector<std::string>& urls) {
        std::vector<std::string> actual;
        for (const auto& ask : asks_) {
            actual.push_back(describe_ask(*ask));
        }
        if (actual == urls) return;
        failures_.push_back(fmt::format("asks: expected {}, made {}", fmt::join(urls, " "),
                                        fmt::join(actual, " ")));
    }

    void run_step(const Node& step, const std::string& path) {
        MapReader reader(step, path, out_);
        const base::Duration at = reader.duration("at", 0s, 24h * 365).value_or(0s);
        for (const std::string_view key :
             {"http", "snmp", "failure", "replies", "trap", "webhook", "push"}) {
            reader.any(key);
        }
        for (const std::string_view key : kCheckReplies) reader.any(key);
        const Node* expect = reader.map("expect", Need::kRequired);
        reader.finish();
        const base::Instant now{base::BootTime{} + 1h + at, kCaseStart + at};
        const extract::SignalContext context{"device", binding_.host};
        std::vector<const model::Reply*> pointers;
        std::vector<model::Reply> replies;
        const auto message = case_message(step, path, now.wall, out_);
        if (!message) replies = case_replies(step, path, asks_, file_, now.wall, out_);
        if (!out_.ok() || expect == nullptr) return;
        for (const model::Reply& reply : replies) {
            const auto* failure = std::get_if<model::PollFailure>(&reply.answer);
            const bool asked = failure == nullptr || failure->code != kNotAsked;
            pointers.push_back(asked ? &reply : nullptr);
        }
        const model::Readings readings =
            message ? addon_->read(*message) : addon_->read(group_, pointers, now.wall);
        signals_ = message ? addon_->signals(*message, context)
                           : addon_->signals(group_, pointers, now.wall, context).signals;
        const model::Observation seen = derive::derive(addon_->addon(), readings, now, memory_);
        std::ranges::move(derive::condition_signals(
                              addon_->addon(), static_cast<std::uint16_t>(group_), seen, memory_)
                              .signals,
                          std::back_inserter(signals_));
        compare(*expect, document::key_path(path, "expect"), readings, seen);
        if (addon_->failure(group_, pointers) != nullptr && !expect->find("failed")) {
            failures_.push_back(path + ": the poll failed; expect failed: true");
        }
        last_digest_ = seen.digest;
        has_digest_ = true;
    }

    void compare(const Node& expect, const std::string& path, const model::Readings& readings,
                 const model::Observation& seen) {
        const model::Addon& addon = addon_->addon();
        MapReader reader(expect, path, out_);
        Texts values;
        for (const model::Reading& reading : readings.values) {
            values[series_text(addon, reading.metric, readings.rows[reading.row])] =
                value_text(addon.metrics[reading.metric], reading.value);
        }
        Texts samples;
        for (const model::Sample& sample : seen.samples) {
            const derive::SeriesName name = memory_.series(sample.slot);
            samples[series_text(addon, name.metric, name.row)] = number_text(sample.value);
        }
        Texts levels;
        for (const model::ConditionLevel& level : seen.conditions) {
            const std::string_view row = memory_.series(level.slot).row;
            const std::string& name = addon.conditions[level.condition].name;
            levels[row.empty() ? name : fmt::format("{}[{}]", name, row)] = level_text(level.level);
        }
        compare_texts(reader, "readings", values);
        compare_texts(reader, "samples", samples);
        compare_texts(reader, "conditions", levels);
        for (const std::string& name : reader.strings("absent")) {
            if (values.contains(name)) fail(path, fmt::format("{} was read", name));
        }
        compare_rest(reader, path, readings, seen);
        reader.finish();
    }

    void compare_rest(MapReader& reader, const std::string& path, const model::Readings& readings,
                      const model::Observation& seen) {
        if (const Node* rows = reader.list("rows")) {
            std::vector<std::string> expected;
            for (const Node& row : rows->items()) expected.push_back(row.scalar());
            std::vector<std::string> actual(readings.rows.begin() + 1, readings.rows.end());
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
        count("missing", readings.missing);
        count("dropped", seen.dropped);
        const auto flag = [&](std::string_view key, bool actual) {
            const auto wanted = reader.boolean(key);
            if (wanted && *wanted != actual) {
                fail(path, fmt::format("{}: expected {}, found {}", key, *wanted, actual));
            }
        };
        flag("degraded", readings.degraded);
        flag("restarted", seen.restarted);
        flag("unreadable", readings.unreadable > 0);
        flag("changed", has_digest_ && seen.digest != last_digest_);
        reader.boolean("failed");
        if (const Node* wanted = reader.list("signals")) {
            for (const std::string& problem : compare_signals(*wanted, signals_)) {
                fail(path + ".signals", problem);
            }
        }
        for (const std::string& words : reader.strings("problems")) {
            const bool told = std::ranges::any_of(readings.problems, [&](const std::string& text) {
                return text.find(words) != std::string::npos;
            });
            if (!told) {
                fail(path, fmt::format("no problem says {}; there are: {}", base::quoted(words),
                                       fmt::join(readings.problems, " | ")));
            }
        }
    }

    void compare_texts(MapReader& reader, std::string_view key, const Texts& actual) {
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

    std::shared_ptr<const extract::CompiledAddon> addon_;
    std::string file_;
    document::Diagnostics out_;
    std::vector<std::string> failures_;
    extract::TargetBinding binding_;
    std::size_t group_ = 0;
    std::vector<std::shared_ptr<const model::Ask>> asks_;
    derive::TargetMemory memory_;
    std::vector<model::Signal> signals_;  // of the step at hand
    std::uint64_t last_digest_ = 0;
    bool has_digest_ = false;
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
