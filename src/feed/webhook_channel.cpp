#include "feed/webhook_channel.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "protocol/http/http_reply.hpp"

namespace pollux::feed {
namespace {

constexpr std::uint64_t kMaxAnswer = 256U << 10U;  // nobody reads it but for an error
constexpr std::size_t kQuotedAnswer = 200;

bool is_transient_status(int status) {
    return status == 408 || status == 425 || status == 429 || status >= 500;
}

// Ours to mend or theirs: without an answer the message may still get through later.
AttemptResult result_of(const model::PollFailure& failure) {
    if (failure.http_status == 0) return AttemptResult::kTransient;
    return is_transient_status(failure.http_status) ? AttemptResult::kTransient
                                                    : AttemptResult::kPermanent;
}

}  // namespace

AttemptOutcome outcome_of(const model::HttpAsk& ask, net::HttpOutcome&& outcome,
                          const model::Credentials* credentials, base::WallTime now) {
    // It has the message; that its answer is too long or garbled changes nothing.
    const bool unread = outcome.problem == net::HttpProblem::kBodyTooLarge ||
                        outcome.problem == net::HttpProblem::kEncoding;
    if (unread && outcome.reply.status / 100 == 2) {
        return {.result = AttemptResult::kDelivered, .code = {}, .message = {}};
    }
    // What the receiver says about a refusal is what a person needs to mend it.
    std::string said;
    if (outcome.problem == net::HttpProblem::kNone && !outcome.reply.body.empty()) {
        const std::string body = outcome.reply.body.substr(0, 4 * kQuotedAnswer);
        said =
            fmt::format("; it says {}", base::quoted(redacted(body, credentials), kQuotedAnswer));
    }
    model::Reply reply = protocol::reply_of(ask, std::move(outcome), now);
    const auto* failure = std::get_if<model::PollFailure>(&reply.answer);
    if (failure == nullptr) return {.result = AttemptResult::kDelivered, .code = {}, .message = {}};
    return {.result = result_of(*failure),
            .code = failure->code,
            .message = redacted(failure->message, credentials) + said,
            .retry_after = failure->retry_after};
}

WebhookChannel::WebhookChannel(net::EventLoop& loop, net::HttpClient& client)
    : loop_(loop), client_(client) {}

void WebhookChannel::start(Attempt attempt, Done done) {
    const Endpoint& endpoint = *attempt.endpoint;
    auto request = make_request(*endpoint.definition, endpoint.channel, endpoint.credentials.get(),
                                *attempt.notification);
    if (!request) {
        AttemptOutcome outcome{
            .result = AttemptResult::kTransient,
            .code = request.error().code,
            .message = redacted(request.error().message, endpoint.credentials.get())};
        loop_.post([done = std::move(done), outcome = std::move(outcome)]() mutable {
            done(std::move(outcome));
        });
        return;
    }
    request->headers.emplace_back("Idempotency-Key", attempt.notification->id);
    request->headers.emplace_back(
        "X-Pollux-Delivery",
        fmt::format("{}; attempt={}", attempt.notification->id, attempt.number));
    request->max_redirects = 0;
    request->max_body_bytes = kMaxAnswer;
    auto ask = std::make_shared<const model::HttpAsk>(std::move(*request));
    net::HttpOrder order{.id = attempt.id,
                         .ask = ask,
                         .credentials = endpoint.credentials,
                         .deadline = attempt.deadline};
    client_.start(std::move(order), [ask, endpoint = attempt.endpoint,
                                     done = std::move(done)](net::HttpOutcome&& outcome) mutable {
        done(outcome_of(*ask, std::move(outcome), endpoint->credentials.get(), net::wall_now()));
    });
}

void WebhookChannel::cancel(std::uint64_t id) { client_.cancel(id); }

}  // namespace pollux::feed
