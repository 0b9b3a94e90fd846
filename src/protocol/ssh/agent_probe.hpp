// Whether the SSH agent answers. libssh asks it with calls that block, so one that hangs would stop
// every device of its thread: it is asked here first, on the loop and for a short time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "net/event_loop.hpp"

namespace pollux::protocol::ssh {

class AgentProbe final : net::FdHandler {
  public:
    static constexpr base::Duration kPatience = std::chrono::seconds(2);

    explicit AgentProbe(net::EventLoop& loop);
    ~AgentProbe();
    AgentProbe(const AgentProbe&) = delete;
    AgentProbe& operator=(const AgentProbe&) = delete;

    // Asks the agent at `path` for the list of its keys. Calls back once, in a later turn: empty if
    // it answered, else why it cannot be used, for a person. One question at a time.
    using Done = std::function<void(std::string problem)>;
    void ask(const std::string& path, Done done);

  private:
    void on_ready(int fd, std::uint32_t events) override;
    std::string send_question(const std::string& path);
    void finish(std::string problem);

    net::EventLoop& loop_;
    net::Timer timer_;
    int fd_ = -1;
    bool watched_ = false;
    std::string problem_;  // what the timer tells
    Done done_;
};

}  // namespace pollux::protocol::ssh
