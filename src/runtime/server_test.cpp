#include "runtime/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_process.hpp"
#include "runtime/runtime_test_support.hpp"
#include "store/data_directory.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kSecret = "s3cret-token-value";

// Devices are unreachable on purpose: nobody listens on these loopback addresses.
constexpr const char* kTwoLamps = R"yaml(
devices:
  hall: {address: 127.9.9.1, port: 9, addons: [lamp]}
  cellar: {address: 127.9.9.2, port: 9, addons: [lamp]}
)yaml";

std::vector<config::FileText> files_of(std::string text) {
    return {{"fleet.yaml", std::move(text)}};
}

// One server after the other over the same data folder, or in memory.
class ServerTest : public testing::Test {
  protected:
    void SetUp() override { loop_ = net::EventLoop::create().value(); }

    ServerOptions options(bool in_memory = false) const {
        ServerOptions options;
        if (!in_memory) options.data = folder_.file("data");
        options.environment = {{"LAMP_TOKEN", kSecret}};
        options.addons = {{"lamp", test::lamp_addon()}};
        options.version = "1.2.3";
        return options;
    }
    std::unique_ptr<Server> start(ServerOptions options) {
        auto server = Server::start(*loop_, lines_.log(), std::move(options));
        EXPECT_TRUE(server) << server.error().message;
        return server ? std::move(*server) : nullptr;
    }
    // Runs the loop until the answer is there.
    template <class T, class Start>
    T wait(Start&& begin) {
        std::optional<T> answer;
        begin([&answer](T value) { answer = std::move(value); });
        const auto end = std::chrono::steady_clock::now() + test::kPatience;
        while (!answer && std::chrono::steady_clock::now() < end) loop_->run_once(10ms);
        return std::move(answer).value();
    }
    std::string metrics(Server& server) {
        return wait<std::string>([&](auto done) { server.metrics(std::move(done)); });
    }
    std::string ask(Server& server, std::function<std::string(const CoreLoop::View&)> question) {
        return wait<std::string>([&](auto done) { server.ask(question, std::move(done)); });
    }
    std::string known_tasks(Server& server) {
        return ask(server, [](const CoreLoop::View& view) {
            return std::to_string(view.engine.core().size());
        });
    }
    static std::vector<std::string> names(const Server& server, model::ObjectKind kind) {
        std::vector<std::string> all;
        for (const auto& object : server.objects()) {
            if (object.kind == kind) all.push_back(object.name);
        }
        return all;
    }

    net::test::TempDir folder_;
    test::LogLines lines_;
    std::unique_ptr<net::EventLoop> loop_;
};

TEST_F(ServerTest, AppliesAFleetInMemory) {
    const auto server = start(options(true));
    const auto report = server->apply(files_of(kTwoLamps));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_GT(report->added, 0U);
    EXPECT_EQ(report->removed, 0U);
    EXPECT_THAT(report->difference, HasSubstr("hall"));
    EXPECT_EQ(server->image().plans.size(), 2U);
    EXPECT_EQ(known_tasks(*server), "2");
    const auto again = server->apply(files_of(kTwoLamps));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->added + again->changed + again->removed, 0U);

    const auto less =
        server->apply(files_of("devices: {hall: {address: 127.9.9.1, port: 9, addons: [lamp]}}"));
    ASSERT_TRUE(less);
    EXPECT_GT(less->removed, 0U);
    EXPECT_EQ(known_tasks(*server), "1");
    server->stop();
    server->stop();
}

TEST_F(ServerTest, AccountsAreKeptApartFromWhatIsShownAndExported) {
    {
        const auto server = start(options());
        ASSERT_TRUE(server->apply(files_of(kTwoLamps)));
        server->stop();
    }
    {
        auto directory = store::DataDirectory::open(options().data);
        ASSERT_TRUE(directory) << directory.error().message;
        auto store = store::open_sqlite_store(*directory, [](auto&&...) {});
        ASSERT_TRUE(store) << store.error().message;
        store::ObjectBatch batch;
        for (const auto kind :
             {model::ObjectKind::kUser, model::ObjectKind::kToken, model::ObjectKind::kSession}) {
            batch.writes.push_back(
                {{kind, "id", "name", model::Origin::kApi, 0, base::WallTime{5}, "{}"}, 0});
        }
        ASSERT_TRUE((*store)->submit(std::move(batch), [](auto committed) {
            EXPECT_TRUE(committed) << committed.error().message;
        }));
        ASSERT_TRUE((*store)->close());
    }
    {
        const auto server = start(options());
        for (const auto& object : server->objects()) {
            EXPECT_FALSE(model::is_account_kind(object.kind)) << object.name;
        }
        EXPECT_EQ(server->take_account_objects().size(), 3U);
        EXPECT_TRUE(server->take_account_objects().empty());
        // Applying and removing everything leaves them where they are.
        ASSERT_TRUE(server->apply(files_of("devices: {}")));
        server->stop();
    }
    EXPECT_EQ(start(options())->take_account_objects().size(), 3U);
}

TEST_F(ServerTest, ABadApplyChangesNothing) {
    const auto server = start(options());
    ASSERT_TRUE(server->apply(files_of(kTwoLamps)));
    const auto objects = server->objects();
    for (const char* bad : {
             "devices: {hall: {adons: [lamp]}}",                        // a word nobody knows
             "devices: {hall: {addons: [lump]}}",                       // no such addon
             "devices: {hall: {addons: [lamp], groups: [nowhere]}}",    // no such group
             "devices: [",                                              // no document at all
             "devices: {hall: {addons: {lamp: {params: {x: \"1\"}}}}}"  // no such parameter
         }) {
        const auto report = server->apply(files_of(bad));
        ASSERT_FALSE(report) << bad;
        EXPECT_THAT(report.error().message, HasSubstr("fleet.yaml")) << bad;
        EXPECT_EQ(server->objects(), objects) << bad;
        EXPECT_EQ(server->image().plans.size(), 2U) << bad;
    }
    EXPECT_EQ(known_tasks(*server), "2");
}

TEST_F(ServerTest, KeepsItsFleetAcrossRestarts) {
    std::vector<model::ConfigObject> objects;
    {
        const auto server = start(options());
        ASSERT_TRUE(server->apply(files_of(kTwoLamps)));
        objects = server->objects();
        server->stop();
    }
    const auto server = start(options());
    EXPECT_EQ(server->objects(), objects);
    EXPECT_THAT(names(*server, model::ObjectKind::kDevice), ElementsAre("cellar", "hall"));
    EXPECT_EQ(known_tasks(*server), "2");
    EXPECT_NE(server->history(), nullptr);
}

TEST_F(ServerTest, RefusesADataFolderThatIsInUse) {
    const auto server = start(options());
    const auto second = Server::start(*loop_, lines_.log(), options());
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr(folder_.file("data")));
}

TEST_F(ServerTest, OfflineChangesTheStoreAndPollsNothing) {
    {
        ServerOptions offline = options();
        offline.offline = true;
        const auto server = start(std::move(offline));
        ASSERT_TRUE(server->apply(files_of(kTwoLamps)));
        EXPECT_EQ(server->history(), nullptr);
        config::StoredSettings wanted = server->stored_settings();
        ASSERT_TRUE(config::set_value(wanted, "metrics_target_limit", "7"));
        ASSERT_TRUE(server->change_settings(wanted, {"test"}));
    }
    const auto server = start(options());
    EXPECT_EQ(known_tasks(*server), "2");
    EXPECT_EQ(server->settings().metrics_target_limit, 7);
}

TEST_F(ServerTest, FilesAtTheStartAreTakenInOrRefused) {
    ServerOptions good = options();
    good.fleet_files = [] { return files_of(kTwoLamps); };
    EXPECT_EQ(start(std::move(good))->image().plans.size(), 2U);
    ServerOptions bad = options();
    bad.fleet_files = [] { return files_of("devices: {hall: {addons: [lump]}}"); };
    const auto refused = Server::start(*loop_, lines_.log(), std::move(bad));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("lump"));
    EXPECT_EQ(start(options())->image().plans.size(), 2U) << "what was stored is still there";
}

// Adopted in the dashboard, still named by the files: the next start must not fail because of it.
TEST_F(ServerTest, WhatWasAdoptedStaysWhenTheFilesStillNameIt) {
    const auto with_files = [this](const char* text) {
        ServerOptions given = options();
        given.fleet_files = [text] { return files_of(text); };
        return given;
    };
    {
        const auto server = start(with_files(kTwoLamps));
        document::Diagnostics diagnostics;
        const config::WantedObject adopt{config::EditVerb::kAdopt, model::ObjectKind::kDevice,
                                         "hall", document::Node(), std::nullopt};
        const auto adopted = server->edit({&adopt, 1}, {"test"}, diagnostics);
        ASSERT_TRUE(adopted) << adopted.error().message;
        server->stop();
    }
    constexpr const char* kMoved = R"yaml(
devices:
  hall: {address: 127.9.9.7, port: 9, addons: [lamp]}
  cellar: {address: 127.9.9.8, port: 9, addons: [lamp]}
)yaml";
    const auto server = start(with_files(kMoved));
    EXPECT_EQ(server->image().plans.at("lamp::hall")->asks[0][0]->host, "127.9.9.1");
    EXPECT_EQ(server->image().plans.at("lamp::cellar")->asks[0][0]->host, "127.9.9.8");
    EXPECT_THAT(lines_.text(), HasSubstr("hall"));
    EXPECT_TRUE(server->reload());
    // Who types it is asked what they mean.
    const auto refused = server->apply(files_of(kMoved));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "fleet.conflict");
    ASSERT_TRUE(server->apply(files_of(kMoved), OwnedElsewhere::kAdopt));
    EXPECT_EQ(server->image().plans.at("lamp::hall")->asks[0][0]->host, "127.9.9.7");
}

TEST_F(ServerTest, SecretsAreSealedInTheStoreAndInNoMessage) {
    const std::string literal = "lit3ral-password";
    const auto server = start(options());
    const auto report = server->apply(files_of(R"yaml(
credentials:
  web: {token: "${LAMP_TOKEN}"}
  old: {username: me, password: lit3ral-password}
  gone: {token: "${NOT_THERE}"}
devices:
  hall: {address: 127.9.9.1, port: 9, credentials: web, addons: [lamp]}
  cellar: {address: 127.9.9.2, port: 9, credentials: old, addons: [lamp]}
  attic: {address: 127.9.9.3, port: 9, credentials: gone, addons: [lamp]}
)yaml"));
    ASSERT_TRUE(report) << report.error().message;
    std::string told = report->difference;
    for (const auto& item : report->warnings) told += document::to_string(item);
    EXPECT_THAT(told, HasSubstr("NOT_THERE"));
    EXPECT_THAT(told, Not(HasSubstr(literal)));
    const PollPlan& cellar = *server->image().plans.at("lamp::cellar");
    EXPECT_EQ(cellar.asks[0][0]->credentials->password.reveal(), literal);
    EXPECT_EQ(metrics(*server).find(literal), std::string::npos);
    server->stop();
    std::string written;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("data"))) {
        if (entry.is_regular_file()) {
            written += folder_.read("data/" + entry.path().filename().string());
        }
    }
    EXPECT_THAT(written, HasSubstr("127.9.9.2")) << "the store was looked at";
    EXPECT_THAT(written, Not(HasSubstr(literal)));
    EXPECT_THAT(lines_.text(), Not(HasSubstr(literal)));
    EXPECT_THAT(lines_.text(), Not(HasSubstr(kSecret)));
}

TEST_F(ServerTest, AReloadReadsFilesAndSecretsAgain) {
    const std::string secret = folder_.write("secret", "one\n");
    const std::string head = "credentials: {web: {token: \"file:" + secret + "\"}}\ndevices:\n";
    std::string text =
        head + "  hall: {address: 127.9.9.1, port: 9, credentials: web, addons: [lamp]}\n";
    ServerOptions with_files = options();
    with_files.fleet_files = [&] { return files_of(text); };
    const auto server = start(std::move(with_files));
    const auto token = [&] {
        return server->image().plans.at("lamp::hall")->asks[0][0]->credentials->token.reveal();
    };
    EXPECT_EQ(token(), "one");
    folder_.write("secret", "two\n");
    ASSERT_TRUE(server->reload());
    EXPECT_EQ(token(), "two") << "the files are the same, the secret is not";

    text += "  cellar: {address: 127.9.9.2, port: 9, addons: [lamp]}\n";
    ASSERT_TRUE(server->reload());
    EXPECT_EQ(server->image().plans.size(), 2U);
    text += "  attic: {adons: [lamp]}\n";
    const auto refused = server->reload();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("adons"));
    EXPECT_EQ(server->image().plans.size(), 2U);
    const std::string page = metrics(*server);
    EXPECT_THAT(page, HasSubstr("pollux_config_reloads_total{result=\"ok\"} 2\n"));
    EXPECT_THAT(page, HasSubstr("pollux_config_reloads_total{result=\"failed\"} 1\n"));
}

TEST_F(ServerTest, ChangesSettingsWhileItRuns) {
    const auto server = start(options());
    config::StoredSettings wanted = server->stored_settings();
    ASSERT_TRUE(config::set_value(wanted, "metrics_target_limit", "7"));
    ASSERT_TRUE(server->change_settings(wanted, {"a test"}));
    EXPECT_EQ(server->settings().metrics_target_limit, 7);
    EXPECT_EQ(
        ask(*server, [](const auto& view) { return std::to_string(view.stats.target_limit()); }),
        "7");
    const std::string mirror = folder_.read("data/system.json");
    EXPECT_THAT(mirror, HasSubstr(": 7"));
    EXPECT_THAT(lines_.text(), HasSubstr("setting changed"));
    const auto versions = server->store().settings_versions(UINT64_MAX, 10);
    ASSERT_TRUE(versions);
    ASSERT_EQ(versions->size(), 1U);
    EXPECT_EQ(versions->at(0).note, "a test");

    config::StoredSettings wrong = wanted;
    for (auto& [name, value] : wrong.values) value = "\"many\"";
    EXPECT_FALSE(server->change_settings(wrong, {"a test"}));
    EXPECT_EQ(server->settings().metrics_target_limit, 7);
    EXPECT_EQ(server->stored_settings(), wanted);
    EXPECT_EQ(folder_.read("data/system.json"), mirror);
    EXPECT_EQ(server->store().settings_versions(UINT64_MAX, 10)->size(), 1U);
}

TEST_F(ServerTest, AnEditOfSystemJsonIsTakenOrRefused) {
    const auto server = start(options());
    config::StoredSettings wanted;
    ASSERT_TRUE(config::set_value(wanted, "metrics_target_limit", "7"));
    ASSERT_TRUE(server->change_settings(wanted, {"a test"}));
    std::string text = folder_.read("data/system.json");
    const std::size_t at = text.find(": 7");
    ASSERT_NE(at, std::string::npos);
    folder_.write("data/system.json", text.replace(at, 3, ": 8"));
    ASSERT_TRUE(server->reload());
    EXPECT_EQ(server->settings().metrics_target_limit, 8);
    folder_.write("data/system.json", "{ no json");
    EXPECT_FALSE(server->reload()) << "a refusal must reach who asked";
    EXPECT_EQ(server->settings().metrics_target_limit, 8);
    const std::string page = metrics(*server);
    EXPECT_THAT(page, HasSubstr("pollux_config_reloads_total{result=\"ok\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("pollux_config_reloads_total{result=\"failed\"} 1\n"));
}

TEST_F(ServerTest, AnEditOfSystemJsonWhileItWasDownIsStored) {
    std::string text;
    {
        const auto server = start(options());
        config::StoredSettings wanted;
        ASSERT_TRUE(config::set_value(wanted, "metrics_target_limit", "7"));
        ASSERT_TRUE(server->change_settings(wanted, {"a test"}));
        text = folder_.read("data/system.json");
    }
    folder_.write("data/system.json", text.replace(text.find(": 7"), 3, ": 8"));
    {
        const auto server = start(options());
        EXPECT_EQ(server->settings().metrics_target_limit, 8);
        const auto versions = server->store().settings_versions(UINT64_MAX, 10);
        ASSERT_EQ(versions->size(), 2U);
        EXPECT_EQ(versions->at(0).note, "system.json edited by hand");
    }
    folder_.write("data/system.json", "{ no json");
    const auto server = start(options());
    EXPECT_EQ(server->settings().metrics_target_limit, 8) << "the store knows them";
    EXPECT_EQ(server->store().settings_versions(UINT64_MAX, 10)->size(), 2U);
    EXPECT_THAT(lines_.text(), HasSubstr("the stored settings stay"));
}

TEST_F(ServerTest, AMirrorThatADeathLeftBehindUndoesNothing) {
    std::string older;
    std::string newer;
    {
        const auto server = start(options());
        config::StoredSettings wanted;
        ASSERT_TRUE(config::set_value(wanted, "metrics_target_limit", "7"));
        ASSERT_TRUE(server->change_settings(wanted, {"a test"}));
        older = folder_.read("data/system.json");
        ASSERT_TRUE(config::set_value(wanted, "metrics_target_limit", "8"));
        ASSERT_TRUE(server->change_settings(wanted, {"a test"}));
        newer = folder_.read("data/system.json");
    }
    // As if it had died after the commit and before the file was written.
    folder_.write("data/system.json", older);
    const auto server = start(options());
    EXPECT_EQ(server->settings().metrics_target_limit, 8);
    EXPECT_EQ(server->store().settings_versions(UINT64_MAX, 10)->size(), 2U);
    EXPECT_EQ(folder_.read("data/system.json"), newer);
    EXPECT_THAT(lines_.text(), HasSubstr("that of the version before"));
}

TEST_F(ServerTest, OperatesAndShowsItsMetrics) {
    const auto server = start(options(true));
    ASSERT_TRUE(server->apply(files_of(kTwoLamps)));
    const auto operate = [&](const char* key) {
        return wait<base::Status>([&](auto done) {
            server->operate({schedule::OperatorVerb::kDisable, key, 0}, std::move(done));
        });
    };
    EXPECT_TRUE(operate("lamp::hall"));
    EXPECT_FALSE(operate("lamp::nobody"));
    const std::string page = metrics(*server);
    EXPECT_THAT(page, HasSubstr("pollux_targets{class=\"lamp\",enabled=\"false\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("pollux_build_info{version=\"1.2.3\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("process_resident_memory_bytes"));
    EXPECT_EQ(wait<std::string>([&](auto done) { server->device_metrics(std::move(done)); }), "")
        << "nobody answered";
}

// Switched off, then edited while no server ran: it is polled again, so its time counts again.
TEST_F(ServerTest, UptimeGoesOnWhereAnOfflineEditEnabledATask) {
    const auto becomes = [&](Server& server, UptimeState wanted) {
        const auto end = std::chrono::steady_clock::now() + test::kPatience;
        while (std::chrono::steady_clock::now() < end) {
            loop_->run_once(50ms);
            const auto uptime = server.uptime()->target("lamp::hall");
            if (uptime && uptime->state == wanted) return true;
        }
        return false;
    };
    {
        const auto server = start(options());
        ASSERT_TRUE(server->apply(files_of(kTwoLamps)));
        ASSERT_TRUE(becomes(*server, UptimeState::kDown));
        ASSERT_TRUE(wait<base::Status>([&](auto done) {
            server->operate({schedule::OperatorVerb::kDisable, "lamp::hall", 0}, std::move(done));
        }));
        ASSERT_TRUE(becomes(*server, UptimeState::kUnknown));
    }
    {
        ServerOptions offline = options();
        offline.offline = true;
        const auto server = start(std::move(offline));
        ASSERT_TRUE(server->apply(
            files_of("devices: {hall: {address: 127.9.9.1, port: 10, addons: [lamp]}}")));
    }
    const auto server = start(options());
    EXPECT_TRUE(becomes(*server, UptimeState::kDown));
}

}  // namespace
}  // namespace pollux::runtime
