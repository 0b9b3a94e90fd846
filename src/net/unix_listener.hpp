// Accepts connections on a socket in the file system: how commands on the same machine talk to the
// server. Only the owner may connect (mode 0600). Used from the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "net/byte_stream.hpp"
#include "net/event_loop.hpp"

namespace pollux::net {

class UnixListener final : private FdHandler {
  public:
    using OnAccept = std::move_only_function<void(std::unique_ptr<ByteStream>)>;

    // A socket left behind by a process that is gone is replaced; the caller holds whatever lock
    // says that there is no other. The path is removed when the listener goes.
    static base::Result<std::unique_ptr<UnixListener>> listen(EventLoop& loop, std::string path,
                                                              OnAccept on_accept);
    ~UnixListener();

    const std::string& path() const { return path_; }

  private:
    UnixListener(EventLoop& loop, int fd, std::string path, OnAccept on_accept)
        : loop_(loop), fd_(fd), path_(std::move(path)), on_accept_(std::move(on_accept)) {}
    void on_ready(int fd, std::uint32_t events) override;

    EventLoop& loop_;
    int fd_;
    std::string path_;
    OnAccept on_accept_;
};

struct UnixAnswer {
    int status = 0;
    std::string body;
};

// Asks such a server, and waits for the answer. For commands; blocks.
base::Result<UnixAnswer> ask_unix(const std::string& path, std::string_view method,
                                  std::string_view target, std::string body,
                                  base::Duration timeout);

}  // namespace pollux::net
