// Asks the SSH agent on the loop, one question at a time and for a short time each: libssh would
// ask it with calls that block, and one that hangs would stop every device of its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/event_loop.hpp"

namespace pollux::protocol::ssh {

// Of the agent protocol (draft-ietf-sshm-ssh-agent): a message is a length of four bytes, a type of
// one, and what belongs to it.
inline constexpr char kAgentSign = 13;
inline constexpr char kAgentSignature = 14;
inline constexpr std::size_t kMaxAgentMessage = std::size_t{256} << 10U;

std::string agent_frame(std::string_view message);  // with its length in front
std::uint32_t agent_number(std::string_view four_bytes);

class AgentClient final : net::FdHandler {
  public:
    static constexpr base::Duration kPatience = std::chrono::seconds(2);

    explicit AgentClient(net::EventLoop& loop);
    ~AgentClient();
    AgentClient(const AgentClient&) = delete;
    AgentClient& operator=(const AgentClient&) = delete;

    // Sends the message to the agent at `path`. Calls back once, in a later turn: with its answer
    // (without the length), or with why it cannot be used, for a person (error ssh.agent).
    using Done = std::function<void(base::Result<std::string> answer)>;
    void ask(const std::string& path, std::string_view message, Done done);

  private:
    void on_ready(int fd, std::uint32_t events) override;
    std::string send_question(const std::string& path, std::string_view message);
    void finish(base::Result<std::string> answer);

    net::EventLoop& loop_;
    net::Timer timer_;
    int fd_ = -1;
    bool watched_ = false;
    std::string problem_;  // what the timer tells
    std::string received_;
    Done done_;
};

}  // namespace pollux::protocol::ssh
