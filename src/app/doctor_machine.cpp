// What the machine allows: descriptors, sockets, ping, clock, names.
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "app/doctor.hpp"
#include "net/event_loop.hpp"

namespace pollux::app {
namespace {

constexpr std::uint64_t kOwnDescriptors = 256;
constexpr std::uint64_t kWantedReceiveBuffer = 4U << 20U;

void examine_descriptors(std::size_t targets, DoctorReport& report) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    // A kept connection per target is the most that is ever needed; the server raises its soft
    // limit to the hard one by itself.
    const std::uint64_t wanted = targets + kOwnDescriptors;
    if (limit.rlim_max < wanted) {
        report.add(
            Finding::kWarning, "descriptors",
            fmt::format("{} files may be open, {} targets may need {}: raise LimitNOFILE= of "
                        "the service, or `ulimit -Hn`",
                        limit.rlim_max, targets, wanted));
    } else {
        report.add(Finding::kOk, "descriptors",
                   fmt::format("{} may be open, at most {} are needed", limit.rlim_max, wanted));
    }
}

void examine_buffers(std::size_t targets, DoctorReport& report) {
    std::uint64_t most = 0;
    std::ifstream("/proc/sys/net/core/rmem_max") >> most;
    if (most == 0 || most >= kWantedReceiveBuffer || targets < 5000) return;
    report.add(Finding::kWarning, "buffers",
               fmt::format("net.core.rmem_max is {}: answers of many SNMP devices at once may be "
                           "lost; sysctl -w net.core.rmem_max={}",
                           most, kWantedReceiveBuffer));
}

bool can_open(int type) {
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC, IPPROTO_ICMP);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

void examine_ping(DoctorReport& report) {
    if (can_open(SOCK_DGRAM)) {
        report.add(Finding::kOk, "ping", "allowed without privileges");
    } else if (can_open(SOCK_RAW)) {
        report.add(Finding::kOk, "ping", "allowed by CAP_NET_RAW");
    } else {
        report.add(Finding::kWarning, "ping",
                   "this user may not ping: put its group into net.ipv4.ping_group_range, or give "
                   "the binary CAP_NET_RAW (setcap cap_net_raw+ep)");
    }
}

void examine_clock(DoctorReport& report) {
    constexpr std::int64_t kYear2024 = 1'704'067'200'000'000;
    if (net::wall_now().us < kYear2024) {
        report.add(Finding::kProblem, "clock",
                   fmt::format("it is {} here: times that are stored and shown are wrong",
                               base::format_utc(net::wall_now())));
        return;
    }
    timex state{};
    const int synchronised = adjtimex(&state);
    if (synchronised == TIME_ERROR) {
        report.add(Finding::kWarning, "clock",
                   "the kernel's clock is not synchronised: start chrony or systemd-timesyncd");
    } else {
        report.add(Finding::kOk, "clock", base::format_utc(net::wall_now()));
    }
}

void examine_names(DoctorReport& report) {
    std::ifstream in("/etc/resolv.conf");
    std::string line;
    std::size_t servers = 0;
    while (std::getline(in, line)) {
        if (line.starts_with("nameserver")) ++servers;
    }
    if (servers == 0) {
        report.add(Finding::kWarning, "names",
                   "/etc/resolv.conf has no nameserver: devices with names cannot be found");
    } else {
        report.add(Finding::kOk, "names",
                   fmt::format("{} name server{}", servers, servers == 1 ? "" : "s"));
    }
}

}  // namespace

void examine_machine(std::size_t targets, DoctorReport& report) {
    examine_descriptors(targets, report);
    examine_buffers(targets, report);
    examine_ping(report);
    examine_clock(report);
    examine_names(report);
}

}  // namespace pollux::app
