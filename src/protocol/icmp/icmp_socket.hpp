// The sockets that echo requests go out by: an unprivileged one (SOCK_DGRAM, where the kernel's
// net.ipv4.ping_group_range lets our group), else a raw one (CAP_NET_RAW). Nothing here knows runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/ip_address.hpp"

namespace pollux::protocol::icmp {

// What came in: an echo reply, or an error that quotes our request.
struct Echo {
    net::IpAddress from;
    std::uint16_t sequence = 0;
    std::string_view payload;  // in the buffer of the caller
    int error_number = 0;      // of an error: EHOSTUNREACH, ...
};

class EchoSocket {
  public:
    // Error icmp.not_permitted with the two remedies, or icmp.socket.
    static base::Result<EchoSocket> open(bool v6, std::uint16_t identity);
    EchoSocket() = default;
    ~EchoSocket();
    EchoSocket(EchoSocket&& other) noexcept;
    EchoSocket& operator=(EchoSocket&& other) noexcept;

    bool is_open() const { return fd_ >= 0; }
    int fd() const { return fd_; }
    bool is_raw() const { return raw_; }

    // 0, or the error number.
    int send(const net::IpAddress& to, std::uint16_t sequence, std::string_view payload);

    // The next reply; nullopt with `more` true: something else came. False: nothing is there.
    std::optional<Echo> receive(std::string& buffer, bool& more);
    std::optional<Echo> next_error(std::string& buffer, bool& more);

  private:
    std::optional<Echo> parse(std::string_view packet, bool request) const;

    int fd_ = -1;
    bool raw_ = false;
    bool v6_ = false;
    std::uint16_t identity_ = 0;
};

}  // namespace pollux::protocol::icmp
