#include "feed/email_channel.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "feed/smtp_transfer.hpp"
#include "net/work_pool.hpp"

namespace pollux::feed {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kMostWaiting = 64;

AttemptOutcome transient(std::string code, std::string message) {
    return {.result = AttemptResult::kTransient,
            .code = std::move(code),
            .message = std::move(message)};
}

}  // namespace

class EmailChannel::Impl {
  public:
    Impl(net::EventLoop& loop, net::Resolver& resolver,
         std::shared_ptr<const net::EgressPolicy> given, EmailOptions wanted)
        : egress(std::move(given)),
          options(std::move(wanted)),
          loop_(loop),
          resolver_(resolver),
          ended_(loop, [this] { tell(); }),
          pool_(kThreads, kMostWaiting) {}

    ~Impl() {
        *alive_ = false;
        for (auto& [id, run] : runs_) leave(run);
    }

    void start(Attempt attempt, Done done) {
        const std::uint64_t id = attempt.id;
        Run& run = runs_.try_emplace(id, loop_, [this, id] { expired(id); }).first->second;
        run.done = std::move(done);
        const Endpoint& endpoint = *attempt.endpoint;
        const model::Channel& channel = endpoint.channel;
        auto server = smtp_server_of(channel.url.empty() ? options.url : channel.url, channel,
                                     endpoint.credentials != nullptr);
        if (!server) return end(id, transient(server.error().code, server.error().message));
        auto mail = make_mail(*attempt.notification,
                              channel.from.empty() ? options.from : channel.from, channel.to);
        if (!mail) return end(id, transient(mail.error().code, mail.error().message));
        run.transfer = std::make_shared<SmtpTransfer>(std::move(*server), std::move(*mail),
                                                      endpoint.credentials, egress);
        run.deadline.arm(attempt.deadline);
        const std::string& host = run.transfer->server().host;
        if (const auto known = resolver_.find_now(host)) return begin(id, run, *known);
        run.ticket =
            resolver_.lookup(host, [this, id](const base::Result<net::SharedAddresses>& found) {
                const auto waiting = runs_.find(id);
                if (waiting == runs_.end()) return;
                waiting->second.ticket = 0;
                if (!found) return end(id, transient(found.error().code, found.error().message));
                begin(id, waiting->second, **found);
            });
    }

    void cancel(std::uint64_t id) {
        end(id, transient("feed.cancelled", "the attempt was stopped"));
    }

    std::shared_ptr<const net::EgressPolicy> egress;
    EmailOptions options;

  private:
    struct Run {
        Run(net::EventLoop& loop, std::move_only_function<void()> fire)
            : deadline(loop, std::move(fire)) {}
        Done done;
        std::shared_ptr<SmtpTransfer> transfer;  // the thread's own while it runs
        net::Resolver::Ticket ticket = 0;
        net::Timer deadline;
    };

    void begin(std::uint64_t id, Run& run, const std::vector<net::IpAddress>& addresses) {
        run.transfer->set_up(addresses, options.hello, run.deadline.at() - net::boot_now());
        auto work = [this, id, transfer = run.transfer, alive = alive_, &loop = loop_] {
            AttemptOutcome outcome = transfer->run();
            loop.post([this, id, alive, outcome = std::move(outcome)]() mutable {
                if (*alive) end(id, std::move(outcome));
            });
        };
        if (const auto taken = pool_.submit(std::move(work)); !taken) {
            end(id, transient(taken.error().code, taken.error().message));
        }
    }

    void leave(Run& run) {
        if (run.ticket != 0) resolver_.cancel(run.ticket);
        if (run.transfer != nullptr) run.transfer->abort();
    }

    void expired(std::uint64_t id) {
        const SmtpServer& server = runs_.at(id).transfer->server();
        end(id, transient("smtp.timeout", fmt::format("{}:{} did not take the mail in time",
                                                      server.host, server.port)));
    }

    // The outcome is told in the next turn: never from inside start() or cancel().
    void end(std::uint64_t id, AttemptOutcome outcome) {
        auto node = runs_.extract(id);
        if (node.empty()) return;
        Run& run = node.mapped();
        run.deadline.cancel();
        leave(run);
        outcomes_.emplace_back(std::move(run.done), std::move(outcome));
        gone_.push_back(std::move(node));  // its timer may be what called
        ended_.arm(loop_.now());
    }

    void tell() {
        gone_.clear();
        for (auto& [done, outcome] : std::exchange(outcomes_, {})) done(std::move(outcome));
    }

    net::EventLoop& loop_;
    net::Resolver& resolver_;
    std::map<std::uint64_t, Run> runs_;
    std::vector<std::map<std::uint64_t, Run>::node_type> gone_;
    std::vector<std::pair<Done, AttemptOutcome>> outcomes_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // of the loop's thread
    net::Timer ended_;
    net::WorkPool pool_;  // goes first: waits for its threads
};

EmailChannel::EmailChannel(net::EventLoop& loop, net::Resolver& resolver,
                           std::shared_ptr<const net::EgressPolicy> egress, EmailOptions options)
    : impl_(std::make_unique<Impl>(loop, resolver, std::move(egress), std::move(options))) {}
EmailChannel::~EmailChannel() = default;

void EmailChannel::start(Attempt attempt, Done done) {
    impl_->start(std::move(attempt), std::move(done));
}
void EmailChannel::cancel(std::uint64_t id) { impl_->cancel(id); }
void EmailChannel::set_options(EmailOptions options) { impl_->options = std::move(options); }
void EmailChannel::set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
    impl_->egress = std::move(egress);
}

}  // namespace pollux::feed
