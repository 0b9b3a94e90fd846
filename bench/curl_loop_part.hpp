// A bare libcurl loop: many small multi handles on one epoll, easy handles reused, one transfer in
// flight per host. What libcurl can do when nothing is done with the answer.
#pragma once

#include <curl/curl.h>
#include <sys/epoll.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/poll_tools.hpp"

namespace pollux::bench {

class CurlLoop {
  public:
    CurlLoop(std::uint16_t port, std::uint32_t hosts) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        curl_global_init(CURL_GLOBAL_ALL);
        for (std::uint32_t i = 0; i < hosts; ++i) {
            if (i % kHostsPerMulti == 0) open_multi();
            CURL* easy = curl_easy_init();
            const std::string url = fmt::format("http://{}:{}/", device_text(i), port);
            curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
            curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &CurlLoop::on_body);
            curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
            curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
            curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 30'000L);
            curl_easy_setopt(easy, CURLOPT_PROXY, "");
            // Otherwise every transfer walks the cache of all names.
            curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
            easies_.push_back(easy);
            curl_multi_add_handle(multis_.back()->handle, easy);
        }
    }
    ~CurlLoop() {
        for (std::size_t i = 0; i < easies_.size(); ++i) {
            curl_multi_remove_handle(multis_[i / kHostsPerMulti]->handle, easies_[i]);
            curl_easy_cleanup(easies_[i]);
        }
        for (const auto& multi : multis_) curl_multi_cleanup(multi->handle);
        close(epoll_);
    }
    CurlLoop(const CurlLoop&) = delete;
    CurlLoop& operator=(const CurlLoop&) = delete;

    void turn() {
        std::array<epoll_event, 512> events{};
        const int count = epoll_wait(epoll_, events.data(), 512, milliseconds_to_wait());
        int running = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
            Multi& multi = *multis_[events[i].data.u64 >> 32U];
            const auto fd = static_cast<curl_socket_t>(events[i].data.u64 & 0xFFFFFFFFU);
            curl_multi_socket_action(multi.handle, fd, selected(events[i].events), &running);
            take_finished(multi);
        }
        const double now = wall_seconds();
        for (const auto& multi : multis_) {
            if (multi->due < 0 || multi->due > now) continue;
            multi->due = -1;
            curl_multi_socket_action(multi->handle, CURL_SOCKET_TIMEOUT, 0, &running);
            take_finished(*multi);
        }
    }

    std::uint64_t done() const { return done_; }
    std::uint64_t wrong() const { return wrong_; }

  private:
    static constexpr std::uint32_t kHostsPerMulti = 64;

    struct Multi {
        CURLM* handle = nullptr;
        CurlLoop* loop = nullptr;
        std::uint64_t number = 0;
        double due = -1;
    };

    void open_multi() {
        auto multi = std::make_unique<Multi>();
        multi->handle = curl_multi_init();
        multi->loop = this;
        multi->number = multis_.size();
        curl_multi_setopt(multi->handle, CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
        curl_multi_setopt(multi->handle, CURLMOPT_SOCKETDATA, multi.get());
        curl_multi_setopt(multi->handle, CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
        curl_multi_setopt(multi->handle, CURLMOPT_TIMERDATA, multi.get());
        curl_multi_setopt(multi->handle, CURLMOPT_MAXCONNECTS, long{kHostsPerMulti} + 10);
        multis_.push_back(std::move(multi));
    }

    static int selected(std::uint32_t events) {
        int flags = 0;
        if ((events & (EPOLLIN | EPOLLHUP)) != 0) flags |= CURL_CSELECT_IN;
        if ((events & EPOLLOUT) != 0) flags |= CURL_CSELECT_OUT;
        if ((events & EPOLLERR) != 0) flags |= CURL_CSELECT_ERR;
        return flags;
    }

    int milliseconds_to_wait() const {
        double first = -1;
        for (const auto& multi : multis_) {
            if (multi->due >= 0 && (first < 0 || multi->due < first)) first = multi->due;
        }
        if (first < 0) return 500;
        return std::clamp(static_cast<int>((first - wall_seconds()) * 1000) + 1, 0, 500);
    }

    void take_finished(Multi& multi) {
        int left = 0;
        while (const CURLMsg* message = curl_multi_info_read(multi.handle, &left)) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL* easy = message->easy_handle;
            long status = 0;
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            ++(message->data.result == CURLE_OK && status == 200 ? done_ : wrong_);
            curl_multi_remove_handle(multi.handle, easy);
            curl_multi_add_handle(multi.handle, easy);
        }
    }

    static int on_socket(CURL* /*easy*/, curl_socket_t fd, int what, void* self, void* known) {
        const auto* multi = static_cast<const Multi*>(self);
        const int epoll = multi->loop->epoll_;
        if (what == CURL_POLL_REMOVE) {
            epoll_ctl(epoll, EPOLL_CTL_DEL, fd, nullptr);
            return 0;
        }
        epoll_event event{};
        event.data.u64 = multi->number << 32U | static_cast<std::uint32_t>(fd);
        event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0U) |
                       ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0U);
        if (known != nullptr || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
            epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
        }
        curl_multi_assign(multi->handle, fd, self);
        return 0;
    }
    static int on_timer(CURLM* /*handle*/, long milliseconds, void* self) {
        static_cast<Multi*>(self)->due =
            milliseconds < 0 ? -1 : wall_seconds() + static_cast<double>(milliseconds) / 1000;
        return 0;
    }
    static std::size_t on_body(char* /*bytes*/, std::size_t size, std::size_t count, void* self) {
        static_cast<CurlLoop*>(self)->bytes_ += size * count;
        return size * count;
    }

    int epoll_;
    std::vector<std::unique_ptr<Multi>> multis_;
    std::vector<CURL*> easies_;
    std::uint64_t done_ = 0;
    std::uint64_t wrong_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace pollux::bench
