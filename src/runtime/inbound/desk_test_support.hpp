// A desk with real sockets over a real store whose disk can be made to fail, and the clients that
// people use: curl, snmptrap, snmpinform. Included after gmock.
#pragma once

#include <fmt/format.h>

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"
#include "extract/compiled_addon.hpp"
#include "net/test_process.hpp"
#include "runtime/inbound/inbound_desk.hpp"
#include "store/data_directory.hpp"
#include "store/sqlite/fault_vfs_test_support.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace pollux::runtime::test {

using net::test::Process;
using net::test::TempDir;

inline constexpr const char* kPushAddon = R"(schema: pollux/1
name: alive
version: 1.0.0
title: Alive
protocol: push
push: {interval: 1h, grace: 1m}
signals:
  - {type: silent, clear_when: up == 1, severity: major, title: "{device} is silent", message: "{message}"}
)";

inline constexpr const char* kHookAddon = R"(schema: pollux/1
name: hook
version: 1.0.0
title: Hook
protocol: webhook
webhook:
  fields: {state: $.state, sensor: $.sensor}
signals:
  - {type: alarm, when: state != 'none', clear_when: state == 'good', severity: critical, title: "{sensor} is {state}", fingerprint_fields: [sensor]}
)";

inline constexpr const char* kTrapAddon = R"(schema: pollux/1
name: traps
version: 1.0.0
title: Traps
protocol: trap
trap:
  enterprise: [1.3.6.1.6.3.1.1.5, 1.3.6.1.4.1.9]
  varbinds: {if_index: 1.3.6.1.2.1.2.2.1.1}
signals:
  - {type: link_down, trap: 1.3.6.1.6.3.1.1.5.3, clear_trap: 1.3.6.1.6.3.1.1.5.4, severity: major, title: "link {if_index} is down", fingerprint_fields: [if_index]}
)";

inline std::shared_ptr<const extract::CompiledAddon> compiled(const std::string& text) {
    const auto result = extract::compile(text, "test.yaml");
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return result.addon;
}

inline std::shared_ptr<InboundTarget> inbound_target(const char* manifest,
                                                     const std::string& device) {
    auto target = std::make_shared<InboundTarget>();
    target->addon = compiled(manifest);
    target->key = target->addon->addon().name + "::" + device;
    target->id = "id-of-" + target->key;
    target->device = device;
    target->kind = target->addon->addon().protocol;
    target->addresses = {"127.0.0.1", "::1"};
    if (const auto push = target->addon->push()) {
        target->interval = push->interval;
        target->grace = push->grace;
    }
    if (target->kind != model::ProtocolKind::kTrap) {
        target->token = base::Secret("token-of-" + device + "-0123456789");
    }
    return target;
}

inline std::shared_ptr<const InboundImage> image_of(
    std::vector<std::shared_ptr<InboundTarget>> targets) {
    auto image = std::make_shared<InboundImage>();
    for (auto& target : targets) image->targets.push_back(std::move(target));
    std::ranges::sort(image->targets, {}, [](const auto& one) { return one->key; });
    return image;
}

struct Ran {
    int code = -1;
    std::string output;
};

class DeskStage {
  public:
    DeskStage()
        : log_({}, &net::wall_now, [this](std::string_view line) {
              const std::scoped_lock lock(mutex_);
              lines_ += line;
          }) {
        static_cast<void>(store::FaultVfs::instance());
        store::FaultVfs::instance().set(store::DiskFault::kNone);
        options.http_listen = {fmt::format("127.0.0.1:{}", http_port)};
        options.trap_listen = {fmt::format("127.0.0.1:{}", trap_port),
                               fmt::format("[::1]:{}", trap_port)};
        options.engine = {std::string("\x80\x00\x00\x00\x05test-engine", 16), 1, net::boot_now()};
        options.random = {1, 2};
        open_store();
    }
    ~DeskStage() {
        store::FaultVfs::instance().set(store::DiskFault::kNone);
        desk.reset();
        store_.reset();
    }

    void start(std::shared_ptr<const InboundImage> image) {
        std::vector<std::pair<std::string, std::string>> memories;
        store::LoadVisitor visitor;
        visitor.memory = [&](store::MemoryRow&& row) {
            memories.emplace_back(std::move(row.key), std::move(row.bytes));
        };
        ASSERT_TRUE(store_->load(visitor));
        InboundWiring wiring;
        wiring.confirm = [this](std::vector<std::string> tasks, model::ProtocolKind) {
            const std::scoped_lock lock(mutex_);
            confirmed_.insert(confirmed_.end(), tasks.begin(), tasks.end());
        };
        auto started = InboundDesk::start(*store_, log_, options, std::move(wiring),
                                          std::move(memories), std::move(image));
        ASSERT_TRUE(started) << started.error().message;
        desk = std::move(*started);
    }
    void restart(std::shared_ptr<const InboundImage> image) {
        desk.reset();
        store_.reset();
        open_store();
        start(std::move(image));
    }

    Ran run(std::vector<std::string> command) {
        Process process(std::move(command), folder_);
        EXPECT_TRUE(process.wait_for_end()) << process.output();
        return {process.exit_code(), process.output()};
    }
    // Status and body: "200 {...}".
    std::string curl(const std::string& path, std::vector<std::string> arguments = {}) {
        std::vector<std::string> command = {"curl", "-s", "-S",           "--max-time",
                                            "60",   "-w", " %{http_code}"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        command.push_back(fmt::format("http://127.0.0.1:{}{}", http_port, path));
        return run(command).output;
    }
    // `snmptrap` or `snmpinform` with the usual beginning of its arguments.
    Ran send(const std::string& tool, std::vector<std::string> before,
             std::vector<std::string> after, const std::string& host = "127.0.0.1") {
        std::vector<std::string> command = {tool, "-Lo", "-M", "", "-m", ""};
        command.insert(command.end(), before.begin(), before.end());
        command.push_back(
            fmt::format("{}:{}", host == "::1" ? "udp6:[::1]" : "udp:" + host, trap_port));
        command.insert(command.end(), after.begin(), after.end());
        return run(command);
    }

    std::vector<store::Observation> rows() { return store_->observations({.limit = 1000}).value(); }
    bool wait_for_rows(std::size_t count) {
        return Process::wait_until(net::test::kPatience, [&] { return rows().size() >= count; });
    }
    InboundCounts counts() {
        std::promise<InboundCounts> promise;
        desk->collect_counts([&](const InboundCounts& counts) { promise.set_value(counts); });
        return promise.get_future().get();
    }
    document::Node ask(const std::function<void(std::move_only_function<void(std::string)>)>& how) {
        std::promise<std::string> promise;
        how([&](std::string text) { promise.set_value(std::move(text)); });
        document::Diagnostics diagnostics;
        return document::parse(promise.get_future().get(), "page", diagnostics).root;
    }
    document::Node explain(const std::string& key) {
        return ask([&](auto done) { desk->explain(key, std::move(done)); });
    }
    std::string explained(const std::string& key, std::string_view field) {
        const document::Node page = explain(key);
        const document::Node* found = page.find(field);
        return found == nullptr || found->is_null() ? "" : found->scalar();
    }
    std::string log() {
        const std::scoped_lock lock(mutex_);
        return lines_;
    }
    std::vector<std::string> confirmed() {
        const std::scoped_lock lock(mutex_);
        return confirmed_;
    }
    const TempDir& folder() const { return folder_; }
    store::Store& store() { return *store_; }

    std::uint16_t http_port = net::test::free_port();
    std::uint16_t trap_port = net::test::free_port();
    InboundOptions options;
    std::unique_ptr<InboundDesk> desk;

  private:
    void open_store() {
        auto directory = store::DataDirectory::open(folder_.file("data"));
        ASSERT_TRUE(directory) << directory.error().message;
        store::SqliteOptions with;
        with.vfs = store::FaultVfs::kName;
        auto opened = store::open_sqlite_store(*directory, {}, with);
        ASSERT_TRUE(opened) << opened.error().message;
        store_ = std::move(*opened);
    }

    TempDir folder_;
    std::mutex mutex_;
    std::string lines_;
    std::vector<std::string> confirmed_;
    observe::Log log_;
    std::unique_ptr<store::Store> store_;
};

}  // namespace pollux::runtime::test
