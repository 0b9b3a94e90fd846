#include "net/dns_cache.hpp"

#include <gtest/gtest.h>

namespace pollux::net {
namespace {

SharedAddresses some() { return std::make_shared<const Addresses>(Addresses{IpAddress()}); }

TEST(DnsCache, ForgetsWhatIsOverAndWhatIsLeastUsed) {
    DnsCache cache(2);
    const base::BootTime start{100};
    cache.put("a", some(), base::BootTime{200});
    cache.put("b", some(), base::BootTime{300});
    EXPECT_NE(cache.find("a", start), nullptr);
    cache.put("c", some(), base::BootTime{300});
    EXPECT_EQ(cache.find("b", start), nullptr);
    EXPECT_NE(cache.find("a", start), nullptr);
    EXPECT_EQ(cache.find("a", base::BootTime{200}), nullptr);
    EXPECT_EQ(cache.size(), 1U);
    cache.put("c", base::internal_error("x", "y"), base::BootTime{400});
    EXPECT_EQ(cache.size(), 1U);
    EXPECT_FALSE(*cache.find("c", base::BootTime{350}));
    cache.clear();
    EXPECT_EQ(cache.size(), 0U);
}

TEST(DnsCache, MayHoldNothing) {
    DnsCache cache(0);
    cache.put("a", some(), base::BootTime{200});
    EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace pollux::net
