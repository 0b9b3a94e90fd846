#include "net/dns_channel.hpp"

#include <ares.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/time.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace pollux::net {
namespace {

constexpr std::size_t kMaxAddresses = 16;  // of one name; the best are first
constexpr int kAttempts = 2;

struct Question {
    DnsChannel* channel;
    std::uint64_t id;
    std::string name;
};

base::Error error_of(int status, const std::string& name) {
    const auto with = [&](std::string code, std::string_view what, std::string_view advice) {
        return base::Error{std::move(code), base::ErrorClass::kTransient,
                           fmt::format("looking up {} failed: {} ({}); {}", base::quoted(name),
                                       what, ares_strerror(status), advice)};
    };
    switch (status) {
        case ARES_ENODATA:
        case ARES_ENOTFOUND:
            return with("dns.not_found", "the name has no address",
                        "check its spelling and the zone it is in");
        case ARES_ETIMEOUT:
            return with("dns.timeout", "no name server answered in time",
                        "check the name servers in /etc/resolv.conf");
        case ARES_EBADNAME: {
            base::Error error = with("dns.bad_name", "this can be no name", "check its spelling");
            error.error_class = base::ErrorClass::kConfig;
            return error;
        }
        default:
            return with("dns.server_failure", "the name servers could not answer",
                        "check the name servers in /etc/resolv.conf");
    }
}

Addresses addresses_of(const ares_addrinfo& info, base::Duration& ttl) {
    Addresses addresses;
    ttl = base::Duration::max();
    for (const ares_addrinfo_node* node = info.nodes;
         node != nullptr && addresses.size() < kMaxAddresses; node = node->ai_next) {
        const auto address =
            IpAddress::from_sockaddr(node->ai_addr, static_cast<socklen_t>(node->ai_addrlen));
        if (!address || std::ranges::find(addresses, *address) != addresses.end()) continue;
        addresses.push_back(*address);
        ttl = std::min<base::Duration>(ttl, std::chrono::seconds(std::max(node->ai_ttl, 0)));
    }
    return addresses;
}

}  // namespace

struct DnsCallbacks {
    static void on_socket(void* data, ares_socket_t fd, int readable, int writable) {
        DnsChannel& channel = *static_cast<DnsChannel*>(data);
        const auto found = std::ranges::find(channel.watched_, fd);
        const std::uint32_t events = (readable != 0 ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
                                     (writable != 0 ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
        if (events == 0) {
            if (found == channel.watched_.end()) return;
            channel.loop_.unwatch(fd);
            channel.watched_.erase(found);
        } else if (found != channel.watched_.end()) {
            // What cannot be watched is asked again by the timer of c-ares.
            [[maybe_unused]] const auto status = channel.loop_.change(fd, events);
        } else if (channel.loop_.watch(fd, events, channel)) {
            channel.watched_.push_back(fd);
        }
    }

    static void on_answer(void* data, int status, int, ares_addrinfo* info) {
        const std::unique_ptr<Question> question(static_cast<Question*>(data));
        DnsChannel& channel = *question->channel;
        --channel.under_way_;
        DnsAnswer answer{.question = question->id,
                         .name = std::move(question->name),
                         .addresses = std::unexpected(base::Error{})};
        if (status == ARES_SUCCESS && info != nullptr) {
            Addresses addresses = addresses_of(*info, answer.ttl);
            if (addresses.empty())
                status = ARES_ENODATA;
            else
                answer.addresses = std::move(addresses);
        }
        if (info != nullptr) ares_freeaddrinfo(info);
        if (status != ARES_SUCCESS) {
            answer.addresses = std::unexpected(error_of(status, answer.name));
        }
        if (!channel.closing_) channel.listener_(std::move(answer));
    }
};

DnsChannel::DnsChannel(EventLoop& loop, Listener listener)
    : loop_(loop), listener_(std::move(listener)), timer_(loop, [this] { on_timer(); }) {}

base::Result<std::unique_ptr<DnsChannel>> DnsChannel::create(EventLoop& loop,
                                                             const DnsChannelOptions& options,
                                                             Listener listener) {
    std::unique_ptr<DnsChannel> channel(new DnsChannel(loop, std::move(listener)));
    ares_options settings{};
    std::string lookups = "fb";  // the hosts file, then the servers
    settings.lookups = lookups.data();
    settings.timeout = static_cast<int>(base::ceil_ms(options.attempt_timeout));
    settings.tries = kAttempts;
    settings.sock_state_cb = &DnsCallbacks::on_socket;
    settings.sock_state_cb_data = channel.get();
    const int status = ares_init_options(
        &channel->channel_, &settings,
        ARES_OPT_LOOKUPS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
    if (status != ARES_SUCCESS) {
        return base::internal_error(
            "dns.setup", fmt::format("cannot set up name resolution: {}", ares_strerror(status)));
    }
    if (!options.servers.empty()) {
        const std::string list = fmt::format("{}", fmt::join(options.servers, ","));
        if (ares_set_servers_ports_csv(channel->channel_, list.c_str()) != ARES_SUCCESS) {
            return base::config_error(
                "dns.servers", fmt::format("{} is no list of name servers; write addresses like "
                                           "192.0.2.1:53 or [2001:db8::1]:53",
                                           base::quoted(list)));
        }
    }
    return channel;
}

DnsChannel::~DnsChannel() {
    closing_ = true;
    if (channel_ != nullptr) ares_destroy(channel_);
    for (const int fd : watched_) loop_.unwatch(fd);
}

void DnsChannel::ask(std::uint64_t question, std::string name) {
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;  // one node per address instead of one per kind of socket
    auto context = std::make_unique<Question>(
        Question{.channel = this, .id = question, .name = std::move(name)});
    ++under_way_;
    Question* owned = context.release();  // on_answer, which always comes, takes it back
    ares_getaddrinfo(channel_, owned->name.c_str(), nullptr, &hints, &DnsCallbacks::on_answer,
                     owned);
    arm_timer();
}

void DnsChannel::on_ready(int fd, std::uint32_t events) {
    const bool readable = (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0;
    const bool writable = (events & EPOLLOUT) != 0;
    ares_process_fd(channel_, readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD);
    arm_timer();
}

void DnsChannel::on_timer() {
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    arm_timer();
}

void DnsChannel::arm_timer() {
    timeval longest{};
    const timeval* left = ares_timeout(channel_, nullptr, &longest);
    if (left == nullptr) {
        timer_.cancel();
        return;
    }
    // A millisecond more, so that c-ares does not find its own time one tick away.
    timer_.arm(boot_now() + std::chrono::seconds(left->tv_sec) +
               std::chrono::microseconds(left->tv_usec) + std::chrono::milliseconds(1));
}

}  // namespace pollux::net
