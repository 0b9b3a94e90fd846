// For tests that need a real server: a folder that goes away, a free port, and a program that runs
// without a shell, logs into that folder, and is stopped by its pid.
//
// What cannot be prepared ends the test binary at once (POLLUX_CHECK): a missing program is a
// fault of the machine, see packages.txt, and never a reason to skip. Everything waits at most for
// the given time.
//
//   TempDir folder;
//   const std::uint16_t port = free_port();
//   folder.write("nginx.conf", configuration(port));
//   Process nginx({"/usr/sbin/nginx", "-p", folder.path(), "-c", folder.file("nginx.conf")},
//   folder); ASSERT_TRUE(nginx.wait_for_tcp("127.0.0.1", port)) << nginx.output();
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace pollux::net::test {

// Generous, because a loaded machine with sanitizers is slow; nobody waits longer than needed.
inline constexpr std::chrono::milliseconds kPatience = std::chrono::minutes(2);

// A folder below the system's temporary one, removed with all it holds.
class TempDir {
  public:
    TempDir() {
        std::string pattern = (std::filesystem::temp_directory_path() / "pollux_XXXXXX").string();
        POLLUX_CHECK_MSG(mkdtemp(pattern.data()) != nullptr, "cannot make a temporary folder");
        path_ = pattern;
    }
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    const std::string& path() const { return path_; }
    std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

    // Makes the folders above it; returns the full path.
    std::string write(std::string_view name, std::string_view content) const {
        const std::string full = file(name);
        std::filesystem::create_directories(std::filesystem::path(full).parent_path());
        std::ofstream out(full, std::ios::binary | std::ios::trunc);
        out.write(content.data(), static_cast<std::streamsize>(content.size()));
        out.close();
        POLLUX_CHECK_MSG(out.good(), "cannot write a file of the test");
        return full;
    }

    // Empty if there is none.
    std::string read(std::string_view name) const {
        std::ifstream in(file(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }

  private:
    std::string path_;
};

// A socket address of a literal; port in host order.
struct TestAddress {
    sockaddr_storage storage{};
    socklen_t length = 0;

    TestAddress(const std::string& literal, std::uint16_t port) {
        sockaddr_in v4{};
        sockaddr_in6 v6{};
        if (inet_pton(AF_INET, literal.c_str(), &v4.sin_addr) == 1) {
            v4.sin_family = AF_INET;
            v4.sin_port = htons(port);
            std::memcpy(&storage, &v4, sizeof v4);
            length = sizeof v4;
            return;
        }
        POLLUX_CHECK_MSG(inet_pton(AF_INET6, literal.c_str(), &v6.sin6_addr) == 1,
                         "the address of a test is a literal");
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        std::memcpy(&storage, &v6, sizeof v6);
        length = sizeof v6;
    }

    // The socket calls take every kind of address by this one type.
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }
};

// Whether both kinds of socket can have the port now.
inline bool is_port_free(const std::string& literal, std::uint16_t port) {
    bool both = true;
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
        const TestAddress address(literal, port);
        const int probe = socket(address.family(), type | SOCK_CLOEXEC, 0);
        POLLUX_CHECK(probe >= 0);
        both = both && bind(probe, address.get(), address.length) == 0;
        close(probe);
    }
    return both;
}

// A port that nobody holds now, neither for TCP nor for UDP, on the address. It lies below those
// that the kernel gives to clients, and a lock keeps other tests from it until this process ends.
inline std::uint16_t free_port(const std::string& literal = "127.0.0.1") {
    constexpr unsigned kFirst = 15'000;
    constexpr unsigned kPorts = 17'000;
    static std::atomic<unsigned> next = static_cast<unsigned>(getpid()) * 131;
    const auto locks = std::filesystem::temp_directory_path() / "pollux_test_ports";
    std::filesystem::create_directories(locks);
    for (unsigned attempt = 0; attempt < kPorts; ++attempt) {
        const auto port = static_cast<std::uint16_t>(kFirst + next++ % kPorts);
        const std::string lock = (locks / std::to_string(port)).string();
        const int held = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        POLLUX_CHECK_MSG(held >= 0, "cannot lock a port of the tests");
        if (flock(held, LOCK_EX | LOCK_NB) == 0 && is_port_free(literal, port)) return port;
        close(held);
    }
    POLLUX_CHECK_MSG(false, "no free port");
    return 0;
}

// A program under way. It dies with the thread that started it, so that a crashed test leaves
// nothing behind. Its output goes to <folder>/<program>.<pid>.log.
class Process {
  public:
    // `command` is the program (a path, or a name found in PATH) and its arguments.
    Process(std::vector<std::string> command, const TempDir& folder,
            std::vector<std::pair<std::string, std::string>> environment = {}) {
        POLLUX_CHECK(!command.empty());
        std::vector<char*> arguments;
        for (std::string& part : command) arguments.push_back(part.data());
        arguments.push_back(nullptr);
        const auto name = std::filesystem::path(command[0]).filename().string();
        static int counter = 0;
        log_ = folder.file(name + "." + std::to_string(getpid()) + "." + std::to_string(counter++) +
                           ".log");
        const int log = open(log_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
        POLLUX_CHECK_MSG(log >= 0, "cannot open the log of a test program");
        // Programs of net-snmp keep state in one folder for all: they would read there what others
        // are just writing, and tell on their output when they make it.
        const std::string snmp_state = folder.file("net-snmp");
        const bool snmp = name.starts_with("snmp");
        if (snmp) std::filesystem::create_directories(snmp_state + "/cert_indexes");
        // All that needs memory is done before the fork: another thread may hold the lock of
        // malloc.
        std::vector<std::string> variables;
        const auto set = [&variables](const std::string& key, const std::string& value) {
            std::erase_if(variables,
                          [&](const std::string& one) { return one.starts_with(key + "="); });
            variables.push_back(key + "=" + value);
        };
        for (char** one = environ; *one != nullptr; ++one) variables.emplace_back(*one);
        if (snmp) set("SNMP_PERSISTENT_DIR", snmp_state);
        for (const auto& [key, value] : environment) set(key, value);
        std::vector<char*> variable_list;
        for (std::string& one : variables) variable_list.push_back(one.data());
        variable_list.push_back(nullptr);
        const std::string unknown =
            "cannot start " + command[0] + "; packages.txt lists what the tests need\n";
        const pid_t parent = getpid();
        pid_ = fork();
        POLLUX_CHECK_MSG(pid_ >= 0, "cannot fork");
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(127);  // it died before the line above
            sigset_t none;  // whoever started the tests may have blocked signals
            sigemptyset(&none);
            sigprocmask(SIG_SETMASK, &none, nullptr);
            const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
            if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
                chdir(folder.path().c_str()) != 0) {
                _exit(127);
            }
            execvpe(arguments[0], arguments.data(), variable_list.data());
            [[maybe_unused]] const ssize_t written = write(2, unknown.data(), unknown.size());
            _exit(127);
        }
        close(log);
    }
    ~Process() { stop(); }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const { return pid_; }

    bool running() {
        reap(WNOHANG);
        return !ended_;
    }

    // What it wrote to its standard output and error so far.
    std::string output() const {
        std::ifstream in(log_, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }

    void signal(int number) {
        if (running()) kill(pid_, number);
    }

    // Asks it to end, and ends it if it does not. The exit code, or 128 + the signal.
    int stop(int number = SIGTERM, std::chrono::milliseconds patience = std::chrono::seconds(10)) {
        signal(number);
        if (!wait_for_end(patience)) {
            kill(pid_, SIGKILL);
            reap(0);
        }
        return exit_code_;
    }

    // Whether it ended in time by itself; then exit_code() is known.
    bool wait_for_end(std::chrono::milliseconds patience = kPatience) {
        return wait_until(patience, [this] { return !running(); });
    }
    int exit_code() const { return exit_code_; }

    // Whether the port accepts connections in time; false at once when the program has ended.
    bool wait_for_tcp(const std::string& literal, std::uint16_t port,
                      std::chrono::milliseconds patience = kPatience) {
        const TestAddress address(literal, port);
        const auto answers = [&] {
            const int fd = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
            const bool connected = connect(fd, address.get(), address.length) == 0;
            close(fd);
            return connected;
        };
        bool connected = false;
        wait_until(patience, [&] { return (connected = answers()) || !running(); });
        return connected;
    }

    // Whether `question`, sent again and again, is answered by anything in time.
    bool wait_for_udp(const std::string& literal, std::uint16_t port, std::string_view question,
                      std::chrono::milliseconds patience = kPatience) {
        const TestAddress address(literal, port);
        const int fd = socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
        POLLUX_CHECK(fd >= 0 && connect(fd, address.get(), address.length) == 0);
        bool answered = false;
        wait_until(patience, [&] {
            // A refused port shows as an error of the next call; then it is simply asked again.
            [[maybe_unused]] const ssize_t sent = send(fd, question.data(), question.size(), 0);
            pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
            std::array<char, 2048> buffer{};
            answered = poll(&ready, 1, 100) == 1 &&
                       recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT) >= 0;
            return answered || !running();
        });
        close(fd);
        return answered;
    }

    // Waits until `condition()` holds; returns whether it did in time.
    template <class Condition>
    static bool wait_until(std::chrono::milliseconds patience, Condition condition) {
        const auto until = std::chrono::steady_clock::now() + patience;
        while (!condition()) {
            if (std::chrono::steady_clock::now() >= until) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return true;
    }

  private:
    void reap(int options) {
        if (ended_) return;
        int status = 0;
        pid_t result = 0;
        do {
            result = waitpid(pid_, &status, options);
        } while (result < 0 && errno == EINTR);
        if (result != pid_) return;
        ended_ = true;
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    pid_t pid_ = -1;
    std::string log_;
    bool ended_ = false;
    int exit_code_ = -1;
};

// Runs a program to its end, for tools such as openssl; the test ends if it fails.
inline std::string run_tool(std::vector<std::string> command, const TempDir& folder) {
    Process process(std::move(command), folder);
    const bool ended = process.wait_for_end();
    if (!ended || process.exit_code() != 0) {
        std::fprintf(stderr, "%s\n", process.output().c_str());
    }
    POLLUX_CHECK_MSG(ended && process.exit_code() == 0, "a tool of the test failed");
    return process.output();
}

}  // namespace pollux::net::test
