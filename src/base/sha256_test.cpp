#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pollux::base {
namespace {

// FIPS 180-4 examples, and those of NIST's CAVP for the lengths around a block.
TEST(Sha256, GivesThePublishedDigests) {
    EXPECT_EQ(hex_of(sha256("")),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex_of(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex_of(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex_of(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                            "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")),
              "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    EXPECT_EQ(hex_of(sha256(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreCut) {
    std::string text;
    for (int i = 0; i < 200; ++i) text.push_back(static_cast<char>(i));
    for (std::size_t length = 0; length <= text.size(); ++length) {
        const std::string_view all = std::string_view(text).substr(0, length);
        for (const std::size_t cut : {std::size_t{1}, std::size_t{55}, std::size_t{64}}) {
            Sha256 hash;
            for (std::size_t at = 0; at < all.size(); at += cut) hash.update(all.substr(at, cut));
            EXPECT_EQ(hash.finish(), sha256(all)) << length << " bytes, " << cut << " at a time";
        }
    }
}

TEST(Sha256, TheInstructionsOfTheProcessorGiveTheSame) {
    std::string text;
    for (std::size_t i = 0; i < 1000; ++i) {
        Sha256 fastest;
        Sha256 portable(Sha256Means::kPortable);
        fastest.update(text);
        portable.update(text);
        ASSERT_EQ(fastest.finish(), portable.finish()) << i << " bytes";
        text.push_back(static_cast<char>(i * i * 31 + i));
    }
}

TEST(Sha256, ShortFormIsTheBeginning) {
    EXPECT_EQ(hex_of(sha256("abc"), 16), "ba7816bf8f01cfea414140de5dae2223");
    EXPECT_EQ(hex_of(sha256("abc"), 0), "");
}

}  // namespace
}  // namespace pollux::base
