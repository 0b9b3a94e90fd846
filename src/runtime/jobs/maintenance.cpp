#include "runtime/jobs/maintenance.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "config/job_reader.hpp"
#include "net/event_loop.hpp"

namespace pollux::runtime {
namespace {

namespace files = std::filesystem;

constexpr const char* kPrefix = "state-";
constexpr const char* kSuffix = ".db";
constexpr int kCompactions = 100;  // 8 MB each: enough for one night

// "state-20260228T235959.123Z.db": sorts by time.
std::string name_at(base::WallTime now) {
    std::string text = base::format_utc(now);
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return kPrefix + text + kSuffix;
}

base::Status rotate(const std::string& folder, std::size_t keep, JobControl& control) {
    std::vector<files::path> copies;
    std::error_code error;
    for (const auto& entry : files::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) copies.push_back(entry.path());
    }
    std::ranges::sort(copies);
    for (std::size_t i = 0; i + keep < copies.size(); ++i) {
        files::remove(copies[i], error);
        control.log("removed " + copies[i].filename().string());
    }
    if (!error) return {};
    return base::make_error(base::ErrorClass::kTransient, "job.backup",
                            fmt::format("cannot tidy {}: {}", folder, error.message()));
}

base::Status back_up(const MaintenanceTools& tools, JobControl& control) {
    if (tools.backups.empty()) {
        control.log("no backup: the state is in memory");
        return {};
    }
    if (mkdir(tools.backups.c_str(), 0700) != 0 && errno != EEXIST) {
        return base::make_error(base::ErrorClass::kTransient, "job.backup",
                                fmt::format("cannot make the folder {}: {}", tools.backups,
                                            std::generic_category().message(errno)));
    }
    const std::string name = name_at(net::wall_now());
    auto status = tools.store.back_up(tools.backups + "/" + name,
                                      [&control] { return !control.cancelled(); });
    if (!status) return status;
    control.log("copied the state to backups/" + name);
    return rotate(tools.backups, *tools.keep, control);
}

base::Status compact(const MaintenanceTools& tools, JobControl& control) {
    const std::uint64_t before = tools.store.stats().bytes_on_disk;
    for (int i = 0; i < kCompactions && !control.cancelled(); ++i) {
        const std::uint64_t size = tools.store.stats().bytes_on_disk;
        if (auto status = tools.store.compact(); !status) return status;
        if (tools.store.stats().bytes_on_disk >= size) break;
    }
    control.log(fmt::format("compacted the state: {} kB, {} kB before",
                            tools.store.stats().bytes_on_disk / 1024, before / 1024));
    return {};
}

JobResult run(const MaintenanceTools& tools, const model::JobSpec& job, JobControl& control) {
    const document::Node arguments = config::arguments_of(job);
    std::vector<std::string> steps;
    if (const document::Node* wanted = arguments.find("steps")) {
        for (const auto& item : wanted->items()) steps.push_back(item.scalar());
    } else {
        steps = {"retention", "compact", "backup"};
    }
    std::uint64_t done = 0;
    for (const std::string& step : steps) {
        control.progress(done++, steps.size(), step);
        base::Status status;
        if (step == "retention") {
            tools.retention();
            control.log("old jobs are let go");
        } else if (step == "compact") {
            status = compact(tools, control);
        } else {
            status = back_up(tools, control);
        }
        if (!status) return JobResult::failed(status.error());
    }
    control.progress(done, steps.size(), "done");
    JobResult result;
    result.output = fmt::format("{} steps done", steps.size());
    return result;
}

}  // namespace

void add_maintenance_type(JobTypes& types, MaintenanceTools tools) {
    JobType type;
    type.def.name = "maintenance";
    type.def.help = "Upkeep of the state: retention, compaction, backup.";
    type.def.slots = 1;
    type.def.tier = model::Tier::kLow;
    type.def.timeout = std::chrono::minutes(30);
    type.def.longest_timeout = std::chrono::hours(12);
    type.def.arguments = {{.name = "steps",
                           .kind = model::ArgumentKind::kTexts,
                           .words = {"retention", "compact", "backup"},
                           .help = "in this order; all of them if not given"}};
    type.host = JobHost::kWorker;
    type.run = [tools = std::move(tools)](const model::JobSpec& job, const JobSurroundings&,
                                          JobControl& control) { return run(tools, job, control); };
    types.add(std::move(type));
}

}  // namespace pollux::runtime
