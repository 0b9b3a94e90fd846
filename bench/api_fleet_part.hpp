// The API of a server that works: `pollux serve` polls 10,000 targets, and is asked meanwhile. The
// health page whole, and a mix of reads at a fixed rate. Times count from when a request was due,
// so that a slow answer does not hide those that waited behind it.
#pragma once

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "bench/api_stage.hpp"
#include "bench/server_process.hpp"
#include "bench/snmp_answers_part.hpp"

namespace pollux::bench {

inline constexpr std::uint32_t kApiTargets = 10'000;
inline constexpr double kApiRate = 500;  // requests a second
inline constexpr int kApiThreads = 10;

// What stands between two texts; empty: nothing.
inline std::string text_between(const std::string& text, std::string_view from,
                                std::string_view to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + from.size();
    return text.substr(begin, text.find_first_of(to, begin) - begin);
}

// One connection that stays open. libcurl, so that a client costs little.
class ApiConnection {
  public:
    ApiConnection(int port, const std::string& cookie) : curl_(curl_easy_init()), port_(port) {
        fields_ = curl_slist_append(fields_, "Content-Type: application/json");
        if (!cookie.empty()) fields_ = curl_slist_append(fields_, ("Cookie: " + cookie).c_str());
        curl_easy_setopt(curl_, CURLOPT_NOPROXY, "*");
        curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(curl_, CURLOPT_TIMEOUT, 60L);
        curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, fields_);
        curl_easy_setopt(curl_, CURLOPT_COOKIEFILE, "");  // keeps those of answers
        curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, &keep);
        curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &body_);
    }
    ~ApiConnection() {
        curl_easy_cleanup(curl_);
        curl_slist_free_all(fields_);
    }
    ApiConnection(const ApiConnection&) = delete;
    ApiConnection& operator=(const ApiConnection&) = delete;

    // The status; the body is in body().
    long ask(const std::string& path, const std::string& sent = "") {
        body_.clear();
        const std::string url = fmt::format("http://127.0.0.1:{}{}", port_, path);
        curl_easy_setopt(curl_, CURLOPT_URL, url.c_str());
        if (sent.empty()) {
            curl_easy_setopt(curl_, CURLOPT_HTTPGET, 1L);
        } else {
            curl_easy_setopt(curl_, CURLOPT_COPYPOSTFIELDS, sent.c_str());
        }
        long status = 0;
        if (curl_easy_perform(curl_) == CURLE_OK) {
            curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
        }
        return status;
    }
    const std::string& body() const { return body_; }
    // "name=value" of the one cookie that came.
    std::string cookie() const {
        curl_slist* kept = nullptr;
        curl_easy_getinfo(curl_, CURLINFO_COOKIELIST, &kept);
        const std::string line = kept == nullptr ? "" : kept->data;
        curl_slist_free_all(kept);
        const std::size_t value = line.rfind('\t');
        const std::size_t name = line.rfind('\t', value - 1);
        if (name == std::string::npos) return {};
        return line.substr(name + 1, value - name - 1) + "=" + line.substr(value + 1);
    }

  private:
    static std::size_t keep(char* bytes, std::size_t size, std::size_t count, void* into) {
        static_cast<std::string*>(into)->append(bytes, size * count);
        return size * count;
    }
    CURL* curl_;
    int port_;
    curl_slist* fields_ = nullptr;
    std::string body_;
};

struct ApiLogin {
    int port = 0;
    std::string cookie;
};

// Makes the first admin with what the server printed, and logs in.
inline ApiLogin log_in(const ServerProcess& server) {
    ApiLogin login;
    std::string token;
    for (int i = 0; i < 500 && token.empty(); ++i) {
        const std::string text = server.output();
        login.port = std::atoi(text_between(text, "--url http://127.0.0.1:", " \n").c_str());
        const std::string rest = text_between(text, "plxboot_", " \n");
        if (login.port != 0 && !rest.empty()) token = "plxboot_" + rest;
        sleep_seconds(0.02);
    }
    POLLUX_CHECK_MSG(!token.empty(), "the server printed no token for its first admin");
    ApiConnection connection(login.port, "");
    const std::string who = R"("name":"root","password":"correct horse battery"})";
    const long made =
        connection.ask("/api/bootstrap", fmt::format(R"({{"token":"{}",{})", token, who));
    POLLUX_CHECK_MSG(made == 201, "the first admin could not be made");
    POLLUX_CHECK_MSG(connection.ask("/api/login", "{" + who) == 200, "the login was refused");
    login.cookie = connection.cookie();
    return login;
}

// Milliseconds of one GET, which must succeed.
inline double timed_get(ApiConnection& connection, const std::string& path) {
    const double begin = wall_seconds();
    const long status = connection.ask(path);
    const double spent = (wall_seconds() - begin) * 1e3;
    if (status != 200) fmt::print(stderr, "{}: {} {}\n", path, status, connection.body());
    POLLUX_CHECK_MSG(status == 200, "a request of the benchmark failed");
    return spent;
}

// One of several clients: its share of the rate, each request at its time.
inline void ask_steadily(const ApiLogin& login, int number, double seconds,
                         std::vector<double>& milliseconds) {
    const std::array<std::string, 8> paths = {"/api/me",
                                              "/api/targets?limit=20",
                                              "/api/scheduler/plan?limit=20",
                                              "/api/stats",
                                              "/api/live",
                                              "/api/tasks/bench-snmp%3A%3Ad00042/explain",
                                              "/api/settings/monitoring",
                                              "/api/monitoring/breakers?limit=20"};
    ApiConnection connection(login.port, login.cookie);
    const double every = kApiThreads / kApiRate;
    const double begin = wall_seconds() + every * number / kApiThreads;
    for (int i = 0; every * i < seconds; ++i) {
        const double due = begin + every * i;
        if (const double wait = due - wall_seconds(); wait > 0) sleep_seconds(wait);
        const auto path = paths[static_cast<std::size_t>(i + number) % paths.size()];
        timed_get(connection, path);
        milliseconds.push_back((wall_seconds() - due) * 1e3);
    }
}

inline double share_of(std::vector<double>& values, double share) {
    std::ranges::sort(values);
    return values.at(static_cast<std::size_t>(share * static_cast<double>(values.size() - 1)));
}

inline void measure_api_fleet(ResultTable& table, double seconds) {
    TempDir folder;
    const std::uint16_t port = net::test::free_port();
    Process answers(role_command({"snmp-answers", std::to_string(port), "9"}), folder);
    const std::string fleet = folder.write(
        "fleet.yaml", fleet_text({{.first = 0, .count = kApiTargets, .port = port}}, "30s"));
    ServerProcess server(folder, {fleet}, raised_limits(2000, 2000, 512));
    const ApiLogin login = log_in(server);
    for (int i = 0; i < 600 && server.metrics().sum("pollux_targets_never_seen", "") > 0; ++i) {
        sleep_seconds(0.2);
    }
    table.require(server.metrics().sum("pollux_targets_never_seen", "") == 0,
                  "every target answered once before anything is measured");

    ApiConnection connection(login.port, login.cookie);
    std::vector<double> health;
    for (int i = 0; i < 25; ++i) {
        health.push_back(timed_get(connection, "/api/monitoring/scheduler/health"));
        sleep_seconds(0.05);
    }
    const double page = share_of(health, 0.5);
    table.add(
        {.what = fmt::format("health page of {} targets, {:.1f} MB", kApiTargets,
                             static_cast<double>(connection.body().size()) / 1e6),
         .ours = fmt::format("{:.1f} ms (worst of {}: {:.1f})", page, health.size(), health.back()),
         .goal = "<= 40 ms",
         .met = page <= 40});

    const double cpu = cpu_seconds(server.pid());
    const double polls = server.metrics().sum("pulse_monitor_poll_total", "result=\"success\"");
    const double begun = wall_seconds();
    std::vector<std::vector<double>> spent(kApiThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kApiThreads; ++i) {
        threads.emplace_back(
            [&, i] { ask_steadily(login, i, seconds, spent[static_cast<std::size_t>(i)]); });
    }
    for (std::thread& thread : threads) thread.join();
    const double wall = wall_seconds() - begun;
    std::vector<double> all;
    for (const auto& one : spent) all.insert(all.end(), one.begin(), one.end());
    const double polled =
        server.metrics().sum("pulse_monitor_poll_total", "result=\"success\"") - polls;
    const double p99 = share_of(all, 0.99);
    table.add(
        {.what = fmt::format("reads beside {:.0f} polls/s, {:.0f} a second, p99", polled / wall,
                             static_cast<double>(all.size()) / wall),
         .ours = fmt::format("{:.1f} ms (median {:.1f}), {:.0f} % of a core", p99,
                             share_of(all, 0.5), (cpu_seconds(server.pid()) - cpu) / wall * 100),
         .goal = "<= 50 ms",
         .met = p99 <= 50});
    server.stop();
}

}  // namespace pollux::bench
