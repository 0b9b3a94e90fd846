// The port of everything that moves bytes in order: a TCP socket, TLS over one, a pair in memory.
//
// Used from the thread of the loop it was made with. Nothing blocks: read() and write() do what can
// be done now, and the handler is called in a later turn when more can be done.
//
// Invariants
// 1. The handler is called only while something is wanted, and never from inside a call of it.
// 2. Readiness is a level: who wants to read is called until read() said kWouldBlock, also when the
//    bytes already lie in a buffer of the stream (TLS).
// 3. After kClosed or kFailed that direction stays so. Destroying the stream closes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "net/socket_address.hpp"

namespace pollux::net {

enum class IoState : std::uint8_t {
    kOk,          // `bytes` of them were moved, at least one
    kWouldBlock,  // nothing now; wait for the handler
    kClosed,      // read only: the peer ended its side in good order
    kFailed,      // broken; see failure()
};

struct IoResult {
    IoState state = IoState::kWouldBlock;
    std::size_t bytes = 0;
};

class StreamHandler {
  public:
    virtual void on_stream_ready() = 0;

  protected:
    ~StreamHandler() = default;
};

class ByteStream {
  public:
    ByteStream() = default;
    virtual ~ByteStream() = default;
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    // Who is called from now on; nullptr for nobody. The handler must stay until it is replaced.
    virtual void set_handler(StreamHandler* handler) = 0;
    // Which directions the handler waits for.
    virtual void want(bool to_read, bool to_write) = 0;

    virtual IoResult read(std::span<char> into) = 0;
    virtual IoResult write(std::span<const char> from) = 0;  // may take only a part
    // Ends our side after what was written; reading goes on.
    virtual void shutdown_write() = 0;
    // Closes with a reset, so that the peer sees an error and no end; then the stream is unusable.
    virtual void abort() = 0;

    virtual std::string failure() const = 0;  // why kFailed was said; empty before
    virtual SocketAddress local() const = 0;  // empty for a stream in memory
    virtual SocketAddress peer() const = 0;
};

}  // namespace pollux::net
