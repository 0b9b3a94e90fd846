#include "app/job_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "app/api_command.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

using document::Node;

using Names = std::map<std::string, std::string, std::less<>>;  // by id

std::string seconds(const std::string& number) { return number.empty() ? "" : number + " s"; }

std::string state_of(const Node& job) {
    const std::string state = field(job, "state");
    return field(job, "held") == "true" ? state + " (held)" : state;
}

std::string progress_of(const Node& job) {
    const Node* progress = job.find("progress");
    if (progress == nullptr) return {};
    const std::string total = field(*progress, "total");
    std::string text = field(*progress, "done");
    if (total != "0") text += " of " + total;
    const std::string words = field(*progress, "text");
    return words.empty() ? text : text + ", " + words;
}

// What matters most about it now.
std::string note_of(const Node& job) {
    if (const std::string progress = progress_of(job); !progress.empty()) return progress;
    if (const std::string failure = field(job, "failure"); !failure.empty()) return failure;
    return field(job, "verdict");
}

std::string name_of(const Node& job) {
    const std::string name = field(job, "name");
    return name.empty() ? field(job, "id") : name;
}

// "a and (b or c)"
std::string needs_of(const Node& job, const Names& names) {
    std::string all;
    const auto& groups = list_of(job, "depends_on");
    for (const Node& group : groups) {
        std::string any;
        for (const Node& parent : group.items()) {
            const auto found = names.find(parent.scalar());
            if (!any.empty()) any += " or ";
            any += found == names.end() ? parent.scalar() : found->second;
        }
        if (group.items().size() > 1 && groups.size() > 1) any = "(" + any + ")";
        all += (all.empty() ? "" : " and ") + any;
    }
    return all;
}

void add_line(std::string& out, std::string_view name, const std::string& value) {
    if (!value.empty()) out += fmt::format("{:<11} {}\n", name, printable(value, 1000));
}

std::string pairs_of(const Node* map) {
    std::string text;
    if (map == nullptr) return text;
    for (const document::MapEntry& entry : map->entries()) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", entry.key, entry.value.scalar());
    }
    return text;
}

// Lines of a device or a program, moved in.
std::string indented(const std::string& text) {
    std::string out = "  " + printable_lines(text);
    for (std::size_t at = out.find('\n'); at != std::string::npos && at + 1 < out.size();
         at = out.find('\n', at + 1)) {
        out.insert(at + 1, "  ");
    }
    return out.ends_with('\n') ? out : out + '\n';
}

std::string logs_of(const Node& node, std::string_view name) {
    std::string text;
    for (const Node& line : list_of(node, name)) text += line.scalar() + "\n";
    return text;
}

std::string runs_text(const Node& runs, bool colour) {
    const auto& items = list_of(runs, "items");
    if (items.empty()) return "not started yet\n";
    Table table({"ATTEMPT", "STARTED (UTC)", "FINISHED (UTC)", "OUTCOME", "EXIT", "ERROR"});
    for (const Node& run : items) {
        const std::string outcome = field(run, "outcome");
        table.add({field(run, "attempt"), short_time(field(run, "started_at")),
                   short_time(field(run, "finished_at")), outcome.empty() ? "running" : outcome,
                   field(run, "exit_status"), field(run, "error")});
    }
    std::string out = table.text(colour);
    const auto last = std::ranges::max_element(items, {}, [](const Node& run) {
        const std::string attempt = field(run, "attempt");
        return std::pair(attempt.size(), attempt);
    });
    const std::string log = logs_of(*last, "log") + logs_of(runs, "live_log");
    if (!log.empty()) out += "log of the last attempt\n" + indented(log);
    if (const std::string output = field(*last, "output"); !output.empty()) {
        out += fmt::format("output of the last attempt{}\n{}",
                           field(*last, "truncated") == "true" ? " (cut)" : "", indented(output));
    }
    return out;
}

}  // namespace

std::string job_table(const std::vector<Node>& jobs, bool colour) {
    Table table({"ID", "NAME", "TYPE", "STATE", "TIER", "TRIES", "SUBMITTED (UTC)", "NOTE"});
    for (const Node& job : jobs) {
        table.add({field(job, "id"), field(job, "name"), field(job, "type"), state_of(job),
                   field(job, "priority"), field(job, "attempts"),
                   short_time(field(job, "created_at")), note_of(job)});
    }
    return table.empty() ? "no jobs\n" : table.text(colour);
}

std::string job_page(const Node& job, const Node& runs, const std::vector<Node>& impact,
                     bool colour) {
    std::string out;
    add_line(out, "job", field(job, "id"));
    add_line(out, "name", field(job, "name"));
    add_line(out, "batch", field(job, "batch"));
    add_line(out, "type", field(job, "type"));
    add_line(out, "state", state_of(job));
    add_line(out, "why", field(job, "verdict"));
    add_line(out, "failure", field(job, "failure"));
    add_line(out, "progress", progress_of(job));
    add_line(out, "priority", field(job, "priority"));
    add_line(out, "submitted",
             fmt::format("{} UTC by {}", short_time(field(job, "created_at")),
                         field(job, "created_by")));
    add_line(out, "ended", short_time(field(job, "ended_at")));
    add_line(out, "waited", seconds(field(job, "waited")));
    add_line(out, "position", field(job, "position"));
    add_line(out, "starts in", seconds(field(job, "estimate")));
    add_line(out, "needs", needs_of(job, {}));
    std::string stopped;
    for (const Node& one : impact) stopped += (stopped.empty() ? "" : ", ") + one.scalar();
    add_line(out, "needed by", stopped);
    add_line(out, "target", field(job, "target"));
    add_line(out, "device", field(job, "device"));
    add_line(out, "resources", pairs_of(job.find("resources")));
    add_line(out, "labels", pairs_of(job.find("labels")));
    if (const Node* arguments = job.find("arguments");
        arguments != nullptr && !arguments->entries().empty()) {
        add_line(out, "arguments", document::to_json(*arguments));
    }
    add_line(out, "timeout", seconds(field(job, "timeout")));
    return out + "\n" + runs_text(runs, colour);
}

std::string job_graph_text(const Node& graph, bool colour) {
    const auto& jobs = list_of(graph, "jobs");
    Names names;
    std::map<std::uint64_t, std::vector<const Node*>> levels;
    std::vector<Node> plain;
    for (const Node& one : jobs) {
        const Node* job = one.find("job");
        if (job == nullptr) continue;
        names[field(*job, "id")] = name_of(*job);
        levels[document::parse_unsigned(field(one, "level")).value_or(0)].push_back(job);
        plain.push_back(*job);
    }
    std::set<std::string, std::less<>> critical;
    std::string path;
    std::string length;
    if (const Node* found = graph.find("critical_path")) {
        length = field(*found, "seconds");
        for (const Node& id : list_of(*found, "jobs")) {
            critical.insert(id.scalar());
            path += (path.empty() ? "" : " -> ") + names[id.scalar()];
        }
    }
    Table table({"LEVEL", "JOB", "TYPE", "STATE", "NEEDS", "NOTE"});
    for (const auto& [level, members] : levels) {
        for (const Node* job : members) {
            const bool marked = critical.contains(field(*job, "id"));
            table.add({std::to_string(level), name_of(*job) + (marked ? " *" : ""),
                       field(*job, "type"), state_of(*job), needs_of(*job, names), note_of(*job)});
        }
    }
    return fmt::format("batch {}: {} jobs on {} levels; {}\n{}critical path (*), {} s: {}\n",
                       field(graph, "batch"), plain.size(), levels.size(),
                       counts_text(count_jobs(plain)), table.text(colour), length,
                       printable(path, 4000));
}

std::string job_types_table(const std::vector<Node>& types, bool colour) {
    Table table({"TYPE", "SHARE", "AT ONCE", "PER SECOND", "TIER", "TIMEOUT", "TRIES", "DOES"});
    for (const Node& type : types) {
        const std::string rate = field(type, "rate");
        table.add({field(type, "name"), field(type, "weight"), field(type, "slots"),
                   rate == "0" ? "" : rate, field(type, "priority"),
                   seconds(field(type, "timeout")), field(type, "attempts"), field(type, "help")});
    }
    return table.text(colour);
}

std::string job_type_page(const Node& type, bool colour) {
    std::string out = job_types_table({type}, colour);
    Table table({"ARGUMENT", "KIND", "NEEDED", "MEANING"});
    for (const Node& argument : list_of(type, "arguments")) {
        std::string words;
        for (const Node& word : list_of(argument, "words")) words += " " + word.scalar();
        table.add({field(argument, "name"), field(argument, "kind"),
                   field(argument, "required") == "true" ? "yes" : "no",
                   field(argument, "help") + (words.empty() ? "" : " One of:" + words)});
    }
    return table.empty() ? out + "it takes no arguments\n" : out + "\n" + table.text(colour);
}

JobCounts count_jobs(const std::vector<Node>& jobs) {
    JobCounts counts;
    for (const Node& job : jobs) {
        const std::string state = field(job, "state");
        ++(state == "completed"           ? counts.completed
           : state == "failed"            ? counts.failed
           : state == "cancelled"         ? counts.cancelled
           : state == "running"           ? counts.running
           : field(job, "held") == "true" ? counts.held
                                          : counts.waiting);
    }
    return counts;
}

std::string counts_text(const JobCounts& counts) {
    const auto list = [](const std::vector<std::pair<std::size_t, std::string_view>>& parts) {
        std::string text;
        for (const auto& [count, what] : parts) {
            if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
        }
        return text;
    };
    const std::string ended = list({{counts.completed, "completed"},
                                    {counts.failed, "failed"},
                                    {counts.cancelled, "cancelled"}});
    const std::string rest = list({{counts.running, "running"},
                                   {counts.waiting, "waiting"},
                                   {counts.held, "held until somebody releases them"}});
    return fmt::format("{} of {} ended{}{}{}{}", counts.ended(), counts.all(),
                       ended.empty() ? "" : ": ", ended, rest.empty() ? "" : "; ", rest);
}

}  // namespace pollux::app
