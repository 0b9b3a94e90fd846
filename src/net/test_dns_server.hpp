// A name server for tests: answers A and AAAA over UDP on a loopback port, from a table.
#pragma once

#include <sys/epoll.h>

#include <map>
#include <string>
#include <vector>

#include "net/event_loop.hpp"
#include "net/ip_address.hpp"
#include "net/test_process.hpp"

namespace pollux::net::test {

class DnsServer final : FdHandler {
  public:
    struct Record {
        std::vector<std::string> addresses = {};
        std::uint32_t ttl = 60;
        bool silent = false;  // no answer at all
        bool broken = false;  // SERVFAIL
    };

    explicit DnsServer(EventLoop& loop) : loop_(loop), port_(free_port()) {
        const TestAddress address("127.0.0.1", port_);
        fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        POLLUX_CHECK(bind(fd_, address.get(), address.length) == 0);
        POLLUX_CHECK(loop_.watch(fd_, EPOLLIN, *this).has_value());
    }
    ~DnsServer() {
        loop_.unwatch(fd_);
        close(fd_);
    }
    DnsServer(const DnsServer&) = delete;
    DnsServer& operator=(const DnsServer&) = delete;

    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

    std::map<std::string, Record> names;  // others do not exist
    int questions = 0;                    // for A; the one for AAAA comes beside it

  private:
    void on_ready(int, std::uint32_t) override {
        std::array<char, 512> buffer{};
        sockaddr_storage from{};
        socklen_t length = sizeof from;
        const ssize_t got = recvfrom(fd_, buffer.data(), buffer.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from), &length);
        if (got < 17) return;
        const std::string reply = answer({buffer.data(), static_cast<std::size_t>(got)});
        if (reply.empty()) return;
        sendto(fd_, reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&from),
               length);
    }

    std::string answer(std::string_view query) {
        std::string name;
        std::size_t at = 12;
        while (at < query.size() && query[at] != 0) {
            const auto size = static_cast<std::size_t>(query[at]);
            if (!name.empty()) name += '.';
            name += query.substr(at + 1, size);
            at += size + 1;
        }
        if (at + 5 > query.size()) return {};
        const bool wants_v6 = query[at + 2] == 28;
        const std::string_view question = query.substr(12, at + 5 - 12);
        questions += wants_v6 ? 0 : 1;
        const auto found = names.find(name);
        if (found == names.end()) return head(query, 3, 0) + std::string(question);
        const Record& record = found->second;
        if (record.silent) return {};
        if (record.broken) return head(query, 2, 0) + std::string(question);
        std::string records;
        int count = 0;
        for (const std::string& text : record.addresses) {
            const IpAddress address = IpAddress::parse(text).value();
            if (address.is_v6() != wants_v6) continue;
            records += std::string("\xC0\x0C\x00", 3) + (wants_v6 ? '\x1C' : '\x01');
            records += std::string("\x00\x01", 2);
            for (int shift = 24; shift >= 0; shift -= 8) {
                records += static_cast<char>(record.ttl >> static_cast<unsigned>(shift));
            }
            records += '\0';
            records += static_cast<char>(address.bytes().size());
            for (const std::uint8_t byte : address.bytes()) records += static_cast<char>(byte);
            ++count;
        }
        return head(query, 0, count) + std::string(question) + records;
    }

    static std::string head(std::string_view query, int code, int answers) {
        std::string text(query.substr(0, 2));
        text += '\x81';
        text += static_cast<char>(0x80 | code);
        text += std::string("\x00\x01\x00", 3) + static_cast<char>(answers);
        return text + std::string(4, '\0');
    }

    EventLoop& loop_;
    std::uint16_t port_;
    int fd_ = -1;
};

}  // namespace pollux::net::test
