// For tests of the HTTP driver: a loop, a driver, and a way to ask and wait.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "net/event_loop.hpp"
#include "net/test_dns_server.hpp"
#include "net/test_nginx.hpp"
#include "protocol/http/http_driver.hpp"

namespace pollux::protocol::test {

struct HttpWorld {
    explicit HttpWorld(net::EgressSettings egress = net::default_egress_settings(),
                       net::HttpClientOptions options = {})
        : policy(std::make_shared<const net::EgressPolicy>(std::move(egress))),
          driver(std::make_unique<HttpDriver>(*loop, *resolver, policy, std::move(options))) {}

    static model::HttpAsk get(std::string url) {
        model::HttpAsk ask;
        ask.url = std::move(url);
        return ask;
    }

    // Starts and does not wait.
    std::uint64_t start(model::HttpAsk ask, Done done, bool fresh = false) {
        model::Ask whole;
        whole.timeout = timeout;
        whole.request = std::move(ask);
        whole.credentials = credentials;
        Order order;
        order.id = ++last_id;
        order.ask = std::make_shared<const model::Ask>(std::move(whole));
        order.deadline = net::boot_now() + std::chrono::minutes(5);
        order.fresh_login = fresh;
        order.trace = trace;
        driver->start(std::move(order), std::move(done));
        return last_id;
    }

    model::Reply ask(model::HttpAsk what, bool fresh = false) {
        std::optional<model::Reply> got;
        start(std::move(what), [&](model::Reply&& reply) { got = std::move(reply); }, fresh);
        POLLUX_CHECK_MSG(!got, "Done was called from inside start()");
        POLLUX_CHECK_MSG(run_until([&] { return got.has_value(); }), "no Done came");
        return std::move(*got);
    }

    template <class Condition>
    bool run_until(Condition condition, base::Duration patience = std::chrono::seconds(60)) {
        const auto until = net::boot_now() + patience;
        while (!condition()) {
            if (net::boot_now() >= until) return false;
            loop->run_once(std::chrono::milliseconds(50));
        }
        return true;
    }

    static net::ResolverOptions resolver_options(const net::test::DnsServer& server) {
        net::ResolverOptions options;
        options.servers = {server.address()};
        return options;
    }

    std::unique_ptr<net::EventLoop> loop = net::EventLoop::create().value();
    net::test::DnsServer names{*loop};
    std::unique_ptr<net::Resolver> resolver =
        net::Resolver::create(*loop, resolver_options(names)).value();
    std::shared_ptr<const net::EgressPolicy> policy;
    std::unique_ptr<HttpDriver> driver;
    std::shared_ptr<const model::Credentials> credentials;
    base::Duration timeout = std::chrono::seconds(30);
    bool trace = false;
    std::uint64_t last_id = 0;
};

// The parts of a reply, with words for the failure of a test.
inline const model::HttpReply& answer_of(const model::Reply& reply) {
    if (!reply.ok()) {
        std::fprintf(stderr, "%s\n", std::get<model::PollFailure>(reply.answer).message.c_str());
    }
    return std::get<model::HttpReply>(reply.answer);
}
inline const model::PollFailure& failure_of(const model::Reply& reply) {
    return std::get<model::PollFailure>(reply.answer);
}

}  // namespace pollux::protocol::test
