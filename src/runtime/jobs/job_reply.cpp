#include "runtime/jobs/job_reply.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/failure.hpp"

namespace pollux::runtime {
namespace {

constexpr std::size_t kMostReason = 200;

std::string first_line(std::string_view text) {
    const std::string plain = base::plain_text(text.substr(0, kMostReason));
    return plain.substr(0, plain.find('\n'));
}

void take_failure(const model::PollFailure& failure, RunReport& report) {
    const base::ErrorClass cause =
        model::classify({.kind = failure.kind, .http_status = failure.http_status, .message = {}});
    report.outcome = failure.kind == model::FailureKind::kCancelled ? model::Outcome::kInterrupted
                     : model::is_retryable(cause)                   ? model::Outcome::kTransient
                                                                    : model::Outcome::kPermanent;
    report.kind = failure.kind;
    report.code = failure.code;
    report.message = failure.message;
    report.job->exit_status = failure.http_status != 0 ? failure.http_status : 1;
}

void take_command(model::CommandReply& reply, RunReport& report) {
    model::JobRun& run = *report.job;
    run.output = base::valid_utf8(reply.out);
    if (!reply.error_out.empty()) {
        if (!run.output.empty() && !run.output.ends_with('\n')) run.output += '\n';
        run.output += base::valid_utf8(reply.error_out);
    }
    run.truncated = reply.truncated;
    run.exit_status = reply.signal != 0 ? 128 + reply.signal : reply.exit_status;
    if (run.exit_status == 0) return;
    report.outcome = model::Outcome::kTransient;
    report.kind = model::FailureKind::kApi;
    report.code = "job.exit";
    const std::string said = first_line(reply.error_out.empty() ? reply.out : reply.error_out);
    report.message = fmt::format("it ended with {}{}{}",
                                 reply.signal != 0 ? fmt::format("signal {}", reply.signal)
                                                   : fmt::format("status {}", reply.exit_status),
                                 said.empty() ? "" : ": ", said);
}

}  // namespace

void describe_job(model::Reply& reply, RunReport& report) {
    report.job = std::make_shared<model::JobRun>();
    if (const auto* failure = std::get_if<model::PollFailure>(&reply.answer)) {
        take_failure(*failure, report);
    } else if (auto* command = std::get_if<model::CommandReply>(&reply.answer)) {
        take_command(*command, report);
    } else if (const auto* http = std::get_if<model::HttpReply>(&reply.answer)) {
        report.job->exit_status = http->status;
        report.job->output = base::valid_utf8(http->body);
    }
}

}  // namespace pollux::runtime
