// For tests of the server: a client at the other end of a stream in memory, and a loop to turn.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.hpp"
#include "net/memory_stream.hpp"

namespace pollux::net::test {

// Reads everything that comes, unless told to stop; counts how it ended.
class MemoryClient final : private StreamHandler {
  public:
    explicit MemoryClient(std::unique_ptr<MemoryStream> end) : stream(std::move(end)) {
        stream->set_handler(this);
        stream->want(true, false);
    }

    void send(std::string_view bytes) {
        pending += bytes;
        flush();
    }
    void pause() { stream->want(false, !pending.empty()); }
    void go_on() { stream->want(true, !pending.empty()); }

    std::unique_ptr<MemoryStream> stream;
    std::string received;
    std::string pending;
    bool closed = false;
    bool failed = false;

  private:
    void flush() {
        while (!pending.empty()) {
            const IoResult result = stream->write(pending);
            if (result.state != IoState::kOk) break;
            pending.erase(0, result.bytes);
        }
        stream->want(!closed, !pending.empty());
    }
    void on_stream_ready() override {
        std::vector<char> buffer(4096);
        while (true) {
            const IoResult result = stream->read(buffer);
            if (result.state == IoState::kClosed) closed = true;
            if (result.state == IoState::kFailed) failed = true;
            if (result.state != IoState::kOk) break;
            received.append(buffer.data(), result.bytes);
        }
        if (closed || failed) return stream->want(false, false);
        flush();
    }
};

// Turns the loop until the condition holds; false after `patience`.
inline bool turn_until(EventLoop& loop, const std::function<bool()>& condition,
                       std::chrono::milliseconds patience = std::chrono::seconds(30)) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        loop.run_once(std::chrono::milliseconds(5));
    }
    return true;
}

inline void turn(EventLoop& loop, int times = 20) {
    for (int i = 0; i < times; ++i) loop.run_once(base::Duration::zero());
}

}  // namespace pollux::net::test
