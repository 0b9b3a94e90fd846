#include "app/doctor.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/control_client.hpp"
#include "app/control_test_support.hpp"
#include "app/fleet_access.hpp"
#include "net/test_nginx.hpp"
#include "net/tls_stream.hpp"

namespace pollux::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFleet = R"(
credentials:
  good: {username: admin, password: "${DOCTOR_PASSWORD}"}
  gone: {token: "${DOCTOR_MISSING}"}
devices:
  hall: {address: 127.0.0.1, credentials: good, addons: [http-status]}
  roof: {address: 127.0.0.2, credentials: gone, addons: [http-status]}
)";
constexpr const char* kPassword = "planted-in-the-environment";

FleetPorts ports_of_test() {
    FleetPorts ports = real_fleet_ports();
    ports.environment = {{"DOCTOR_PASSWORD", kPassword}};
    return ports;
}

// The lines about one subject.
std::string about(const DoctorReport& report, std::string_view subject) {
    std::string text;
    for (const DoctorLine& line : report.lines) {
        if (line.subject != subject) continue;
        text += line.finding == Finding::kOk        ? "ok "
                : line.finding == Finding::kWarning ? "warning "
                                                    : "problem ";
        text += line.text + "\n";
    }
    return text;
}

TEST(Doctor, SaysThatTheFolderIsNotThere) {
    const DoctorReport report = examine({.data = "/nowhere/data", .addons = ""}, ports_of_test());
    EXPECT_EQ(report.problems, 1U);
    EXPECT_THAT(about(report, "data folder"), HasSubstr("problem /nowhere/data: No such file"));
    EXPECT_THAT(about(report, "clock"), Not(testing::IsEmpty()))
        << "the machine is looked at anyway";
}

TEST(Doctor, ARunningServerIsSoundAndAMissingSecretIsNamed) {
    const test::RunningServer server(config::Environment{{"DOCTOR_PASSWORD", kPassword}});
    const ControlClient client(server.data());
    ASSERT_TRUE(client.ask("POST", "/apply", encode_files({{"fleet.yaml", kFleet}})));
    const DoctorReport report = examine({.data = server.data(), .addons = ""}, ports_of_test());
    EXPECT_THAT(about(report, "data folder"), HasSubstr("ok "));
    EXPECT_THAT(about(report, "key"), HasSubstr("ok "));
    EXPECT_THAT(about(report, "state"), HasSubstr("is sound"));
    EXPECT_THAT(about(report, "history"), HasSubstr("is sound"));
    EXPECT_THAT(about(report, "fleet"), HasSubstr("2 devices, 2 targets"));
    EXPECT_THAT(about(report, "server"), HasSubstr("ok runs, 2 tasks"));
    EXPECT_THAT(about(report, "credentials"), HasSubstr("problem "));
    EXPECT_THAT(about(report, "credentials"), HasSubstr("DOCTOR_MISSING"));
    EXPECT_THAT(about(report, "credentials"), HasSubstr("1 of 2 can be used"));
    EXPECT_THAT(report.text(), Not(HasSubstr(kPassword)));
    EXPECT_THAT(report.text(), HasSubstr(fmt::format("\n{} problem", report.problems)));
}

TEST(Doctor, FindsOpenRightsADamagedStoreABadSettingAndABrokenAddon) {
    const net::test::TempDir folder;
    const std::string data = folder.file("data");
    std::filesystem::create_directories(data);
    chmod(data.c_str(), 0755);
    EXPECT_THAT(about(examine({.data = data, .addons = ""}, ports_of_test()), "data folder"),
                HasSubstr("chmod 0700"));
    chmod(data.c_str(), 0700);
    folder.write("data/state.db", "this is no database, whatever its name says, at all");
    folder.write("data/system.json", R"({"adaptivePollingEnabled": "perhaps"})");
    folder.write("data/addons/broken/manifest.yaml", "schema: pollux/1\nname: broken\n");
    const DoctorReport report = examine({.data = data, .addons = ""}, ports_of_test());
    EXPECT_THAT(about(report, "state"), HasSubstr("problem "));
    EXPECT_THAT(about(report, "settings"), HasSubstr("problem "));
    EXPECT_THAT(about(report, "settings"), HasSubstr("adaptivePollingEnabled"));
    EXPECT_THAT(about(report, "addons"), HasSubstr("broken/manifest.yaml"));
    EXPECT_THAT(about(report, "server"), HasSubstr("warning is not running"));
    EXPECT_FALSE(std::filesystem::exists(data + "/pollux.key")) << "it changes nothing";
}

TEST(Doctor, AStoreWithoutItsKeyIsNotOpened) {
    const net::test::TempDir folder;
    const std::string data = folder.file("data");
    {
        const auto loop = net::EventLoop::create().value();
        observe::Log log({}, &net::wall_now, [](std::string_view) {});
        runtime::ServerOptions options;
        options.data = data;
        options.offline = true;
        ASSERT_TRUE(runtime::Server::start(*loop, log, std::move(options)));
    }
    std::filesystem::remove(data + "/pollux.key");
    const DoctorReport report = examine({.data = data, .addons = ""}, ports_of_test());
    EXPECT_THAT(about(report, "key"), HasSubstr("put the file back"));
    EXPECT_FALSE(std::filesystem::exists(data + "/pollux.key"));
}

TEST(Doctor, TheBundleHoldsEverythingButSecrets) {
    const test::RunningServer server(config::Environment{{"DOCTOR_PASSWORD", kPassword}});
    const ControlClient client(server.data());
    ASSERT_TRUE(client.ask("POST", "/apply", encode_files({{"fleet.yaml", kFleet}})));
    const FleetPorts ports = ports_of_test();
    const DoctorArguments arguments{.data = server.data(), .addons = ""};
    SupportBundle bundle;
    fill_bundle(bundle, arguments, ports, examine(arguments, ports));
    // Somebody wrote it where it does not belong.
    bundle.add("mistake.txt", std::string("password=") + kPassword);
    std::map<std::string, std::string> files(bundle.files().begin(), bundle.files().end());
    EXPECT_THAT(files.at("about.txt"), HasSubstr("pollux "));
    EXPECT_THAT(files.at("doctor.txt"), HasSubstr("problem"));
    EXPECT_THAT(files.at("settings.txt"), HasSubstr("metrics_port"));
    EXPECT_THAT(files.at("fleet.yaml"), HasSubstr("hall"));
    EXPECT_THAT(files.at("status.json"), HasSubstr("http-status::hall"));
    EXPECT_THAT(files.at("metrics.txt"), HasSubstr("pollux_targets"));
    EXPECT_TRUE(files.contains("log.txt"));
    EXPECT_TRUE(files.contains("timeline.txt"));
    EXPECT_EQ(files.at("mistake.txt"), "password=(secret)");
    for (const auto& [name, text] : files) EXPECT_THAT(text, Not(HasSubstr(kPassword))) << name;
}

// Secrets outside of `credentials`, under names that do not sound like one.
std::string fleet_with_communities(const std::string& file, std::uint16_t port) {
    return R"(
defaults: {snmp: {community: "file:)" +
           file + R"("}}
credentials:
  half: {username: admin, password: "${HALL}", token: "${DOCTOR_MISSING}", ssh_agent: true}
groups:
  core: {snmp: {community: "${GROUP_RO}"}, members: [sw]}
devices:
  sw:
    address: 127.0.0.1
    credentials: half
    snmp: {community: "${DEVICE_RO}"}
    addons: [http-status, {name: snmp-system, snmp: {community: "${ADDON_RO}"}}]
  roof: {address: 127.0.0.2, addons: [http-status], snmp: {community: "${NOT_THERE}"}}
  hall: {address: 127.0.0.1, interval: 10s, addons: [http-status], port: )" +
           std::to_string(port) + "}\n";
}

// A server that has polled and was stopped.
class StoppedServer {
  public:
    StoppedServer() : server_(environment()) {
        const ControlClient client(server_.data());
        const std::string fleet = fleet_with_communities(folder_.write("ro", "planted-in-a-file\n"),
                                                         server_.metrics().port());
        const auto applied = client.ask("POST", "/apply", encode_files({{"fleet.yaml", fleet}}));
        EXPECT_TRUE(applied) << applied.error().message;
        EXPECT_TRUE(net::test::Process::wait_until(net::test::kPatience, [&] {
            const auto text = client.ask_text("GET", "/timeline", "");
            return text && text->find("http-status::hall") != std::string::npos;
        }));
        server_.stop();
    }
    static config::Environment environment() {
        return {{"HALL", "planted-password"},
                {"GROUP_RO", "planted-of-the-group"},
                {"DEVICE_RO", "planted-of-the-device"},
                {"ADDON_RO", "planted-of-the-addon"}};
    }
    std::string data() const { return server_.data(); }

  private:
    net::test::TempDir folder_;
    test::RunningServer server_;
};

std::map<std::string, std::string> bundle_of(const std::string& data, const FleetPorts& ports,
                                             const std::string& mistake = "") {
    const DoctorArguments arguments{.data = data, .addons = ""};
    SupportBundle bundle;
    fill_bundle(bundle, arguments, ports, examine(arguments, ports));
    bundle.add("mistake.txt", mistake);
    return {bundle.files().begin(), bundle.files().end()};
}

TEST(Doctor, TheBundleOfAStoppedServerHasItsTimelineAndNoSecret) {
    const StoppedServer stopped;
    FleetPorts ports = real_fleet_ports();
    ports.environment = StoppedServer::environment();
    const std::string mistake =
        "planted-in-a-file planted-password planted-of-the-group planted-of-the-device "
        "planted-of-the-addon";
    const auto files = bundle_of(stopped.data(), ports, mistake);
    EXPECT_THAT(files.at("timeline.txt"), HasSubstr("http-status::hall"));
    EXPECT_THAT(files.at("timeline.txt"), HasSubstr("target is up"));
    EXPECT_THAT(files.at("log.txt"), HasSubstr("journalctl -u pollux"));
    EXPECT_THAT(files.at("status.json"), HasSubstr("not running"));
    EXPECT_EQ(files.at("mistake.txt"), "(secret) (secret) (secret) (secret) (secret)");
    EXPECT_THAT(about(examine({.data = stopped.data(), .addons = ""}, ports), "credentials"),
                AllOf(HasSubstr("community of device roof"), HasSubstr("NOT_THERE")));
    // One that wrote its log into its folder.
    std::ofstream(stopped.data() + "/pollux.log") << "first line\nwith planted-password\n";
    EXPECT_EQ(bundle_of(stopped.data(), ports).at("log.txt"), "first line\nwith (secret)\n");
}

TEST(Doctor, SaysWhoWantsAnAgentThatIsNotThere) {
    const StoppedServer stopped;
    const auto agent = [&](const char* socket) {
        FleetPorts ports = real_fleet_ports();
        ports.environment = StoppedServer::environment();
        if (socket != nullptr) ports.environment["SSH_AUTH_SOCK"] = socket;
        return about(examine({.data = stopped.data(), .addons = ""}, ports), "ssh agent");
    };
    EXPECT_THAT(agent(nullptr), HasSubstr("warning half want the agent, and SSH_AUTH_SOCK is not"));
    EXPECT_THAT(agent("/dev/null"), HasSubstr("/dev/null, which is no socket"));
}

// A socket of 127.0.0.1 that holds its port.
class Held {
  public:
    explicit Held(int type) : port(net::test::free_port()) {
        const net::test::TestAddress address("127.0.0.1", port);
        fd_ = socket(AF_INET, type | SOCK_CLOEXEC, 0);
        EXPECT_EQ(bind(fd_, address.get(), address.length), 0);
        EXPECT_TRUE(type != SOCK_STREAM || listen(fd_, 1) == 0);
    }
    ~Held() { close(fd_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    std::uint16_t port;

  private:
    int fd_ = -1;
};

TEST(Doctor, LooksAtPortsPluginFoldersAndHostKeys) {
    const net::test::TempDir folder;
    const std::string data = folder.file("data");
    std::filesystem::create_directories(data);
    chmod(data.c_str(), 0700);
    const Held traps(SOCK_DGRAM);
    const Held http(SOCK_STREAM);
    const std::uint16_t free = net::test::free_port();
    const std::string open = folder.file("open");
    std::filesystem::create_directories(open);
    chmod(open.c_str(), 0777);
    std::filesystem::create_directories(folder.file("shut"));
    chmod(folder.file("shut").c_str(), 0755);
    FleetPorts ports = real_fleet_ports();
    ports.environment = {
        {"POLLUX_TRAP_LISTEN", fmt::format("127.0.0.1:{},127.0.0.1:{}", traps.port, free)},
        {"POLLUX_INBOUND_LISTEN", fmt::format("127.0.0.1:{},127.0.0.1:{}", http.port, free)},
        {"POLLUX_PLUGIN_FOLDERS",
         fmt::format("{},{},{}", open, folder.file("gone"), folder.file("shut"))}};
    const auto seen = [&](std::string_view subject) {
        return about(examine({.data = data, .addons = ""}, ports), subject);
    };
    EXPECT_THAT(
        seen("ports"),
        AllOf(HasSubstr(fmt::format("problem traps cannot be heard on 127.0.0.1:{} "
                                    "(POLLUX_TRAP_LISTEN)",
                                    traps.port)),
              HasSubstr("ss -ulpn"),
              HasSubstr(fmt::format("ok traps can be heard on 127.0.0.1:{}", free)),
              HasSubstr(fmt::format("problem webhooks and pushes cannot be heard on "
                                    "127.0.0.1:{}",
                                    http.port)),
              HasSubstr(fmt::format("ok webhooks and pushes can be heard on 127.0.0.1:{}", free))));
    EXPECT_THAT(seen("plugins"),
                AllOf(HasSubstr(fmt::format("problem everybody may write into {}", open)),
                      HasSubstr(fmt::format("warning {}, named by", folder.file("gone"))),
                      HasSubstr(fmt::format("ok {}", folder.file("shut")))));
    EXPECT_EQ(seen("host keys"), "") << "no host is known yet";
    const std::string keys = folder.write("data/ssh_known_hosts", "db ssh-ed25519 AAAA\n");
    chmod(keys.c_str(), 0600);
    EXPECT_EQ(seen("host keys"), "ok 1 are known\n");
    chmod(keys.c_str(), 0666);
    EXPECT_THAT(seen("host keys"), HasSubstr("problem others may write"));
    std::filesystem::remove(keys);
    std::filesystem::create_directories(keys);
    EXPECT_THAT(seen("host keys"), HasSubstr("problem "));
}

TEST(Doctor, LooksAtOurOwnCertificates) {
    const net::test::TempDir folder;
    const std::string data = folder.file("data");
    std::filesystem::create_directories(data);
    chmod(data.c_str(), 0700);
    FleetPorts ports = real_fleet_ports();
    const auto seen = [&](const net::test::TestCertificate& made) {
        ports.environment = {{"POLLUX_INBOUND_TLS_CERTIFICATE", made.certificate},
                             {"POLLUX_INBOUND_TLS_KEY", made.key}};
        return about(examine({.data = data, .addons = ""}, ports), "certificates");
    };
    EXPECT_EQ(seen({}), "") << "there are none";
    const auto good = net::test::make_self_signed(folder, "good", 60);
    const auto soon = net::test::make_self_signed(folder, "soon", 3);
    EXPECT_THAT(seen(good), HasSubstr("ok " + good.certificate + " is valid until 20"));
    EXPECT_THAT(seen(soon), AllOf(HasSubstr("warning " + soon.certificate), HasSubstr("renew it")));
    const auto over = net::make_self_signed({.valid_days = -1}).value();
    const net::test::TestCertificate expired{folder.write("over.pem", over.certificate),
                                             folder.write("over.key", over.key.reveal())};
    chmod(expired.key.c_str(), 0600);
    EXPECT_THAT(seen(expired),
                AllOf(HasSubstr("problem " + expired.certificate), HasSubstr("clients refuse it")));
    EXPECT_THAT(seen({good.certificate, soon.key}),
                AllOf(HasSubstr("problem inbound_tls_certificate"), HasSubstr("will not start")));
    EXPECT_THAT(seen({good.certificate, ""}), HasSubstr("set both or none"));
    chmod(good.key.c_str(), 0644);
    EXPECT_THAT(seen(good), HasSubstr("chmod 0600 " + good.key));
}

TEST(Doctor, TheUsualPluginFoldersNeedNotBeThere) {
    const net::test::TempDir folder;
    const std::string data = folder.file("data");
    std::filesystem::create_directories(data);
    chmod(data.c_str(), 0700);
    FleetPorts ports = real_fleet_ports();
    ports.environment = {};
    EXPECT_THAT(about(examine({.data = data, .addons = ""}, ports), "plugins"),
                Not(HasSubstr("warning")));
}

}  // namespace
}  // namespace pollux::app
