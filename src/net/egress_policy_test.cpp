#include "net/egress_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::net {
namespace {

using testing::HasSubstr;

IpAddress address(std::string_view text) { return IpAddress::parse(text).value(); }
IpRange range(std::string_view text) { return IpRange::parse(text).value(); }

TEST(EgressPolicy, TargetsMayBeAnywhereButAtTheMetadataOfClouds) {
    const EgressPolicy policy;
    for (const char* text : {"127.0.0.1", "10.1.2.3", "192.168.1.1", "169.254.1.1", "8.8.8.8",
                             "::1", "fe80::1%1", "fd00::1", "2001:db8::1", "64:ff9b::808:808"}) {
        EXPECT_TRUE(policy.check_target(address(text))) << text;
    }
    for (const char* text : {"169.254.169.254", "fd00:ec2::254", "::ffff:169.254.169.254",
                             "64:ff9b::169.254.169.254"}) {
        const auto status = policy.check_target(address(text));
        ASSERT_FALSE(status) << text;
        EXPECT_EQ(status.error().code, "egress.denied");
        EXPECT_THAT(status.error().message,
                    testing::AllOf(HasSubstr(address(text).to_string()), HasSubstr("egress_deny"),
                                   HasSubstr("egress_allow")));
        // Nor by a redirect from a machine of the same class.
        EXPECT_FALSE(policy.check_redirect(address(text), policy.class_of(address(text)))) << text;
    }
}

TEST(EgressPolicy, AllowWinsOverDenyInEveryForm) {
    EgressSettings settings = default_egress_settings();
    settings.target.deny.push_back(range("10.0.0.0/8"));
    settings.target.allow.push_back(range("10.7.0.0/16"));
    const EgressPolicy policy(settings);
    EXPECT_TRUE(policy.check_target(address("10.7.1.1")));
    EXPECT_TRUE(policy.check_target(address("::ffff:10.7.1.1")));
    EXPECT_FALSE(policy.check_target(address("10.8.1.1")));
    EXPECT_FALSE(policy.check_target(address("::ffff:10.8.1.1")));
}

TEST(EgressPolicy, AllowingTheTranslatorDoesNotOpenWhatIsBehindIt) {
    EgressSettings settings = default_egress_settings();
    settings.target.allow.push_back(range("64:ff9b::/96"));
    const EgressPolicy policy(settings);
    EXPECT_FALSE(policy.check_target(address("64:ff9b::169.254.169.254")));
}

TEST(EgressPolicy, KnowsTheClassOfAnAddress) {
    const EgressPolicy policy;
    EXPECT_EQ(policy.class_of(address("127.8.8.8")), HostClass::kLoopback);
    EXPECT_EQ(policy.class_of(address("0.0.0.0")), HostClass::kLoopback);
    EXPECT_EQ(policy.class_of(address("::1")), HostClass::kLoopback);
    EXPECT_EQ(policy.class_of(address("::ffff:127.0.0.1")), HostClass::kLoopback);
    EXPECT_EQ(policy.class_of(address("169.254.3.4")), HostClass::kLinkLocal);
    EXPECT_EQ(policy.class_of(address("fe80::1%1")), HostClass::kLinkLocal);
    EXPECT_EQ(policy.class_of(address("172.31.0.1")), HostClass::kPrivate);
    EXPECT_EQ(policy.class_of(address("fd12::1")), HostClass::kPrivate);
    EXPECT_EQ(policy.class_of(address("64:ff9b::192.168.0.1")), HostClass::kPrivate);
    EXPECT_EQ(policy.class_of(address("172.32.0.1")), HostClass::kPublic);
    EXPECT_EQ(policy.class_of(address("2001:db8::1")), HostClass::kPublic);
}

TEST(EgressPolicy, ARedirectStaysInItsClass) {
    const EgressPolicy policy;
    EXPECT_TRUE(policy.check_redirect(address("8.8.8.8"), HostClass::kPublic));
    EXPECT_TRUE(policy.check_redirect(address("192.168.0.1"), HostClass::kPrivate));
    const auto status = policy.check_redirect(address("127.0.0.1"), HostClass::kPublic);
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message,
                testing::AllOf(HasSubstr("127.0.0.1"), HasSubstr("from a public to a loopback"),
                               HasSubstr("egress_redirect_allow")));
    EXPECT_FALSE(policy.check_redirect(address("8.8.8.8"), HostClass::kPrivate));
}

TEST(EgressPolicy, RedirectsHaveRangesOfTheirOwn) {
    EgressSettings settings = default_egress_settings();
    settings.redirect.allow.push_back(range("127.0.0.2"));
    settings.redirect.deny.push_back(range("203.0.113.0/24"));
    const EgressPolicy policy(settings);
    EXPECT_TRUE(policy.check_redirect(address("127.0.0.2"), HostClass::kPublic));
    EXPECT_FALSE(policy.check_redirect(address("203.0.113.7"), HostClass::kPublic));
    EXPECT_TRUE(policy.check_target(address("203.0.113.7")));
    settings.redirect_same_class = false;
    EXPECT_TRUE(EgressPolicy(settings).check_redirect(address("127.0.0.3"), HostClass::kPublic));
}

}  // namespace
}  // namespace pollux::net
