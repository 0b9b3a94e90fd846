#include "net/curl_shard.hpp"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/check.hpp"

namespace pollux::net {

void SocketTable::want(int fd, std::uint32_t events, FdHandler& owner) {
    const auto index = static_cast<std::size_t>(fd);
    if (entries_.size() <= index) entries_.resize(index + 1);
    Entry& entry = entries_[index];
    entry.wanted = events;
    const bool may_rest = events == 0 && entry.watched == EPOLLIN;
    if (may_rest || (events == entry.watched && entry.owner == &owner)) return;
    if (entry.watched != 0 && (events == 0 || entry.owner != &owner)) {
        loop_.unwatch(fd);
        entry.watched = 0;
    }
    if (events == 0) return;
    const auto status =
        entry.watched != 0 ? loop_.change(fd, events) : loop_.watch(fd, events, owner);
    // If it fails (out of memory for epoll) the transfer ends at its deadline.
    if (status) entry.watched = events;
    entry.owner = &owner;
}

bool SocketTable::is_wanted(int fd) const {
    const auto index = static_cast<std::size_t>(fd);
    return index < entries_.size() && entries_[index].wanted != 0;
}

void SocketTable::rest(int fd) {
    loop_.unwatch(fd);
    entries_[static_cast<std::size_t>(fd)].watched = 0;
}

void SocketTable::close(int fd) {
    const auto index = static_cast<std::size_t>(fd);
    if (index < entries_.size()) {
        if (entries_[index].watched != 0) loop_.unwatch(fd);
        entries_[index] = {};
    }
    ::close(fd);
}

struct ShardCallbacks {
    static int on_socket(CURL*, curl_socket_t fd, int what, void* data, void*) {
        CurlShard& shard = *static_cast<CurlShard*>(data);
        std::uint32_t events = 0;
        if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
        if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
        shard.sockets_.want(fd, events, shard);
        return 0;
    }

    static int on_timer(CURLM*, long milliseconds, void* data) {
        CurlShard& shard = *static_cast<CurlShard*>(data);
        if (milliseconds < 0) {
            shard.timer_.cancel();
        } else if (milliseconds == 0) {
            shard.timer_.arm(base::BootTime{0});  // with the timers of this turn
        } else {
            // Not a moment early: libcurl would find nothing to do and not ask again.
            shard.timer_.arm(boot_now() + std::chrono::milliseconds(milliseconds + 1));
        }
        return 0;
    }
};

CurlShard::CurlShard(EventLoop& loop, SocketTable& sockets, std::size_t connections,
                     Finished finished)
    : sockets_(sockets),
      finished_(std::move(finished)),
      multi_(curl_multi_init()),
      timer_(loop, [this] { on_timer(); }) {
    POLLUX_CHECK_MSG(multi_ != nullptr, "out of memory");
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &ShardCallbacks::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &ShardCallbacks::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections));
}

CurlShard::~CurlShard() { curl_multi_cleanup(multi_); }

bool CurlShard::add(void* easy) { return curl_multi_add_handle(multi_, easy) == CURLM_OK; }

void CurlShard::remove(void* easy) { curl_multi_remove_handle(multi_, easy); }

void CurlShard::on_ready(int fd, std::uint32_t events) {
    if (!sockets_.is_wanted(fd)) {
        sockets_.rest(fd);
        return;
    }
    int mask = 0;
    if ((events & (EPOLLIN | EPOLLHUP)) != 0) mask |= CURL_CSELECT_IN;
    if ((events & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
    if ((events & EPOLLERR) != 0) mask |= CURL_CSELECT_ERR;
    act(fd, mask);
}

void CurlShard::on_timer() {
    act(CURL_SOCKET_TIMEOUT, 0);
    if (timer_.armed()) return;
    // libcurl says nothing when its next time is the one it named before.
    long milliseconds = -1;
    curl_multi_timeout(multi_, &milliseconds);
    if (milliseconds >= 0) ShardCallbacks::on_timer(multi_, milliseconds, this);
}

void CurlShard::act(int fd, int mask) {
    int running = 0;
    curl_multi_socket_action(multi_, fd, mask, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL* easy = message->easy_handle;  // the message goes when the handle is removed
        const int code = message->data.result;
        finished_(easy, code);
    }
}

}  // namespace pollux::net
