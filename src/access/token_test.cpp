#include "access/token.hpp"

#include <gtest/gtest.h>

#include <set>

namespace pollux::access {
namespace {

RandomBytes bytes_of(std::uint8_t first) {
    RandomBytes bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(first + i);
    return bytes;
}

TEST(Token, HasItsFormAndNothingElseHasIt) {
    const base::Secret token = make_token(kTokenPrefix, bytes_of(1));
    const std::string& text = token.reveal();
    EXPECT_EQ(text.size(), 4u + 43 + 6);
    EXPECT_TRUE(text.starts_with("plx_"));
    EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789-_"),
              std::string::npos);
    EXPECT_TRUE(is_token(kTokenPrefix, text));
    EXPECT_FALSE(is_token(kBootstrapPrefix, text));
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string wrong = text;
        wrong[i] = wrong[i] == 'x' ? 'y' : 'x';
        EXPECT_FALSE(is_token(kTokenPrefix, wrong)) << i;
    }
    EXPECT_FALSE(is_token(kTokenPrefix, text + "a"));
    EXPECT_FALSE(is_token(kTokenPrefix, text.substr(1)));
    EXPECT_FALSE(is_token(kTokenPrefix, ""));
}

TEST(Token, FormsStaySoThatStoredHashesStayUsable) {
    EXPECT_EQ(make_token(kTokenPrefix, bytes_of(0)).reveal().substr(0, 12), "plx_AAECAwQF");
    EXPECT_EQ(make_session_secret(bytes_of(0)).reveal().size(), 43u);
    EXPECT_EQ(hash_secret("abc"),
              "64248a123191d36d9c84671be2dc205be44d6bfb272d0ef2e00c1393c556d2ce");
}

TEST(Token, HashesOfDifferentSecretsAndPurposesDiffer) {
    std::set<std::string> seen;
    for (std::uint8_t i = 0; i < 50; ++i) {
        const base::Secret secret = make_session_secret(bytes_of(i));
        EXPECT_TRUE(seen.insert(hash_secret(secret.reveal())).second);
        EXPECT_TRUE(seen.insert(csrf_token(secret.reveal())).second);
    }
}

TEST(Token, ComparesWhole) {
    EXPECT_TRUE(same_secret("abc", "abc"));
    EXPECT_TRUE(same_secret("", ""));
    EXPECT_FALSE(same_secret("abc", "abd"));
    EXPECT_FALSE(same_secret("abc", "ab"));
    EXPECT_FALSE(same_secret("", "a"));
}

}  // namespace
}  // namespace pollux::access
