#include "runtime/device_page.hpp"

#include <gtest/gtest.h>

namespace pollux::runtime {
namespace {

TEST(DevicePage, LinesOfAFamilyStandTogether) {
    DevicePage first;
    first.family("b", "gauge", "The b.").lines += "b{x=\"1\"} 1\n";
    first.family("a", "gauge", "The a.").lines += "a 1\n";
    first.family("b", "counter", "Another word.").lines += "b{x=\"2\"} 2\n";
    DevicePage second;
    second.family("b", "gauge", "Something else.").lines += "b{x=\"3\"} 3\n";
    second.family("c", "gauge", "The c.").lines += "c 1\n";
    first.merge(std::move(second));
    EXPECT_EQ(first.families(), 3U);
    EXPECT_EQ(first.text(),
              "# HELP a The a.\n# TYPE a gauge\na 1\n"
              "# HELP b The b.\n# TYPE b gauge\nb{x=\"1\"} 1\nb{x=\"2\"} 2\nb{x=\"3\"} 3\n"
              "# HELP c The c.\n# TYPE c gauge\nc 1\n");
}

TEST(DevicePage, AnEmptyPageIsEmpty) {
    DevicePage page;
    page.merge({});
    EXPECT_EQ(page.text(), "");
}

}  // namespace
}  // namespace pollux::runtime
