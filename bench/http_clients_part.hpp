// HTTP with connections kept: our driver beside a bare libcurl loop, against one nginx worker; and
// what a poll costs with ten times the hosts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/curl_loop_part.hpp"
#include "bench/snmp_clients_part.hpp"
#include "lab/fleet_server.hpp"
#include "net/resolver.hpp"
#include "protocol/http/http_driver.hpp"

namespace pollux::bench {

// A document of 1 KB, as devices give it.
inline std::string kilobyte_of_json() {
    std::string text = R"({"status": "ok", "value": 42.5, "disks": [)";
    for (int i = 0; text.size() < 990; ++i) {
        text += fmt::format("{}{{\"name\": \"disk{}\", \"used_bytes\": {}}}", i == 0 ? "" : ", ", i,
                            1'000'000 + i * 4096);
    }
    return text + "]}";
}

// nginx with one worker that answers everything with that document.
class JsonServer {
  public:
    JsonServer(const TempDir& folder, std::uint16_t port)
        : nginx_({"/usr/sbin/nginx", "-p", folder.path(), "-c",
                  folder.write("nginx.conf", configuration(folder, port))},
                 folder) {
        POLLUX_CHECK_MSG(nginx_.wait_for_tcp("127.0.0.1", port), "nginx did not start");
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(1, &cores);
        sched_setaffinity(nginx_.pid(), sizeof cores, &cores);
    }

  private:
    static std::string configuration(const TempDir& folder, std::uint16_t port) {
        std::string temporary;
        for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
            temporary += fmt::format("{}_temp_path {};\n", kind, folder.file(kind));
        }
        return fmt::format(
            "daemon off;\nmaster_process off;\nworker_processes 1;\n"
            "worker_rlimit_nofile 60000;\npid {};\nerror_log stderr crit;\n"
            "events {{ worker_connections 30000; }}\n"
            "http {{\naccess_log off;\nkeepalive_requests 100000000;\nkeepalive_timeout 600;\n"
            "default_type application/json;\n{}"
            "server {{ listen 0.0.0.0:{} backlog=16384; location / {{ return 200 '{}'; }} }}\n}}\n",
            folder.file("pid"), temporary, port, kilobyte_of_json());
    }

    Process nginx_;
};

// Our driver with one ask in flight per host.
class HttpDriverLoop {
  public:
    HttpDriverLoop(std::uint16_t port, std::uint32_t hosts)
        : loop_(net::EventLoop::create().value()),
          resolver_(net::Resolver::create(*loop_, {}).value()),
          driver_(std::make_unique<protocol::HttpDriver>(
              *loop_, *resolver_, std::make_shared<const net::EgressPolicy>())) {
        for (std::uint32_t i = 0; i < hosts; ++i) {
            auto ask = std::make_shared<model::Ask>();
            ask->host = device_text(i);
            ask->port = port;
            std::get<model::HttpAsk>(ask->request).url =
                fmt::format("http://{}:{}/", ask->host, port);
            asks_.push_back(std::move(ask));
        }
        for (std::uint32_t i = 0; i < hosts; ++i) start(i);
    }

    void turn() { loop_->run_once(std::chrono::milliseconds(100)); }
    std::uint64_t done() const { return done_; }
    std::uint64_t wrong() const { return wrong_; }

  private:
    void start(std::uint32_t host) {
        driver_->start({.id = ++next_id_,
                        .ask = asks_[host],
                        .deadline = loop_->now() + std::chrono::seconds(30)},
                       [this, host](model::Reply&& reply) {
                           const auto* answer = std::get_if<model::HttpReply>(&reply.answer);
                           const bool right = answer != nullptr && answer->body.size() > 900;
                           ++(right ? done_ : wrong_);
                           start(host);
                       });
    }

    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<net::Resolver> resolver_;
    std::unique_ptr<protocol::HttpDriver> driver_;
    std::vector<std::shared_ptr<const model::Ask>> asks_;
    std::uint64_t next_id_ = 0;
    std::uint64_t done_ = 0;
    std::uint64_t wrong_ = 0;
};

// Measured once every host was asked: what it costs to connect is not what is compared.
template <class Client>
void run_http_loop(Client& client, std::uint32_t hosts, double seconds) {
    const double give_up = wall_seconds() + 60;
    while (client.done() + client.wrong() < hosts && wall_seconds() < give_up) client.turn();
    const std::uint64_t first = client.done();
    const double begin = wall_seconds();
    const double cpu = own_cpu_seconds();
    while (wall_seconds() < begin + seconds) client.turn();
    print_client(client.done() - first, client.wrong(), wall_seconds() - begin,
                 own_cpu_seconds() - cpu);
}

// The roles `http-driver|http-curl PORT HOSTS SECONDS`, and `curl-once PORT HOSTS 0`: every host
// once, from the first connection to the last answer.
inline int run_http_client(std::string_view role, std::uint16_t port, std::uint32_t hosts,
                           double seconds) {
    stay_on_core(0);
    lab::raise_descriptor_limit();
    if (role == "curl-once") {
        const double begin = wall_seconds();
        CurlLoop client(port, hosts);
        while (client.done() < hosts && wall_seconds() < begin + 60) client.turn();
        fmt::print("seconds {:.3f}\n", wall_seconds() - begin);
    } else if (role == "http-driver") {
        HttpDriverLoop client(port, hosts);
        run_http_loop(client, hosts, seconds);
    } else {
        CurlLoop client(port, hosts);
        run_http_loop(client, hosts, seconds);
    }
    return 0;
}

inline void measure_http(ResultTable& table, double seconds, int rounds) {
    lab::raise_descriptor_limit();  // nginx inherits it
    const TempDir folder;
    const std::uint16_t port = net::test::free_port();
    JsonServer server(folder, port);
    struct Side {
        std::vector<double> rate;
        std::vector<double> cpu;
    };
    const auto run = [&](const char* role, int hosts, Side& side) {
        const Figures figures = run_role(
            {role, std::to_string(port), std::to_string(hosts), fmt::format("{}", seconds)},
            folder);
        side.rate.push_back(figures.at("rate"));
        side.cpu.push_back(figures.at("cpu_us"));
        table.require(figures.at("wrong") == 0,
                      fmt::format("{}: {} failed requests", role, figures.at("wrong")));
    };
    Side ours;
    Side peer;
    Side many;
    for (int round = 0; round < rounds; ++round) {
        run("http-curl", 1000, peer);
        run("http-driver", 1000, ours);
        run("http-driver", 10'000, many);
    }
    const auto text = [](const Side& side) {
        Slices rate;
        Slices cpu;
        for (const double one : side.rate) rate.add(one);
        for (const double one : side.cpu) cpu.add(one);
        return fmt::format("{:.0f}/s, {:.1f} us CPU", rate.median(), cpu.median());
    };
    const double ratio = median_ratio(ours.rate, peer.rate);
    table.add({.what = "HTTP driver, 1 KB JSON, 1k hosts",
               .ours = text(ours),
               .goal = ">= 0.80x",
               .met = ratio >= 0.8,
               .peer = "bare libcurl, multis",
               .peers_figure = text(peer),
               .ratio = ratio});
    const double growth = median_ratio(many.cpu, ours.cpu);
    table.add({.what = "HTTP driver, 10k hosts: CPU per poll",
               .ours = text(many),
               .goal = "<= 1.50x",
               .met = growth <= 1.5,
               .peer = "the same at 1k hosts",
               .peers_figure = text(ours),
               .ratio = growth});
}

}  // namespace pollux::bench
