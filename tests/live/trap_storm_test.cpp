// A storm of traps beside a fleet that is polled: polls go on, what is too much is counted.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <thread>

#include "lab/fleet_server.hpp"
#include "protocol/snmp/message.hpp"
#include "tests/live/fleet_text.hpp"
#include "tests/live/inbound_stage.hpp"

namespace pollux::live {
namespace {

using testing::HasSubstr;

std::vector<std::uint8_t> link_down() {
    protocol::snmp::Message message;
    message.community = "public";
    message.pdu.type = protocol::snmp::PduType::kTrapV2;
    message.pdu.request_id = 7;
    model::SnmpValue uptime;
    uptime.type = model::SnmpType::kTimeTicks;
    uptime.unsigned_value = 100;
    model::SnmpValue which;
    which.type = model::SnmpType::kObjectId;
    which.oid = *model::parse_oid("1.3.6.1.6.3.1.1.5.3");
    message.pdu.varbinds = {{*model::parse_oid("1.3.6.1.2.1.1.3.0"), uptime},
                            {*model::parse_oid("1.3.6.1.6.3.1.1.4.1.0"), which}};
    std::vector<std::uint8_t> buffer(protocol::snmp::kMaxMessageBytes);
    const protocol::snmp::Bytes bytes = protocol::snmp::encode_message(message, buffer);
    return {bytes.begin(), bytes.end()};
}

// Sends traps from 127.0.0.1 as fast as it can, until it is told to end.
class Storm {
  public:
    explicit Storm(std::uint16_t port) : thread_([this, port] { blow(port); }) {}
    ~Storm() { end(); }
    void end() {
        ending_ = true;
        if (thread_.joinable()) thread_.join();
    }
    std::uint64_t sent() const { return sent_; }

  private:
    static constexpr std::uint64_t kMost = 2'000'000;

    void blow(std::uint16_t port) {
        const net::test::TestAddress to("127.0.0.1", port);
        const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        const std::vector<std::uint8_t> trap = link_down();
        while (!ending_ && sent_ < kMost) {
            // Both cores are for the others too.
            if (sent_ % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            if (sendto(fd, trap.data(), trap.size(), 0, to.get(), to.length) > 0) ++sent_;
        }
        close(fd);
    }

    std::atomic<bool> ending_ = false;
    std::atomic<std::uint64_t> sent_ = 0;
    std::thread thread_;
};

constexpr std::size_t kDevices = 50;

class TrapStorm : public InboundStage {
  protected:
    TrapStorm() : fleet_(lab::FleetServer::start({.snmp = 10, .http = kDevices - 10}).value()) {
        add_addon("traps", kTrapAddon);
    }
    // The first web server also sends traps, from the address of the storm, and wants to be polled
    // for each of them.
    std::string fleet_file() const {
        std::string text = addon_settings("interval: 2s, timeout: 30s") + "devices:\n";
        const lab::Device& first = fleet_->fleet().http()[0];
        text += fmt::format(
            "  lamp: {{addresses: [{}, 127.0.0.1], port: {}, addons: [{{name: http-json, params: "
            "{{path: /as/json/status}}}}, {{name: traps, confirm: true}}]}}\n",
            lab::address_text(first.address()), fleet_->ports().http);
        for (std::size_t i = 1; i < kDevices - 10; ++i) text += json_device(*fleet_, i);
        for (std::size_t i = 0; i < 10; ++i) text += snmp_device(*fleet_, i, "snmp-system");
        return text;
    }
    void weather(const Environment& limits);
    static std::map<std::string, double> polls_of(const MetricsPage& page) {
        std::map<std::string, double> polls;
        for (const MetricSample& one :
             page.find("pulse_monitor_poll_total", {{"result", "success"}})) {
            polls[one.labels.at("instance_type") + "::" + one.labels.at("instance")] += one.value;
        }
        return polls;
    }

    std::unique_ptr<lab::FleetServer> fleet_;
};

// Polls go on, and every trap is accounted for.
void TrapStorm::weather(const Environment& limits) {
    Environment environment = limits;
    // What was freed is kept by the sanitizer up to this much: it would hide what we keep
    // ourselves.
    environment.emplace_back("ASAN_OPTIONS",
                             "detect_stack_use_after_return=1:quarantine_size_mb=32");
    ASSERT_NO_FATAL_FAILURE(start(fleet_file(), environment));
    ASSERT_TRUE(server_->everyone_answers()) << server_->log();
    const MetricsPage before = server_->metrics();
    const std::map<std::string, double> polled_before = polls_of(before);
    ASSERT_EQ(polled_before.size(), kDevices);

    // It lasts until everybody was polled four times more under it.
    Storm storm(trap_port_);
    const auto least = [&] {
        const std::map<std::string, double> now = polls_of(server_->metrics());
        double fewest = 1e9;
        for (const auto& [key, polls] : polled_before) {
            fewest = std::min(fewest, now.at(key) - polls);
        }
        return fewest;
    };
    EXPECT_TRUE(eventually([&] { return storm.sent() >= 20'000 && least() >= 4; }))
        << storm.sent() << " sent, fewest polls " << least() << server_->log();
    storm.end();

    const auto accounted = [&](const MetricsPage& page) {
        return page.sum("pollux_inbound_messages_total", {{"kind", "trap"}}) +
               page.sum("pollux_inbound_datagrams_dropped_total");
    };
    const auto sent = static_cast<double>(storm.sent());
    // The network may lose some before they reach the socket.
    EXPECT_TRUE(eventually([&] {
        const MetricsPage page = server_->metrics();
        return accounted(page) >= 0.999 * sent && page.sum("pollux_inbound_waiting") == 0;
    })) << sent
        << " sent\n"
        << server_->metrics().text();
    const MetricsPage after = server_->metrics();
    EXPECT_LE(accounted(after), sent);
    EXPECT_GT(after.sum("pollux_inbound_messages_total", {{"result", "stored"}}), 0);
    EXPECT_EQ(after.sum("pulse_monitor_poll_total", {{"result", "error"}}), 0);
    // A storm is one reason to look at the sender now and then, not at each trap.
    EXPECT_GE(after.sum("pollux_inbound_confirms_total", {{"result", "asked"}}), 1);
    EXPECT_GT(after.sum("pollux_inbound_confirms_total", {{"result", "held"}}),
              after.sum("pollux_inbound_confirms_total", {{"result", "asked"}}));
    // Nobody was passed over for another: all have the same interval, but the sender of the storm
    // is polled more.
    const std::map<std::string, double> polled = polls_of(after);
    double fewest = 1e9;
    double most = 0;
    for (const auto& [key, polls] : polled_before) {
        if (key == "http-json::lamp") continue;
        fewest = std::min(fewest, polled.at(key) - polls);
        most = std::max(most, polled.at(key) - polls);
    }
    EXPECT_GE(fewest, 4);
    EXPECT_LE(most, 2 * fewest) << fewest << " to " << most;
    // 10,000 messages may wait in 64 MB; with sanitizers they are several times as large.
    const double grown =
        after.sum("process_resident_memory_bytes") - before.sum("process_resident_memory_bytes");
    EXPECT_LT(grown, 512e6);
    EXPECT_TRUE(server_->running());
    EXPECT_EQ(lines_with(server_->lines(), "signal raised", "traps::lamp").size(), 1U)
        << "one signal, however often it was said";
}

TEST_F(TrapStorm, WhatIsMoreThanOneSenderMaySayIsDroppedAndCounted) {
    ASSERT_NO_FATAL_FAILURE(weather({}));
    const MetricsPage page = server_->metrics();
    const double limited =
        page.sum("pollux_inbound_messages_total", {{"kind", "trap"}, {"result", "rate_limited"}});
    EXPECT_GT(limited, 0);
    EXPECT_GT(limited + page.sum("pollux_inbound_datagrams_dropped_total"), 10'000);
    EXPECT_THAT(server_->command({"inbound"}).output, HasSubstr("rate_limited"));
    EXPECT_EQ(server_->stop(), 0) << server_->log();
}

TEST_F(TrapStorm, WithoutLimitsPollsGoOnToo) {
    ASSERT_NO_FATAL_FAILURE(
        weather({{"POLLUX_INBOUND_SOURCE_RATE", "1000000"}, {"POLLUX_INBOUND_RATE", "1000000"}}));
    const MetricsPage page = server_->metrics();
    EXPECT_GT(page.sum("pollux_inbound_messages_total", {{"result", "stored"}}), 1000);
    EXPECT_EQ(page.sum("pollux_inbound_messages_total", {{"result", "rate_limited"}}), 0);
    EXPECT_EQ(page.sum("pollux_inbound_messages_total", {{"result", "store_failed"}}), 0);
    EXPECT_EQ(server_->stop(), 0) << server_->log();
}

}  // namespace
}  // namespace pollux::live
