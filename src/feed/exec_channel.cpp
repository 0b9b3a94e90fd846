#include "feed/exec_channel.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"

namespace pollux::feed {
namespace {

constexpr std::uint64_t kMaxOutput = 16U << 10U;

bool is_final_status(int status) { return status == 64 || status == 65 || status == 78; }

AttemptOutcome outcome_of(const model::Reply& reply, const std::string& program) {
    if (const auto* failure = std::get_if<model::PollFailure>(&reply.answer)) {
        return {.result = AttemptResult::kTransient,
                .code = failure->code,
                .message = failure->message};
    }
    const auto& answer = std::get<model::CommandReply>(reply.answer);
    if (answer.exit_status == 0)
        return {.result = AttemptResult::kDelivered, .code = {}, .message = {}};
    const std::string said =
        base::plain_text(answer.error_out.empty() ? answer.out : answer.error_out);
    return {.result = is_final_status(answer.exit_status) ? AttemptResult::kPermanent
                                                          : AttemptResult::kTransient,
            .code = "exec.exit_status",
            .message = fmt::format(
                "{} ended with status {}{}", base::quoted(program), answer.exit_status,
                said.empty() ? "" : ": " + base::quoted(said.substr(0, said.find('\n')), 200))};
}

model::ExecAsk ask_of(const Attempt& attempt) {
    const model::Notification& notification = *attempt.notification;
    model::ExecAsk ask;
    ask.argv = attempt.endpoint->channel.argv;
    ask.environment = {{"POLLUX_DELIVERY", notification.id},
                       {"POLLUX_ATTEMPT", std::to_string(attempt.number)},
                       {"POLLUX_KIND", std::string(model::to_string(notification.kind))},
                       {"POLLUX_INCIDENT", notification.incident},
                       {"POLLUX_RECEIVER", notification.receiver}};
    ask.input = notification.body;
    ask.max_output_bytes = kMaxOutput;
    ask.good_exit = {{0, 255}};
    return ask;
}

}  // namespace

ExecChannel::ExecChannel(net::EventLoop& loop, protocol::exec::ExecRules rules)
    : driver_(loop, std::move(rules), nullptr) {}

void ExecChannel::start(Attempt attempt, Done done) {
    model::Ask ask;
    ask.timeout = std::chrono::hours(1);  // the deadline of the attempt ends it
    ask.request = ask_of(attempt);
    protocol::Order order{.id = attempt.id,
                          .ask = std::make_shared<const model::Ask>(std::move(ask)),
                          .deadline = attempt.deadline};
    const auto& argv = attempt.endpoint->channel.argv;
    std::string program = argv.empty() ? std::string() : argv.front();
    driver_.start(std::move(order),
                  [program = std::move(program), done = std::move(done)](
                      model::Reply&& reply) mutable { done(outcome_of(reply, program)); });
}

}  // namespace pollux::feed
