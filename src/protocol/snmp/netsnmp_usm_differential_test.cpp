// Our keys, signatures and ciphers against those of net-snmp's library, with random passwords,
// engines and data.
#include <gtest/gtest.h>
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>

// These want the ones above first.
#include <net-snmp/library/keytools.h>
#include <net-snmp/library/scapi.h>
#include <net-snmp/library/snmpusm.h>
#undef config_error  // a macro of net-snmp, and a function of ours

#include <algorithm>
#include <array>

#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/usm_crypto.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;

struct NetAuth {
    SnmpAuth ours;
    const char* theirs;
};
constexpr NetAuth kAuths[] = {{SnmpAuth::kMd5, "MD5"},        {SnmpAuth::kSha1, "SHA"},
                              {SnmpAuth::kSha224, "SHA-224"}, {SnmpAuth::kSha256, "SHA-256"},
                              {SnmpAuth::kSha384, "SHA-384"}, {SnmpAuth::kSha512, "SHA-512"}};

struct NetPrivacy {
    SnmpPrivacy ours;
    const char* theirs;
};
constexpr NetPrivacy kPrivacies[] = {{SnmpPrivacy::kDes, "DES"},
                                     {SnmpPrivacy::kAes128, "AES"},
                                     {SnmpPrivacy::kAes192, "AES-192"},
                                     {SnmpPrivacy::kAes256, "AES-256"}};

class NetSnmpUsm : public ::testing::Test {
  protected:
    static void SetUpTestSuite() { sc_init(); }
};

std::vector<std::uint8_t> random_bytes(base::TestRandom& random, std::size_t least,
                                       std::size_t most) {
    std::vector<std::uint8_t> bytes(least + random.below(most - least + 1));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
    return bytes;
}

TEST_F(NetSnmpUsm, MakesTheSameKeysAndSignatures) {
    UsmCrypto crypto;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        base::TestRandom random(seed);
        const NetAuth& auth = kAuths[seed % std::size(kAuths)];
        const int type = usm_lookup_auth_type(auth.theirs);
        ASSERT_GE(type, 0) << auth.theirs;
        std::size_t oid_size = 0;
        oid* name = sc_get_auth_oid(type, &oid_size);
        ASSERT_NE(name, nullptr);
        std::vector<std::uint8_t> password = random_bytes(random, 8, 60);
        std::vector<std::uint8_t> engine = random_bytes(random, 5, 32);
        std::array<u_char, 128> key{};
        std::size_t key_size = key.size();
        ASSERT_EQ(generate_Ku(name, static_cast<u_int>(oid_size), password.data(), password.size(),
                              key.data(), &key_size),
                  SNMPERR_SUCCESS);
        std::array<u_char, 128> local{};
        std::size_t local_size = local.size();
        ASSERT_EQ(generate_kul(name, static_cast<u_int>(oid_size), engine.data(), engine.size(),
                               key.data(), key_size, local.data(), &local_size),
                  SNMPERR_SUCCESS);
        const Key ours = crypto.localise(
            auth.ours,
            crypto.key_of_password(
                auth.ours, {reinterpret_cast<const char*>(password.data()), password.size()}),
            engine);
        ASSERT_TRUE(std::ranges::equal(ours.view(), Bytes(local.data(), local_size)))
            << auth.theirs << " seed " << seed;
        const std::vector<std::uint8_t> data = random_bytes(random, 1, 1500);
        std::array<u_char, 64> mac{};
        std::size_t mac_size = mac_bytes(auth.ours);
        ASSERT_EQ(sc_generate_keyed_hash(name, oid_size, local.data(),
                                         static_cast<u_int>(local_size), data.data(),
                                         static_cast<u_int>(data.size()), mac.data(), &mac_size),
                  SNMPERR_SUCCESS);
        std::vector<std::uint8_t> signature(mac_bytes(auth.ours));
        crypto.sign(auth.ours, ours, {data}, signature);
        EXPECT_TRUE(std::ranges::equal(signature, Bytes(mac.data(), signature.size())))
            << auth.theirs << " seed " << seed;
    }
}

TEST_F(NetSnmpUsm, DecryptsWhatWeEncrypt) {
    UsmCrypto crypto;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        base::TestRandom random(seed);
        const NetPrivacy& privacy = kPrivacies[seed % std::size(kPrivacies)];
        const int type = usm_lookup_priv_type(privacy.theirs);
        ASSERT_GE(type, 0) << privacy.theirs;
        std::size_t oid_size = 0;
        oid* name = sc_get_priv_oid(type, &oid_size);
        ASSERT_NE(name, nullptr);
        Key key;
        key.size = cipher_key_bytes(privacy.ours);
        for (std::uint8_t& byte : std::span(key.bytes).first(key.size)) {
            byte = static_cast<std::uint8_t>(random.below(256));
        }
        const CipherTime time{.boots = static_cast<std::uint32_t>(random.below(1U << 31U)),
                              .time = static_cast<std::uint32_t>(random.below(1U << 31U))};
        const std::vector<std::uint8_t> salt = random_bytes(random, 8, 8);
        const std::vector<std::uint8_t> plain = [&] {
            std::vector<std::uint8_t> bytes = random_bytes(random, 8, 1400);
            bytes.resize(bytes.size() / 8 * 8);
            return bytes;
        }();
        std::vector<std::uint8_t> data = plain;
        ASSERT_TRUE(crypto.encrypt(privacy.ours, key, time, salt, data));
        // The vector as the standards make it, by hand.
        std::vector<std::uint8_t> vector(privacy.ours == SnmpPrivacy::kDes ? 8 : 16);
        for (std::size_t i = 0; i < 8; ++i) {
            if (privacy.ours == SnmpPrivacy::kDes) {
                vector[i] = salt[i] ^ key.bytes[8 + i];
            } else {
                const std::uint32_t word = i < 4 ? time.boots : time.time;
                vector[i] = static_cast<std::uint8_t>(word >> (24U - 8U * (i % 4)) & 0xFFU);
                vector[8 + i] = salt[i];
            }
        }
        std::vector<std::uint8_t> back(plain.size() + 64);
        std::size_t back_size = back.size();
        ASSERT_EQ(sc_decrypt(name, oid_size, key.bytes.data(), static_cast<u_int>(key.size),
                             vector.data(), static_cast<u_int>(vector.size()), data.data(),
                             static_cast<u_int>(data.size()), back.data(), &back_size),
                  SNMPERR_SUCCESS)
            << privacy.theirs;
        back.resize(plain.size());
        EXPECT_EQ(back, plain) << privacy.theirs << " seed " << seed;
    }
}

}  // namespace
}  // namespace pollux::protocol::snmp
