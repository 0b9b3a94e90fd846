#include "net/gzip.hpp"

#include <gtest/gtest.h>

#include "net/test_process.hpp"

namespace pollux::net {
namespace {

// What the real gunzip makes of it.
std::string unpacked(const std::string& packed) {
    test::TempDir folder;
    const std::string path = folder.write("page.gz", packed);
    test::Process process({"gzip", "-dc", path}, folder);
    EXPECT_TRUE(process.wait_for_end());
    EXPECT_EQ(process.exit_code(), 0);
    return process.output();
}

std::string sample(std::size_t size) {
    std::string text;
    while (text.size() < size) text += std::to_string(text.size() * 2654435761U) + "\n";
    return text;
}

TEST(Gzip, IsReadByGunzip) {
    EXPECT_EQ(unpacked(gzip("hello\n")), "hello\n");
    EXPECT_EQ(unpacked(gzip("")), "");
    const std::string large = sample(300'000);
    const std::string packed = gzip(large);
    EXPECT_LT(packed.size(), large.size());
    EXPECT_EQ(unpacked(packed), large);
}

TEST(Gzip, PiecesMakeTheSameText) {
    const std::string text = sample(100'000);
    GzipWriter writer;
    std::string packed;
    for (std::size_t at = 0; at < text.size(); at += 30'000) {
        writer.write(std::string_view(text).substr(at, 30'000), at + 30'000 >= text.size(), packed);
    }
    EXPECT_EQ(unpacked(packed), text);
}

TEST(Gzip, IsUsedOnlyWhereItIsAccepted) {
    for (const char* yes :
         {"gzip", "deflate, gzip;q=0.5", "GZIP", "*", "br , gzip ; q=1", "x-gzip"}) {
        EXPECT_TRUE(accepts_gzip(yes)) << yes;
    }
    for (const char* no :
         {"", "br", "gzip;q=0", "gzip; q=0.000", "*;q=0", "*, gzip;q=0", "gzipped"}) {
        EXPECT_FALSE(accepts_gzip(no)) << no;
    }
}

}  // namespace
}  // namespace pollux::net
