#include "api/history_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/insight_test_support.hpp"
#include "store/store_test_support.hpp"

namespace pollux::api {
namespace {

using document::Node;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kStartUs = 1'760'000'000'000'000;
constexpr const char* kKey = "snmp-interfaces::core-1";

// A switch with two metrics for each of three interfaces, and one of its own.
class HistoryPage : public testing::Test {
  protected:
    HistoryPage() {
        auto directory = store::DataDirectory::open(folder_.path());
        EXPECT_TRUE(directory);
        store::HistoryOptions options;
        options.clock = [] { return base::WallTime{kStartUs + 60'000'000}; };
        auto history = store::History::open(*directory, options);
        EXPECT_TRUE(history);
        history_ = std::move(*history);
        for (const char* row : {"eth0", "eth1", "eth2"}) {
            add("in", row);
            add("out", row);
        }
        add("uptime", "");
        EXPECT_TRUE(history_->append(batch_));
        history_->flush();
        auto image = std::make_shared<runtime::FleetImage>();
        auto plan = std::make_shared<runtime::PollPlan>();
        plan->key = kKey;
        plan->target_id = "id-1";
        image->plans[kKey] = plan;
        view_.image = image;
        wish_.key = kKey;
        wish_.from = base::WallTime{kStartUs - 60'000'000};
        wish_.to = base::WallTime{kStartUs + 60'000'000};
    }
    void add(const char* metric, const char* row) {
        const std::int64_t id = history_->allocate_series().value();
        batch_.definitions.push_back({id, "id-1", kKey, metric, row, "", {}, 0});
        batch_.samples.push_back({id, kStartUs, static_cast<double>(id)});
    }
    // "metric/row:number of points", in the order of the answer.
    std::vector<std::string> series() {
        const auto page = history_page(history_.get(), view_, wish_);
        EXPECT_TRUE(page) << page.error().message;
        if (!page) return {};
        const Node read = test::parsed(*page);
        std::vector<std::string> out;
        for (const Node& one : read.find("series")->items()) {
            const Node* points = one.find("points");
            out.push_back(one.find("metric")->scalar() + "/" + one.find("row")->scalar() + ":" +
                          std::to_string(points == nullptr ? 0 : points->items().size()));
        }
        return out;
    }

    store::TemporaryFolder folder_;
    std::unique_ptr<store::History> history_;
    store::SampleBatch batch_;
    runtime::FleetView view_;
    HistoryWish wish_;
};

TEST_F(HistoryPage, ListsAllSeriesWithoutAMetric) {
    EXPECT_THAT(series(), ElementsAre("in/eth0:0", "in/eth1:0", "in/eth2:0", "out/eth0:0",
                                      "out/eth1:0", "out/eth2:0", "uptime/:0"));
}

TEST_F(HistoryPage, AnswersSeveralMetricsAndRowsTogether) {
    wish_.metrics = {"out", "in"};
    wish_.rows = {"eth2", "eth0"};
    EXPECT_THAT(series(), ElementsAre("in/eth0:1", "in/eth2:1", "out/eth0:1", "out/eth2:1"));
    wish_.rows = {};
    wish_.metrics = {"uptime", "in"};
    EXPECT_THAT(series(), ElementsAre("in/eth0:1", "in/eth1:1", "in/eth2:1", "uptime/:1"));
}

TEST_F(HistoryPage, LeavesOutWhatThereIsNoneOfAndFailsIfThatIsAll) {
    wish_.metrics = {"in", "errors"};
    wish_.rows = {"eth1", "eth9"};
    EXPECT_THAT(series(), ElementsAre("in/eth1:1"));
    wish_.rows = {"eth8", "eth9"};
    auto page = history_page(history_.get(), view_, wish_);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, "history.unknown_metric");
    EXPECT_THAT(page.error().message, HasSubstr("no row \"eth8, eth9\""));
    EXPECT_THAT(page.error().message, HasSubstr("eth0, eth1 or eth2"));
    wish_.metrics = {"errors"};
    page = history_page(history_.get(), view_, wish_);
    ASSERT_FALSE(page);
    EXPECT_THAT(page.error().message, HasSubstr("no metric \"errors\""));
}

}  // namespace
}  // namespace pollux::api
