#include "runtime/failure_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr base::WallTime kNow{1'700'000'000'000'000};

TEST(FailureBook, WritesTheFirstFailureAndRemovesItAfterTheRecovery) {
    FailureBook book;
    book.failed(7, "lamp::hall", {"http.timeout", "no answer", kNow});
    auto batch = book.take_changes();
    ASSERT_EQ(batch.rows.size(), 1U);
    EXPECT_EQ(batch.rows[0].key, "failure/lamp::hall");
    EXPECT_EQ(FailureBook::decode(batch.rows[0].bytes),
              (LastFailure{"http.timeout", "no answer", kNow}));
    book.recovered(7, "lamp::hall");
    batch = book.take_changes();
    EXPECT_THAT(batch.rows, IsEmpty());
    EXPECT_THAT(batch.removed, ElementsAre("failure/lamp::hall"));
    EXPECT_THAT(book.all(), IsEmpty());
    EXPECT_FALSE(book.has_changes());
}

TEST(FailureBook, KeepsWhetherADeviceAnsweredAndReadsRowsThatDoNotSay) {
    FailureBook book;
    book.failed(7, "lamp::hall", {"http.status", "503", kNow, Heard::kAnswer});
    const std::string bytes = book.take_changes().rows.at(0).bytes;
    EXPECT_EQ(FailureBook::decode(bytes)->heard, Heard::kAnswer);
    book.failed(7, "lamp::hall", {"http.status", "503", kNow, Heard::kSilence});
    EXPECT_TRUE(book.has_changes()) << "that is news";
    std::string before = bytes.substr(0, bytes.size() - 1);
    before[0] = 1;
    EXPECT_EQ(FailureBook::decode(before), (LastFailure{"http.status", "503", kNow}));
    std::string damaged = bytes;
    damaged.back() = 9;
    EXPECT_FALSE(FailureBook::decode(damaged));
}

TEST(FailureBook, AMessageThatChangesAtEachPollIsNotWrittenAtEachPoll) {
    FailureBook book;
    book.failed(7, "lamp::hall", {"http.timeout", "no answer in 5.01 s", kNow});
    ASSERT_TRUE(book.has_changes());
    book.take_changes();
    book.failed(7, "lamp::hall", {"http.timeout", "no answer in 5.02 s", kNow + 20s});
    EXPECT_FALSE(book.has_changes());
    EXPECT_EQ(book.all().at(7).message, "no answer in 5.02 s") << "it is shown at once";
    book.failed(7, "lamp::hall", {"http.status", "500", kNow + 40s});
    EXPECT_TRUE(book.has_changes()) << "another code is news";
    book.take_changes();
    book.failed(7, "lamp::hall", {"http.status", "502", kNow + 40s + FailureBook::kWriteAgain});
    EXPECT_TRUE(book.has_changes());
}

TEST(FailureBook, RecallsWhatWasWrittenAndPrefersWhatIsNewer) {
    FailureBook book;
    const std::string bytes = FailureBook::encode({"snmp.timeout", "silent", kNow});
    EXPECT_TRUE(book.recall(1, "a::b", bytes));
    EXPECT_EQ(book.all().at(1).code, "snmp.timeout");
    EXPECT_FALSE(book.has_changes());
    book.failed(2, "a::c", {"snmp.auth", "wrong password", kNow + 1s});
    EXPECT_TRUE(book.recall(2, "a::c", bytes));
    EXPECT_EQ(book.all().at(2).code, "snmp.auth");
}

TEST(FailureBook, DamagedRowsAreLeftOutAndRemoved) {
    const std::string good = FailureBook::encode({"snmp.timeout", "silent", kNow});
    for (std::size_t length = 0; length < good.size(); ++length) {
        EXPECT_EQ(FailureBook::decode(good.substr(0, length)), std::nullopt) << length;
    }
    EXPECT_EQ(FailureBook::decode(good + "x"), std::nullopt);
    EXPECT_EQ(FailureBook::decode("\x03" + good.substr(1)), std::nullopt) << "another version";
    FailureBook book;
    EXPECT_FALSE(book.recall(1, "a::b", "nonsense"));
    EXPECT_THAT(book.take_changes().removed, ElementsAre("failure/a::b"));
}

}  // namespace
}  // namespace pollux::runtime
