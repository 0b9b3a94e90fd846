// Helpers of drivers' tests: a loop, asks that wait for their reply, and the conformance of cancel
// and deadline that every driver owes (driver.hpp).
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
#include "protocol/driver.hpp"

namespace pollux::protocol::test {

// Far beyond what any test needs, so that a loaded machine does not fail it.
inline constexpr std::chrono::seconds kFar{60};

class Bench {
  public:
    Bench() : loop_(std::move(*net::EventLoop::create())) {}

    net::EventLoop& loop() { return *loop_; }

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

    // Starts an ask; the reply appears in what is returned.
    std::shared_ptr<std::optional<model::Reply>> begin(Driver& driver, model::Ask ask,
                                                       bool trace = false, bool fresh = false) {
        auto reply = std::make_shared<std::optional<model::Reply>>();
        Order order{.id = ++last_id_,
                    .ask = std::make_shared<const model::Ask>(std::move(ask)),
                    .deadline = net::boot_now() + kFar,
                    .fresh_login = fresh,
                    .trace = trace};
        driver.start(std::move(order), [reply](model::Reply&& got) {
            POLLUX_CHECK_MSG(!reply->has_value(), "a second Done");
            *reply = std::move(got);
        });
        POLLUX_CHECK_MSG(!reply->has_value(), "Done from inside start()");
        return reply;
    }

    model::Reply ask(Driver& driver, model::Ask ask, bool trace = false, bool fresh = false) {
        const auto reply = begin(driver, std::move(ask), trace, fresh);
        POLLUX_CHECK_MSG(run_until([&] { return reply->has_value(); }), "Done never came");
        return std::move(**reply);
    }

    std::uint64_t last_id() const { return last_id_; }

  private:
    std::unique_ptr<net::EventLoop> loop_;
    std::uint64_t last_id_ = 0;
};

// What a test compares with; if it came out the other way round, nothing.
inline model::PollFailure failure_in(const model::Reply& reply) {
    const auto* failure = std::get_if<model::PollFailure>(&reply.answer);
    return failure == nullptr ? model::PollFailure{} : *failure;
}

template <class Answer>
Answer answer_in(const model::Reply& reply) {
    if (const auto* answer = std::get_if<Answer>(&reply.answer)) return *answer;
    const model::PollFailure failure = failure_in(reply);
    std::fprintf(stderr, "no such answer: %s %s\n", failure.code.c_str(), failure.message.c_str());
    return {};
}

// What is wrong with how a driver keeps deadlines and cancels; nothing if it does. `slow` is an ask
// that does not end by itself for a long time.
inline std::vector<std::string> contract_problems(Bench& bench, Driver& driver,
                                                  const model::Ask& slow,
                                                  const std::string& timeout_code) {
    std::vector<std::string> problems;
    const auto expect = [&](bool good, std::string what) {
        if (!good) problems.push_back(std::move(what));
    };
    model::Ask short_ask = slow;
    short_ask.timeout = std::chrono::milliseconds(300);
    const base::BootTime before = net::boot_now();
    const model::PollFailure late = failure_in(bench.ask(driver, short_ask));
    expect(late.code == timeout_code, "ended with " + late.code + ": " + late.message);
    expect(net::boot_now() - before >= std::chrono::milliseconds(300), "ended too early");
    expect(driver.in_flight() == 0, "something is left after the deadline");

    // Cancelled at once, and again after a moment; twice is once.
    for (const bool wait : {false, true}) {
        const auto reply = bench.begin(driver, slow);
        expect(driver.in_flight() == 1, "not in flight");
        if (wait) {
            const base::BootTime until = net::boot_now() + std::chrono::milliseconds(50);
            bench.run_until([&] { return net::boot_now() >= until; });
        }
        driver.cancel(bench.last_id());
        driver.cancel(bench.last_id());
        expect(!reply->has_value(), "Done from inside cancel()");
        const bool ended = bench.run_until([&] { return reply->has_value(); });
        expect(ended && failure_in(**reply).kind == model::FailureKind::kCancelled,
               "a cancelled ask did not end as cancelled");
        expect(driver.in_flight() == 0, "something is left after a cancel");
    }
    driver.cancel(12'345'678);  // nobody's
    return problems;
}

}  // namespace pollux::protocol::test
