#include "runtime/series_directory.hpp"

#include <gtest/gtest.h>

#include "net/test_process.hpp"

namespace pollux::runtime {
namespace {

TEST(SeriesDirectory, FindsWhatAnEarlierProcessDefined) {
    const net::test::TempDir folder;
    std::int64_t first = 0;
    {
        auto directory = store::DataDirectory::open(folder.file("data"));
        ASSERT_TRUE(directory) << directory.error().message;
        auto history = store::History::open(*directory, {});
        ASSERT_TRUE(history) << history.error().message;
        SeriesDirectory none;
        ASSERT_TRUE(none.load(**history));
        EXPECT_EQ(none.size(), 0U);
        EXPECT_EQ(none.find("t1", "level", ""), 0);
        first = (*history)->allocate_series(4).value();
        EXPECT_GT(first, 0) << "0 means: not known";
        store::SampleBatch batch;
        const auto define = [&](std::int64_t id, const char* target, const char* metric,
                                const char* row) {
            batch.definitions.push_back(
                {id, target, "lamp::hall", metric, row, "", store::SeriesType::kGauge, 0});
        };
        define(first, "t1", "level", "");
        define(first + 1, "t1", "level", "b");
        define(first + 2, "t1", "dust", "a");
        define(first + 3, "t2", "level", "");
        ASSERT_TRUE((*history)->append(std::move(batch)));
        ASSERT_TRUE((*history)->close());
    }
    auto directory = store::DataDirectory::open(folder.file("data"));
    ASSERT_TRUE(directory) << directory.error().message;
    auto history = store::History::open(*directory, {});
    ASSERT_TRUE(history) << history.error().message;
    SeriesDirectory known;
    ASSERT_TRUE(known.load(**history));
    EXPECT_EQ(known.size(), 4U);
    EXPECT_EQ(known.find("t1", "level", ""), first);
    EXPECT_EQ(known.find("t1", "level", "b"), first + 1);
    EXPECT_EQ(known.find("t1", "dust", "a"), first + 2);
    EXPECT_EQ(known.find("t2", "level", ""), first + 3);
    EXPECT_EQ(known.find("t2", "level", "b"), 0);
    EXPECT_EQ(known.find("t1", "dust", ""), 0);
    EXPECT_EQ(known.find("t3", "level", ""), 0);
}

}  // namespace
}  // namespace pollux::runtime
