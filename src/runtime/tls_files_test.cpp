#include "runtime/tls_files.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <vector>

#include "net/test_process.hpp"

namespace pollux::runtime {
namespace {

using testing::HasSubstr;

TEST(TlsFiles, BothOrNone) {
    const auto none = read_tls_identity({"api", "", ""});
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->has_value());
    const auto half = read_tls_identity({"inbound", "/chain.pem", ""});
    ASSERT_FALSE(half);
    EXPECT_EQ(half.error().code, "inbound.tls");
    EXPECT_THAT(half.error().message, HasSubstr("inbound_tls_certificate and inbound_tls_key"));
}

TEST(TlsFiles, AKeyThatEverybodyCanReadIsRefused) {
    const net::test::TempDir folder;
    const std::string chain = folder.write("chain.pem", "chain");
    const std::string path = folder.write("key.pem", "key");
    for (const auto& [mode, good] : std::vector<std::pair<mode_t, bool>>{{0600, true},
                                                                         {0400, true},
                                                                         {0640, true},
                                                                         {0644, false},
                                                                         {0660, false},
                                                                         {0602, false}}) {
        ASSERT_EQ(chmod(path.c_str(), mode), 0);
        const auto read = read_tls_identity({"api", chain, path});
        EXPECT_EQ(read.has_value(), good) << mode;
        if (!good) {
            EXPECT_THAT(read.error().message, HasSubstr("chmod 0600"));
        }
    }
    chmod(path.c_str(), 0600);
    EXPECT_EQ((*read_tls_identity({"api", chain, path}))->certificate, "chain");
    EXPECT_EQ(read_tls_identity({"api", folder.file("none"), path}).error().code, "api.tls_file");
    EXPECT_EQ(read_tls_identity({"api", chain, folder.file("none")}).error().code, "api.tls_key");
}

}  // namespace
}  // namespace pollux::runtime
