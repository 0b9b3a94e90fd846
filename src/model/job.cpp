#include "model/job.hpp"

#include <fmt/format.h>

namespace pollux::model {
namespace {

// Rows: from; columns: to, in the order of JobPhase.
constexpr std::array<std::array<bool, kJobPhaseCount>, kJobPhaseCount> kAllowed = {{
    // pending blocked ready  running compl. failed cancelled
    {false, true, true, false, false, true, true},      // pending
    {true, false, true, false, false, true, true},      // blocked: held, met, a parent failed
    {true, true, false, true, false, false, true},      // ready: held, a parent turned, its turn
    {true, false, false, false, true, true, true},      // running: to be tried again, or ended
    {false, false, false, false, false, false, false},  // completed: for good
    {true, false, false, false, false, false, false},   // failed: tried again by a person
    {true, false, false, false, false, false, false},   // cancelled: likewise
}};

// Back to where a character of UTF-8 begins.
std::size_t whole_characters(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text.size();
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return end;
}

}  // namespace

bool may_follow(JobPhase from, JobPhase to) {
    return kAllowed[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

base::Result<JobPhase> transition(JobPhase from, JobPhase to) {
    if (may_follow(from, to)) return to;
    return base::config_error(
        "job.transition",
        from == to ? fmt::format("the job is {} already: nothing was changed", to_string(to))
                   : fmt::format("a job that is {} cannot become {}: nothing was changed",
                                 to_string(from), to_string(to)));
}

void keep_bounds(JobRun& run) {
    if (run.output.size() > kMostJobOutput) {
        run.output.resize(whole_characters(run.output, kMostJobOutput));
        run.truncated = true;
    }
    if (run.log.size() > kMostJobLogLines) {
        run.log.erase(run.log.begin(),
                      run.log.end() - static_cast<std::ptrdiff_t>(kMostJobLogLines));
    }
    for (std::string& line : run.log) line.resize(whole_characters(line, kMostJobLogLine));
}

std::string job_class(std::string_view type) { return fmt::format("job-{}", type); }

std::string job_key(std::string_view type, std::string_view id) {
    return fmt::format("job-{}::{}", type, id);
}

}  // namespace pollux::model
