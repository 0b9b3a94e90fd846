// What goes in and out of the server: ports that it hears on, programs that it may run, keys and
// agents of SSH.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "app/doctor.hpp"
#include "config/network_text.hpp"
#include "net/event_loop.hpp"
#include "net/tcp_listener.hpp"
#include "protocol/snmp/udp_socket.hpp"
#include "protocol/ssh/host_keys.hpp"
#include "runtime/tls_files.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kProbeBuffer = 64U << 10U;
constexpr base::Duration kSoonOver = std::chrono::hours(24 * 14);  // of a certificate of ours

// As the server opens them, and closed at once.
base::Status can_hear_traps(const config::HostPort& at) {
    const auto literal = protocol::snmp::parse_literal(std::string(at.host), at.port);
    if (!literal) return base::config_error("doctor.ports", "it is no address with a port");
    const auto socket = protocol::snmp::UdpSocket::listen(*literal, kProbeBuffer);
    return socket ? base::Status() : std::unexpected(socket.error());
}

base::Status can_hear_http(const config::HostPort& at) {
    const auto address = net::SocketAddress::parse(at.host, at.port);
    if (!address) return std::unexpected(address.error());
    const auto loop = net::EventLoop::create();
    if (!loop) return std::unexpected(loop.error());
    net::TcpListenerOptions options;
    options.allow_non_loopback = true;
    const auto listener = net::TcpListener::listen(**loop, *address, options, [](auto) {});
    return listener ? base::Status() : std::unexpected(listener.error());
}

void examine_addresses(const config::ListenList& list, const char* what, const char* variable,
                       base::Status (*probe)(const config::HostPort&), DoctorReport& report) {
    for (const std::string& text : list.items) {
        if (text == "systemd") {
            report.add(Finding::kOk, "ports",
                       fmt::format("{} come by a socket of systemd: `systemctl status "
                                   "pollux.socket` says whether it hears",
                                   what));
            continue;
        }
        const auto at = config::split_host_port(text);
        const base::Status status =
            at ? probe(*at) : base::config_error("doctor.ports", "it is no address with a port");
        if (status) {
            report.add(Finding::kOk, "ports", fmt::format("{} can be heard on {}", what, text));
        } else {
            report.add(Finding::kProblem, "ports",
                       fmt::format("{} cannot be heard on {} ({}), so the server will not start: "
                                   "{}",
                                   what, text, variable, status.error().message));
        }
    }
}

}  // namespace

void examine_ports(const config::Settings& settings, DoctorReport& report) {
    examine_addresses(settings.trap_listen, "traps", "POLLUX_TRAP_LISTEN", can_hear_traps, report);
    examine_addresses(settings.inbound_listen, "webhooks and pushes", "POLLUX_INBOUND_LISTEN",
                      can_hear_http, report);
}

void examine_certificates(const config::Settings& settings, DoctorReport& report) {
    for (const runtime::TlsFiles& files :
         {runtime::api_tls_files(settings), runtime::inbound_tls_files(settings)}) {
        const auto identity = runtime::read_tls_identity(files);
        if (identity && !identity->has_value()) continue;
        const auto context = identity ? net::TlsServerContext::create(**identity)
                                      : std::unexpected(identity.error());
        if (!context) {
            report.add(Finding::kProblem, "certificates",
                       fmt::format("{}_tls_certificate and {}_tls_key cannot be used, so the "
                                   "server will not start: {}",
                                   files.name, files.name, context.error().message));
            continue;
        }
        const base::WallTime until = context->valid_until();
        const base::Duration left = until - net::wall_now();
        const std::string when =
            fmt::format("{} is valid until {}", files.certificate, base::format_utc(until));
        if (left <= base::Duration::zero()) {
            report.add(Finding::kProblem, "certificates",
                       when + ": clients refuse it; renew it, and restart the server");
        } else if (left < kSoonOver) {
            report.add(Finding::kWarning, "certificates",
                       when + ": renew it, and restart the server, which reads it at its start");
        } else {
            report.add(Finding::kOk, "certificates", when);
        }
    }
}

void examine_plugins(const config::Settings& settings, DoctorReport& report) {
    const std::vector<std::string> usual = config::Settings().plugin_folders;
    for (const std::string& folder : settings.plugin_folders) {
        struct stat facts{};
        if (stat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) {
            // Where the distribution would put them; nobody said that they are needed.
            if (std::ranges::find(usual, folder) != usual.end()) continue;
            report.add(Finding::kWarning, "plugins",
                       fmt::format("{}, named by POLLUX_PLUGIN_FOLDERS, is no folder: its programs "
                                   "cannot be run; make it, or take it out of the setting",
                                   folder));
            continue;
        }
        const bool sticky = (facts.st_mode & S_ISVTX) != 0;
        if ((facts.st_mode & S_IWOTH) != 0) {
            report.add(Finding::kProblem, "plugins",
                       fmt::format("everybody may write into {}{}, so everybody can let the server "
                                   "run programs: chmod o-w {}",
                                   folder, sticky ? " (new files)" : "", folder));
        } else if ((facts.st_mode & S_IWGRP) != 0 && facts.st_gid != 0) {
            report.add(Finding::kWarning, "plugins",
                       fmt::format("group {} may write into {} and can let the server run "
                                   "programs: chmod g-w {}, unless that is meant",
                                   facts.st_gid, folder, folder));
        } else {
            report.add(Finding::kOk, "plugins", folder);
        }
    }
}

void examine_host_keys(const std::string& data, DoctorReport& report) {
    const std::string path = data + "/ssh_known_hosts";
    struct stat facts{};
    if (stat(path.c_str(), &facts) != 0) {
        if (errno == ENOENT) return;  // no host is known yet
        report.add(Finding::kProblem, "host keys",
                   fmt::format("{}: {}", path, std::strerror(errno)));
        return;
    }
    if (!S_ISREG(facts.st_mode)) {
        report.add(Finding::kProblem, "host keys",
                   fmt::format("{} is no file: no SSH host can be checked, so none is asked; move "
                               "it away",
                               path));
        return;
    }
    const auto known = protocol::ssh::HostKeys(path).list();
    if (!known) {
        report.add(Finding::kProblem, "host keys", known.error().message);
        return;
    }
    const bool open = (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    report.add(open ? Finding::kProblem : Finding::kOk, "host keys",
               open ? fmt::format("others may write {}, and so say which SSH hosts are believed: "
                                  "chmod 0600 {}",
                                  path, path)
                    : fmt::format("{} are known", known->size()));
}

void examine_agent(const config::Fleet& fleet, const config::Environment& environment,
                   DoctorReport& report) {
    std::string users;
    for (const auto& [name, credential] : fleet.credentials) {
        if (credential.ssh_agent) users += (users.empty() ? "" : ", ") + name;
    }
    if (users.empty()) return;
    const auto found = environment.find("SSH_AUTH_SOCK");
    struct stat facts{};
    if (found == environment.end() || found->second.empty()) {
        report.add(Finding::kWarning, "ssh agent",
                   fmt::format("{} want the agent, and SSH_AUTH_SOCK is not set here: start the "
                               "server with it (Environment=SSH_AUTH_SOCK=... in the unit), or "
                               "name a key with ssh_key",
                               users));
    } else if (stat(found->second.c_str(), &facts) != 0 || !S_ISSOCK(facts.st_mode)) {
        report.add(Finding::kWarning, "ssh agent",
                   fmt::format("{} want the agent, and SSH_AUTH_SOCK names {}, which is no socket: "
                               "start ssh-agent, or name a key with ssh_key",
                               users, found->second));
    } else {
        report.add(Finding::kOk, "ssh agent", fmt::format("{} for {}", found->second, users));
    }
}

}  // namespace pollux::app
