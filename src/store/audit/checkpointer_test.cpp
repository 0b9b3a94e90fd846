#include "store/audit/checkpointer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "store/audit/audit_test_support.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using namespace std::chrono_literals;

AuditHead head(std::uint64_t number) {
    AuditHead one;
    one.number = number;
    one.mac[0] = static_cast<unsigned char>(number);
    return one;
}

class Checkpoints : public testing::Test {
  protected:
    std::unique_ptr<AuditCheckpointer> make(CheckpointOptions options) {
        return std::make_unique<AuditCheckpointer>(
            key_,
            [this](const AuditCheckpointer::Told& told) {
                const std::scoped_lock lock(mutex_);
                if (told.why != nullptr) {
                    errors_.push_back(told.why->code);
                } else {
                    lines_.push_back(told.line);
                }
                changed_.notify_all();
            },
            options);
    }
    bool wait_for_lines(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 30s, [&] { return lines_.size() >= count; });
    }
    std::vector<std::uint64_t> numbers() {
        std::vector<std::uint64_t> found;
        auto file = read_checkpoints(path());
        for (const auto& line : (*file)->lines) {
            EXPECT_TRUE(line.checkpoint && signed_by(*key_, *line.checkpoint)) << line.text;
            if (line.checkpoint) found.push_back(line.checkpoint->head.number);
        }
        return found;
    }
    std::string path() const { return folder_.file("checkpoints"); }

    std::shared_ptr<const AuditKey> key_ = AuditKey::random();
    TemporaryFolder folder_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> lines_;
    std::vector<std::string> errors_;
};

TEST_F(Checkpoints, ALineIsReadBackAndEveryFlippedBitOfItIsRefused) {
    const AuditCheckpoint made = make_checkpoint(*key_, head(77), base::WallTime{5'000'000});
    const std::string line = to_line(made);
    const auto back = parse_checkpoint(line);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->head, head(77));
    EXPECT_TRUE(signed_by(*key_, *back));
    EXPECT_FALSE(signed_by(*AuditKey::random(), *back));
    for (std::size_t bit = 0; bit < line.size() * 8; ++bit) {
        std::string changed = line;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ static_cast<char>(1U << (bit % 8)));
        const auto read = parse_checkpoint(changed);
        ASSERT_FALSE(read && signed_by(*key_, *read)) << "bit " << bit;
    }
}

TEST_F(Checkpoints, AreWrittenAtTheStartAfterEnoughRecordsAndAtTheStop) {
    auto writer = make({100, 1h, 1000});
    ASSERT_TRUE(writer->start(path(), head(0)));
    EXPECT_THAT(numbers(), testing::ElementsAre(0));
    writer->note(head(99));
    writer->note(head(100));
    ASSERT_TRUE(wait_for_lines(2));
    writer->note(head(150));
    writer->stop();
    EXPECT_THAT(numbers(), testing::ElementsAre(0, 100, 150));
    // Nothing new: nothing is written.
    writer = make({100, 1h, 1000});
    ASSERT_TRUE(writer->start(path(), head(150)));
    writer->stop();
    EXPECT_THAT(numbers(), testing::ElementsAre(0, 100, 150));
    EXPECT_TRUE(errors_.empty());
}

TEST_F(Checkpoints, AreWrittenAfterAWhileWhenThereIsSomethingNew) {
    auto writer = make({100, 20ms, 1000});
    ASSERT_TRUE(writer->start(path(), head(3)));
    writer->note(head(4));
    ASSERT_TRUE(wait_for_lines(2));
    EXPECT_THAT(numbers(), testing::ElementsAre(3, 4));
}

TEST_F(Checkpoints, TheFileIsBoundedAndKeepsTheNewest) {
    auto writer = make({1, 1h, 20});
    ASSERT_TRUE(writer->start(path(), head(0)));
    for (std::uint64_t i = 1; i <= 100; ++i) {
        writer->note(head(i));
        ASSERT_TRUE(wait_for_lines(i + 1));
    }
    writer->stop();
    const auto kept = numbers();
    EXPECT_LE(kept.size(), 22u);
    EXPECT_GE(kept.size(), 20u);
    EXPECT_EQ(kept.back(), 100u);
    EXPECT_EQ(kept.front(), 101 - kept.size());
}

TEST_F(Checkpoints, AShorterTrailIsToldAtTheStartAndTheFileStays) {
    auto writer = make({100, 1h, 1000});
    ASSERT_TRUE(writer->start(path(), head(500)));
    writer->stop();
    writer = make({100, 1h, 1000});
    ASSERT_TRUE(writer->start(path(), head(400)));
    EXPECT_THAT(errors_, testing::ElementsAre("audit.cut"));
    writer->stop();
    EXPECT_THAT(numbers(), testing::ElementsAre(500));
}

TEST_F(Checkpoints, ATornLastLineIsPutAway) {
    auto writer = make({100, 1h, 1000});
    ASSERT_TRUE(writer->start(path(), head(5)));
    writer->stop();
    std::ofstream(path(), std::ios::app) << "pollux-audit-1,7,aa";
    EXPECT_TRUE((*read_checkpoints(path()))->torn);
    writer = make({100, 1h, 1000});
    ASSERT_TRUE(writer->start(path(), head(6)));
    writer->stop();
    EXPECT_FALSE((*read_checkpoints(path()))->torn);
    EXPECT_THAT(numbers(), testing::ElementsAre(5, 6));
}

TEST_F(Checkpoints, AFileThatCannotBeWrittenIsAnErrorAtTheStart) {
    auto writer = make({});
    const auto status = writer->start(folder_.file("no/such/folder"), head(1));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, "store.file");
}

}  // namespace
}  // namespace pollux::store
