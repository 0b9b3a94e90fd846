// One libcurl multi handle on the event loop, and the sockets of all of them.
//
// libcurl tells which sockets it waits for and when it wants to be called; finished transfers are
// handed to the owner. Used by the HTTP client only, in its loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "net/event_loop.hpp"

namespace pollux::net {

// What is known of each socket of libcurl. A connection that rests between two requests stays
// watched: that saves two system calls per request, and if the peer closes it, the event that
// nobody waits for ends the watching.
class SocketTable {
  public:
    explicit SocketTable(EventLoop& loop) : loop_(loop) {}

    void want(int fd, std::uint32_t events, FdHandler& owner);  // events 0: nothing for now
    bool is_wanted(int fd) const;
    void rest(int fd);  // an event came that nobody waits for
    void close(int fd);

  private:
    struct Entry {
        std::uint32_t watched = 0;
        std::uint32_t wanted = 0;
        FdHandler* owner = nullptr;
    };

    EventLoop& loop_;
    std::vector<Entry> entries_;  // by descriptor
};

class CurlShard final : private FdHandler {
  public:
    // Called with the easy handle and its CURLcode, outside of libcurl: it may remove and add.
    using Finished = std::function<void(void* easy, int code)>;

    CurlShard(EventLoop& loop, SocketTable& sockets, std::size_t connections, Finished finished);
    ~CurlShard();
    CurlShard(const CurlShard&) = delete;
    CurlShard& operator=(const CurlShard&) = delete;

    bool add(void* easy);
    void remove(void* easy);

    // Kept by the table of hosts.
    std::size_t hosts = 0;
    std::size_t hosts_ever = 0;
    bool retired = false;

  private:
    friend struct ShardCallbacks;  // what libcurl calls, in the source file

    void on_ready(int fd, std::uint32_t events) override;
    void on_timer();
    void act(int fd, int mask);

    SocketTable& sockets_;
    Finished finished_;
    void* multi_ = nullptr;
    Timer timer_;
};

}  // namespace pollux::net
