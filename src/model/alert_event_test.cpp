#include "model/alert_event.hpp"

#include <gtest/gtest.h>

#include <set>

namespace pollux::model {
namespace {

TEST(AlertEvent, EveryKindHasAWordOfItsOwn) {
    std::set<std::string_view> words;
    for (int i = 0; i <= static_cast<int>(AlertEventKind::kNote); ++i) {
        const auto word = to_string(static_cast<AlertEventKind>(i));
        EXPECT_NE(word, "unknown") << i;
        EXPECT_TRUE(words.insert(word).second) << word;
    }
    EXPECT_EQ(to_string(static_cast<AlertEventKind>(200)), "unknown");
}

}  // namespace
}  // namespace pollux::model
