// `pollux job`: submit work that is done once, look at it and steer it, through the API.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "app/api_command.hpp"
#include "app/commands.hpp"
#include "app/job_text.hpp"
#include "app/object_body.hpp"
#include "app/proposal_text.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"
#include "model/job.hpp"

namespace pollux::app {
namespace {

using document::Node;

constexpr const char* kJobs = "/api/jobs";
// What the server takes at most.
constexpr document::ParseLimits kBatchLimits{.max_bytes = 16U << 20U, .max_nodes = 2'000'000};

struct JobArguments : ApiArguments {
    std::string id;
    std::string file;
    bool wait = false;
    bool dry_run = false;
    std::string give_up = "1d";
    std::string state;
    std::string type;
    std::string batch;
    std::size_t limit = 100;
    bool cascade = false;
    std::vector<std::string> devices;
    bool adopt = false;
};

std::string path_of(const std::string& id, std::string_view more = {}) {
    return fmt::format("{}/{}{}", kJobs, url_escaped(id), more);
}

std::string batch_path(const std::string& batch) { return with_query(kJobs, {{"batch", batch}}); }

// What did not end well, once all has ended.
int tell_ended(const JobArguments& arguments, const std::string& batch, Node jobs) {
    const JobCounts counts = count_jobs(jobs.items());
    Node answer = Node::map();
    answer.set("batch", Node::text(batch)).set("items", jobs);
    print_answer(arguments.output, answer, [&] {
        std::vector<Node> bad;
        std::ranges::copy_if(jobs.items(), std::back_inserter(bad),
                             [](const Node& job) { return field(job, "state") != "completed"; });
        return counts_text(counts) + "\n" + (bad.empty() ? "" : job_table(bad, wants_colour()));
    });
    return counts.completed == counts.all() ? 0 : kRefused;
}

// Looks again and again, the less often the longer a look takes, until every job has ended.
base::Result<int> wait_for(const ApiClient& client, const JobArguments& arguments,
                           const std::string& batch) {
    using Clock = std::chrono::steady_clock;
    const auto patience = document::parse_duration(arguments.give_up);
    if (!patience) {
        return std::unexpected(usage_error("--give-up wants a duration such as 90s, 10m or 2h"));
    }
    const Clock::time_point end = Clock::now() + *patience;
    Progress progress("");
    while (true) {
        const Clock::time_point asked = Clock::now();
        const auto found = get_all(client, batch_path(batch));
        if (!found) return std::unexpected(found.error());
        Node jobs = *found->find("items");
        const JobCounts counts = count_jobs(jobs.items());
        if (counts.ended() == counts.all()) return tell_ended(arguments, batch, std::move(jobs));
        progress.say(counts_text(counts));
        const Clock::time_point now = Clock::now();
        if (now >= end) {
            return base::config_error(
                "client.waited",
                fmt::format("not ended after {}: {}\n  the jobs go on; look with `pollux job graph "
                            "{}`",
                            arguments.give_up, counts_text(counts), batch));
        }
        const auto pause = std::clamp<Clock::duration>(
            (now - asked) * 4, std::chrono::milliseconds(250), std::chrono::seconds(10));
        std::this_thread::sleep_for(std::min(pause, end - now));
    }
}

int submit(const JobArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto body = read_map_file(arguments.file, kBatchLimits);
        if (!body) return std::unexpected(body.error());
        ApiRequest request{.method = "POST", .path = kJobs, .body = document::to_json(*body)};
        if (arguments.dry_run) {
            request.path += "?dry_run=true";
            return act(client, arguments.output, request, [](const Node& answer) {
                return fmt::format("{} jobs are good; nothing was submitted",
                                   field(answer, "jobs"));
            });
        }
        const auto reply = client.ask(request);
        if (!reply) return std::unexpected(reply.error());
        const auto answer = parse_answer(reply->body);
        if (!answer) return std::unexpected(answer.error());
        const std::string batch = field(*answer, "batch");
        const auto& ids = list_of(*answer, "ids");
        if (arguments.output == "table") {
            fmt::print("batch {}: {} jobs submitted\n", printable(batch), ids.size());
            if (ids.size() == 1) fmt::print("job {}\n", printable(ids.front().scalar()));
            std::fflush(stdout);
        } else if (!arguments.wait) {
            print_answer(arguments.output, *answer, {});
        }
        return arguments.wait ? wait_for(client, arguments, batch) : 0;
    });
}

int list(const JobArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all = get_all(client,
                                 with_query(kJobs, {{"state", arguments.state},
                                                    {"type", arguments.type},
                                                    {"batch", arguments.batch}}),
                                 arguments.limit);
        if (!all) return std::unexpected(all.error());
        print_answer(arguments.output, *all,
                     [&] { return job_table(list_of(*all, "items"), wants_colour()); });
        if (arguments.output == "table" && !field(*all, "next").empty()) {
            fmt::print(stderr, "there are more: raise --limit\n");
        }
        return 0;
    });
}

int show(const JobArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto job = client.get(path_of(arguments.id));
        if (!job) return std::unexpected(job.error());
        const auto runs = client.get(path_of(arguments.id, "/runs"));
        if (!runs) return std::unexpected(runs.error());
        const auto impact = client.get(path_of(arguments.id, "/impact"));
        if (!impact) return std::unexpected(impact.error());
        const auto& needed_by = list_of(*impact, "impact");
        Node answer = Node::map();
        answer.set("job", *job).set("runs", *runs).set("impact", *impact->find("impact"));
        print_answer(arguments.output, answer,
                     [&] { return job_page(*job, *runs, needed_by, wants_colour()); });
        return 0;
    });
}

// Of the batch, or of the batch that a job belongs to.
int graph(const JobArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto job = client.get(path_of(arguments.id));
        if (!job && job.error().code != "job.unknown") return std::unexpected(job.error());
        const std::string batch = job ? field(*job, "batch") : arguments.id;
        const auto answer =
            client.get(fmt::format("/api/job-batches/{}/graph", url_escaped(batch)));
        if (!answer) return std::unexpected(answer.error());
        print_answer(arguments.output, *answer,
                     [&] { return job_graph_text(*answer, wants_colour()); });
        return 0;
    });
}

int types(const JobArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto all = client.get("/api/job-types");
        if (!all) return std::unexpected(all.error());
        const auto& items = list_of(*all, "items");
        if (arguments.type.empty()) {
            print_answer(arguments.output, *all,
                         [&] { return job_types_table(items, wants_colour()); });
            return 0;
        }
        const auto one = std::ranges::find_if(
            items, [&](const Node& type) { return field(type, "name") == arguments.type; });
        if (one == items.end()) {
            return base::config_error(
                "job.type",
                fmt::format("there is no type of jobs {}; `pollux job types` lists them",
                            printable(arguments.type)));
        }
        print_answer(arguments.output, *one, [&] { return job_type_page(*one, wants_colour()); });
        return 0;
    });
}

int cancel(const JobArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        return act(
            client, arguments.output,
            {.method = "POST",
             .path = path_of(arguments.id, arguments.cascade ? "/cancel?cascade=true" : "/cancel"),
             .body = reason_body(arguments.reason)},
            [](const Node& answer) {
                const auto& ids = list_of(answer, "cancelled");
                std::string text = fmt::format("{} cancelled", ids.size());
                for (const Node& id : ids) text += " " + id.scalar();
                return text;
            });
    });
}

int steer(const JobArguments& arguments, std::string_view verb) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        return act(client, arguments.output,
                   {.method = "POST",
                    .path = path_of(arguments.id, fmt::format("/{}", verb)),
                    .body = reason_body(arguments.reason)},
                   [](const Node& job) {
                       return fmt::format("{} is {}{}", field(job, "id"), field(job, "state"),
                                          field(job, "held") == "true" ? " and held" : "");
                   });
    });
}

int proposal(const JobArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        const auto answer = client.get(path_of(arguments.id, "/proposal"));
        if (!answer) return std::unexpected(answer.error());
        print_answer(arguments.output, *answer,
                     [&] { return proposal_text(*answer, wants_colour()); });
        return 0;
    });
}

std::string accepted_text(const Node& answer, bool adopt) {
    const auto& accepted = list_of(answer, "accepted");
    if (accepted.empty()) {
        return adopt ? "nothing to take over: all parents are as proposed, or stay\n"
                     : "nothing to take over: all parents are as proposed, stay, or belong to "
                       "devices that files or sources own (see NOTE of `pollux job proposal`; "
                       "--adopt takes those over)\n";
    }
    std::string text = fmt::format("parents of {} device{} taken over\n", accepted.size(),
                                   accepted.size() == 1 ? "" : "s");
    for (const Node& one : accepted) text += "  " + printable(one.scalar()) + "\n";
    return text;
}

int accept(const JobArguments& arguments) {
    return with_api(arguments.connection, [&](const ApiClient& client) -> base::Result<int> {
        Node body = Node::map();
        if (!arguments.devices.empty()) {
            Node devices = Node::sequence();
            for (const std::string& device : arguments.devices) devices.push(Node::text(device));
            body.set("devices", std::move(devices));
        }
        if (arguments.adopt) body.set("adopt", Node::boolean(true));
        if (!arguments.reason.empty()) body.set("reason", Node::text(arguments.reason));
        const auto reply = client.ask({.method = "POST",
                                       .path = path_of(arguments.id, "/accept"),
                                       .body = document::to_json(body)});
        if (!reply) return std::unexpected(reply.error());
        const auto answer = parse_answer(reply->body);
        if (!answer) return std::unexpected(answer.error());
        print_answer(arguments.output, *answer,
                     [&] { return accepted_text(*answer, arguments.adopt); });
        return 0;
    });
}

using Act = std::function<int(const JobArguments& arguments)>;

CLI::App* add_act(CLI::App& parent, std::string name, std::string summary, int& status,
                  const std::shared_ptr<JobArguments>& arguments, bool acts, Act function) {
    auto* command = parent.add_subcommand(std::move(name), std::move(summary));
    add_api_options(*command, *arguments, acts);
    command->callback([arguments, &status, function] { status = function(*arguments); });
    return command;
}

void add_looks(CLI::App& job, int& status) {
    auto arguments = std::make_shared<JobArguments>();
    auto* command = add_act(job, "ls", "Jobs, the newest first.", status, arguments, false, &list);
    command->add_option("--state", arguments->state, "Only in this state")
        ->check(CLI::IsMember(
            std::vector<std::string>(model::kJobPhaseNames.begin(), model::kJobPhaseNames.end())));
    command->add_option("--type", arguments->type, "Only of this type");
    command->add_option("--batch", arguments->batch, "Only of this batch");
    command->add_option("--limit", arguments->limit, "At most so many; 0: all")
        ->capture_default_str();

    arguments = std::make_shared<JobArguments>();
    command = add_act(job, "show", "One job: how it stands, why it waits, its attempts.", status,
                      arguments, false, &show);
    command->add_option("id", arguments->id, "Its id")->required();

    arguments = std::make_shared<JobArguments>();
    command = add_act(job, "graph", "A batch by levels, with what each job needs.", status,
                      arguments, false, &graph);
    command->add_option("id", arguments->id, "Id of the batch, or of a job in it")->required();

    arguments = std::make_shared<JobArguments>();
    command = add_act(job, "types", "Types of jobs: share, limits, defaults.", status, arguments,
                      false, &types);
    command->add_option("type", arguments->type, "One of them, with its arguments");
}

void add_proposals(CLI::App& job, int& status) {
    auto arguments = std::make_shared<JobArguments>();
    auto* command = add_act(job, "proposal", "What a discovery found, beside what there is.",
                            status, arguments, false, &proposal);
    command->add_option("id", arguments->id, "Id of the discovery or topology job")->required();

    arguments = std::make_shared<JobArguments>();
    command = add_act(job, "accept", "Take over the parents that a topology job proposes.", status,
                      arguments, true, &accept);
    command->add_option("id", arguments->id, "Its id")->required();
    command->add_option("--device", arguments->devices,
                        "Only of this device; may be repeated; not given: all that are new or "
                        "changed and no file or source owns");
    command->add_flag("--adopt", arguments->adopt,
                      "Also of devices that files or sources own; they are edited here from then "
                      "on");
}

}  // namespace

void add_jobs(CLI::App& app, int& status) {
    auto* job = app.add_subcommand("job", "Work that is done once: submit, look, steer.");
    job->require_subcommand(1);
    auto arguments = std::make_shared<JobArguments>();
    auto* command = job->add_subcommand("submit", "Submit a job or a graph of jobs.");
    add_connection_options(*command, arguments->connection);
    add_output_option(*command, arguments->output);
    command->add_option("FILE", arguments->file, "The batch, YAML or JSON; - is standard input")
        ->required();
    auto* dry = command->add_flag("--dry-run", arguments->dry_run, "Check only");
    command
        ->add_flag("--wait", arguments->wait,
                   "Until all have ended; the exit code is 1 unless all completed")
        ->excludes(dry);
    command->add_option("--give-up", arguments->give_up, "With --wait: after this time")
        ->capture_default_str();
    command->callback([arguments, &status] { status = submit(*arguments); });
    add_looks(*job, status);
    add_proposals(*job, status);

    arguments = std::make_shared<JobArguments>();
    command = add_act(*job, "cancel", "Cancel a job.", status, arguments, true, &cancel);
    command->add_option("id", arguments->id, "Its id")->required();
    command->add_flag("--cascade", arguments->cascade, "Also all that needs it");
    struct Row {
        const char* verb;
        const char* summary;
    };
    for (const Row& row :
         {Row{"retry", "Try a failed or cancelled job again."},
          Row{"hold", "Keep a job from starting."}, Row{"release", "Let a held job start."}}) {
        arguments = std::make_shared<JobArguments>();
        command =
            add_act(*job, row.verb, row.summary, status, arguments, true,
                    [verb = row.verb](const JobArguments& given) { return steer(given, verb); });
        command->add_option("id", arguments->id, "Its id")->required();
    }
}

}  // namespace pollux::app
