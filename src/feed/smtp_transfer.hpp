// One mail on its way through libcurl: what it is told, and what came back. Made on the loop, run
// on a thread that may block, looked at again afterwards.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "feed/channel.hpp"
#include "feed/email_message.hpp"
#include "net/egress_policy.hpp"
#include "net/ip_address.hpp"

struct curl_slist;

namespace pollux::feed {

enum class SmtpTls : std::uint8_t { kNone, kOptional, kRequired, kImplicit };

struct SmtpServer {
    std::string host;  // without brackets
    std::uint16_t port = 0;
    SmtpTls tls = SmtpTls::kRequired;
    bool verify = true;
    std::string ca_file;
};

// Error "feed.bad_smtp_url".
base::Result<SmtpServer> smtp_server_of(const std::string& url, const model::Channel& channel,
                                        bool with_credentials);

class SmtpTransfer {
  public:
    SmtpTransfer(SmtpServer server, Mail mail,
                 std::shared_ptr<const model::Credentials> credentials,
                 std::shared_ptr<const net::EgressPolicy> egress);
    ~SmtpTransfer();
    SmtpTransfer(const SmtpTransfer&) = delete;
    SmtpTransfer& operator=(const SmtpTransfer&) = delete;

    // Tells libcurl everything; at most so long.
    void set_up(const std::vector<net::IpAddress>& addresses, const std::string& hello,
                base::Duration at_most);
    // Sends the mail: blocks.
    AttemptOutcome run();
    // Ends run() within about a second. From any thread.
    void abort() { aborted_.store(true, std::memory_order_relaxed); }

    const SmtpServer& server() const { return server_; }

  private:
    friend struct SmtpCallbacks;
    AttemptOutcome outcome(int code) const;

    SmtpServer server_;
    Mail mail_;
    std::shared_ptr<const model::Credentials> credentials_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    void* easy_;
    curl_slist* recipients_ = nullptr;
    curl_slist* addresses_ = nullptr;
    std::size_t sent_ = 0;
    std::atomic<bool> aborted_ = false;
    std::string denied_;       // by the egress policy
    std::string last_answer_;  // of the server
    std::vector<std::string> refusals_;
};

}  // namespace pollux::feed
