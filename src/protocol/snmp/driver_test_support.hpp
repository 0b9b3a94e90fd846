// Helpers of the driver's tests: a driver with its loop, and asks that wait for their reply.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "net/event_loop.hpp"
#include "protocol/snmp/snmp_driver.hpp"

namespace pollux::protocol::snmp::test {

// Far beyond what any test needs, so that a loaded machine does not fail it.
inline constexpr std::chrono::seconds kFar{60};

class DriverFixture {
  public:
    explicit DriverFixture(SnmpSeams seams = {}, SnmpOptions options = {})
        : loop_(std::move(*net::EventLoop::create())) {
        auto made = SnmpDriver::create(*loop_, std::move(seams), options);
        POLLUX_CHECK_MSG(made.has_value(), "no UDP socket");
        driver_ = std::move(*made);
    }
    ~DriverFixture() { driver_.reset(); }

    SnmpDriver& driver() { return *driver_; }
    net::EventLoop& loop() { return *loop_; }
    void drop_driver() { driver_.reset(); }

    // Runs the loop until `condition()` or the patience ends; whether it held.
    template <class Condition>
    bool run_until(Condition condition, base::Duration patience = kFar) {
        const base::BootTime until = net::boot_now() + patience;
        while (!condition()) {
            if (net::boot_now() >= until) return false;
            loop_->run_once(std::chrono::milliseconds(20));
        }
        return true;
    }

    // One ask from start to end.
    model::Reply ask(std::shared_ptr<const model::Ask> ask, base::Duration deadline = kFar,
                     bool trace = false) {
        std::optional<model::Reply> reply;
        Order order{.id = ++last_id_,
                    .ask = std::move(ask),
                    .deadline = net::boot_now() + deadline,
                    .trace = trace};
        driver_->start(std::move(order), [&](model::Reply&& got) {
            POLLUX_CHECK_MSG(!reply.has_value(), "a second Done");
            reply = std::move(got);
        });
        POLLUX_CHECK_MSG(!reply.has_value(), "Done from inside start()");
        POLLUX_CHECK_MSG(run_until([&] { return reply.has_value(); }), "Done never came");
        return std::move(*reply);
    }

  private:
    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<SnmpDriver> driver_;
    std::uint64_t last_id_ = 1'000'000;
};

inline model::Ask make_ask(std::string host, std::uint16_t port, model::SnmpAsk snmp,
                           std::string community = "public") {
    model::Ask ask;
    ask.host = std::move(host);
    ask.port = port;
    ask.timeout = std::chrono::seconds(20);
    ask.resends = 1;
    ask.request = std::move(snmp);
    auto credentials = std::make_shared<model::Credentials>();
    credentials->community = base::Secret(std::move(community));
    ask.credentials = std::move(credentials);
    return ask;
}

inline std::shared_ptr<const model::Ask> share(model::Ask ask) {
    return std::make_shared<const model::Ask>(std::move(ask));
}

inline model::SnmpAsk gets_of(std::vector<std::string> oids) {
    model::SnmpAsk ask;
    for (const std::string& oid : oids) ask.gets.push_back(*model::parse_oid(oid));
    return ask;
}

inline model::SnmpAsk walks_of(std::vector<std::string> oids) {
    model::SnmpAsk ask;
    for (const std::string& oid : oids) ask.walks.push_back(*model::parse_oid(oid));
    return ask;
}

// What a test compares with. If it came out the other way round these hold nothing, so that the
// comparison fails.
inline const model::PollFailure& failure_in(const model::Reply& reply) {
    static const model::PollFailure none;
    const auto* failure = std::get_if<model::PollFailure>(&reply.answer);
    return failure == nullptr ? none : *failure;
}

inline const model::SnmpReply& answer_in(const model::Reply& reply) {
    static const model::SnmpReply none;
    if (const auto* answer = std::get_if<model::SnmpReply>(&reply.answer)) return *answer;
    std::fprintf(stderr, "%s\n", failure_in(reply).message.c_str());
    return none;
}

}  // namespace pollux::protocol::snmp::test
