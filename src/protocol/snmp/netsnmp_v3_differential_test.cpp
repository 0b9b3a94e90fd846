// Whole messages of v3 against net-snmp's library: random users and PDUs, sealed by one side and
// opened by the other. Each side makes its keys from the passwords by itself. No sockets: what
// net-snmp does with a datagram begins with snmpv3_parse, and ends with snmp_build.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "protocol/snmp/netsnmp_test_support.hpp"
#include "protocol/snmp/usm_message.hpp"

// These want net-snmp's other headers first.
#include <net-snmp/library/lcd_time.h>
#include <net-snmp/library/snmpusm.h>

namespace pollux::protocol::snmp {
namespace {

using model::SnmpAuth;
using model::SnmpPrivacy;

constexpr const char* kAuthNames[] = {"", "MD5", "SHA", "SHA-224", "SHA-256", "SHA-384", "SHA-512"};
constexpr const char* kPrivacyNames[] = {"",        "DES",       "AES",      "AES-192",
                                         "AES-256", "AES-192-C", "AES-256-C"};
constexpr int kNetLevels[] = {SNMP_SEC_LEVEL_NOAUTH, SNMP_SEC_LEVEL_AUTHNOPRIV,
                              SNMP_SEC_LEVEL_AUTHPRIV};
constexpr std::size_t kMessagesPerUser = 12;

std::string hex(Bytes bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

std::string random_word(base::TestRandom& random, std::size_t least, std::size_t most) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+!$%&()=?";
    std::string word(least + random.below(most - least + 1), ' ');
    for (char& c : word) c = kLetters[random.below(kLetters.size())];
    return word;
}

// A user as both sides know it, for one engine.
struct SharedUser {
    std::shared_ptr<model::Credentials> credentials = std::make_shared<model::Credentials>();
    std::string auth_password;
    std::string privacy_password;
    std::vector<std::uint8_t> engine;

    SecurityLevel level() const { return level_of(*credentials); }
    std::string text() const {
        return fmt::format(
            "user '{}' auth '{}' with '{}' privacy '{}' with '{}' engine {}", credentials->username,
            kAuthNames[static_cast<std::size_t>(credentials->snmp_auth)], auth_password,
            kPrivacyNames[static_cast<std::size_t>(credentials->snmp_privacy)], privacy_password,
            hex(engine));
    }
};

SharedUser random_user(base::TestRandom& random, SnmpAuth auth, SnmpPrivacy privacy) {
    SharedUser user;
    user.credentials->username = random_word(random, 1, kMaxUserBytes);
    user.credentials->snmp_auth = auth;
    user.credentials->snmp_privacy = privacy;
    if (auth != SnmpAuth::kNone) user.auth_password = random_word(random, 8, 40);
    if (privacy != SnmpPrivacy::kNone) user.privacy_password = random_word(random, 8, 40);
    user.credentials->snmp_auth_password = base::Secret(user.auth_password);
    user.credentials->snmp_privacy_password = base::Secret(user.privacy_password);
    user.engine.resize(kMinEngineIdBytes + random.below(kMaxEngineIdBytes - kMinEngineIdBytes + 1));
    for (std::uint8_t& byte : user.engine) byte = static_cast<std::uint8_t>(random.below(256));
    user.engine[0] |= 0x80U;
    return user;
}

// The user in net-snmp's table, as a line of its configuration would put it there.
class NetUser {
  public:
    explicit NetUser(const SharedUser& user) {
        const model::Credentials& who = *user.credentials;
        std::string line = fmt::format("-e 0x{} \"{}\"", hex(user.engine), who.username);
        if (who.snmp_auth != SnmpAuth::kNone) {
            line += fmt::format(" {} \"{}\"", kAuthNames[static_cast<std::size_t>(who.snmp_auth)],
                                user.auth_password);
        }
        if (who.snmp_privacy != SnmpPrivacy::kNone) {
            line +=
                fmt::format(" {} \"{}\"", kPrivacyNames[static_cast<std::size_t>(who.snmp_privacy)],
                            user.privacy_password);
        }
        usm_parse_create_usmUser("createUser", line.data());
        user_ = usm_get_user(user.engine.data(), user.engine.size(), who.username.c_str());
    }
    ~NetUser() {
        if (user_ == nullptr) return;
        usm_remove_user(user_);
        usm_free_user(user_);
    }
    NetUser(const NetUser&) = delete;
    NetUser& operator=(const NetUser&) = delete;
    bool exists() const { return user_ != nullptr; }

  private:
    usmUser* user_ = nullptr;
};

// What is around a PDU, beside the user.
struct Envelope {
    std::int32_t message_id = 0;
    std::uint32_t boots = 0;
    std::uint32_t time = 0;
    std::vector<std::uint8_t> context_engine;
    std::string context;
    Pdu pdu;
};

Envelope random_envelope(base::TestRandom& random, const SharedUser& user) {
    constexpr PduType kTypes[] = {PduType::kGet,     PduType::kGetNext, PduType::kResponse,
                                  PduType::kGetBulk, PduType::kSet,     PduType::kInform,
                                  PduType::kTrapV2,  PduType::kReport};
    Envelope envelope;
    envelope.message_id = static_cast<std::int32_t>(random.next() >> (33 + random.below(31)));
    envelope.boots = 1 + static_cast<std::uint32_t>(random.below(kMaxBoots - 2));
    // net-snmp lets the clock go on, so some seconds are left below the limit.
    envelope.time = static_cast<std::uint32_t>(random.next() >> (33 + random.below(31)));
    envelope.time = std::min(envelope.time, kMaxBoots - 3600);
    envelope.context_engine = user.engine;
    envelope.context = random_word(random, 0, 40);
    envelope.pdu = random_message(random).pdu;
    envelope.pdu.type = kTypes[random.below(std::size(kTypes))];
    keep_opaque_plain(envelope.pdu);
    return envelope;
}

// Their clock of the engine, as if heard this moment.
void set_clock(const SharedUser& user, const Envelope& envelope) {
    ASSERT_EQ(set_enginetime(user.engine.data(), static_cast<u_int>(user.engine.size()),
                             envelope.boots, envelope.time, TRUE),
              SNMPERR_SUCCESS);
}

netsnmp_session plain_session() {
    netsnmp_session session;
    snmp_sess_init(&session);
    session.version = SNMP_VERSION_3;
    session.securityModel = SNMP_SEC_MODEL_USM;
    session.rcvMsgMaxSize = kMaxMessageBytes;
    session.flags |= SNMP_FLAGS_DONT_PROBE;
    return session;
}

class NetSnmpV3 : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        // Nothing is read from files: init_snmp() would do that.
        netsnmp_ds_set_string(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_APPTYPE, "pollux-test");
        netsnmp_register_loghandler(NETSNMP_LOGHANDLER_NONE,
                                    LOG_DEBUG);  // it tells every message that it refuses
        sc_init();
        init_usm();
        // It wants an engine of its own, though it speaks with others only.
        const std::vector<std::uint8_t> own = from_hex("80 00 1f 88 04 6f 77 6e");
        ASSERT_EQ(set_exact_engineID(own.data(), own.size()), SNMPERR_SUCCESS);
    }

    // Every pair of a digest and a cipher, several users each: `check` is called with the seed.
    template <typename Check>
    void for_each_message(const Check& check) {
        std::uint64_t seed = 0;
        std::size_t messages = 0;
        for (std::uint8_t auth = 0; auth < std::size(kAuthNames); ++auth) {
            for (std::uint8_t privacy = 0; privacy < std::size(kPrivacyNames); ++privacy) {
                if (auth == 0 && privacy != 0) continue;
                base::TestRandom random(++seed);
                const SharedUser user = random_user(random, static_cast<SnmpAuth>(auth),
                                                    static_cast<SnmpPrivacy>(privacy));
                const NetUser theirs(user);
                ASSERT_TRUE(theirs.exists()) << "seed " << seed << ' ' << user.text();
                for (std::size_t i = 0; i < kMessagesPerUser; ++i, ++messages) {
                    const Envelope envelope = random_envelope(random, user);
                    SCOPED_TRACE(fmt::format("seed {} message {} of {}", seed, i, user.text()));
                    ASSERT_NO_FATAL_FAILURE(check(random, user, envelope));
                }
            }
        }
        EXPECT_GE(messages, 300u);
    }

    std::vector<std::uint8_t> sealed(const SharedUser& user, const Envelope& envelope) {
        std::vector<std::uint8_t> buffer(kMaxMessageBytes);
        BerWriter writer(buffer);
        put_pdu(writer, envelope.pdu);
        const LocalKeys keys = keys_.find(user.credentials, user.engine);
        seal(writer, 0,
             {.message_id = envelope.message_id,
              .reportable = false,
              .level = user.level(),
              .engine_id = user.engine,
              .boots = envelope.boots,
              .time = envelope.time,
              .user = user.credentials->username,
              .auth = user.credentials->snmp_auth,
              .privacy = user.credentials->snmp_privacy,
              .keys = &keys,
              .context_engine = envelope.context_engine,
              .context = envelope.context},
             crypto_, salts_);
        EXPECT_TRUE(writer.ok());
        return {writer.bytes().begin(), writer.bytes().end()};
    }

    // As net-snmp writes it. Empty: it refused.
    static std::vector<std::uint8_t> built(const SharedUser& user, const Envelope& envelope) {
        netsnmp_session session = plain_session();
        std::string name = user.credentials->username;
        std::vector<std::uint8_t> engine = user.engine;
        session.securityName = name.data();
        session.securityNameLen = name.size();
        session.securityEngineID = engine.data();
        session.securityEngineIDLen = engine.size();
        session.securityLevel = kNetLevels[static_cast<std::size_t>(user.level())];
        std::string context = envelope.context;
        session.contextName = context.data();
        session.contextNameLen = context.size();
        std::vector<std::uint8_t> context_engine = envelope.context_engine;
        session.contextEngineID = context_engine.data();
        session.contextEngineIDLen = context_engine.size();
        const NetPdu pdu(snmp_pdu_create(static_cast<int>(envelope.pdu.type)), &snmp_free_pdu);
        pdu->version = SNMP_VERSION_3;
        pdu->msgid = envelope.message_id;
        fill(*pdu, envelope.pdu);
        std::size_t room = kMaxMessageBytes;
        auto* packet = static_cast<u_char*>(std::malloc(room));
        std::size_t used = 0;
        const int result = snmp_build(&packet, &room, &used, &session, pdu.get());
        EXPECT_EQ(result, 0) << snmp_api_errstring(session.s_snmp_errno);
        // It writes from the back.
        const std::vector<std::uint8_t> bytes(packet + room - (result == 0 ? used : 0),
                                              packet + room);
        std::free(packet);
        return bytes;
    }

    bool opens(const SharedUser& user, Bytes bytes) {
        const Parsed<V3View> view = parse_v3(bytes);
        if (!view || view->level != user.level()) return false;
        const LocalKeys keys = keys_.find(user.credentials, user.engine);
        return is_signed_by(*view, user.credentials->snmp_auth, keys.auth, crypto_);
    }

    UsmCrypto crypto_;
    UsmKeys keys_{crypto_, {.k0 = 1, .k1 = 2}};
    SaltCounter salts_{42};
    std::vector<std::uint8_t> room_ = std::vector<std::uint8_t>(kMaxMessageBytes);
};

// What net-snmp says to bytes: 0, or its error.
int read_by_net(std::vector<std::uint8_t> bytes, netsnmp_pdu& pdu) {
    netsnmp_session session = plain_session();
    std::size_t size = bytes.size();
    return snmpv3_parse(&pdu, bytes.data(), &size, nullptr, &session);
}

TEST_F(NetSnmpV3, OpensWhatWeSeal) {
    for_each_message([&](base::TestRandom&, const SharedUser& user, const Envelope& envelope) {
        ASSERT_NO_FATAL_FAILURE(set_clock(user, envelope));
        const std::vector<std::uint8_t> bytes = sealed(user, envelope);
        SCOPED_TRACE(hex(bytes));
        const NetPdu pdu(snmp_pdu_create(0), &snmp_free_pdu);
        const int result = read_by_net(bytes, *pdu);
        ASSERT_EQ(result, 0) << snmp_api_errstring(result);
        EXPECT_EQ(pdu->msgid, envelope.message_id);
        EXPECT_EQ(pdu->securityLevel, kNetLevels[static_cast<std::size_t>(user.level())]);
        EXPECT_EQ(std::string_view(pdu->securityName, pdu->securityNameLen),
                  user.credentials->username);
        EXPECT_EQ(std::string_view(pdu->contextName, pdu->contextNameLen), envelope.context);
        EXPECT_EQ(hex({pdu->contextEngineID, pdu->contextEngineIDLen}),
                  hex(envelope.context_engine));
        EXPECT_EQ(pdu_from(*pdu), envelope.pdu);
    });
}

TEST_F(NetSnmpV3, SealsWhatWeOpen) {
    for_each_message([&](base::TestRandom&, const SharedUser& user, const Envelope& envelope) {
        ASSERT_NO_FATAL_FAILURE(set_clock(user, envelope));
        const std::vector<std::uint8_t> bytes = built(user, envelope);
        SCOPED_TRACE(hex(bytes));
        const Parsed<V3View> view = parse_v3(bytes);
        ASSERT_TRUE(view.has_value()) << view.error();
        EXPECT_EQ(view->message_id, envelope.message_id);
        EXPECT_EQ(view->level, user.level());
        EXPECT_EQ(hex(view->engine_id), hex(user.engine));
        if (user.level() != SecurityLevel::kNoAuth) {
            EXPECT_EQ(view->boots, envelope.boots);
            EXPECT_GE(view->time, envelope.time);
            EXPECT_LT(view->time, envelope.time + 600);
            EXPECT_TRUE(opens(user, bytes));
        }
        const LocalKeys keys = keys_.find(user.credentials, user.engine);
        const Parsed<ScopedView> scope =
            open_scope(*view, user.credentials->snmp_privacy, keys.privacy, crypto_, room_);
        ASSERT_TRUE(scope.has_value()) << scope.error();
        EXPECT_EQ(hex(scope->context_engine), hex(envelope.context_engine));
        EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(scope->context_name.data()),
                                   scope->context_name.size()),
                  envelope.context);
        const Parsed<Pdu> pdu = decode_pdu(scope->pdu);
        ASSERT_TRUE(pdu.has_value()) << pdu.error();
        EXPECT_EQ(*pdu, envelope.pdu);
    });
}

TEST_F(NetSnmpV3, RefusesLikeUsWhatWasChangedOnTheWay) {
    for_each_message(
        [&](base::TestRandom& random, const SharedUser& user, const Envelope& envelope) {
            if (user.level() == SecurityLevel::kNoAuth) return;
            ASSERT_NO_FATAL_FAILURE(set_clock(user, envelope));
            std::vector<std::uint8_t> bytes =
                random.one_in(2) ? sealed(user, envelope) : built(user, envelope);
            ASSERT_TRUE(opens(user, bytes));
            const NetPdu unchanged(snmp_pdu_create(0), &snmp_free_pdu);
            ASSERT_EQ(read_by_net(bytes, *unchanged), 0) << hex(bytes);
            const std::size_t at = random.below(bytes.size());
            bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << random.below(8)));
            SCOPED_TRACE(fmt::format("changed at {}: {}", at, hex(bytes)));
            EXPECT_FALSE(opens(user, bytes));
            const NetPdu pdu(snmp_pdu_create(0), &snmp_free_pdu);
            EXPECT_NE(read_by_net(bytes, *pdu), 0);
        });
}

}  // namespace
}  // namespace pollux::protocol::snmp
