#include "alert/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>

namespace pollux::alert {
namespace {

// printf 'axis:storage_failure:10.0.0.5' | sha256sum | cut -c1-32
TEST(Fingerprint, OfImportedDialectsIsTheDocumentedHash) {
    EXPECT_EQ(imported_fingerprint("axis", "storage_failure", "10.0.0.5", ""),
              "fa47cadcacf6e172d3aa9614ef71acac");
}

TEST(Fingerprint, OursDiffersByEachOfItsParts) {
    const std::set<std::string> all = {
        own_fingerprint("t", "a", "x", ""),      own_fingerprint("u", "a", "x", ""),
        own_fingerprint("t", "b", "x", ""),      own_fingerprint("t", "a", "y", ""),
        own_fingerprint("t", "a", "x", "1"),     own_fingerprint("ta", "", "x", ""),
        imported_fingerprint("a", "x", "t", ""), imported_fingerprint("a", "x", "t", "1")};
    EXPECT_EQ(all.size(), 8U);
    for (const std::string& one : all) EXPECT_EQ(one.size(), 32U);
}

TEST(Fingerprint, OfLabelsIsTheirSet) {
    EXPECT_EQ(label_fingerprint({{"a", "1"}, {"b", "2"}}),
              label_fingerprint({{"b", "2"}, {"a", "1"}}));
    EXPECT_NE(label_fingerprint({{"a", "1b"}}), label_fingerprint({{"a", "1"}, {"b", ""}}));
    EXPECT_NE(label_fingerprint({{"a", "1"}}), label_fingerprint({{"a", "2"}}));
}

}  // namespace
}  // namespace pollux::alert
