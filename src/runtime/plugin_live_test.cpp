// Plugins of the distribution through the driver and the shipped addon `nagios-plugin`, compared
// with a run of the same command by hand: exit status, first line and every value.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "extract/perfdata.hpp"
#include "net/test_nginx.hpp"
#include "runtime/addon_watch_test_support.hpp"

namespace pollux::runtime {
namespace {

using net::test::TempDir;
using test::AddonWatch;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kPlugins = "/usr/lib/nagios/plugins";

struct Perf {
    double value = 0;
    std::string unit;
    std::string limits;  // what stands behind the value, without the blanks and ; at its end
    bool operator==(const Perf&) const = default;
};

// What a plugin said, read without any code of ours.
struct Said {
    int code = -1;
    std::string line;
    std::map<std::string, Perf> values;
    bool operator==(const Said&) const = default;
};

std::string without_end(std::string text, std::string_view end) {
    const auto last = text.find_last_not_of(end);
    text.resize(last == std::string::npos ? 0 : last + 1);
    return text;
}

Said by_hand(const std::vector<std::string>& argv, const TempDir& folder) {
    std::vector<std::string> command = argv;
    command.front() = fmt::format("{}/{}", kPlugins, argv.front());
    net::test::Process process(std::move(command), folder, {{"LC_ALL", "C"}});
    EXPECT_TRUE(process.wait_for_end());
    Said said;
    said.code = process.exit_code();
    const std::string output = process.output();
    said.line = without_end(output.substr(0, output.find_first_of("|\n")), " \r");
    const auto bar = output.find('|');  // in these plugins the only one
    std::istringstream rest(bar == std::string::npos ? "" : output.substr(bar + 1));
    for (std::string label; rest >> std::ws && rest.peek() != EOF;) {
        if (rest.peek() == '\'') {
            rest.get();
            std::getline(rest, label, '\'');
            rest.ignore(1, '=');
        } else {
            std::getline(rest, label, '=');
        }
        std::string piece;
        rest >> piece;
        char* unit = nullptr;
        Perf perf;
        perf.value = std::strtod(piece.c_str(), &unit);
        const std::string after = unit;
        perf.unit = after.substr(0, after.find(';'));
        const auto limits = after.find(';');
        perf.limits = limits == std::string::npos ? "" : without_end(after.substr(limits + 1), ";");
        said.values[label] = perf;
    }
    return said;
}

// As in the performance data: warning;critical;low;high.
std::string limits_of(const extract::PerfValue& value) {
    const auto shown = [](const std::optional<double>& number) {
        return number ? fmt::format("{}", *number) : "";
    };
    return without_end(fmt::format("{};{};{};{}", value.warning, value.critical, shown(value.low),
                                   shown(value.high)),
                       ";");
}

// "0.000000" and "0" are one limit.
std::string plain_limits(const std::string& limits) {
    std::istringstream in(limits);
    std::string out;
    std::size_t number = 0;
    for (std::string part; std::getline(in, part, ';'); ++number) {
        const bool low_or_high = number >= 2 && !part.empty();
        out += (low_or_high ? fmt::format("{}", std::strtod(part.c_str(), nullptr)) : part) + ";";
    }
    return without_end(out, ";");
}

// Digits as #: what is left of a line whose numbers move.
std::string without_numbers(const std::string& line) {
    std::string out;
    for (const char c : line) {
        const bool digit = (c >= '0' && c <= '9') || (c == '.' && out.ends_with('#'));
        if (!digit) out += c;
        if (digit && !out.ends_with('#')) out += '#';
    }
    return out;
}

// What one of its units is in the unit that the addon keeps values in.
double in_base_units(const std::string& unit) {
    static const std::map<std::string, double> kKnown = {
        {"", 1}, {"B", 1}, {"%", 1}, {"s", 1}, {"ms", 1e-3}};
    const auto found = kKnown.find(unit);
    EXPECT_NE(found, kKnown.end()) << unit;
    return found == kKnown.end() ? std::nan("") : found->second;
}

// Least and most that a value which moves may be, by its label.
using Ranges = std::map<std::string, std::pair<double, double>>;

// A file system of 16 MB that nobody else writes to.
class OwnDisk {
  public:
    explicit OwnDisk(std::string folder) : folder_(std::move(folder)) {
        std::filesystem::create_directories(folder_);
        POLLUX_CHECK_MSG(mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=16m") == 0,
                         "tests run as root");
    }
    ~OwnDisk() { umount2(folder_.c_str(), MNT_DETACH); }
    OwnDisk(const OwnDisk&) = delete;
    OwnDisk& operator=(const OwnDisk&) = delete;

    const std::string& folder() const { return folder_; }

  private:
    std::string folder_;
};

class PluginLive : public ::testing::Test {
  protected:
    // The parameters arg1, arg2 and so on of the addon.
    static extract::Parameters parameters(const std::string& plugin,
                                          const std::vector<std::string>& arguments) {
        extract::Parameters all{{"plugin", plugin}};
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            all[fmt::format("arg{}", i + 1)] = arguments[i];
        }
        return all;
    }

    static extract::TargetBinding target(extract::Parameters parameters, std::uint16_t port = 0) {
        extract::TargetBinding made;
        made.host = "127.0.0.1";
        made.port = port;
        made.parameters = std::move(parameters);
        return made;
    }
    // Of a plugin that looks at this machine.
    static extract::TargetBinding local(extract::Parameters parameters) {
        parameters["host_option"] = "";
        return target(std::move(parameters));
    }

    // Polls a target whose request has to be `argv`.
    void poll(const extract::TargetBinding& target, const std::vector<std::string>& argv) {
        CommandRules rules;
        rules.exec.folders = {kPlugins};
        watch_ = std::make_unique<AddonWatch>("nagios-plugin", target, rules);
        EXPECT_EQ(std::get<model::ExecAsk>(watch_->ask(0).request).argv, argv);
        const PollReading& poll = watch_->poll();
        EXPECT_TRUE(model::is_success(poll.outcome)) << poll.failure.message;
        EXPECT_EQ(poll.readings.missing, 0U);
    }

    // The last poll has to say what `reference` says, but for what moves.
    void expect_same(const Said& reference, const Ranges& ranges = {}) {
        ASSERT_THAT(reference.code, ::testing::AllOf(::testing::Ge(0), ::testing::Le(3)));
        const auto reply = protocol::test::answer_in<model::CommandReply>(watch_->reply(0));
        EXPECT_EQ(reply.exit_status, reference.code) << reply.out << reply.error_out;
        const std::string line =
            without_end(reply.out.substr(0, reply.out.find_first_of("|\n")), " \r");
        EXPECT_EQ(watch_->text("text"), line);
        if (ranges.empty()) {
            EXPECT_EQ(line, reference.line);
        } else {
            EXPECT_EQ(without_numbers(line), without_numbers(reference.line));
        }
        const char* states[] = {"ok", "warning", "critical", "unknown"};
        EXPECT_EQ(watch_->state("state"), states[reference.code]);
        expect_same_values(extract::parse_plugin_output(reply.out), reference, ranges);
    }

    void expect_same_values(const extract::PluginOutput& ours, const Said& reference,
                            const Ranges& ranges) {
        EXPECT_EQ(ours.unreadable, 0U);
        EXPECT_EQ(ours.values.size(), reference.values.size());
        EXPECT_EQ(watch_->values("value").size(), reference.values.size());
        for (const extract::PerfValue& value : ours.values) {
            const auto found = reference.values.find(value.label);
            ASSERT_NE(found, reference.values.end()) << value.label;
            const Perf& expected = found->second;
            EXPECT_EQ(value.unit, expected.unit) << value.label;
            EXPECT_EQ(limits_of(value), plain_limits(expected.limits)) << value.label;
            ASSERT_TRUE(value.value) << value.label;
            if (const auto range = ranges.find(value.label); range != ranges.end()) {
                EXPECT_GE(*value.value, range->second.first) << value.label;
                EXPECT_LE(*value.value, range->second.second) << value.label;
            } else {
                EXPECT_EQ(*value.value, expected.value) << value.label;
            }
            EXPECT_DOUBLE_EQ(watch_->number("value", value.label).value_or(std::nan("")),
                             *value.value * in_base_units(expected.unit))
                << value.label;
        }
    }

    // For values that stand still for a while: between two runs by hand that agree with each other,
    // ours agrees with them.
    void expect_same_in_between(const std::string& plugin,
                                const std::vector<std::string>& arguments) {
        const std::vector<std::string> argv = argv_of(plugin, arguments);
        for (int round = 0; round < 50; ++round) {
            const Said before = by_hand(argv, folder_);
            poll(local(parameters(plugin, arguments)), argv);
            if (by_hand(argv, folder_) != before) continue;
            EXPECT_FALSE(before.values.empty()) << before.line;
            return expect_same(before);
        }
        ADD_FAILURE() << plugin << " never said the same twice";
    }

    static std::vector<std::string> argv_of(const std::string& plugin,
                                            const std::vector<std::string>& arguments) {
        std::vector<std::string> argv = {plugin};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        return argv;
    }

    TempDir folder_;
    std::unique_ptr<AddonWatch> watch_;
};

TEST_F(PluginLive, DiskSaysWhatItSaysByHand) {
    // What nobody writes to does not move. The name has a blank, so the label is in quotes.
    const OwnDisk own(folder_.file("my disk"));
    const std::string& disk = own.folder();
    folder_.write("my disk/file", std::string(13'000'000, 'x'));
    const std::pair<std::vector<std::string>, int> cases[] = {
        {{"-w", "10%", "-c", "5%", "-p", disk}, 0},
        {{"-w", "30%", "-c", "5%", "-p", disk}, 1},
        {{"-w", "40%", "-c", "30%", "-p", disk}, 2}};
    for (const auto& [arguments, code] : cases) {
        const auto argv = argv_of("check_disk", arguments);
        const Said reference = by_hand(argv, folder_);
        EXPECT_EQ(reference.code, code) << reference.line;
        ASSERT_EQ(reference.values.count(disk), 1U) << reference.line;
        poll(local(parameters("check_disk", arguments)), argv);
        expect_same(reference);
    }
    EXPECT_THAT(watch_->raised(), ElementsAre("plugin_critical"));
}

// Others write to it meanwhile.
TEST_F(PluginLive, DiskOfTheMachineSaysWhatItSaysByHand) {
    const std::vector<std::string> arguments = {"-w", "2%", "-c", "1%", "-p", "/"};
    const auto argv = argv_of("check_disk", arguments);
    const Said before = by_hand(argv, folder_);
    poll(local(parameters("check_disk", arguments)), argv);
    const Said after = by_hand(argv, folder_);
    ASSERT_EQ(before.values.count("/"), 1U) << before.line;
    struct statvfs root{};
    ASSERT_EQ(statvfs("/", &root), 0);
    const double slack = 0.02 * static_cast<double>(root.f_frsize * root.f_blocks);
    const auto [least, most] = std::minmax(before.values.at("/").value, after.values.at("/").value);
    expect_same(before, {{"/", {least - slack, most + slack}}});
}

TEST_F(PluginLive, TcpSaysWhatItSaysByHand) {
    const std::uint16_t port = net::test::free_port();
    const net::test::Nginx nginx(
        folder_, fmt::format("server {{ listen 127.0.0.1:{}; return 200 'fine'; }}\n", port), port);
    const std::vector<std::string> arguments = {
        "-t", "20", "-E", "-s", R"(GET / HTTP/1.0\r\n\r\n)", "-e", "200 OK"};
    std::vector<std::string> argv = {"check_tcp", "-H", "127.0.0.1", "-p", std::to_string(port)};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    extract::TargetBinding www = target(parameters("check_tcp", arguments), port);
    const Said reference = by_hand(argv, folder_);
    EXPECT_EQ(reference.code, 0);
    EXPECT_THAT(reference.line, StartsWith("TCP OK - "));
    ASSERT_EQ(reference.values.count("time"), 1U) << reference.line;
    poll(www, argv);
    expect_same(reference, {{"time", {0, 20}}});
    EXPECT_THAT(watch_->raised(), IsEmpty());
    // The server never says this.
    argv.back() = www.parameters["arg7"] = "201 Created";
    const Said other = by_hand(argv, folder_);
    EXPECT_EQ(other.code, 1) << other.line;
    poll(www, argv);
    expect_same(other, {{"time", {0, 20}}});
    EXPECT_THAT(watch_->raised(), ElementsAre("plugin_warning"));
}

TEST_F(PluginLive, TcpOfAClosedPortSaysWhatItSaysByHand) {
    const std::uint16_t port = net::test::free_port();
    const std::vector<std::string> argv = {"check_tcp", "-H", "127.0.0.1", "-p",
                                           std::to_string(port)};
    const Said reference = by_hand(argv, folder_);
    EXPECT_EQ(reference.code, 2);
    EXPECT_THAT(reference.line, HasSubstr("Connection refused"));
    poll(target(parameters("check_tcp", {}), port), argv);
    expect_same(reference);
    EXPECT_THAT(watch_->raised(), ElementsAre("plugin_critical"));
}

TEST_F(PluginLive, PingSaysWhatItSaysByHand) {
    for (const auto& [warning, critical, code] : {std::tuple{"3000,80%", "5000,100%", 0},
                                                  {"0.001,80%", "5000,100%", 1},
                                                  {"0.001,80%", "0.002,100%", 2}}) {
        const std::vector<std::string> arguments = {"-w", warning, "-c", critical, "-p", "2"};
        std::vector<std::string> argv = {"check_ping", "-H", "127.0.0.1"};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        const Said reference = by_hand(argv, folder_);
        EXPECT_EQ(reference.code, code) << reference.line;
        ASSERT_EQ(reference.values.size(), 2U) << reference.line;
        EXPECT_EQ(reference.values.at("pl").value, 0);
        poll(target(parameters("check_ping", arguments)), argv);
        expect_same(reference, {{"rta", {0.001, 3000}}});
        EXPECT_EQ(watch_->number("value", "pl"), 0);
    }
}

TEST_F(PluginLive, LoadSaysWhatItSaysByHand) {
    expect_same_in_between("check_load", {"-w", "900,900,900", "-c", "999,999,999"});
    EXPECT_THAT(watch_->raised(), IsEmpty());
    // Each processor's share beside the whole.
    expect_same_in_between("check_load", {"-r", "-w", "900,900,900", "-c", "999,999,999"});
    EXPECT_EQ(watch_->values("value").size(), 6U);
    // No thresholds: the plugin cannot tell, and says how it is used.
    const Said usage = by_hand({"check_load"}, folder_);
    EXPECT_EQ(usage.code, 3);
    poll(local(parameters("check_load", {})), {"check_load"});
    expect_same(usage);
    EXPECT_THAT(watch_->raised(), ElementsAre("plugin_unknown"));
}

TEST_F(PluginLive, UsersSaysWhatItSaysByHand) {
    expect_same_in_between("check_users", {"-w", "900", "-c", "999"});
    EXPECT_EQ(watch_->values("value").count("users"), 1U);
    EXPECT_THAT(watch_->raised(), IsEmpty());
}

}  // namespace
}  // namespace pollux::runtime
