#include "app/control_client.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "app/control_server.hpp"
#include "document/diagnostic.hpp"
#include "document/parse.hpp"
#include "net/unix_listener.hpp"

namespace pollux::app {
namespace {

constexpr base::Duration kPatience = std::chrono::minutes(2);

base::Result<document::Node> parse(const std::string& body) {
    document::Diagnostics diagnostics;
    document::ParseLimits limits;
    limits.max_bytes = 256U << 20U;
    limits.max_nodes = 50'000'000;
    document::Parsed parsed = document::parse(body, "answer", diagnostics, limits);
    if (!parsed.ok) return std::unexpected(diagnostics.as_error("control.answer"));
    return std::move(parsed.root);
}

}  // namespace

ControlClient::ControlClient(const std::string& data_folder)
    : path_(data_folder + "/" + kControlSocket) {}

bool ControlClient::server_runs() const {
    return net::ask_unix(path_, "GET", "/status?limit=1", "", std::chrono::seconds(10)).has_value();
}

pid_t ControlClient::server_process() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path) return 0;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return 0;
    ucred peer{};
    socklen_t length = sizeof peer;
    const bool known =
        connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
    close(fd);
    return known ? peer.pid : 0;
}

base::Result<std::string> ControlClient::ask_text(std::string_view method, std::string_view target,
                                                  std::string body) const {
    auto answer = net::ask_unix(path_, method, target, std::move(body), kPatience);
    if (!answer) {
        return base::config_error(
            "control.no_server",
            fmt::format("no server answers at {}: start it with `pollux serve`, or name its data "
                        "folder with --data",
                        path_));
    }
    if (answer->status < 400) return std::move(answer->body);
    const auto problem = parse(answer->body);
    const document::Node* text = problem ? problem->find("error") : nullptr;
    const document::Node* code = problem ? problem->find("code") : nullptr;
    return base::config_error(code == nullptr ? "control.refused" : code->scalar(),
                              text == nullptr ? answer->body : text->scalar());
}

base::Result<document::Node> ControlClient::ask(std::string_view method, std::string_view target,
                                                std::string body) const {
    auto text = ask_text(method, target, std::move(body));
    if (!text) return std::unexpected(text.error());
    return parse(*text);
}

std::string ControlClient::escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

}  // namespace pollux::app
