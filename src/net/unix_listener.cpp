#include "net/unix_listener.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "net/tcp_stream.hpp"

namespace pollux::net {
namespace {

constexpr int kAcceptsPerTurn = 16;
constexpr int kBacklog = 64;
constexpr std::size_t kMaxAnswerBytes = 256U << 20U;

std::unexpected<base::Error> listen_error(const std::string& path, int number) {
    return base::config_error("net.listen",
                              fmt::format("cannot listen on {}: {}", path, std::strerror(number)));
}

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* into) {
    auto& body = *static_cast<std::string*>(into);
    const std::size_t bytes = size * count;
    if (body.size() + bytes > kMaxAnswerBytes) return 0;
    body.append(data, bytes);
    return bytes;
}

}  // namespace

base::Result<std::unique_ptr<UnixListener>> UnixListener::listen(EventLoop& loop, std::string path,
                                                                 OnAccept on_accept) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        return base::config_error(
            "net.listen", fmt::format("cannot listen on {}: the path of a socket has at most {} "
                                      "characters; choose a data folder with a shorter path",
                                      path, sizeof address.sun_path - 1));
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return listen_error(path, errno);
    unlink(path.c_str());
    // The mode must hold from the first moment, so the mask is narrowed around bind().
    const mode_t mask = umask(0177);
    const int bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int number = errno;
    umask(mask);
    if (bound != 0 || ::listen(fd, kBacklog) != 0) {
        const int problem = bound != 0 ? number : errno;
        close(fd);
        return listen_error(path, problem);
    }
    std::unique_ptr<UnixListener> listener(
        new UnixListener(loop, fd, std::move(path), std::move(on_accept)));
    if (auto watched = loop.watch(fd, EPOLLIN, *listener); !watched) {
        return std::unexpected(watched.error());
    }
    return listener;
}

UnixListener::~UnixListener() {
    loop_.unwatch(fd_);
    close(fd_);
    unlink(path_.c_str());
}

void UnixListener::on_ready(int /*fd*/, std::uint32_t /*events*/) {
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
        const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) return;
        on_accept_(std::make_unique<TcpStream>(loop_, fd, SocketAddress{}, SocketAddress{}));
    }
}

base::Result<UnixAnswer> ask_unix(const std::string& path, std::string_view method,
                                  std::string_view target, std::string body,
                                  base::Duration timeout) {
    const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), &curl_easy_cleanup);
    if (!curl) return base::internal_error("net.curl", "cannot set up libcurl");
    UnixAnswer answer;
    const std::string url = fmt::format("http://localhost{}", target);
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
    curl_easy_setopt(curl.get(), CURLOPT_UNIX_SOCKET_PATH, path.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, std::string(method).c_str());
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(milliseconds));
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &take_body);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer.body);
    if (!body.empty()) {
        curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.data());
        curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(body.size()));
    }
    // libcurl would ask for permission first, and wait a second for it.
    const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(
        curl_slist_append(nullptr, "Expect:"), &curl_slist_free_all);
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
    const CURLcode code = curl_easy_perform(curl.get());
    if (code != CURLE_OK) {
        return base::make_error(
            base::ErrorClass::kTransient, "net.unix",
            fmt::format("cannot talk to the server at {}: {}", path, curl_easy_strerror(code)));
    }
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    return answer;
}

}  // namespace pollux::net
