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

TEST(Gzip, WeighsTheWishOfTheClient) {
    EXPECT_EQ(coding_quality("gzip, deflate, br", "br"), 1000);
    EXPECT_EQ(coding_quality("gzip;q=0.25,br;q=0.5", "gzip"), 250);
    EXPECT_EQ(coding_quality("*;q=0.1, br;q=0.005", "br"), 5);
    EXPECT_EQ(coding_quality("*;q=0.1, br", "identity"), 100);
    EXPECT_EQ(coding_quality("br;level=4;q=1.000", "br"), 1000);
    EXPECT_EQ(coding_quality("", "br"), 0);
    // What nobody of good will sends is no wish.
    for (const char* field : {"br;q=", "br;q=2", "br;q=-1", "br;q=0.1234", "br;q=1e3", "br;q=0,1",
                              "br;q=nan", ",,;;,", "b\x01r", "brr", "br/2"}) {
        EXPECT_EQ(coding_quality(field, "br"), 0) << field;
    }
    EXPECT_EQ(coding_quality(std::string(100'000, ','), "br"), 0);
}

}  // namespace
}  // namespace pollux::net
