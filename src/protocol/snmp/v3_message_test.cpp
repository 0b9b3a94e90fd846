// Messages of v3: what we seal we open, in every pair of digest and cipher; what was changed on the
// way is refused.
#include "protocol/snmp/v3_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "protocol/snmp/codec_test_support.hpp"
#include "protocol/snmp/usm_message.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;

const std::vector<std::uint8_t> kEngine = from_hex("80 00 1f 88 04 61 62 63");

std::shared_ptr<const model::Credentials> user_of(SnmpAuth auth, SnmpPrivacy privacy) {
    auto credentials = std::make_shared<model::Credentials>();
    credentials->username = "someone";
    credentials->snmp_auth = auth;
    credentials->snmp_auth_password = base::Secret("authpassword");
    credentials->snmp_privacy = privacy;
    credentials->snmp_privacy_password = base::Secret("privpassword");
    return credentials;
}

class V3Message : public ::testing::Test {
  protected:
    std::vector<std::uint8_t> sealed(const Pdu& pdu, const model::Credentials& credentials,
                                     const LocalKeys& keys, std::size_t room = kMaxMessageBytes) {
        std::vector<std::uint8_t> buffer(room);
        BerWriter writer(buffer);
        put_pdu(writer, pdu);
        seal(writer, 0,
             {.message_id = 77,
              .reportable = true,
              .level = level_of(credentials),
              .engine_id = kEngine,
              .boots = 3,
              .time = 12345,
              .user = credentials.username,
              .auth = credentials.snmp_auth,
              .privacy = credentials.snmp_privacy,
              .keys = &keys,
              .context_engine = kEngine,
              .context = "ctx"},
             crypto_, salts_);
        if (!writer.ok()) return {};
        return {writer.bytes().begin(), writer.bytes().end()};
    }

    // Null: refused somewhere.
    std::optional<Pdu> opened(Bytes bytes, const model::Credentials& credentials,
                              const LocalKeys& keys) {
        const Parsed<V3View> view = parse_v3(bytes);
        if (!view || view->level != level_of(credentials)) return std::nullopt;
        if (view->level != SecurityLevel::kNoAuth &&
            !is_signed_by(*view, credentials.snmp_auth, keys.auth, crypto_)) {
            return std::nullopt;
        }
        const Parsed<ScopedView> scope =
            open_scope(*view, credentials.snmp_privacy, keys.privacy, crypto_, room_);
        if (!scope) return std::nullopt;
        const Parsed<Pdu> pdu = decode_pdu(scope->pdu);
        return pdu ? std::optional<Pdu>(*pdu) : std::nullopt;
    }

    UsmCrypto crypto_;
    UsmKeys keys_{crypto_, {.k0 = 1, .k1 = 2}};
    SaltCounter salts_{42};
    std::vector<std::uint8_t> room_ = std::vector<std::uint8_t>(kMaxMessageBytes);
};

TEST_F(V3Message, OpensWhatItSealsWithEveryDigestAndCipher) {
    std::uint64_t seed = 0;
    for (std::uint8_t auth = 0; auth < 7; ++auth) {
        for (std::uint8_t privacy = 0; privacy < 7; ++privacy) {
            if (auth == 0 && privacy != 0) continue;
            const auto user =
                user_of(static_cast<SnmpAuth>(auth), static_cast<SnmpPrivacy>(privacy));
            const LocalKeys keys = keys_.find(user, kEngine);
            for (int i = 0; i < 30; ++i) {
                base::TestRandom random(++seed);
                const Pdu pdu = random_message(random).pdu;
                const auto bytes = sealed(pdu, *user, keys);
                const std::optional<Pdu> back = opened(bytes, *user, keys);
                ASSERT_TRUE(back.has_value()) << "seed " << seed;
                EXPECT_EQ(*back, pdu);
                EXPECT_EQ(*peek_request_id(bytes), 77);
                EXPECT_TRUE(claims_v3(bytes));
            }
        }
    }
}

TEST_F(V3Message, HeaderComesBackAsItWasWritten) {
    const auto user = user_of(SnmpAuth::kSha256, SnmpPrivacy::kAes128);
    const LocalKeys keys = keys_.find(user, kEngine);
    Pdu pdu;
    pdu.type = PduType::kGet;
    const auto bytes = sealed(pdu, *user, keys);
    const Parsed<V3View> view = parse_v3(bytes);
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->message_id, 77);
    EXPECT_EQ(view->level, SecurityLevel::kAuthPrivacy);
    EXPECT_TRUE(view->reportable);
    EXPECT_TRUE(std::ranges::equal(view->engine_id, kEngine));
    EXPECT_EQ(view->boots, 3U);
    EXPECT_EQ(view->time, 12345U);
    EXPECT_EQ(view->mac.size(), 24U);
    EXPECT_EQ(view->salt.size(), 8U);
    EXPECT_EQ(view->whole.size(), bytes.size());
    auto padded = bytes;
    padded.resize(padded.size() + 9);
    EXPECT_TRUE(opened(padded, *user, keys).has_value()) << "bytes after a message do not count";
}

TEST_F(V3Message, AnyChangedBitIsRefused) {
    for (const SnmpPrivacy privacy :
         {SnmpPrivacy::kNone, SnmpPrivacy::kDes, SnmpPrivacy::kAes256}) {
        const auto user = user_of(SnmpAuth::kSha512, privacy);
        const LocalKeys keys = keys_.find(user, kEngine);
        base::TestRandom random(5);
        const auto bytes = sealed(random_message(random).pdu, *user, keys);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                auto changed = bytes;
                changed[i] = static_cast<std::uint8_t>(changed[i] ^ (1U << bit));
                EXPECT_FALSE(opened(changed, *user, keys).has_value()) << i << " " << bit;
            }
        }
    }
}

TEST_F(V3Message, AnyCutMessageIsRefused) {
    const auto user = user_of(SnmpAuth::kMd5, SnmpPrivacy::kDes);
    const LocalKeys keys = keys_.find(user, kEngine);
    base::TestRandom random(6);
    const auto bytes = sealed(random_message(random).pdu, *user, keys);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(opened(Bytes(bytes).first(size), *user, keys).has_value()) << size;
    }
}

TEST_F(V3Message, AnotherPasswordIsRefused) {
    const auto user = user_of(SnmpAuth::kSha1, SnmpPrivacy::kAes128);
    const LocalKeys keys = keys_.find(user, kEngine);
    LocalKeys others = keys;
    others.auth.bytes[3] ^= 1U;
    base::TestRandom random(7);
    const auto bytes = sealed(random_message(random).pdu, *user, keys);
    EXPECT_FALSE(opened(bytes, *user, others).has_value());
    EXPECT_TRUE(opened(bytes, *user, keys).has_value());
}

TEST_F(V3Message, TooSmallABufferIsNoticedAtEverySize) {
    for (const SnmpPrivacy privacy :
         {SnmpPrivacy::kNone, SnmpPrivacy::kDes, SnmpPrivacy::kAes128}) {
        const auto user = user_of(SnmpAuth::kSha256, privacy);
        const LocalKeys keys = keys_.find(user, kEngine);
        base::TestRandom random(8);
        const Pdu pdu = random_message(random).pdu;
        const std::size_t needed = sealed(pdu, *user, keys).size();
        for (std::size_t room = 0; room < needed; ++room) {
            EXPECT_TRUE(sealed(pdu, *user, keys, room).empty()) << room << " of " << needed;
        }
        EXPECT_EQ(sealed(pdu, *user, keys, needed).size(), needed);
    }
}

// A header by hand, with one field wrong at a time.
std::vector<std::uint8_t> header_with(std::int64_t id, std::int64_t max_size,
                                      std::vector<std::uint8_t> flags, std::int64_t model,
                                      std::int64_t boots, std::size_t engine = 12,
                                      std::size_t user = 5, std::size_t mac = 0,
                                      std::size_t salt = 0) {
    std::vector<std::uint8_t> buffer(2048);
    BerWriter writer(buffer);
    Pdu pdu;
    put_pdu(writer, pdu);
    put_scope(writer, 0, {}, "");
    const std::size_t security = writer.size();
    for (const std::size_t size : {salt, mac, user}) {
        writer.put_string(tag::kOctetString, std::string(size, 'x'));
    }
    writer.put_integer(tag::kInteger, 1);
    writer.put_integer(tag::kInteger, boots);
    writer.put_string(tag::kOctetString, std::string(engine, 'e'));
    writer.wrap(tag::kSequence, security);
    writer.wrap(tag::kOctetString, security);
    const std::size_t global = writer.size();
    writer.put_integer(tag::kInteger, model);
    writer.put_bytes(flags);
    writer.put_header(tag::kOctetString, flags.size());
    writer.put_integer(tag::kInteger, max_size);
    writer.put_integer(tag::kInteger, id);
    writer.wrap(tag::kSequence, global);
    writer.put_integer(tag::kInteger, 3);
    writer.wrap(tag::kSequence, 0);
    return {writer.bytes().begin(), writer.bytes().end()};
}

TEST_F(V3Message, BoundsOfTheStandardHold) {
    const auto refused = [](std::vector<std::uint8_t> bytes) { return !parse_v3(bytes); };
    EXPECT_FALSE(refused(header_with(1, 484, {4}, 3, 0)));
    EXPECT_FALSE(refused(header_with(1, 484, {4}, 3, 0, 32, 32, 48, 8)));
    EXPECT_FALSE(refused(header_with(0x7FFFFFFF, 65507, {0}, 3, 0x7FFFFFFF, 0, 0)));
    EXPECT_TRUE(refused(header_with(-1, 484, {4}, 3, 0)));
    EXPECT_TRUE(refused(header_with(0x80000000, 484, {4}, 3, 0)));
    EXPECT_TRUE(refused(header_with(1, 483, {4}, 3, 0)));
    EXPECT_TRUE(refused(header_with(1, 484, {}, 3, 0)));
    EXPECT_TRUE(refused(header_with(1, 484, {4, 4}, 3, 0)));
    EXPECT_TRUE(refused(header_with(1, 484, {2}, 3, 0))) << "privacy without authentication";
    EXPECT_TRUE(refused(header_with(1, 484, {4}, 2, 0)));
    EXPECT_TRUE(refused(header_with(1, 484, {4}, 3, -1)));
    EXPECT_TRUE(refused(header_with(1, 484, {4}, 3, 0x80000000)));
    EXPECT_TRUE(refused(header_with(1, 484, {4}, 3, 0, 33)));
    EXPECT_TRUE(refused(header_with(1, 484, {4}, 3, 0, 12, 33)));
    EXPECT_TRUE(refused(header_with(1, 484, {4}, 3, 0, 12, 5, 49)));
    EXPECT_TRUE(refused(header_with(1, 484, {4}, 3, 0, 12, 5, 0, 7)));
}

}  // namespace
}  // namespace pollux::protocol::snmp
