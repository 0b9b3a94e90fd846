// One SSH connection on the loop: connects, checks the host's key, logs in, then runs commands side
// by side. libssh never blocks here: every step returns when it needs the network and is called
// again when the socket is ready. (It asks an agent with calls that block: these run elsewhere, see
// agent_login.hpp.)
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/connector.hpp"
#include "net/event_loop.hpp"
#include "protocol/run_table.hpp"
#include "protocol/ssh/agent_login.hpp"
#include "protocol/ssh/host_keys.hpp"
#include "protocol/ssh/key_files.hpp"
#include "protocol/ssh/ssh_rules.hpp"

struct ssh_session_struct;
struct ssh_channel_struct;
struct ssh_event_struct;
struct ssh_channel_callbacks_struct;

namespace pollux::protocol::ssh {

// One command under way: what the channel said so far.
class SshCommand {
  public:
    SshCommand();
    ~SshCommand();
    SshCommand(const SshCommand&) = delete;
    SshCommand& operator=(const SshCommand&) = delete;

    enum class Stage : std::uint8_t { kWaiting, kOpening, kRequesting, kRunning, kEnded };

    std::uint64_t id = 0;
    std::string text;
    std::uint64_t max_output = 0;
    base::BootTime started;

    Stage stage = Stage::kWaiting;
    model::CommandReply answer;
    std::string signal_name;
    std::uint64_t seen = 0;  // bytes, kept or not
    base::Duration first_byte{};
    bool has_end = false;  // exit status or signal
    bool eof = false;
    bool closed = false;

  private:
    friend class SshConnection;
    static int on_data(ssh_session_struct*, ssh_channel_struct*, void* data, std::uint32_t length,
                       int is_error, void* self);
    static void on_exit_signal(ssh_session_struct*, ssh_channel_struct*, const char* signal, int,
                               const char*, const char*, void* self);

    ssh_channel_struct* channel_ = nullptr;
    std::unique_ptr<ssh_channel_callbacks_struct> callbacks_;
};

class SshConnection final : net::FdHandler {
  public:
    struct Address {
        std::string host;
        std::uint16_t port = 22;
        std::shared_ptr<const model::Credentials> credentials;
    };
    struct Events {
        // The command ended by itself, or the server refused it.
        std::function<void(std::uint64_t id, std::optional<model::PollFailure>)> ended;
        // Nothing more comes of this connection; its commands are the driver's to end.
        std::function<void(SshConnection&, model::PollFailure)> failed;
    };

    SshConnection(net::EventLoop& loop, net::Resolver& resolver,
                  std::shared_ptr<const net::EgressPolicy> egress, Address address, SshRules rules,
                  KeyFiles& keys, AgentThreads& threads, Events events);
    ~SshConnection();

    void connect(base::BootTime deadline);
    // Somebody joined who can wait longer.
    void extend(base::BootTime deadline);
    void add(SshCommand& command);
    // The command is not touched after this.
    void remove(SshCommand& command);
    std::size_t commands() const { return commands_.size(); }

    bool ready() const { return stage_ == Stage::kReady; }
    // How far it came, for the message of a timeout.
    std::string_view stage_text() const;
    model::Phases phases() const { return phases_; }
    std::string server_text() const { return server_; }
    const std::vector<std::string>& log() const { return log_; }

    void keep_alive();

    bool retired = false;  // gets no more commands
    base::BootTime idle_since;
    base::BootTime last_sign;  // when a keep-alive was sent last

  private:
    enum class Stage : std::uint8_t { kConnecting, kHandshake, kLogin, kReady, kDead };
    enum class Login : std::uint8_t { kNone, kKey, kAgent, kPassword, kInteractive, kGiveUp };

    void on_ready(int fd, std::uint32_t events) override;
    base::Result<std::vector<std::string>> known_types() const;
    void take_socket(const net::ConnectedSocket& socket);
    void advance();
    bool step_handshake();
    bool check_host_key();
    bool believe(const HostKey& seen, const HostKeys::Answer& answer,
                 const std::string& fingerprint);
    bool step_login();
    void fail_login();
    int try_login();
    int try_key();
    int try_interactive();
    void step_commands();
    void step(SshCommand& command);
    void end(SshCommand& command, std::optional<model::PollFailure> failure);
    void update_watch();
    void fail(model::FailureKind kind, std::string code, std::string message);
    void fail(const base::Error& error);
    std::string where() const;
    std::string last_error() const;

    net::EventLoop& loop_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    Address address_;
    SshRules rules_;
    KeyFiles& keys_;
    Events events_;
    AgentLogin agent_;
    std::shared_ptr<ssh_session_struct> owned_;  // the session
    net::Connector connector_;
    net::Timer again_;  // a command was added: go on in a later turn
    base::BootTime started_;
    model::Phases phases_;
    ssh_session_struct* session_ = nullptr;  // that one
    ssh_event_struct* event_ = nullptr;
    int fd_ = -1;  // the session owns it
    std::uint32_t watched_ = 0;
    Stage stage_ = Stage::kConnecting;
    Login login_ = Login::kNone;
    unsigned allowed_ = 0;  // SSH_AUTH_METHOD_*
    int rounds_ = 0;        // of keyboard-interactive
    std::string tried_;
    std::string server_;
    std::vector<std::string> log_;  // steps for a person
    std::list<SshCommand*> commands_;
};

}  // namespace pollux::protocol::ssh
