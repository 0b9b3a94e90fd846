#include "runtime/trial/fresh_trial.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "derive/condition_signals.hpp"
#include "model/job.hpp"
#include "runtime/inbound/message_text.hpp"
#include "runtime/poll_reading.hpp"
#include "runtime/trial/case_checks.hpp"
#include "runtime/trial/trial_page.hpp"

namespace pollux::runtime {
namespace {

constexpr std::size_t kMostReply = 24U << 10U;  // bytes of all replies together
constexpr std::size_t kMostValues = 1000;       // readings, and as many samples
constexpr std::size_t kMostText = 200;          // bytes of one value
constexpr std::string_view kHidden = "[hidden]";
// A shorter one is in many texts that are no secret.
constexpr std::size_t kShortestSecret = 4;

void add_secret(std::vector<std::string>& secrets, const std::string& secret) {
    if (secret.size() >= kShortestSecret && secret != "public") secrets.push_back(secret);
}

std::string base64(const std::string& text) {
    std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
    const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
    out.resize(static_cast<std::size_t>(length));
    return out;
}

// As they may come back: as they are, and as HTTP sends a name with its password.
std::vector<std::string> secrets_of(std::span<const std::shared_ptr<const model::Ask>> asks) {
    std::vector<std::string> secrets;
    for (const auto& ask : asks) {
        if (!ask->credentials) continue;
        const model::Credentials& known = *ask->credentials;
        for (const base::Secret* one :
             {&known.password, &known.token, &known.community, &known.client_key_password,
              &known.snmp_auth_password, &known.snmp_privacy_password, &known.ssh_key_password}) {
            add_secret(secrets, one->reveal());
        }
        if (!known.password.empty()) {
            add_secret(secrets, base64(known.username + ":" + known.password.reveal()));
        }
    }
    return secrets;
}

class Cleaner {
  public:
    explicit Cleaner(std::vector<std::string> secrets) : secrets_(std::move(secrets)) {}

    std::string operator()(std::string text) const {
        for (const std::string& secret : secrets_) {
            for (std::size_t at = text.find(secret); at != std::string::npos;
                 at = text.find(secret, at + kHidden.size())) {
                text.replace(at, secret.size(), kHidden);
            }
        }
        return text;
    }

    void clean(std::vector<std::string>& texts) const {
        for (std::string& text : texts) text = (*this)(std::move(text));
    }
    // Names of rows come from devices too.
    void clean(TrialTexts& texts) const {
        TrialTexts cleaned;
        for (auto& [name, text] : texts) cleaned.emplace((*this)(name), (*this)(std::move(text)));
        texts = std::move(cleaned);
    }
    void clean(TrialStep& step) const {
        for (TrialTexts* texts : {&step.readings, &step.samples, &step.conditions}) clean(*texts);
        clean(step.rows);
        clean(step.problems);
        for (model::Signal& signal : step.signals) {
            for (std::string* text : {&signal.subject, &signal.title, &signal.message}) {
                *text = (*this)(std::move(*text));
            }
        }
    }

  private:
    std::vector<std::string> secrets_;
};

std::string snmp_lines(const model::SnmpReply& reply, const model::SnmpAsk& ask) {
    std::string lines;
    const auto add = [&](const model::Oid& name, const model::SnmpValue& value) {
        if (value.exists() && lines.size() < kMostReply) lines += "." + text_of(name, value) + "\n";
    };
    for (std::size_t i = 0; i < std::min(reply.gets.size(), ask.gets.size()); ++i) {
        add(ask.gets[i], reply.gets[i]);
    }
    for (std::size_t i = 0; i < std::min(reply.walks.size(), ask.walks.size()); ++i) {
        for (const model::SnmpRow& row : reply.walks[i]) {
            model::Oid name = ask.walks[i];
            name.arcs.insert(name.arcs.end(), row.index.arcs.begin(), row.index.arcs.end());
            add(name, row.value);
        }
    }
    return lines;
}

TrialReply reply_of(const model::Ask& ask, const model::Reply* given) {
    TrialReply reply;
    if (given == nullptr) {
        reply.problem = "it was not asked: an answer before it made this needless";
    } else if (const auto* failure = std::get_if<model::PollFailure>(&given->answer)) {
        reply.problem = failure->message;
        reply.status = failure->http_status;
    } else if (const auto* http = std::get_if<model::HttpReply>(&given->answer)) {
        reply.text = http->body;
        reply.status = http->status;
    } else if (const auto* command = std::get_if<model::CommandReply>(&given->answer)) {
        reply.text = command->out + command->error_out;
        reply.status = command->exit_status;
    } else if (const auto* tcp = std::get_if<model::TcpReply>(&given->answer)) {
        reply.text = tcp->received;
    } else if (const auto* snmp = std::get_if<model::SnmpReply>(&given->answer)) {
        const auto* asked = std::get_if<model::SnmpAsk>(&ask.request);
        if (asked != nullptr) reply.text = snmp_lines(*snmp, *asked);
    }
    return reply;
}

TrialStep step_of(const PollPlan& plan, std::span<const model::Reply* const> given,
                  const std::string& host, base::Instant now, RunReport& report) {
    derive::TargetMemory memory;
    PollReading reading = read_poll(plan, given, memory, now);
    describe(reading, report);
    TrialStep step = trial_step(plan.addon->addon(), memory, reading.readings, reading.observation);
    step.failed = !model::is_success(reading.outcome);
    if (step.failed) step.problems.push_back(reading.failure.message);
    step.signals = plan.addon->signals(plan.group, given, now.wall, {plan.device, host}).signals;
    std::ranges::move(
        derive::condition_signals(plan.addon->addon(), static_cast<std::uint16_t>(plan.group),
                                  reading.observation, memory)
            .signals,
        std::back_inserter(step.signals));
    return step;
}

void cut(TrialTexts& texts, std::size_t most) {
    while (texts.size() > most) texts.erase(std::prev(texts.end()));
    for (auto& [name, text] : texts) text = shortened(std::move(text), kMostText);
}

}  // namespace

void describe_trial(const PollPlan& plan, std::span<const std::shared_ptr<const model::Ask>> asks,
                    std::span<const model::Reply* const> given, base::Instant now,
                    RunReport& report) {
    const Cleaner clean(secrets_of(asks));
    const std::string host = asks.empty() ? std::string() : asks.front()->host;
    TrialStep step = step_of(plan, given, host, now, report);
    clean.clean(step);
    std::vector<std::string> told;
    std::vector<TrialReply> replies;
    for (std::size_t i = 0; i < asks.size(); ++i) {
        told.push_back(clean(describe_ask(*asks[i])));
        TrialReply reply = reply_of(*asks[i], i < given.size() ? given[i] : nullptr);
        reply.text = clean(base::valid_utf8(reply.text));
        reply.problem = clean(std::move(reply.problem));
        replies.push_back(std::move(reply));
    }
    report.message = clean(std::move(report.message));
    report.job = std::make_shared<model::JobRun>();
    report.job->exit_status = step.failed ? 1 : 0;
    // What is kept of a job is bounded, and half a page is none.
    const std::size_t values = step.readings.size();
    for (std::size_t part = 1;; part *= 2) {
        for (TrialReply& reply : replies) {
            reply.text = shortened(std::move(reply.text), kMostReply / replies.size() / part);
        }
        for (TrialTexts* texts : {&step.readings, &step.samples, &step.conditions}) {
            cut(*texts, kMostValues / part);
        }
        report.job->truncated = step.readings.size() < values;
        report.job->output = trial_page(told, {step}, replies);
        if (report.job->output.size() <= model::kMostJobOutput || part > kMostValues) return;
    }
}

}  // namespace pollux::runtime
