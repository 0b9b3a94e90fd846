// Messages of SNMPv3 from arbitrary bytes: no crash; without a key nothing is an answer. The same
// bytes as the content of a message that was sealed with the right keys, which is what a device
// with the user's passwords could send.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "protocol/snmp/message.hpp"
#include "protocol/snmp/v3_client.hpp"
#include "protocol/snmp/v3_responder.hpp"

namespace {

using namespace pollux;
using namespace pollux::protocol::snmp;

constexpr std::uint8_t kEngine[] = {0x80, 0, 0, 0, 5, 'f', 'u', 'z', 'z'};
constexpr base::BootTime kNow{1'000'000'000'000};

std::shared_ptr<const model::Credentials> make_user(model::SnmpAuth auth,
                                                    model::SnmpPrivacy privacy) {
    auto user = std::make_shared<model::Credentials>();
    user->username = "fuzz";
    user->snmp_auth = auth;
    user->snmp_auth_password = base::Secret("auth-password");
    user->snmp_privacy = privacy;
    user->snmp_privacy_password = base::Secret("privacy-password");
    return user;
}

// Both sides of one user, kept: keys are costly.
struct Sides {
    explicit Sides(std::shared_ptr<const model::Credentials> who)
        : user(std::move(who)),
          client({.k0 = 1, .k1 = 2}, 3, 16),
          server({.k0 = 1, .k1 = 2}, 3, 16) {
        server.set_users({{.credentials = user, .engine_id = {}}});
    }
    std::shared_ptr<const model::Credentials> user;
    V3Client client;
    V3Responder server;
};

Sides& sides(std::size_t which) {
    static Sides all[] = {Sides(make_user(model::SnmpAuth::kNone, model::SnmpPrivacy::kNone)),
                          Sides(make_user(model::SnmpAuth::kMd5, model::SnmpPrivacy::kDes)),
                          Sides(make_user(model::SnmpAuth::kSha256, model::SnmpPrivacy::kAes128)),
                          Sides(make_user(model::SnmpAuth::kSha512, model::SnmpPrivacy::kNone))};
    return all[which % 4];
}

const Endpoint& device() {
    static const Endpoint made = *parse_literal("192.0.2.1", 161);
    return made;
}

void read_as_client(Sides& side, Bytes bytes, bool may_be_right) {
    const Parsed<V3View> message = parse_v3(bytes);
    if (!message) return;
    side.client.engines().learn(device(), kEngine, 7, 100, kNow);
    const V3Answer answer = side.client.read(*message, device(), side.user, kNow);
    if (answer.kind == V3Answer::Kind::kPdu) {
        POLLUX_CHECK_MSG(may_be_right || level_of(*side.user) == SecurityLevel::kNoAuth,
                         "an answer without a key");
        for (VarbindReader reader(answer.pdu.varbinds); !reader.empty();) {
            if (!reader.next()) break;
        }
    }
    side.client.forget(device());
    static_cast<void>(side.client.read(*message, device(), side.user, kNow));
}

void read_as_server(Sides& side, Bytes bytes, bool may_be_right) {
    const Parsed<V3View> message = parse_v3(bytes);
    if (!message) return;
    const OwnState own{.engine_id = kEngine, .boots = 7, .time = 100};
    static std::vector<std::uint8_t> buffer(2 * kMaxMessageBytes);
    const V3Responder::Checked checked = side.server.check_user(*message);
    if (checked.user == nullptr) {
        const Bytes report = side.server.report(*message, checked.problem, 1, nullptr, own, buffer);
        POLLUX_CHECK(!report.empty() && parse_v3(report).has_value());
        return;
    }
    POLLUX_CHECK_MSG(may_be_right || message->level == SecurityLevel::kNoAuth,
                     "a user without a key");
    const Parsed<ScopedView> scope = side.server.open(*message, *checked.user);
    if (!scope) return;
    BerWriter writer(buffer);
    finish_pdu(writer, 0, PduType::kResponse, 1, 0, 0);
    side.server.seal_answer(writer, *message, *scope, *checked.user, own);
    POLLUX_CHECK(writer.ok() && parse_v3(writer.bytes()).has_value());
}

// The input as the content of a PDU, sealed properly.
void read_sealed(Sides& side, Bytes content) {
    static std::vector<std::uint8_t> buffer(2 * kMaxMessageBytes);
    if (content.size() > kMaxMessageBytes / 2) return;
    static UsmCrypto crypto;
    static UsmKeys keys(crypto, {.k0 = 9, .k1 = 9}, 16);
    static SaltCounter salts(1);
    const LocalKeys local = keys.find(side.user, kEngine);
    BerWriter writer(buffer);
    writer.put_bytes(content);
    seal(writer, 0,
         {.message_id = 5,
          .level = level_of(*side.user),
          .engine_id = kEngine,
          .boots = 7,
          .time = 100,
          .user = side.user->username,
          .auth = side.user->snmp_auth,
          .privacy = side.user->snmp_privacy,
          .keys = &local,
          .context_engine = kEngine,
          .context = ""},
         crypto, salts);
    POLLUX_CHECK(writer.ok());
    const std::vector<std::uint8_t> message(writer.bytes().begin(), writer.bytes().end());
    read_as_client(side, message, true);
    read_as_server(side, message, true);
}

}  // namespace

// The first byte chooses user and way; the rest is the message, or what is sealed into one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    Sides& side = sides(data[0] & 3U);
    const Bytes bytes(data + 1, size - 1);
    static_cast<void>(claims_v3(bytes));
    if ((data[0] & 4U) != 0) {
        read_sealed(side, bytes);
    } else {
        read_as_client(side, bytes, false);
        read_as_server(side, bytes, false);
    }
    return 0;
}
