// Tells people by a program of this machine, without a shell: the body of the notification on its
// standard input, the few facts that choose a path in its environment. Programs come from the
// settings `exec_allow` and `plugin_folders` only.
//
// Exit status 0 is delivered. 64, 65 and 78 (sysexits: usage, data, configuration) are final,
// everything else is worth another attempt.
#pragma once

#include "feed/channel.hpp"
#include "protocol/exec/exec_driver.hpp"

namespace pollux::feed {

class ExecChannel final : public ChannelDriver {
  public:
    explicit ExecChannel(net::EventLoop& loop, protocol::exec::ExecRules rules);

    void start(Attempt attempt, Done done) override;
    void cancel(std::uint64_t id) override { driver_.cancel(id); }

    void set_rules(protocol::exec::ExecRules rules) { driver_.set_rules(std::move(rules)); }

  private:
    protocol::ExecDriver driver_;
};

}  // namespace pollux::feed
