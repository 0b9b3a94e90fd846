// net-snmp's own asynchronous API, used as well as it can be: one session per device in flight,
// epoll on their sockets, no MIBs and no files. In a file of its own, for its macros.
#pragma once

#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
// After the includes above.
#include <net-snmp/library/large_fd_set.h>
// Names of ours, too.
#undef max_repetitions
#undef non_repeaters
#undef config_error  // a macro of net-snmp, and a function of ours
#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <vector>

#include "bench/snmp_answers_part.hpp"

namespace pollux::bench {

struct NetSnmpResult {
    std::uint64_t polls = 0;
    std::uint64_t wrong = 0;
    double seconds = 0;
    double cpu_seconds = 0;
};

class NetSnmpClient {
  public:
    NetSnmpClient(std::uint16_t port, std::size_t sessions) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        setenv("MIBS", "", 1);
        for (const int option :
             {NETSNMP_DS_LIB_DONT_READ_CONFIGS, NETSNMP_DS_LIB_DISABLE_PERSISTENT_LOAD,
              NETSNMP_DS_LIB_DONT_PERSIST_STATE}) {
            netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, option, 1);
        }
        init_snmp("bench");
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const auto parsed = model::parse_oid(kSnmpNames[i]);
            names_[i].assign(parsed->arcs.begin(), parsed->arcs.end());
        }
        for (std::uint32_t i = 0; i < sessions; ++i) open_session(i, port);
        netsnmp_large_fd_set_init(&ready_, highest_ + 64);
    }
    ~NetSnmpClient() {
        for (void* session : sessions_) snmp_sess_close(session);
        netsnmp_large_fd_set_cleanup(&ready_);
        close(epoll_);
    }
    NetSnmpClient(const NetSnmpClient&) = delete;
    NetSnmpClient& operator=(const NetSnmpClient&) = delete;

    NetSnmpResult run(double seconds) {
        const double begin = wall_seconds();
        const double cpu = own_cpu_seconds();
        for (void* session : sessions_) ask(session);
        std::array<epoll_event, 256> events{};
        while (wall_seconds() < begin + seconds) {
            const int count = epoll_wait(epoll_, events.data(), 256, 500);
            for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
                void* session = events[i].data.ptr;
                const int fd = snmp_sess_transport(session)->sock;
                netsnmp_large_fd_setfd(fd, &ready_);
                snmp_sess_read2(session, &ready_);
                netsnmp_large_fd_clr(fd, &ready_);
                ask(session);
            }
            if (count == 0) {
                for (void* session : sessions_) snmp_sess_timeout(session);
            }
        }
        return {done_, wrong_, wall_seconds() - begin, own_cpu_seconds() - cpu};
    }

  private:
    void open_session(std::uint32_t number, std::uint16_t port) {
        netsnmp_session wanted;
        snmp_sess_init(&wanted);
        std::string peer = fmt::format("{}:{}", device_text(number), port);
        std::array<u_char, 6> community = {'p', 'u', 'b', 'l', 'i', 'c'};
        wanted.peername = peer.data();
        wanted.version = SNMP_VERSION_2c;
        wanted.community = community.data();
        wanted.community_len = community.size();
        wanted.timeout = 2'000'000;
        wanted.retries = 2;
        void* session = snmp_sess_open(&wanted);
        POLLUX_CHECK_MSG(session != nullptr, "net-snmp opens no session: ulimit -n?");
        const int fd = snmp_sess_transport(session)->sock;
        highest_ = std::max(highest_, fd);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = session;
        epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
        sessions_.push_back(session);
    }

    void ask(void* session) {
        netsnmp_pdu* pdu = snmp_pdu_create(SNMP_MSG_GET);
        for (const auto& name : names_) snmp_add_null_var(pdu, name.data(), name.size());
        if (snmp_sess_async_send(session, pdu, &NetSnmpClient::on_answer, this) == 0) {
            snmp_free_pdu(pdu);
            ++wrong_;
        }
    }

    static int on_answer(int operation, netsnmp_session* /*session*/, int /*id*/, netsnmp_pdu* pdu,
                         void* self) {
        auto* client = static_cast<NetSnmpClient*>(self);
        if (operation != NETSNMP_CALLBACK_OP_RECEIVED_MESSAGE) {
            ++client->wrong_;
            return 1;
        }
        for (const auto* one = pdu->variables; one != nullptr; one = one->next_variable) {
            client->sum_ += static_cast<std::uint64_t>(*one->val.integer);
        }
        ++client->done_;
        return 1;
    }

    int epoll_;
    int highest_ = 0;
    netsnmp_large_fd_set ready_{};
    std::array<std::vector<oid>, kSnmpNames.size()> names_;
    std::vector<void*> sessions_;
    std::uint64_t done_ = 0;
    std::uint64_t wrong_ = 0;
    std::uint64_t sum_ = 0;
};

// The role `snmp-netsnmp PORT SECONDS`.
inline NetSnmpResult run_netsnmp(std::uint16_t port, double seconds, std::size_t sessions) {
    return NetSnmpClient(port, sessions).run(seconds);
}

}  // namespace pollux::bench
