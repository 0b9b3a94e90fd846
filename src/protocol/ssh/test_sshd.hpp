// A real sshd with keys, configuration and accounts of its own: it runs in a mount namespace in
// which its files stand over those of the system, so that nothing outside of the test changes.
#pragma once

#include <sys/stat.h>

#include <string>

#include "net/test_process.hpp"

namespace pollux::protocol::ssh::test {

using net::test::free_port;
using net::test::Process;
using net::test::run_tool;
using net::test::TempDir;

inline std::string make_key(const TempDir& folder, const std::string& name, const std::string& type,
                            const std::string& passphrase = "") {
    std::vector<std::string> command = {
        "ssh-keygen", "-q", "-t", type, "-N", passphrase, "-f", folder.file(name), "-C", "test"};
    if (type == "rsa") command.insert(command.end(), {"-b", "2048"});
    run_tool(command, folder);
    return folder.file(name);
}

// User `watcher` with password `correct horse`, and root by the keys of authorized_keys.
class Sshd {
  public:
    explicit Sshd(const TempDir& folder, const std::string& more = "", std::uint16_t port = 0,
                  const std::string& host_key = "host_key",
                  std::vector<std::string> addresses = {"127.0.0.1", "::1"},  // 16 at most
                  const std::string& pam = "")
        : folder_(folder), port_(port != 0 ? port : free_port()), addresses_(std::move(addresses)) {
        // With lines of its own for PAM, passwords are taken by keyboard-interactive alone.
        if (!pam.empty()) {
            folder.write("pam", pam);
            preparation_ = "mount --bind " + folder.file("pam") + " /etc/pam.d/sshd && ";
        }
        const std::string yes_if_pam = pam.empty() ? "no\n" : "yes\n";
        const std::string no_if_pam = pam.empty() ? "yes\n" : "no\n";
        if (folder.read(host_key).empty()) make_key(folder, host_key, "ed25519");
        write_accounts();
        std::string listen;
        for (const std::string& address : addresses_) listen += "ListenAddress " + address + "\n";
        folder.write("sshd_config", "Port " + std::to_string(port_) + "\n" + listen + "HostKey " +
                                        folder.file(host_key) + "\nAuthorizedKeysFile " +
                                        folder.file("authorized_keys") + "\nUsePAM " + yes_if_pam +
                                        "StrictModes no\nPermitRootLogin yes\nPidFile none\n"
                                        "PasswordAuthentication " +
                                        no_if_pam + "KbdInteractiveAuthentication " + yes_if_pam +
                                        "LogLevel VERBOSE\nMaxStartups 1000\nMaxSessions 20\n" +
                                        more);
        start();
    }

    void start() {
        const std::string script =
            preparation_ + "mount --bind " + folder_.file("passwd") +
            " /etc/passwd && mount --bind " + folder_.file("shadow") +
            " /etc/shadow && mount -t tmpfs tmpfs /run && mkdir /run/sshd && exec /usr/sbin/sshd "
            "-D -e -f " +
            folder_.file("sshd_config");
        // The mask of the test is not that of a server: sshd waits for its children by a signal.
        process_ = std::make_unique<Process>(
            std::vector<std::string>{"unshare", "-m", "env", "--default-signal", "sh", "-c",
                                     script},
            folder_);
        // It opens them in an order of its own.
        for (const std::string& address : addresses_) {
            POLLUX_CHECK_MSG(process_->wait_for_tcp(address, port_), "sshd does not start");
        }
    }
    void stop() { process_->stop(); }

    std::uint16_t port() const { return port_; }
    std::string log() const { return process_->output(); }
    std::size_t logins() const {  // by key
        const std::string text = log();
        std::size_t count = 0;
        for (std::size_t at = text.find("Accepted publickey"); at != std::string::npos;
             at = text.find("Accepted publickey", at + 1)) {
            ++count;
        }
        return count;
    }
    pid_t pid() const { return process_->pid(); }

  private:
    void write_accounts() {
        folder_.write("passwd",
                      "root:x:0:0:root:/root:/bin/sh\n"
                      "sshd:x:104:65534::/run/sshd:/usr/sbin/nologin\n"
                      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
                      "watcher:x:12345:65534::/tmp:/bin/sh\n");
        std::string hash = run_tool({"openssl", "passwd", "-6", "correct horse"}, folder_);
        while (hash.ends_with('\n')) hash.pop_back();
        folder_.write("shadow",
                      "root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n"
                      "nobody:*:19000:0:99999:7:::\nwatcher:" +
                          hash + ":19000:0:99999:7:::\n");
        chmod(folder_.file("passwd").c_str(), 0644);
    }

    const TempDir& folder_;
    std::uint16_t port_;
    std::vector<std::string> addresses_;
    std::string preparation_;  // commands in the mount namespace
    std::unique_ptr<Process> process_;
};

}  // namespace pollux::protocol::ssh::test
