// Complaints about the notifications of Pulse, a predecessor, on the way out. The numbers are those
// of its issues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "net/test_process.hpp"
#include "runtime/runtime_test_support.hpp"
#include "runtime/server.hpp"

namespace pollux::tests {
namespace {

using model::DeliveryState;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kFleet = R"yaml(
receivers: {ops: {channels: [{url: "https://hooks.example.org"}]}}
routes: {all: {receivers: [ops]}}
)yaml";

class PulseNotificationComplaint : public testing::Test {
  protected:
    void SetUp() override {
        loop_ = net::EventLoop::create().value();
        runtime::ServerOptions options;
        options.data = folder_.file("data");
        auto server = runtime::Server::start(*loop_, lines_.log(), std::move(options));
        ASSERT_TRUE(server) << server.error().message;
        server_ = std::move(*server);
        ASSERT_TRUE(server_->apply({{"fleet.yaml", kFleet}}));
        desk().set_delivery([this](std::vector<model::Notification> rows) {
            for (model::Notification& row : rows) sent_.put(std::move(row));
        });
    }
    void TearDown() override { desk().set_delivery({}); }

    runtime::AlertDesk& desk() { return *server_->alerts(); }
    // A delivery that was given up.
    model::Notification give_up() {
        const std::size_t before = sent_.size();
        desk().test_receiver("ops", std::nullopt, [](auto ids) { EXPECT_TRUE(ids); });
        const auto all = sent_.wait_for(before + 1);
        if (all.size() <= before) throw std::runtime_error("nothing was sent");
        model::Notification row = all.back();
        row.state = DeliveryState::kFailed;
        row.attempts = 40;
        row.last_error = "http.status: 503";
        desk().delivered({row});
        const auto end = std::chrono::steady_clock::now() + runtime::test::kPatience;
        while (!is_stored(row) && std::chrono::steady_clock::now() < end) {
            loop_->run_once(std::chrono::milliseconds(10));
        }
        EXPECT_TRUE(is_stored(row));
        return row;
    }
    bool is_stored(const model::Notification& row) {
        const auto stored = server_->store().alert_reader().notification(row.id);
        return stored && *stored && (*stored)->state == row.state;
    }
    base::Status settle(void (runtime::AlertDesk::*act)(std::string,
                                                        std::optional<model::AuditEntry>,
                                                        runtime::AlertDesk::Done),
                        const std::string& id) {
        model::AuditEntry entry;
        entry.at = net::wall_now();
        entry.principal = "user:eve";
        entry.action = "notification.dismiss";
        entry.object = "notification " + id;
        std::promise<base::Status> done;
        (desk().*act)(id, entry, [&done](base::Status status) { done.set_value(status); });
        return done.get_future().get();
    }
    std::vector<model::Notification> in_state(DeliveryState state) {
        store::NotificationQuery query;
        query.states = {state};
        return server_->store().alert_reader().notifications(query).value().rows;
    }

    net::test::TempDir folder_;
    std::unique_ptr<net::EventLoop> loop_;
    runtime::test::LogLines lines_;
    runtime::test::Inbox<model::Notification> sent_;
    std::unique_ptr<runtime::Server> server_;
};

// #1761: what had failed stayed for ever, and hid what failed later.
TEST_F(PulseNotificationComplaint, DeliveriesThatFailedCannotBeCleared) {
    const model::Notification first = give_up();
    const model::Notification second = give_up();
    ASSERT_TRUE(settle(&runtime::AlertDesk::dismiss, first.id));
    EXPECT_THAT(in_state(DeliveryState::kFailed), SizeIs(1)) << "the other one is not touched";
    const auto dismissed = in_state(DeliveryState::kCancelled);
    ASSERT_THAT(dismissed, SizeIs(1));
    EXPECT_EQ(dismissed[0].id, first.id);
    EXPECT_EQ(dismissed[0].last_error, "http.status: 503") << "why it failed can still be seen";
    EXPECT_EQ(server_->store().audit({}).value().at(0).entry.object, "notification " + first.id);

    for (const auto act : {&runtime::AlertDesk::dismiss, &runtime::AlertDesk::retry}) {
        const auto again = settle(act, first.id);
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().code, "notification.state");
    }
    EXPECT_EQ(settle(&runtime::AlertDesk::dismiss, "nonsense").error().code,
              "notification.unknown");
    ASSERT_TRUE(settle(&runtime::AlertDesk::dismiss, second.id));
    EXPECT_THAT(in_state(DeliveryState::kFailed), IsEmpty());
    EXPECT_EQ(sent_.size(), 2U) << "nothing was sent again";
}

}  // namespace
}  // namespace pollux::tests
