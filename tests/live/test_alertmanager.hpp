// A real Alertmanager (Debian's prometheus-alertmanager) for tests, on a free loopback port, and
// its tool amtool, which also speaks with whoever serves the same API.
#pragma once

#include <string>
#include <vector>

#include "net/test_process.hpp"

namespace pollux::live {

class Alertmanager {
  public:
    // `configuration` is YAML; the default takes every alert and tells nobody.
    explicit Alertmanager(
        const std::string& configuration =
            "route:\n  receiver: nobody\n  group_wait: 1s\nreceivers:\n  - name: nobody\n")
        : process_({"prometheus-alertmanager",
                    "--config.file=" + folder_.write("alertmanager.yml", configuration),
                    "--storage.path=" + folder_.file("data"),
                    "--web.listen-address=127.0.0.1:" + std::to_string(port_),
                    "--cluster.listen-address="},
                   folder_) {
        const bool up = process_.wait_for_tcp("127.0.0.1", port_);
        if (!up) std::fprintf(stderr, "%s\n", process_.output().c_str());
        POLLUX_CHECK_MSG(up, "Alertmanager did not start");
    }

    std::uint16_t port() const { return port_; }
    std::string url(std::string_view path = "") const {
        return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
    }
    net::test::Process& process() { return process_; }

  private:
    net::test::TempDir folder_;
    std::uint16_t port_ = net::test::free_port();
    net::test::Process process_;
};

struct AmtoolAnswer {
    int exit_code = -1;
    std::string output;
};

// `words` follow the address, such as {"alert", "query", "-o", "json"}. `configuration`: of its
// HTTP client, for servers that want to know who asks (`--http.config.file`).
inline AmtoolAnswer amtool(const std::string& url, std::vector<std::string> words,
                           const std::string& configuration = {}) {
    const net::test::TempDir folder;
    std::vector<std::string> command = {"amtool", "--alertmanager.url=" + url};
    if (!configuration.empty()) {
        command.push_back("--http.config.file=" + folder.write("http.yml", configuration));
    }
    command.insert(command.end(), words.begin(), words.end());
    net::test::Process process(std::move(command), folder);
    if (!process.wait_for_end()) return {-1, "amtool did not end: " + process.output()};
    return {process.exit_code(), process.output()};
}

}  // namespace pollux::live
