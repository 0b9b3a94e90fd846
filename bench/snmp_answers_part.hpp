// The least an SNMP agent can be: answers every GET of v2c on any address of 127.0.0.0/8, many
// datagrams per system call. So that a client is measured, and not who answers it.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bench/poll_tools.hpp"
#include "protocol/snmp/message.hpp"

namespace pollux::bench {

// What every client asks: uptime, octets in and out, state and errors of the first interface.
inline constexpr std::array<const char*, 5> kSnmpNames = {
    "1.3.6.1.2.1.1.3.0", "1.3.6.1.2.1.2.2.1.10.1", "1.3.6.1.2.1.2.2.1.16.1",
    "1.3.6.1.2.1.2.2.1.8.1", "1.3.6.1.2.1.2.2.1.14.1"};

class SnmpAnswers {
  public:
    explicit SnmpAnswers(std::uint16_t port) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        const int on = 1;
        const int buffer = 64 << 20;
        setsockopt(fd_, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
        setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
        setsockopt(fd_, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
        const net::test::TestAddress any("0.0.0.0", port);
        POLLUX_CHECK_MSG(bind(fd_, any.get(), any.length) == 0, "the port of the answers is taken");
    }
    ~SnmpAnswers() { close(fd_); }
    SnmpAnswers(const SnmpAnswers&) = delete;
    SnmpAnswers& operator=(const SnmpAnswers&) = delete;

    // For ever: it is ended by its pid.
    [[noreturn]] void run() {
        while (true) answer_batch();
    }

  private:
    static constexpr std::size_t kBatch = 128;
    static constexpr std::size_t kBytes = 1500;
    using Packet = std::array<std::uint8_t, kBytes>;

    // A tag with its length; false: cut off, or longer than a datagram.
    static bool enter(const std::uint8_t*& at, const std::uint8_t* end, std::uint8_t tag,
                      std::size_t& length) {
        if (end - at < 2 || at[0] != tag) return false;
        length = at[1];
        at += 2;
        if (length >= 0x80) {
            std::size_t bytes = length & 0x7FU;
            if (bytes > 2 || static_cast<std::size_t>(end - at) < bytes) return false;
            for (length = 0; bytes > 0; --bytes) length = length << 8U | *at++;
        }
        return static_cast<std::size_t>(end - at) >= length;
    }
    static bool skip(const std::uint8_t*& at, const std::uint8_t* end, std::uint8_t tag) {
        std::size_t length = 0;
        if (!enter(at, end, tag, length)) return false;
        at += length;
        return true;
    }
    static void put(std::uint8_t*& to, const std::uint8_t* begin, const std::uint8_t* end) {
        std::memcpy(to, begin, static_cast<std::size_t>(end - begin));
        to += end - begin;
    }
    static void open(std::uint8_t*& to, std::uint8_t tag, std::size_t length) {
        *to++ = tag;
        *to++ = 0x82;
        *to++ = static_cast<std::uint8_t>(length >> 8U);
        *to++ = static_cast<std::uint8_t>(length);
    }

    // The value of a name, by its last two arcs: ticks, a state, or a counter that grows.
    std::size_t value_of(const std::uint8_t* oid, std::size_t length, std::uint8_t* to) const {
        const bool is_state = length == 10 && oid[8] == 8;
        if (is_state) {
            to[0] = 0x02, to[1] = 1, to[2] = 1;
            return 3;
        }
        const bool is_uptime = length == 8;
        const std::uint32_t number = is_uptime ? ticks_ & 0x7FFFFFFFU : ticks_ * (oid[8] + 7U);
        to[0] = is_uptime ? 0x43 : 0x41, to[1] = 5, to[2] = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            to[3 + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
        }
        return 7;
    }

    // Appends the varbinds with their values; 0: not a request we know.
    std::size_t fill(const std::uint8_t* at, const std::uint8_t* end, std::uint8_t* to) const {
        const std::uint8_t* begin = to;
        while (at < end) {
            std::size_t length = 0;
            if (!enter(at, end, 0x30, length)) return 0;
            const std::uint8_t* next = at + length;
            const std::uint8_t* name = at;
            if (!enter(at, next, 0x06, length) || length < 8 || length > 60) return 0;
            std::array<std::uint8_t, 16> value{};
            const std::size_t size = value_of(at, length, value.data());
            at += length;
            *to++ = 0x30;
            *to++ = static_cast<std::uint8_t>(static_cast<std::size_t>(at - name) + size);
            put(to, name, at);
            put(to, value.data(), value.data() + size);
            if (to - begin > 1200) return 0;
            at = next;
        }
        return static_cast<std::size_t>(to - begin);
    }

    // The answer to one datagram; 0: none.
    std::size_t answer(const std::uint8_t* at, std::size_t size, Packet& out) const {
        const std::uint8_t* end = at + size;
        std::size_t length = 0;
        if (!enter(at, end, 0x30, length)) return 0;
        const std::uint8_t* head = at;
        if (!skip(at, end, 0x02) || !skip(at, end, 0x04)) return 0;
        const std::uint8_t* head_end = at;
        if (!enter(at, end, 0xA0, length)) return 0;
        const std::uint8_t* id = at;
        if (!skip(at, end, 0x02)) return 0;
        const std::uint8_t* id_end = at;
        if (!skip(at, end, 0x02) || !skip(at, end, 0x02) || !enter(at, end, 0x30, length)) return 0;
        Packet varbinds;
        const std::size_t filled = fill(at, at + length, varbinds.data());
        if (filled == 0) return 0;
        const std::size_t pdu = static_cast<std::size_t>(id_end - id) + 6 + 4 + filled;
        std::uint8_t* to = out.data();
        open(to, 0x30, static_cast<std::size_t>(head_end - head) + 4 + pdu);
        put(to, head, head_end);
        open(to, 0xA2, pdu);
        put(to, id, id_end);
        constexpr std::array<std::uint8_t, 6> kNoError = {0x02, 1, 0, 0x02, 1, 0};
        put(to, kNoError.data(), kNoError.data() + kNoError.size());
        open(to, 0x30, filled);
        put(to, varbinds.data(), varbinds.data() + filled);
        return static_cast<std::size_t>(to - out.data());
    }

    // The answer leaves from the address that was asked.
    static void answer_from_asked(msghdr& header) {
        in_pktinfo from{};
        for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr;
             one = CMSG_NXTHDR(&header, one)) {
            if (one->cmsg_level != IPPROTO_IP || one->cmsg_type != IP_PKTINFO) continue;
            in_pktinfo asked{};
            std::memcpy(&asked, CMSG_DATA(one), sizeof asked);
            from.ipi_spec_dst = asked.ipi_addr;
            std::memcpy(CMSG_DATA(one), &from, sizeof from);
            header.msg_controllen = CMSG_SPACE(sizeof from);
            return;
        }
    }

    void answer_batch() {
        std::array<mmsghdr, kBatch> out{};
        for (std::size_t i = 0; i < kBatch; ++i) {
            parts_[i] = {.iov_base = questions_[i].data(), .iov_len = kBytes};
            msghdr& header = in_[i].msg_hdr;
            header = {};
            header.msg_name = &from_[i];
            header.msg_namelen = sizeof from_[i];
            header.msg_iov = &parts_[i];
            header.msg_iovlen = 1;
            header.msg_control = control_[i].data();
            header.msg_controllen = control_[i].size();
        }
        const int got = recvmmsg(fd_, in_.data(), kBatch, MSG_WAITFORONE, nullptr);
        // Hundredths of a second, as an uptime counts.
        ticks_ = static_cast<std::uint32_t>(wall_seconds() * 100);
        unsigned count = 0;
        for (int n = 0; n < got; ++n) {
            const auto i = static_cast<std::size_t>(n);
            const std::size_t size = answer(questions_[i].data(), in_[i].msg_len, answers_[count]);
            if (size == 0) continue;
            answer_from_asked(in_[i].msg_hdr);
            answer_parts_[count] = {.iov_base = answers_[count].data(), .iov_len = size};
            out[count].msg_hdr = in_[i].msg_hdr;
            out[count].msg_hdr.msg_iov = &answer_parts_[count];
            ++count;
        }
        for (unsigned done = 0; done < count;) {
            const int sent = sendmmsg(fd_, out.data() + done, count - done, 0);
            done += sent > 0 ? static_cast<unsigned>(sent) : 1;
        }
    }

    int fd_;
    std::uint32_t ticks_ = 0;
    std::array<Packet, kBatch> questions_;
    std::array<Packet, kBatch> answers_;
    std::array<std::array<char, 64>, kBatch> control_;
    std::array<sockaddr_in, kBatch> from_;
    std::array<mmsghdr, kBatch> in_{};
    std::array<iovec, kBatch> parts_;
    std::array<iovec, kBatch> answer_parts_;
};

// The role `snmp-answers PORT CORE`.
[[noreturn]] inline void answer_snmp(std::uint16_t port, unsigned core) {
    if (core < 2) stay_on_core(core);
    static SnmpAnswers answers(port);
    answers.run();
}

// A question that it answers, to see that it runs.
inline std::string snmp_question() {
    protocol::snmp::Message message;
    message.community = "public";
    message.pdu.type = protocol::snmp::PduType::kGet;
    message.pdu.request_id = 0x11223344;
    for (const char* name : kSnmpNames) {
        message.pdu.varbinds.push_back({*model::parse_oid(name), {}});
    }
    std::vector<std::uint8_t> buffer(1500);
    const auto bytes = protocol::snmp::encode_message(message, buffer);
    return {bytes.begin(), bytes.end()};
}

}  // namespace pollux::bench
