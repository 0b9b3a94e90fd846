// The login by an SSH agent. libssh asks an agent with calls that block until it answers, so this
// step of a login runs on a thread beside the loop. It does not talk to the agent itself: its
// questions come to the loop through a pair of sockets, are asked there for a short time each, and
// an agent that does not answer in that time is left out, which ends the step at once.
//
// Used on the loop. While waits() holds, the session belongs to the other thread; if this goes
// meanwhile, that thread is the last to hold the session and frees it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/work_pool.hpp"
#include "protocol/ssh/agent_client.hpp"

struct ssh_session_struct;

namespace pollux::protocol::ssh {

// The threads of one driver, made when the first login needs them. Must go after the connections.
class AgentThreads {
  public:
    base::Status submit(net::WorkPool::Work work);

  private:
    static constexpr std::size_t kThreads = 2;
    static constexpr std::size_t kQueue = 4096;
    std::unique_ptr<net::WorkPool> pool_;
};

class AgentLogin final : net::FdHandler {
  public:
    using Session = std::shared_ptr<ssh_session_struct>;

    // `go_on` is called when step() should be called again.
    AgentLogin(net::EventLoop& loop, AgentThreads& threads, std::function<void()> go_on);
    ~AgentLogin();
    AgentLogin(const AgentLogin&) = delete;
    AgentLogin& operator=(const AgentLogin&) = delete;

    // As ssh_userauth_agent, with the agent at SSH_AUTH_SOCK; SSH_AUTH_AGAIN also while waits().
    int step(const Session& session);
    bool waits() const { return waits_; }

    // Why the agent cannot be used, for a person; empty if it can, as far as is known.
    const std::string& problem() const { return problem_; }

  private:
    void on_ready(int fd, std::uint32_t events) override;
    bool open_way(const Session& session);
    void close_way();
    void answer(const base::Result<std::string>& answer);
    void finished(int result);

    net::EventLoop& loop_;
    AgentThreads& threads_;
    std::function<void()> go_on_;
    std::string path_;
    AgentClient client_;
    std::string problem_;
    bool waits_ = false;
    bool has_result_ = false;
    int result_ = 0;
    int ours_ = -1;         // of the pair; the session owns the other one
    std::string question_;  // what came of it so far
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace pollux::protocol::ssh
