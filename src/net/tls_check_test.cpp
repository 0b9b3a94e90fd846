#include "net/tls_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/test_nginx.hpp"

namespace pollux::net {
namespace {

TEST(TlsCheck, ReadsFingerprintsInBothSpellings) {
    const std::string plain(64, 'a');
    std::string spaced;
    for (int i = 0; i < 32; ++i) spaced += i == 0 ? "AA" : ":AA";
    ASSERT_TRUE(parse_sha256(plain));
    EXPECT_EQ(parse_sha256(plain), parse_sha256(spaced));
    EXPECT_EQ((*parse_sha256(plain))[31], 0xAA);
    for (const std::string& wrong :
         {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g'),
          std::string(40, 'a'), "a:" + std::string(63, 'a'), std::string(64, 'a') + ":b"}) {
        EXPECT_FALSE(parse_sha256(wrong)) << wrong;
    }
}

TEST(TrustStores, ReadAFileOnceAndAgainWhenItChanges) {
    const test::TempDir folder;
    const test::TestCertificate one = test::make_self_signed(folder, "one", 10);
    const test::TestCertificate two = test::make_self_signed(folder, "two", 10);
    const std::string path = folder.write("ca.pem", folder.read("one.pem"));
    TrustStores stores;
    const auto first = stores.get(path);
    ASSERT_TRUE(first);
    EXPECT_EQ(stores.get(path).value(), *first);
    EXPECT_TRUE(stores.get(""));
    folder.write("ca.pem", "no certificate");
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
    const auto broken = stores.get(path);
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, "tls.ca_file");
    EXPECT_THAT(broken.error().message, testing::HasSubstr("ca.pem"));
    folder.write("ca.pem", folder.read("two.pem"));
    EXPECT_TRUE(stores.get(path));
}

}  // namespace
}  // namespace pollux::net
