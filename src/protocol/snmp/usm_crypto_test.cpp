// Keys, digests and ciphers against the numbers of the standards.
#include "protocol/snmp/usm_crypto.hpp"

#include <gtest/gtest.h>

#include <set>

#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/usm_keys.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;

std::string hex(Bytes bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 0xFU];
    }
    return text;
}

Key key_from(std::string_view text) {
    const std::vector<std::uint8_t> bytes = from_hex(text);
    Key key;
    key.size = bytes.size();
    std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
    return key;
}

const std::vector<std::uint8_t> kEngine = from_hex("00 00 00 00 00 00 00 00 00 00 00 02");
constexpr std::string_view kPassword = "maplesyrup";

struct KeyRow {
    SnmpAuth auth;
    std::string_view of_password;
    std::string_view localised;
};

// MD5 and SHA-1: RFC 3414 A.3. The others: the same construction by another program.
constexpr KeyRow kKeys[] = {
    {SnmpAuth::kMd5, "9faf3283884e92834ebc9847d8edd963", "526f5eed9fcce26f8964c2930787d82b"},
    {SnmpAuth::kSha1, "9fb5cc0381497b3793528939ff788d5d79145211",
     "6695febc9288e36282235fc7151f128497b38f3f"},
    {SnmpAuth::kSha224, "282a5867ee9aac639ad59df9572c7d3ac0fbc13a905b6df07dbbf00b",
     "0bd8827c6e29f8065e08e09237f177e410f69b90e1782be682075674"},
    {SnmpAuth::kSha256, "ab51014d1e077f6017df2b12bee5f5aa72993177e9bb569c4dff5a4ca0b4afac",
     "8982e0e549e866db361a6b625d84cccc11162d453ee8ce3a6445c2d6776f0f8b"},
    {SnmpAuth::kSha384,
     "e06eccdf2c68a06ed034723c9c26e0db3b669e1e2efed49150b55377a2e98f383c86fb836857444654b287c93f51"
     "ff64",
     "3b298f16164a11184279d5432bf169e2d2a48307de02b3d3f7e2b4f36eb6f0455a53689a3937eea07319a633d2cc"
     "ba78"},
    {SnmpAuth::kSha512,
     "7e4396de5aadc77be853819b98c9406265b3a9c37cc3176569847a4e4f6fba63dd3a73d04924d31a63f95a601f93"
     "85af6be4ed1b37f87d040f7c6ed6f8d38a91",
     "22a5a36cedfcc085807a128d7bc6c2382167ad6c0dbc5fdff856740f3d84c099ad1ea87a8db096714d9788bd5440"
     "47c9021e4229ce27e4c0a69250adfcffbb0b"},
};

TEST(UsmCrypto, KeysOfPasswordsAndEnginesAreThoseOfTheStandard) {
    UsmCrypto crypto;
    for (const KeyRow& row : kKeys) {
        const Key key = crypto.key_of_password(row.auth, kPassword);
        EXPECT_EQ(hex(key.view()), row.of_password) << to_string(row.auth);
        EXPECT_EQ(hex(crypto.localise(row.auth, key, kEngine).view()), row.localised);
        EXPECT_EQ(key.size, digest_bytes(row.auth));
    }
}

TEST(UsmCrypto, ShortDigestsAreExtendedInBothWays) {
    UsmCrypto crypto;
    const Key md5 = key_from(kKeys[0].localised);
    const Key sha1 = key_from(kKeys[1].localised);
    const auto made = [&](SnmpAuth auth, SnmpPrivacy privacy, const Key& key) {
        return hex(crypto.cipher_key(auth, privacy, key, kEngine).view());
    };
    EXPECT_EQ(made(SnmpAuth::kMd5, SnmpPrivacy::kAes256, md5),
              "526f5eed9fcce26f8964c2930787d82bfa24a92467426c2f4b09192be10dfaec");
    EXPECT_EQ(made(SnmpAuth::kMd5, SnmpPrivacy::kAes256c, md5),
              "526f5eed9fcce26f8964c2930787d82b79eff44a90650ee0a3a40abfac5acc12");
    EXPECT_EQ(made(SnmpAuth::kSha1, SnmpPrivacy::kAes192, sha1),
              "6695febc9288e36282235fc7151f128497b38f3f505e07eb");
    EXPECT_EQ(made(SnmpAuth::kSha1, SnmpPrivacy::kAes256c, sha1),
              "6695febc9288e36282235fc7151f128497b38f3f9b8b6d78936ba6e7d19dfd9c");
    // A digest that is long enough is cut, and both ways are one.
    const Key sha256 = key_from(kKeys[3].localised);
    EXPECT_EQ(made(SnmpAuth::kSha256, SnmpPrivacy::kAes256, sha256),
              made(SnmpAuth::kSha256, SnmpPrivacy::kAes256c, sha256));
    EXPECT_EQ(made(SnmpAuth::kSha256, SnmpPrivacy::kAes128, sha256),
              std::string(kKeys[3].localised).substr(0, 32));
    EXPECT_EQ(made(SnmpAuth::kMd5, SnmpPrivacy::kDes, md5), kKeys[0].localised);
}

// RFC 2202 and RFC 4231, test case 2, cut as RFC 3414 and RFC 7860 say.
TEST(UsmCrypto, SignsAsTheStandardsDo) {
    UsmCrypto crypto;
    const std::string_view text = "what do ya want for nothing?";
    const Bytes data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    const std::pair<SnmpAuth, std::string_view> rows[] = {
        {SnmpAuth::kMd5, "750c783e6ab0b503eaa86e31"},
        {SnmpAuth::kSha1, "effcdf6ae5eb2fa2d27416d5"},
        {SnmpAuth::kSha224, "a30e01098bc6dbbf45690f3a7e9e6d0f"},
        {SnmpAuth::kSha256, "5bdcc146bf60754e6a042426089575c75a003f089d273983"},
        {SnmpAuth::kSha384, "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"},
        {SnmpAuth::kSha512,
         "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f"
         "8"
         "f0e6fd"}};
    for (const auto& [auth, wanted] : rows) {
        std::vector<std::uint8_t> mac(mac_bytes(auth));
        crypto.sign(auth, key_from("4a656665"), {data.first(5), data.subspan(5)}, mac);
        EXPECT_EQ(hex(mac), wanted) << to_string(auth);
    }
}

// NIST SP 800-38A F.3.13, F.3.15, F.3.17: the vector is what boots, time and salt make.
TEST(UsmCrypto, EncryptsAndDecryptsAesAsTheStandardDoes) {
    UsmCrypto crypto;
    const CipherTime time{.boots = 0x00010203, .time = 0x04050607};
    const std::vector<std::uint8_t> salt = from_hex("08090a0b0c0d0e0f");
    const std::string plain = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";
    const std::tuple<SnmpPrivacy, std::string_view, std::string_view> rows[] = {
        {SnmpPrivacy::kAes128, "2b7e151628aed2a6abf7158809cf4f3c",
         "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b"},
        {SnmpPrivacy::kAes192, "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
         "cdc80d6fddf18cab34c25909c99a417467ce7f7f81173621961a2b70171d3d7a"},
        {SnmpPrivacy::kAes256c, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
         "dc7e84bfda79164b7ecd8486985d386039ffed143b28b1c832113c6331e5407b"}};
    for (const auto& [privacy, key, wanted] : rows) {
        std::vector<std::uint8_t> data = from_hex(plain);
        ASSERT_TRUE(crypto.encrypt(privacy, key_from(key), time, salt, data));
        EXPECT_EQ(hex(data), wanted) << to_string(privacy);
        ASSERT_TRUE(crypto.decrypt(privacy, key_from(key), time, salt, data));
        EXPECT_EQ(hex(data), plain);
    }
}

// FIPS 81's example "Now is the time for all ", key 0123456789abcdef, vector 1234567890abcdef.
TEST(UsmCrypto, EncryptsDesAsTheStandardDoes) {
    UsmCrypto crypto;
    const Key key = key_from("0123456789abcdef 0000000000000000");
    const std::vector<std::uint8_t> salt = from_hex("1234567890abcdef");
    std::vector<std::uint8_t> data = from_hex("4e6f77206973207468652074696d6520666f7220616c6c20");
    ASSERT_TRUE(crypto.encrypt(SnmpPrivacy::kDes, key, {}, salt, data));
    EXPECT_EQ(hex(data), "e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6");
    ASSERT_TRUE(crypto.decrypt(SnmpPrivacy::kDes, key, {}, salt, data));
    EXPECT_EQ(hex(data), "4e6f77206973207468652074696d6520666f7220616c6c20");
    data.pop_back();
    EXPECT_FALSE(crypto.decrypt(SnmpPrivacy::kDes, key, {}, salt, data));
}

TEST(UsmCrypto, RefusesSaltsAndKeysOfAnotherSize) {
    UsmCrypto crypto;
    std::vector<std::uint8_t> data(16);
    const Key key = key_from("2b7e151628aed2a6abf7158809cf4f3c");
    EXPECT_FALSE(crypto.decrypt(SnmpPrivacy::kAes128, key, {}, from_hex("08090a0b0c0d0e"), data));
    EXPECT_FALSE(crypto.decrypt(SnmpPrivacy::kAes256, key, {}, from_hex("08090a0b0c0d0e0f"), data));
}

TEST(UsmCrypto, ComparesBytesOfEqualLengthOnly) {
    const std::vector<std::uint8_t> a = from_hex("010203");
    EXPECT_TRUE(equal_in_constant_time(a, from_hex("010203")));
    EXPECT_FALSE(equal_in_constant_time(a, from_hex("010204")));
    EXPECT_FALSE(equal_in_constant_time(a, from_hex("0102")));
}

TEST(SaltCounter, NeverRepeatsASaltEvenWhereItWraps) {
    SaltCounter salts(~std::uint64_t{0} - 5);
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(hex(salts.next(SnmpPrivacy::kAes128, 7)));
    EXPECT_EQ(seen.size(), 100U);
    EXPECT_EQ(hex(salts.next(SnmpPrivacy::kDes, 0x01020304)).substr(0, 8), "01020304");
}

std::shared_ptr<model::Credentials> user_with(std::string password) {
    auto credentials = std::make_shared<model::Credentials>();
    credentials->username = "someone";
    credentials->snmp_auth = SnmpAuth::kSha1;
    credentials->snmp_auth_password = base::Secret(password);
    credentials->snmp_privacy = SnmpPrivacy::kAes128;
    credentials->snmp_privacy_password = base::Secret(std::move(password));
    return credentials;
}

TEST(UsmKeys, DerivesAPasswordOnceForAllEngines) {
    UsmCrypto crypto;
    UsmKeys keys(crypto, {.k0 = 1, .k1 = 2});
    const auto credentials = user_with(std::string(kPassword));
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(hex(keys.find(credentials, kEngine).auth.view()), kKeys[1].localised);
        for (std::uint8_t i = 0; i < 20; ++i) {
            const std::vector<std::uint8_t> engine = {1, 2, 3, 4, 5, i};
            EXPECT_EQ(keys.find(credentials, engine).privacy.size, 16U);
        }
    }
    EXPECT_EQ(keys.derivations(), 1U);
    EXPECT_EQ(keys.size(), 21U);
}

TEST(UsmKeys, IsBoundedAndForgetsTheOldest) {
    UsmCrypto crypto;
    UsmKeys keys(crypto, {.k0 = 1, .k1 = 2}, 4, 2);
    const auto credentials = user_with(std::string(kPassword));
    for (std::uint8_t i = 0; i < 50; ++i) {
        const std::vector<std::uint8_t> engine = {1, 2, 3, 4, 5, static_cast<std::uint8_t>(i % 7)};
        keys.find(credentials, engine);
    }
    EXPECT_EQ(keys.size(), 4U);
    EXPECT_EQ(hex(keys.find(credentials, kEngine).auth.view()), kKeys[1].localised);
    for (int i = 0; i < 5; ++i) keys.find(user_with("password " + std::to_string(i)), kEngine);
    EXPECT_EQ(hex(keys.find(credentials, kEngine).auth.view()), kKeys[1].localised);
}

TEST(UsmKeys, NewCredentialsAtTheAddressOfOldOnesHaveTheirOwnKeys) {
    UsmCrypto crypto;
    UsmKeys keys(crypto, {.k0 = 1, .k1 = 2});
    for (int i = 0; i < 20; ++i) {
        const auto credentials = user_with("password " + std::to_string(i % 2));
        const Key wanted = crypto.localise(
            SnmpAuth::kSha1,
            crypto.key_of_password(SnmpAuth::kSha1, credentials->snmp_auth_password.reveal()),
            kEngine);
        EXPECT_EQ(hex(keys.find(credentials, kEngine).auth.view()), hex(wanted.view()));
    }
}

}  // namespace
}  // namespace pollux::protocol::snmp
