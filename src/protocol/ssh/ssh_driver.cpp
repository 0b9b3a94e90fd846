#include "protocol/ssh/ssh_driver.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/siphash.hpp"
#include "base/text.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;
using namespace std::chrono_literals;

constexpr std::size_t kMaxConnections = 4096;
constexpr base::Duration kKeepAlive = 60s;  // between signs of life on an unused one
constexpr base::Duration kMaintenance = 15s;

// Connections are shared by asks with the same host, port and credentials. Secrets take part by a
// hash only: the key is kept.
std::string key_of(const model::Ask& ask) {
    const model::Credentials& given = *ask.credentials;
    constexpr base::SipKey kKey{0x7373682d6b657901ULL, 0};
    const std::uint64_t secrets =
        base::siphash24(kKey, fmt::format("{}\n{}\n{}", given.password.reveal(),
                                          given.ssh_key_password.reveal(), given.ssh_agent));
    return fmt::format("{} {} {} {} {:x}", ask.host, ask.port, given.username, given.ssh_key,
                       secrets);
}

std::string said(const model::CommandReply& reply) {
    for (const std::string* text : {&reply.error_out, &reply.out}) {
        const std::string plain = base::plain_text(std::string_view(*text).substr(0, 2000));
        if (plain.empty()) continue;
        return ": " + base::quoted(std::string_view(plain).substr(0, plain.find('\n')), 200);
    }
    return {};
}

}  // namespace

struct SshDriver::Run final : RunBase {
    Run(net::EventLoop& loop, Order given, Done then, std::function<void()> fire, SshDriver& owner)
        : RunBase(loop, std::move(given), std::move(then), std::move(fire)), driver(owner) {}

    const model::SshAsk& ssh() const { return std::get<model::SshAsk>(ask().request); }
    void stop() override { driver.release(*this); }

    SshDriver& driver;
    ssh::SshCommand command;
    ssh::SshConnection* connection = nullptr;
    std::string key;
    bool reused = false;
    bool retried = false;
};

SshDriver::SshDriver(net::EventLoop& loop, net::Resolver& resolver,
                     std::shared_ptr<const net::EgressPolicy> egress, ssh::SshRules rules)
    : loop_(loop),
      resolver_(resolver),
      egress_(std::move(egress)),
      rules_(std::move(rules)),
      bury_(loop, [this] { dropped_.clear(); }),
      maintain_(loop, [this] { maintain(); }),
      runs_(loop, [this](Run& run) { expire(run); }) {}

SshDriver::~SshDriver() = default;

void SshDriver::start(Order order, Done done) {
    Run& run = runs_.add(std::move(order), std::move(done), *this);
    const auto* ssh = std::get_if<model::SshAsk>(&run.ask().request);
    if (ssh == nullptr) {
        runs_.end_later(
            run, failure_of(FailureKind::kInternal, "ssh.not_ssh", "the ask is not one of SSH"));
        return;
    }
    if (run.ask().credentials == nullptr || run.ask().credentials->username.empty()) {
        runs_.end_later(run, failure_of(FailureKind::kConfiguration, "ssh.no_user",
                                        "the target has no credentials with a username; SSH needs "
                                        "one, and a password, ssh_key or ssh_agent"));
        return;
    }
    run.command.id = run.order.id;
    run.command.text = ssh->command;
    run.command.max_output = ssh->max_output_bytes;
    run.command.started = run.started;
    run.key = key_of(run.ask());
    assign(run, run.order.fresh_login);
}

void SshDriver::cancel(std::uint64_t id) { runs_.cancel(id); }

void SshDriver::assign(Run& run, bool fresh) {
    ssh::SshConnection* const connection = connection_for(run.key, run, fresh);
    if (connection == nullptr) {
        runs_.end_later(run, failure_of(FailureKind::kInternal, "ssh.overloaded",
                                        "too many SSH connections are in use at once; spread the "
                                        "targets out"));
        return;
    }
    run.connection = connection;
    connection->add(run.command);
    if (!maintain_.armed()) maintain_.arm_in(std::min(kMaintenance, rules_.idle));
}

ssh::SshConnection* SshDriver::connection_for(const std::string& key, Run& run, bool fresh) {
    const auto found = by_key_.find(key);
    if (found != by_key_.end() && !fresh) {
        run.reused = found->second->ready();
        found->second->extend(run.deadline);
        return found->second;
    }
    if (found != by_key_.end()) {
        ssh::SshConnection& old = *found->second;
        old.retired = true;
        by_key_.erase(found);
        if (old.commands() == 0) drop(old);
    }
    if (connections_.size() >= kMaxConnections && !make_room()) return nullptr;
    ++handshakes_;
    run.reused = false;
    connections_.push_back(std::make_unique<ssh::SshConnection>(
        loop_, resolver_, egress_,
        ssh::SshConnection::Address{run.ask().host, run.ask().port, run.ask().credentials}, rules_,
        keys_, agent_threads_,
        ssh::SshConnection::Events{
            [this](std::uint64_t id, std::optional<model::PollFailure> failure) {
                command_ended(id, std::move(failure));
            },
            [this](ssh::SshConnection& connection, model::PollFailure failure) {
                connection_failed(connection, failure);
            }}));
    ssh::SshConnection* const made = connections_.back().get();
    by_key_[key] = made;
    made->connect(run.deadline);
    return made;
}

// Closes the connection that is idle for the longest time.
bool SshDriver::make_room() {
    ssh::SshConnection* oldest = nullptr;
    for (const auto& one : connections_) {
        if (one->commands() > 0) continue;
        if (oldest == nullptr || one->idle_since < oldest->idle_since) oldest = one.get();
    }
    if (oldest == nullptr) return false;
    drop(*oldest);
    return true;
}

void SshDriver::release(Run& run) {
    ssh::SshConnection* const connection = std::exchange(run.connection, nullptr);
    if (connection == nullptr) return;
    const bool ended = run.command.stage == ssh::SshCommand::Stage::kEnded;
    connection->remove(run.command);
    // Of a command that did not end nobody knows what is still on its way; and a login that nobody
    // waits for any more is not finished.
    if (!ended && run.command.stage != ssh::SshCommand::Stage::kWaiting) connection->retired = true;
    if (!connection->ready() && connection->commands() == 0) connection->retired = true;
    if (connection->retired) {
        std::erase_if(by_key_, [&](const auto& one) { return one.second == connection; });
        if (connection->commands() == 0) drop(*connection);
    }
}

void SshDriver::drop(ssh::SshConnection& connection) {
    std::erase_if(by_key_, [&](const auto& one) { return one.second == &connection; });
    const auto found =
        std::ranges::find(connections_, &connection, [](const auto& one) { return one.get(); });
    if (found == connections_.end()) return;
    dropped_.splice(dropped_.end(), connections_, found);
    bury_.arm(loop_.now());
}

void SshDriver::command_ended(std::uint64_t id, std::optional<model::PollFailure> failure) {
    Run* const run = runs_.find(id);
    if (run == nullptr || run->ending) return;
    if (failure) {
        runs_.end(*run, std::move(*failure));
    } else {
        finish(*run);
    }
}

void SshDriver::finish(Run& run) {
    const ssh::SshCommand& command = run.command;
    if (run.order.trace) {
        for (const std::string& line : run.connection->log()) run.note(line);
        run.note(fmt::format("{} connection; run {}", run.reused ? "reused" : "new",
                             base::quoted(command.text, 500)));
        run.note(fmt::format("exit status {}{}, {} bytes of output, {} of errors",
                             command.answer.exit_status,
                             command.signal_name.empty() ? "" : " signal " + command.signal_name,
                             command.answer.out.size(), command.answer.error_out.size()));
    }
    if (!run.reused) run.reply.phases = run.connection->phases();
    run.reply.phases.first_byte = command.first_byte;
    run.reply.bytes_in = command.seen;
    run.reply.bytes_out = command.text.size();
    model::CommandReply answer = std::move(run.command.answer);
    if (!command.signal_name.empty()) {
        return runs_.end(run,
                         failure_of(FailureKind::kApi, "ssh.signal",
                                    fmt::format("the command was ended by signal {}{}",
                                                base::quoted(command.signal_name), said(answer))));
    }
    const bool good = std::ranges::any_of(run.ssh().good_exit, [&](const auto& range) {
        return answer.exit_status >= range.first && answer.exit_status <= range.second;
    });
    if (!good) {
        return runs_.end(run, failure_of(FailureKind::kApi, "ssh.exit_status",
                                         fmt::format("the command {} ended with status {}{}",
                                                     base::quoted(command.text, 100),
                                                     answer.exit_status, said(answer))));
    }
    runs_.end(run, std::move(answer));
}

void SshDriver::connection_failed(ssh::SshConnection& connection,
                                  const model::PollFailure& failure) {
    drop(connection);
    std::vector<std::uint64_t> users;
    runs_.each([&](Run& run) {
        if (run.connection == &connection) users.push_back(run.order.id);
    });
    for (const std::uint64_t id : users) {
        Run* const run = runs_.find(id);
        if (run == nullptr || run->connection != &connection) continue;
        const bool unsent = run->command.stage == ssh::SshCommand::Stage::kWaiting ||
                            run->command.stage == ssh::SshCommand::Stage::kOpening;
        if (run->reused && unsent && !run->retried) {
            connection.remove(run->command);
            run->command.stage = ssh::SshCommand::Stage::kWaiting;
            run->command.closed = false;
            run->retried = true;
            assign(*run, false);
            continue;
        }
        if (run->order.trace) {
            for (const std::string& line : connection.log()) run->note(line);
        }
        run->reply.phases = connection.phases();
        runs_.end(*run, failure);
    }
}

void SshDriver::expire(Run& run) {
    const std::string waited = base::format_duration(run.deadline - run.started);
    const std::string_view stage =
        run.connection == nullptr ? "it waited for its turn" : run.connection->stage_text();
    if (run.order.trace && run.connection != nullptr) {
        for (const std::string& line : run.connection->log()) run.note(line);
    }
    // Whoever joined this login may wait on, but who comes now begins anew: else there is always
    // somebody who waits, and a login that got stuck is never given up.
    if (run.connection != nullptr && !run.connection->ready()) run.connection->retired = true;
    runs_.end(run, failure_of(FailureKind::kTimeout, "ssh.timeout",
                              fmt::format("{}@{}: {} within {}", run.ask().credentials->username,
                                          ssh::HostKeys::name_of(run.ask().host, run.ask().port),
                                          stage, waited)));
}

void SshDriver::set_egress(std::shared_ptr<const net::EgressPolicy> egress) {
    egress_ = std::move(egress);
    by_key_.clear();
    std::vector<ssh::SshConnection*> idle;
    for (const auto& one : connections_) {
        one->retired = true;
        if (one->commands() == 0) idle.push_back(one.get());
    }
    for (ssh::SshConnection* one : idle) drop(*one);
}

void SshDriver::maintain() {
    const base::BootTime now = net::boot_now();
    std::vector<ssh::SshConnection*> idle;
    for (const auto& one : connections_) {
        if (one->commands() == 0) idle.push_back(one.get());
    }
    for (ssh::SshConnection* one : idle) {
        if (now - one->idle_since > rules_.idle) {
            drop(*one);
        } else if (now - std::max(one->idle_since, one->last_sign) > kKeepAlive) {
            one->keep_alive();
        }
    }
    if (!connections_.empty()) maintain_.arm_in(std::min(kMaintenance, rules_.idle));
}

}  // namespace pollux::protocol
