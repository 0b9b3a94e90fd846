#include "base/chunked_array.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pollux::base {
namespace {

TEST(ChunkedArray, StartsEmpty) {
    const ChunkedArray<int> array;
    EXPECT_EQ(array.size(), 0u);
    EXPECT_EQ(array.memory_bytes(), 0u);
}

TEST(ChunkedArray, NewElementsAreValueInitialised) {
    ChunkedArray<int, 4> array;
    array.grow_to(10);
    EXPECT_EQ(array.size(), 10u);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(array[i], 0) << i;
}

TEST(ChunkedArray, KeepsWhatWasWrittenAcrossChunks) {
    ChunkedArray<std::string, 4> array;
    array.grow_to(9);
    for (std::size_t i = 0; i < 9; ++i) array[i] = std::to_string(i);
    array.grow_to(1000);
    const ChunkedArray<std::string, 4>& view = array;
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(view[i], std::to_string(i));
    EXPECT_EQ(view[999], "");
}

TEST(ChunkedArray, ElementsNeverMove) {
    ChunkedArray<int, 8> array;
    array.grow_to(8);
    const int* const first = &array[0];
    const int* const last = &array[7];
    array.grow_to(100'000);
    EXPECT_EQ(&array[0], first);
    EXPECT_EQ(&array[7], last);
    EXPECT_EQ(&array[7] - &array[0], 7) << "the elements of one chunk lie side by side";
}

TEST(ChunkedArray, NeverShrinks) {
    ChunkedArray<int, 8> array;
    array.grow_to(20);
    array[19] = 7;
    array.grow_to(3);
    EXPECT_EQ(array.size(), 20u);
    EXPECT_EQ(array[19], 7);
}

TEST(ChunkedArray, CostsWhatItWeighs) {
    ChunkedArray<std::uint64_t, 1024> array;
    array.grow_to(1);
    const std::size_t one_chunk = 1024 * sizeof(std::uint64_t);
    EXPECT_GE(array.memory_bytes(), one_chunk);
    EXPECT_LT(array.memory_bytes(), one_chunk + 64);
    array.grow_to(1024);
    EXPECT_LT(array.memory_bytes(), one_chunk + 64) << "the first chunk holds 1024 elements";
    array.grow_to(1'000'000);
    const double wanted = 1e6 * sizeof(std::uint64_t);
    EXPECT_LT(static_cast<double>(array.memory_bytes()), wanted * 1.01) << "no doubling slack";
}

}  // namespace
}  // namespace pollux::base
