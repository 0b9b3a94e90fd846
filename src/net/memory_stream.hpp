// Two ByteStreams in memory, joined end to end: what one writes the other reads. For tests, and to
// speak a stream protocol inside the process.
//
// Each direction holds at most `capacity` bytes, so back-pressure can be seen.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "net/byte_stream.hpp"
#include "net/event_loop.hpp"

namespace pollux::net {

class MemoryStream final : public ByteStream {
  public:
    using Pair = std::pair<std::unique_ptr<MemoryStream>, std::unique_ptr<MemoryStream>>;
    static Pair make_pair(EventLoop& loop, std::size_t capacity = 64 * 1024);
    ~MemoryStream();

    void set_handler(StreamHandler* handler) override { handler_ = handler; }
    void want(bool to_read, bool to_write) override;
    IoResult read(std::span<char> into) override;
    IoResult write(std::span<const char> from) override;
    void shutdown_write() override;
    void abort() override;
    std::string failure() const override { return broken_ ? "the other end was closed" : ""; }
    SocketAddress local() const override { return {}; }
    SocketAddress peer() const override { return {}; }

  private:
    MemoryStream(EventLoop& loop, std::size_t capacity);
    void wake();  // arms the call of the handler if what is wanted can be done
    void ready();

    MemoryStream* other_ = nullptr;
    std::size_t capacity_;
    std::string incoming_;
    bool incoming_ended_ = false;
    bool outgoing_ended_ = false;
    bool broken_ = false;
    bool to_read_ = false;
    bool to_write_ = false;
    StreamHandler* handler_ = nullptr;
    Timer timer_;
};

}  // namespace pollux::net
