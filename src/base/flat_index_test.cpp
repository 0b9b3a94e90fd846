#include "base/flat_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "base/test_random.hpp"

namespace pollux::base {
namespace {

constexpr SipKey kKey{3, 4};

TEST(FlatIndex, EmptyFindsNothing) {
    FlatIndex index;
    const auto any = [](std::uint32_t) { return true; };
    EXPECT_TRUE(index.empty());
    EXPECT_EQ(index.find(1, any), FlatIndex::kNone);
    EXPECT_FALSE(index.erase(1, any));
}

TEST(FlatIndex, FindsByKey) {
    const std::vector<std::string> names{"alpha", "beta", "gamma"};
    FlatIndex index;
    for (std::uint32_t id = 0; id < names.size(); ++id)
        index.insert(siphash24(kKey, names[id]), id);
    const auto find = [&](std::string_view name) {
        return index.find(siphash24(kKey, name),
                          [&](std::uint32_t id) { return names[id] == name; });
    };
    EXPECT_EQ(find("alpha"), 0u);
    EXPECT_EQ(find("gamma"), 2u);
    EXPECT_EQ(find("delta"), FlatIndex::kNone);
    EXPECT_EQ(index.size(), 3u);
}

TEST(FlatIndex, EqualHashesAreToldApartByTheKey) {
    FlatIndex index;
    for (std::uint32_t id = 0; id < 100; ++id) index.insert(7, id);
    for (std::uint32_t id = 0; id < 100; id += 2) {
        EXPECT_TRUE(index.erase(7, [&](std::uint32_t other) { return other == id; }));
    }
    for (std::uint32_t id = 0; id < 100; ++id) {
        const std::uint32_t found = index.find(7, [&](std::uint32_t other) { return other == id; });
        EXPECT_EQ(found, id % 2 == 0 ? FlatIndex::kNone : id);
    }
}

TEST(FlatIndex, AsksTheCallerOnlyAboutLikelyKeys) {
    FlatIndex index;
    for (std::uint32_t id = 0; id < 10'000; ++id) index.insert(siphash24(kKey, id), id);
    std::uint64_t asked = 0;
    for (std::uint32_t id = 0; id < 10'000; ++id) {
        index.find(siphash24(kKey, id), [&](std::uint32_t other) { return ++asked, other == id; });
    }
    EXPECT_LE(asked, 10'010u);
}

TEST(FlatIndex, ReserveAvoidsGrowthAndAnEighthStaysFree) {
    FlatIndex index;
    index.reserve(1'000);
    const std::size_t before = index.memory_bytes();
    for (std::uint32_t id = 0; id < 1'000; ++id) index.insert(siphash24(kKey, id), id);
    EXPECT_EQ(index.memory_bytes(), before);
    EXPECT_GE(index.memory_bytes(), 1'000u * 8 * 8 / 7);
    index.reserve(10);
    EXPECT_EQ(index.memory_bytes(), before);
}

TEST(FlatIndex, GrowsByAQuarter) {
    FlatIndex index;
    for (std::uint32_t id = 0; id < 100'000; ++id) index.insert(siphash24(kKey, id), id);
    EXPECT_LE(index.memory_bytes(), 100'000u * 8 * 8 / 7 * 5 / 4 + 100);
}

TEST(FlatIndex, ClearForgetsEverything) {
    FlatIndex index;
    index.insert(1, 1);
    index.clear();
    EXPECT_EQ(index.size(), 0u);
    EXPECT_EQ(index.find(1, [](std::uint32_t) { return true; }), FlatIndex::kNone);
    index.insert(1, 2);
    EXPECT_EQ(index.find(1, [](std::uint32_t) { return true; }), 2u);
}

// `spread` sets how many different hashes there are: few make long runs that wrap around.
void compare_with_map(std::uint64_t seed, std::uint64_t spread) {
    TestRandom random(seed);
    FlatIndex index;
    std::map<std::uint64_t, std::uint32_t> expected;  // key to id
    std::vector<std::uint64_t> key_of_id;
    const auto hash_of = [&](std::uint64_t key) { return siphash24(kKey, key) % spread; };
    for (int i = 0; i < 5'000; ++i) {
        const std::uint64_t key = random.below(400);
        const auto eq = [&](std::uint32_t id) { return key_of_id[id] == key; };
        const auto known = expected.find(key);
        const std::uint32_t found = index.find(hash_of(key), eq);
        ASSERT_EQ(found, known == expected.end() ? FlatIndex::kNone : known->second);
        if (random.one_in(2)) {
            ASSERT_EQ(index.erase(hash_of(key), eq), known != expected.end());
            expected.erase(key);
        } else if (known == expected.end()) {
            const auto id = static_cast<std::uint32_t>(key_of_id.size());
            key_of_id.push_back(key);
            index.insert(hash_of(key), id);
            expected.emplace(key, id);
        }
        ASSERT_EQ(index.size(), expected.size());
    }
}

TEST(FlatIndex, AgreesWithAMapOverRandomUse) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        SCOPED_TRACE(seed);
        compare_with_map(seed, ~std::uint64_t{0});
        compare_with_map(seed, 20);
        compare_with_map(seed, 300);
    }
}

TEST(FlatIndexDeathTest, TheMarkOfAnEmptySlotIsNoId) {
    FlatIndex index;
    EXPECT_DEATH(index.insert(1, FlatIndex::kNone), "id != kNone");
}

}  // namespace
}  // namespace pollux::base
