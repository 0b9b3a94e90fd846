// One UDP socket of one address family, with the system calls in batches. Nothing here knows SNMP.
//
// Used by the transport and by listeners, on the thread of their loop. Never blocks. Answers of
// ICMP (a closed port, no route) are read from the socket's error queue, with the destination and
// the beginning of the datagram that they are about.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "protocol/snmp/ber.hpp"
#include "protocol/snmp/endpoint.hpp"

namespace pollux::protocol::snmp {

inline constexpr std::size_t kBatchDatagrams = 128;
inline constexpr std::size_t kRequestBytes = 2048;  // the largest datagram that is sent

// Room for one recvmmsg(): lent to whichever socket has something to read.
class ReceiveBatch {
  public:
    // With the address each datagram was sent to, for sockets that listen.
    enum class Destinations : std::uint8_t { kUnknown, kKnown };
    explicit ReceiveBatch(Destinations destinations = Destinations::kUnknown);

    std::size_t count = 0;  // datagrams of the last receive()
    Bytes datagram(std::size_t i) const { return {buffer(i), headers_[i].msg_len}; }
    const sockaddr_storage& from(std::size_t i) const { return from_[i]; }
    // Where it came in, without a port; AF_UNSPEC if that was not said.
    Endpoint destination(std::size_t i) const;

  private:
    friend class UdpSocket;
    // Any UDP datagram fits. The odd distance spreads the beginnings, which is all that is used
    // of most, over the sets of the cache; what is never used is never backed by memory.
    static constexpr std::size_t kStride = 65'536 + 4'096 + 192;
    std::uint8_t* buffer(std::size_t i) const { return memory_.get() + i * kStride; }

    std::unique_ptr<std::uint8_t[]> memory_;
    std::array<sockaddr_storage, kBatchDatagrams> from_{};
    std::array<iovec, kBatchDatagrams> parts_{};
    std::array<mmsghdr, kBatchDatagrams> headers_{};
    static constexpr std::size_t kControlBytes = 128;
    std::unique_ptr<std::uint8_t[]> control_;  // null: destinations are not known
};

// Room for one sendmmsg().
class SendBatch {
  public:
    SendBatch();

    std::size_t size() const { return size_; }
    bool full() const { return size_ == kBatchDatagrams; }
    void clear() { size_ = 0; }
    // Where the next datagram may be written, before it is added.
    std::span<std::uint8_t> buffer() {
        return {memory_.get() + size_ * kRequestBytes, kRequestBytes};
    }
    // `bytes` lie in buffer().
    void add(const Endpoint& to, Bytes bytes);
    std::size_t bytes_of(std::size_t i) const { return parts_[i].iov_len; }

  private:
    friend class UdpSocket;
    std::size_t size_ = 0;
    std::unique_ptr<std::uint8_t[]> memory_;
    std::array<sockaddr_storage, kBatchDatagrams> to_{};
    std::array<iovec, kBatchDatagrams> parts_{};
    std::array<mmsghdr, kBatchDatagrams> headers_{};
};

struct IcmpError {
    int error_number = 0;              // ECONNREFUSED, EHOSTUNREACH, ...
    Endpoint to;                       // where the datagram went
    std::vector<std::uint8_t> quoted;  // the beginning of the datagram, as far as it was quoted
};

class UdpSocket {
  public:
    // A port chosen by the kernel. Buffers of `buffer_bytes` where that is allowed, else as large
    // as it is.
    static base::Result<UdpSocket> open(sa_family_t family, std::size_t buffer_bytes);
    // Hears on one address; port 0: one chosen by the kernel. snmp.listen says what is in the way.
    static base::Result<UdpSocket> listen(const Endpoint& at, std::size_t buffer_bytes);
    // A socket that somebody else has bound; it is closed here.
    static base::Result<UdpSocket> adopt(int fd, std::size_t buffer_bytes);
    UdpSocket() = default;  // closed
    ~UdpSocket();
    UdpSocket(UdpSocket&& other) noexcept;
    UdpSocket& operator=(UdpSocket&& other) noexcept;

    bool is_open() const { return fd_ >= 0; }
    int fd() const { return fd_; }

    // Sends [first, batch.size()); returns how many went out, or minus the error number if the
    // first one did not.
    int send(SendBatch& batch, std::size_t first);

    // Answers one datagram from the address it was sent to. 0, or minus the error number.
    int answer(const Endpoint& from, const Endpoint& to, Bytes bytes);
    Endpoint local() const;
    // Datagrams that the kernel threw away because they came faster than they were read.
    std::uint64_t dropped() const;

    // Fills `batch`; false: nothing to read now.
    bool receive(ReceiveBatch& batch);

    // The next answer of ICMP; false: there is none.
    bool next_error(IcmpError& error);

  private:
    explicit UdpSocket(int fd) : fd_(fd) {}
    base::Status hear(std::size_t buffer_bytes);
    int fd_ = -1;
};

}  // namespace pollux::protocol::snmp
