// A manifest of snmp_poll, asked of a real snmpd that plays the UPS.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "derive/signal_keeper.hpp"
#include "net/test_process.hpp"
#include "tests/imported/imported_device.hpp"

namespace pollux::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// snmpd with fixed values where the UPS has its own.
struct UpsState {
    int source = 3;
    int load = 40;
    int capacity = 100;
    int runtime = 3600;
    int battery = 1;
    int temperature = 25;
    int alarms = 0;
};

class Ups {
  public:
    explicit Ups(const UpsState& state) : port_(net::test::free_port()) {
        folder_.write("snmpd.conf",
                      fmt::format("agentaddress udp:127.0.0.1:{}\nrocommunity ups-readers\n"
                                  "override .1.3.6.1.4.1.534.1.4.5.0 integer {}\n"
                                  "override .1.3.6.1.4.1.534.1.4.1.0 integer {}\n"
                                  "override .1.3.6.1.4.1.534.1.2.4.0 integer {}\n"
                                  "override .1.3.6.1.4.1.534.1.2.1.0 integer {}\n"
                                  "override .1.3.6.1.4.1.534.1.2.5.0 integer {}\n"
                                  "override .1.3.6.1.4.1.534.1.6.1.0 integer {}\n"
                                  "override .1.3.6.1.4.1.534.1.7.1.0 integer {}\n",
                                  port_, state.source, state.load, state.capacity, state.runtime,
                                  state.battery, state.temperature, state.alarms));
        process_ = std::make_unique<net::test::Process>(
            std::vector<std::string>{"/usr/sbin/snmpd", "-f", "-Lo", "-C", "-c",
                                     folder_.file("snmpd.conf"), "-I", "override,snmpv3mibs"},
            folder_,
            std::vector<std::pair<std::string, std::string>>{
                {"SNMP_PERSISTENT_DIR", folder_.file("state")}, {"MIBS", ""}});
    }

    std::uint16_t port() const { return port_; }
    std::string output() const { return process_->output(); }

  private:
    net::test::TempDir folder_;
    std::uint16_t port_;
    std::unique_ptr<net::test::Process> process_;
};

// The agent needs a moment to begin; a lost first question is asked again.
ImportedDevice::Poll poll_ups(const extract::CompiledAddon& addon, const Ups& ups) {
    ImportedDevice asker;
    auto binding = asker.binding();
    binding.port = ups.port();
    binding.timeout = std::chrono::seconds(1);
    ImportedDevice::Poll poll;
    const base::BootTime until = net::boot_now() + std::chrono::seconds(60);
    do {
        poll = asker.poll(addon, binding);
        if (poll.failed) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } while (poll.failed && net::boot_now() < until);
    EXPECT_FALSE(poll.failed) << ups.output();
    return poll;
}

TEST(ImportedEaton, RaisesAndClearsItsConditions) {
    const extract::CompileResult result = load_imported("eaton");
    ASSERT_NE(result.addon, nullptr) << result.diagnostics.text();
    EXPECT_THAT(result.diagnostics.text(), HasSubstr("\"between\" is not known: never raised"));
    derive::SignalKeeper keeper;
    {
        const Ups ups({.source = 5, .capacity = 30});
        const auto poll = poll_ups(*result.addon, ups);
        ASSERT_THAT(poll.told(), ElementsAre("on_battery critical", "battery_low major"));
        EXPECT_EQ(poll.signals.signals[0].title, "127.0.0.1 runs on battery");
        EXPECT_THAT(poll.signals.signals[0].fields,
                    ElementsAre(Pair("output_source", "5"), Pair("load", "40")));
        EXPECT_EQ(poll.signals.signals[1].message, "30 % left");
        EXPECT_EQ(keeper.apply(poll.signals, {1}).size(), 2U);
    }
    const Ups ups({.load = 95, .capacity = 31});
    const auto poll = poll_ups(*result.addon, ups);
    EXPECT_THAT(poll.told(), ElementsAre("load_critical critical", "load_high warning"));
    EXPECT_EQ(keeper.apply(poll.signals, {2}).size(), 4U);  // two are over, two are new
    ASSERT_EQ(keeper.raised().size(), 2U);
    EXPECT_EQ(keeper.raised().begin()->first.first, "load_critical");
}

TEST(ImportedEaton, RaisesEachConditionAtItsLimitAndNotBefore) {
    const extract::CompileResult result = load_imported("eaton");
    ASSERT_NE(result.addon, nullptr) << result.diagnostics.text();
    const auto told = [&](const UpsState& state) {
        const Ups ups(state);
        return poll_ups(*result.addon, ups).told();
    };
    EXPECT_THAT(told({.load = 79, .capacity = 31, .runtime = 300, .temperature = 39}), IsEmpty());
    EXPECT_THAT(told({.source = 4, .load = 80, .runtime = 299, .battery = 3}),
                UnorderedElementsAre("on_bypass major", "load_high warning", "runtime_low major",
                                     "battery_status_low major"));
    EXPECT_THAT(told({.source = 5, .capacity = 10, .battery = 4, .temperature = 40, .alarms = 2}),
                UnorderedElementsAre("on_battery critical", "battery_low major",
                                     "battery_critical critical", "battery_depleted critical",
                                     "temperature_high warning", "alarm_present warning"));
}

}  // namespace
}  // namespace pollux::tests
