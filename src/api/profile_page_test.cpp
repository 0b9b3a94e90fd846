#include "api/profile_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::api {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<runtime::ProfileRow> rows() {
    std::vector<runtime::ProfileRow> all(3);
    all[0].host = "10.0.0.5";
    all[0].devices = {"berlin-1", "bonn-1"};
    all[0].profile.too_big = 11;
    all[1].host = "berlin-1";  // asked for by a name that is also that of another device
    all[1].devices = {"bonn-2"};
    all[1].profile.too_big = 22;
    all[2].host = "10.0.0.6";
    all[2].devices = {"10.0.0.5"};
    all[2].profile.too_big = 33;
    return all;
}

TEST(DeviceProfilePage, NamesNobodyElse) {
    const std::string page = device_profile_page(rows(), "berlin-1");
    EXPECT_THAT(page, HasSubstr("\"device\":\"berlin-1\""));
    EXPECT_THAT(page, HasSubstr("\"too_big\":11"));
    EXPECT_THAT(page, Not(HasSubstr("bonn")));
    EXPECT_THAT(page, Not(HasSubstr("\"too_big\":22")));
    EXPECT_EQ(device_profile_page(rows(), "nobody"), "{\"profiles\":[]}");
}

TEST(DeviceProfilePage, ANameThatLooksLikeAnAddressIsOnlyAName) {
    const std::string page = device_profile_page(rows(), "10.0.0.5");
    EXPECT_THAT(page, HasSubstr("\"too_big\":33"));
    EXPECT_THAT(page, Not(HasSubstr("\"too_big\":11")));
    EXPECT_EQ(device_profile_page(rows(), "10.0.0.6"), "{\"profiles\":[]}");
}

// The control socket is for who runs the server, and asks by whatever is known.
TEST(ProfilePage, IsFoundByNameHostOrAddress) {
    EXPECT_THAT(profile_page(rows(), "10.0.0.6"), HasSubstr("\"too_big\":33"));
    EXPECT_THAT(profile_page(rows(), "berlin-1"), HasSubstr("\"device\":\"berlin-1,bonn-1\""));
}

}  // namespace
}  // namespace pollux::api
