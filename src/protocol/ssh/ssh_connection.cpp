#include "protocol/ssh/ssh_connection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"

namespace pollux::protocol::ssh {
namespace {

using model::FailureKind;

constexpr std::size_t kMaxChannels = 8;           // sshd allows ten
constexpr std::uint64_t kFloodBytes = 8U << 20U;  // beyond what is kept
constexpr int kMaxRounds = 4;
constexpr std::size_t kMaxLog = 50;

// libssh's words may hold what the server sent.
std::string safe(std::string_view text) { return base::quoted(text, 200); }

std::string methods_text(unsigned methods) {
    std::vector<std::string_view> names;
    if ((methods & SSH_AUTH_METHOD_PUBLICKEY) != 0) names.push_back("publickey");
    if ((methods & SSH_AUTH_METHOD_PASSWORD) != 0) names.push_back("password");
    if ((methods & SSH_AUTH_METHOD_INTERACTIVE) != 0) names.push_back("keyboard-interactive");
    if (names.empty()) return "none that we know";
    return fmt::format("{}", fmt::join(names, ", "));
}

// The algorithms that prove keys of the given types.
std::string algorithms_for(const std::vector<std::string>& types) {
    std::vector<std::string> out;
    for (const std::string& type : types) {
        if (type == "ssh-rsa") {
            out.insert(out.end(), {"rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"});
        } else {
            out.push_back(type);
        }
    }
    return fmt::format("{}", fmt::join(out, ","));
}

}  // namespace

// --- SshCommand ---------------------------------------------------------------------------------

SshCommand::SshCommand() : callbacks_(std::make_unique<ssh_channel_callbacks_struct>()) {
    ssh_callbacks_init(callbacks_.get());
    callbacks_->userdata = this;
    callbacks_->channel_data_function = on_data;
    callbacks_->channel_exit_signal_function = on_exit_signal;
    callbacks_->channel_exit_status_function = [](ssh_session, ssh_channel, int status,
                                                  void* self) {
        auto& command = *static_cast<SshCommand*>(self);
        command.answer.exit_status = status;
        command.has_end = true;
    };
    callbacks_->channel_eof_function = [](ssh_session, ssh_channel, void* self) {
        static_cast<SshCommand*>(self)->eof = true;
    };
    callbacks_->channel_close_function = [](ssh_session, ssh_channel, void* self) {
        static_cast<SshCommand*>(self)->closed = true;
    };
}

SshCommand::~SshCommand() = default;

int SshCommand::on_data(ssh_session, ssh_channel, void* data, std::uint32_t length, int is_error,
                        void* self) {
    auto& command = *static_cast<SshCommand*>(self);
    if (command.seen == 0) command.first_byte = net::boot_now() - command.started;
    command.seen += length;
    std::string_view bytes(static_cast<const char*>(data), length);
    const std::uint64_t kept = command.answer.out.size() + command.answer.error_out.size();
    const std::uint64_t room = command.max_output - kept;
    if (bytes.size() > room) {
        command.answer.truncated = true;
        bytes = bytes.substr(0, static_cast<std::size_t>(room));
    }
    (is_error != 0 ? command.answer.error_out : command.answer.out) += bytes;
    return static_cast<int>(length);
}

void SshCommand::on_exit_signal(ssh_session, ssh_channel, const char* signal, int, const char*,
                                const char*, void* self) {
    auto& command = *static_cast<SshCommand*>(self);
    command.signal_name = signal == nullptr ? "?" : base::plain_text(signal).substr(0, 32);
    command.has_end = true;
}

// --- SshConnection ------------------------------------------------------------------------------

SshConnection::SshConnection(net::EventLoop& loop, net::Resolver& resolver,
                             std::shared_ptr<const net::EgressPolicy> egress, Address address,
                             SshRules rules, KeyFiles& keys, AgentThreads& threads, Events events)
    : loop_(loop),
      egress_(std::move(egress)),
      address_(std::move(address)),
      rules_(std::move(rules)),
      keys_(keys),
      events_(std::move(events)),
      agent_(loop, threads, [this] { advance(); }),
      connector_(loop, resolver, egress_),
      again_(loop, [this] { advance(); }) {}

SshConnection::~SshConnection() {
    if (watched_ != 0) loop_.unwatch(fd_);
    for (SshCommand* command : commands_) {
        if (command->channel_ != nullptr) ssh_channel_free(command->channel_);
        command->channel_ = nullptr;
    }
    if (event_ != nullptr) {
        ssh_event_remove_session(event_, session_);
        ssh_event_free(event_);
    }
}

std::string SshConnection::where() const {
    return fmt::format("{}@{}", address_.credentials ? address_.credentials->username : "",
                       HostKeys::name_of(address_.host, address_.port));
}

std::string SshConnection::last_error() const { return safe(ssh_get_error(session_)); }

std::string_view SshConnection::stage_text() const {
    switch (stage_) {
        case Stage::kConnecting: return "the connection did not come about";
        case Stage::kHandshake: return "the server did not finish the key exchange";
        case Stage::kLogin: return "the server did not finish the login";
        case Stage::kReady:
        case Stage::kDead: break;
    }
    return "the command did not end";
}

void SshConnection::connect(base::BootTime deadline) {
    started_ = net::boot_now();
    idle_since = started_;
    last_sign = started_;
    connector_.start(address_.host, address_.port, deadline, [this](auto result) {
        phases_.dns = connector_.dns_time();
        if (!result) {
            const bool denied = result.error().reason == "denied";
            return fail(result.error().kind,
                        denied ? "egress.denied" : "ssh." + result.error().reason,
                        result.error().message);
        }
        take_socket(*result);
    });
}

void SshConnection::extend(base::BootTime deadline) {
    if (stage_ == Stage::kConnecting) connector_.extend(deadline);
}

base::Result<std::vector<std::string>> SshConnection::known_types() const {
    if (!rules_.host_keys) return std::vector<std::string>();
    return rules_.host_keys->types_of(HostKeys::name_of(address_.host, address_.port));
}

void SshConnection::take_socket(const net::ConnectedSocket& socket) {
    phases_.connect = net::boot_now() - started_;
    log_.push_back("connected to " + socket.peer.to_string());
    const auto types = known_types();
    if (!types) {
        close(socket.fd);
        return fail(types.error());
    }
    const int on = 1;
    setsockopt(socket.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    owned_.reset(ssh_new(), [](ssh_session_struct* session) {
        if (session != nullptr) ssh_disconnect(session);
        ssh_free(session);
    });
    session_ = owned_.get();
    if (session_ == nullptr) {
        close(socket.fd);
        return fail(FailureKind::kInternal, "ssh.memory", "out of memory");
    }
    fd_ = socket.fd;
    const bool no = false;
    ssh_set_blocking(session_, 0);
    ssh_options_set(session_, SSH_OPTIONS_PROCESS_CONFIG, &no);
    ssh_options_set(session_, SSH_OPTIONS_HOST, address_.host.c_str());
    ssh_options_set(session_, SSH_OPTIONS_USER, address_.credentials->username.c_str());
    ssh_options_set(session_, SSH_OPTIONS_FD, &fd_);
    // A server shows one of its keys: ask for one that can be compared.
    if (!types->empty()) {
        ssh_options_set(session_, SSH_OPTIONS_HOSTKEYS, algorithms_for(*types).c_str());
    }
    stage_ = Stage::kHandshake;
    advance();
}

void SshConnection::on_ready(int, std::uint32_t) { advance(); }

void SshConnection::advance() {
    if (stage_ == Stage::kHandshake && !step_handshake()) return;
    if (stage_ == Stage::kLogin && !step_login()) return;
    if (stage_ == Stage::kReady) {
        step_commands();
        return;
    }
    update_watch();
}

void SshConnection::update_watch() {
    if (stage_ == Stage::kDead || session_ == nullptr) return;
    if (agent_.waits()) {  // the server has its turn after the agent
        if (std::exchange(watched_, 0) != 0) loop_.unwatch(fd_);
        return;
    }
    const bool pending = (ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0;
    const std::uint32_t events = EPOLLIN | (pending ? std::uint32_t{EPOLLOUT} : 0U);
    if (events == watched_) return;
    const auto status = watched_ == 0 ? loop_.watch(fd_, events, *this) : loop_.change(fd_, events);
    if (status) watched_ = events;
}

// False: the connection failed and may be gone.
bool SshConnection::step_handshake() {
    const int result = ssh_connect(session_);
    if (result == SSH_AGAIN) return true;
    if (result != SSH_OK) {
        const std::string_view words = ssh_get_error(session_);
        if (words.find("no match") != std::string_view::npos) {
            fail(FailureKind::kValidation, "ssh.no_common_algorithm",
                 fmt::format("{}: no algorithm that both sides know, or the host no longer has the "
                             "kind of key that is recorded (pollux ssh host-keys): {}",
                             where(), last_error()));
        } else {
            fail(FailureKind::kConnection, "ssh.handshake",
                 fmt::format("{}: the key exchange failed: {}; check that this is an SSH server "
                             "that accepts us",
                             where(), last_error()));
        }
        return false;
    }
    const char* banner = ssh_get_serverbanner(session_);
    server_ = banner == nullptr ? "" : base::plain_text(banner).substr(0, 255);
    log_.push_back("server says " + safe(server_));
    if (!check_host_key()) return false;
    phases_.tls = net::boot_now() - started_;
    stage_ = Stage::kLogin;
    return true;
}

bool SshConnection::check_host_key() {
    ssh_key key = nullptr;
    char* base64 = nullptr;
    HostKey seen;
    seen.host = HostKeys::name_of(address_.host, address_.port);
    if (ssh_get_server_publickey(session_, &key) == SSH_OK &&
        ssh_pki_export_pubkey_base64(key, &base64) == SSH_OK) {
        seen.type = ssh_key_type_to_char(ssh_key_type(key));
        seen.key = base64;
    }
    ssh_string_free_char(base64);
    ssh_key_free(key);
    const std::string fingerprint = fingerprint_of(seen.key);
    log_.push_back(fmt::format("host key {} {}", seen.type, fingerprint));
    HostKeys::Answer answer;
    if (rules_.host_keys) {
        const auto checked = rules_.host_keys->check(seen);
        if (!checked) {
            fail(checked.error());
            return false;
        }
        answer = *checked;
    }
    if (answer.authority) log_.push_back("certificates are not used, only the key of the host");
    if (!seen.key.empty() && answer.verdict == HostKeys::Verdict::kKnown) return true;
    return believe(seen, answer, fingerprint);
}

// What to do about a key that is not known.
bool SshConnection::believe(const HostKey& seen, const HostKeys::Answer& answer,
                            const std::string& fingerprint) {
    const auto in_file = [&] {
        return answer.line == 0 || rules_.host_keys->path().empty()
                   ? std::string()
                   : fmt::format(" (line {} of {})", answer.line, rules_.host_keys->path());
    };
    if (answer.verdict == HostKeys::Verdict::kRevoked) {
        fail(FailureKind::kCertificate, "ssh.host_key_revoked",
             fmt::format("{} shows a key that is revoked{}: {} {}. Nothing was shown to it; give "
                         "the host a new key",
                         seen.host, in_file(), seen.type, fingerprint));
        return false;
    }
    if (seen.key.empty() || answer.verdict == HostKeys::Verdict::kChanged) {
        fail(FailureKind::kCertificate, "ssh.host_key_changed",
             fmt::format("the key of {} changed: recorded is {}{}, the host shows {} {}. Either it "
                         "was installed anew, or somebody stands in between. If you know why: "
                         "pollux ssh host-keys forget {}",
                         seen.host, answer.known_fingerprint, in_file(), seen.type, fingerprint,
                         address_.host));
        return false;
    }
    if (rules_.strict) {
        fail(FailureKind::kCertificate, "ssh.host_key_unknown",
             fmt::format("the key of {} is not recorded ({} {}), and ssh_strict_host_keys is on; "
                         "add it to the file ssh_known_hosts of the data folder, as ssh-keyscan "
                         "prints it",
                         seen.host, seen.type, fingerprint));
        return false;
    }
    if (!rules_.host_keys) return true;
    if (const auto kept = rules_.host_keys->remember(seen); !kept) {
        fail(kept.error());
        return false;
    }
    log_.push_back("the key is new and believed from now on");
    return true;
}

bool SshConnection::step_login() {
    for (;;) {
        const int result = try_login();
        switch (result) {
            case SSH_AUTH_AGAIN: return true;
            case SSH_AUTH_SUCCESS: {
                stage_ = Stage::kReady;
                log_.push_back("logged in");
                event_ = ssh_event_new();
                ssh_event_add_session(event_, session_);
                return true;
            }
            case SSH_AUTH_DENIED:
            case SSH_AUTH_PARTIAL:
                allowed_ = static_cast<unsigned>(ssh_userauth_list(session_, nullptr));
                login_ = static_cast<Login>(static_cast<int>(login_) + 1);
                break;
            case SSH_AUTH_INFO: break;  // the next round of questions
            default:
                if (stage_ == Stage::kDead) return false;
                fail(FailureKind::kConnection, "ssh.login_failed",
                     fmt::format("{}: the connection ended during the login: {}", where(),
                                 last_error()));
                return false;
        }
        if (login_ != Login::kGiveUp) continue;
        fail_login();
        return false;
    }
}

void SshConnection::fail_login() {
    const model::Credentials& given = *address_.credentials;
    if (!agent_.problem().empty() && given.ssh_key.empty() && given.password.empty()) {
        return fail(FailureKind::kConnection, "ssh.agent",
                    fmt::format("{}: the SSH agent cannot be used: {}. Start it where the server "
                                "finds it (SSH_AUTH_SOCK), or give a key",
                                where(), agent_.problem()));
    }
    fail(FailureKind::kAuth, "ssh.auth",
         fmt::format("{} was refused; tried: {}; the server takes: {}. Check user name, key and "
                     "password of the credentials",
                     where(), tried_.empty() ? "nothing that the server takes" : tried_,
                     methods_text(allowed_)));
}

int SshConnection::try_login() {
    const model::Credentials& given = *address_.credentials;
    const auto note = [&](const std::string& what) {
        if (tried_.find(what) != std::string::npos) return;
        tried_ += (tried_.empty() ? "" : ", ") + what;
        log_.push_back("log in by " + what);
    };
    switch (login_) {
        case Login::kNone: return ssh_userauth_none(session_, nullptr);
        case Login::kKey:
            if (given.ssh_key.empty() || (allowed_ & SSH_AUTH_METHOD_PUBLICKEY) == 0) break;
            note("key " + safe(given.ssh_key));
            return try_key();
        case Login::kAgent:
            if (!given.ssh_agent || (allowed_ & SSH_AUTH_METHOD_PUBLICKEY) == 0) break;
            if (agent_.problem().empty()) {
                note("agent");
                const int result = agent_.step(owned_);
                if (agent_.problem().empty()) return result;
            }
            note("agent (" + agent_.problem() + ")");
            break;
        case Login::kPassword:
            if (given.password.empty() || (allowed_ & SSH_AUTH_METHOD_PASSWORD) == 0) break;
            note("password");
            return ssh_userauth_password(session_, nullptr, given.password.reveal().c_str());
        case Login::kInteractive:
            if (given.password.empty() || (allowed_ & SSH_AUTH_METHOD_INTERACTIVE) == 0) break;
            note("password (keyboard-interactive)");
            return try_interactive();
        case Login::kGiveUp: break;
    }
    return SSH_AUTH_DENIED;
}

int SshConnection::try_key() {
    const model::Credentials& given = *address_.credentials;
    const auto key = keys_.get(given.ssh_key, given.ssh_key_password);
    if (!key) {
        fail(FailureKind::kConfiguration, key.error().code, key.error().message);
        return SSH_AUTH_ERROR;
    }
    return ssh_userauth_publickey(session_, nullptr, *key);
}

int SshConnection::try_interactive() {
    const int result = ssh_userauth_kbdint(session_, nullptr, nullptr);
    if (result != SSH_AUTH_INFO) return result;
    if (++rounds_ > kMaxRounds) return SSH_AUTH_DENIED;
    const int prompts = ssh_userauth_kbdint_getnprompts(session_);
    for (int i = 0; i < prompts; ++i) {
        char echo = 0;
        ssh_userauth_kbdint_getprompt(session_, static_cast<unsigned>(i), &echo);
        // A hidden answer is the password; anything else we do not know.
        const char* answer = echo == 0 ? address_.credentials->password.reveal().c_str() : "";
        ssh_userauth_kbdint_setanswer(session_, static_cast<unsigned>(i), answer);
    }
    return SSH_AUTH_INFO;
}

void SshConnection::add(SshCommand& command) {
    commands_.push_back(&command);
    again_.arm(loop_.now());
}

void SshConnection::remove(SshCommand& command) {
    commands_.remove(&command);
    if (command.channel_ != nullptr) {
        ssh_remove_channel_callbacks(command.channel_, command.callbacks_.get());
        ssh_channel_free(command.channel_);
        command.channel_ = nullptr;
        update_watch();
    }
    if (commands_.empty()) idle_since = net::boot_now();
}

void SshConnection::step_commands() {
    ssh_event_dopoll(event_, 0);
    // Ends are told at the end: who hears of them may add and remove.
    std::vector<std::pair<std::uint64_t, std::optional<model::PollFailure>>> ended;
    std::size_t channels = 0;
    for (SshCommand* command : commands_) {
        if (command->stage == SshCommand::Stage::kWaiting && channels >= kMaxChannels) continue;
        ++channels;
        step(*command);
        if (command->stage != SshCommand::Stage::kEnded) continue;
        std::optional<model::PollFailure> failure;
        if (!command->closed && !command->has_end) {
            failure = failure_of(FailureKind::kApi, "ssh.command_refused",
                                 fmt::format("{}: the server refuses to run a command: {}; it may "
                                             "allow no more sessions (MaxSessions) or no commands",
                                             where(), last_error()));
        } else if (command->seen > command->max_output + kFloodBytes) {
            failure = failure_of(
                FailureKind::kApi, "ssh.output_too_large",
                fmt::format("{}: the command was stopped: it printed more than {} bytes; see what "
                            "it prints, or raise max_output",
                            where(), command->seen));
        } else if (!command->has_end) {
            failure = failure_of(FailureKind::kConnection, "ssh.no_exit_status",
                                 fmt::format("{}: the server closed the command without saying how "
                                             "it ended",
                                             where()));
        }
        ended.emplace_back(command->id, std::move(failure));
    }
    for (auto& [id, failure] : ended) events_.ended(id, std::move(failure));
    if (ssh_is_connected(session_) == 0) {
        return fail(FailureKind::kConnection, "ssh.disconnected",
                    fmt::format("{}: the server closed the connection: {}", where(), last_error()));
    }
    update_watch();
}

void SshConnection::step(SshCommand& command) {
    using enum SshCommand::Stage;
    if (command.stage == kWaiting) {
        command.channel_ = ssh_channel_new(session_);
        if (command.channel_ == nullptr) {
            command.stage = kEnded;
            return;
        }
        ssh_set_channel_callbacks(command.channel_, command.callbacks_.get());
        command.stage = kOpening;
    }
    if (command.stage == kOpening) {
        const int result = ssh_channel_open_session(command.channel_);
        if (result == SSH_AGAIN) return;
        command.stage = result == SSH_OK ? kRequesting : kEnded;
    }
    if (command.stage == kRequesting) {
        const int result = ssh_channel_request_exec(command.channel_, command.text.c_str());
        if (result == SSH_AGAIN) return;
        command.stage = result == SSH_OK ? kRunning : kEnded;
    }
    const bool flood = command.seen > command.max_output + kFloodBytes;
    if (command.closed || flood || (command.has_end && command.eof)) {
        if (flood) command.closed = true;
        command.stage = kEnded;
    }
}

void SshConnection::keep_alive() {
    if (stage_ != Stage::kReady) return;
    last_sign = net::boot_now();
    ssh_send_ignore(session_, "");
    advance();
}

void SshConnection::fail(const base::Error& error) {
    const bool config = error.error_class == base::ErrorClass::kConfig;
    fail(config ? FailureKind::kConfiguration : FailureKind::kInternal, error.code, error.message);
}

void SshConnection::fail(FailureKind kind, std::string code, std::string message) {
    if (stage_ == Stage::kDead) return;
    stage_ = Stage::kDead;
    if (watched_ != 0) loop_.unwatch(fd_);
    watched_ = 0;
    if (log_.size() < kMaxLog) log_.push_back(code);
    events_.failed(*this, failure_of(kind, std::move(code), std::move(message)));
}

}  // namespace pollux::protocol::ssh
