#include "protocol/snmp/v3_message.hpp"

#include <array>

#include "protocol/snmp/message.hpp"
#include "protocol/snmp/usm_crypto.hpp"

namespace pollux::protocol::snmp {
namespace {

constexpr std::int32_t kWireV3 = 3;
constexpr std::int32_t kUserSecurity = 3;
constexpr std::uint8_t kFlagAuth = 1;
constexpr std::uint8_t kFlagPrivacy = 2;
constexpr std::uint8_t kFlagReportable = 4;

// msgGlobalData, RFC 3412 6.
Parsed<void> parse_global(Bytes content, V3View& view) {
    BerReader reader(content);
    const Parsed<std::int32_t> id = reader.next_int32();
    if (!id) return malformed(id.error());
    const Parsed<std::int32_t> max_size = reader.next_int32();
    if (!max_size) return malformed(max_size.error());
    const Parsed<Bytes> flags = reader.next(tag::kOctetString);
    if (!flags) return malformed(flags.error());
    const Parsed<std::int32_t> model = reader.next_int32();
    if (!model) return malformed(model.error());
    if (*id < 0) return malformed("a negative message id");
    if (*max_size < kLeastMaxSize) return malformed("a maximum size below 484");
    if (flags->size() != 1) return malformed("flags of another size than one byte");
    if (*model != kUserSecurity) return malformed("another security model than the user-based one");
    const std::uint8_t bits = (*flags)[0];
    if ((bits & kFlagPrivacy) != 0 && (bits & kFlagAuth) == 0) {
        return malformed("privacy without authentication");
    }
    view.message_id = *id;
    view.max_size = *max_size;
    view.reportable = (bits & kFlagReportable) != 0;
    view.level = (bits & kFlagPrivacy) != 0 ? SecurityLevel::kAuthPrivacy
                 : (bits & kFlagAuth) != 0  ? SecurityLevel::kAuth
                                            : SecurityLevel::kNoAuth;
    return {};
}

// UsmSecurityParameters, RFC 3414 2.4.
Parsed<void> parse_security(Bytes content, V3View& view) {
    BerReader outer(content);
    const Parsed<Bytes> sequence = outer.next(tag::kSequence);
    if (!sequence) return malformed(sequence.error());
    if (!outer.empty()) return malformed("something after its security parameters");
    BerReader reader(*sequence);
    const Parsed<Bytes> engine = reader.next(tag::kOctetString);
    if (!engine) return malformed(engine.error());
    const Parsed<std::int32_t> boots = reader.next_int32();
    if (!boots) return malformed(boots.error());
    const Parsed<std::int32_t> time = reader.next_int32();
    if (!time) return malformed(time.error());
    if (*boots < 0 || *time < 0) return malformed("negative boots or time");
    view.engine_id = *engine;
    view.boots = static_cast<std::uint32_t>(*boots);
    view.time = static_cast<std::uint32_t>(*time);
    for (Bytes* field : {&view.user, &view.mac, &view.salt}) {
        const Parsed<Bytes> text = reader.next(tag::kOctetString);
        if (!text) return malformed(text.error());
        *field = *text;
    }
    if (!reader.empty()) return malformed("something after its security parameters");
    if (view.engine_id.size() > kMaxEngineIdBytes) {
        return malformed("an engine id of more than 32 bytes");
    }
    if (view.user.size() > kMaxUserBytes) return malformed("a user name of more than 32 bytes");
    if (view.mac.size() > kMaxMacBytes) return malformed("a signature of more than 48 bytes");
    if (!view.salt.empty() && view.salt.size() != kSaltBytes) {
        return malformed("a salt of another size than 8 bytes");
    }
    return {};
}

}  // namespace

std::string_view to_string(SecurityLevel level) {
    switch (level) {
        case SecurityLevel::kNoAuth: return "noAuthNoPriv";
        case SecurityLevel::kAuth: return "authNoPriv";
        case SecurityLevel::kAuthPrivacy: return "authPriv";
    }
    return "unknown";
}

bool claims_v3(Bytes bytes) {
    BerReader reader(bytes);
    if (!reader.enter()) return false;
    const Parsed<std::int32_t> version = reader.next_int32();
    return version && *version == kWireV3;
}

Parsed<V3View> parse_v3(Bytes bytes) {
    BerReader outer(bytes);
    const Parsed<Bytes> content = outer.next(tag::kSequence);
    if (!content) return malformed(content.error());
    V3View view;
    view.whole = bytes.first(bytes.size() - outer.rest().size());
    BerReader reader(*content);
    const Parsed<std::int32_t> version = reader.next_int32();
    if (!version) return malformed(version.error());
    if (*version != kWireV3) return malformed("another version than SNMP v3");
    const Parsed<Bytes> global = reader.next(tag::kSequence);
    if (!global) return malformed(global.error());
    if (const auto parsed = parse_global(*global, view); !parsed) return malformed(parsed.error());
    const Parsed<Bytes> security = reader.next(tag::kOctetString);
    if (!security) return malformed(security.error());
    if (const auto parsed = parse_security(*security, view); !parsed) {
        return malformed(parsed.error());
    }
    if (view.level != SecurityLevel::kAuthPrivacy) {
        view.data = reader.rest();
        return view;
    }
    const Parsed<Bytes> encrypted = reader.next(tag::kOctetString);
    if (!encrypted) return malformed(encrypted.error());
    view.data = *encrypted;
    return view;
}

Parsed<ScopedView> parse_scoped(Bytes bytes) {
    BerReader outer(bytes);
    const Parsed<Bytes> content = outer.next(tag::kSequence);
    if (!content) return malformed(content.error());
    BerReader reader(*content);
    ScopedView view;
    for (Bytes* field : {&view.context_engine, &view.context_name}) {
        const Parsed<Bytes> text = reader.next(tag::kOctetString);
        if (!text) return malformed(text.error());
        if (text->size() > kMaxContextBytes) return malformed("a context of more than 255 bytes");
        *field = *text;
    }
    const Parsed<Tlv> pdu = reader.next();
    if (!pdu) return malformed(pdu.error());
    view.pdu = *pdu;
    return view;
}

void put_scope(BerWriter& writer, std::size_t mark, Bytes context_engine,
               std::string_view context) {
    writer.put_string(tag::kOctetString, context);
    writer.put_bytes(context_engine);
    writer.put_header(tag::kOctetString, context_engine.size());
    writer.wrap(tag::kSequence, mark);
}

std::size_t put_v3_header(BerWriter& writer, std::size_t mark, const V3Header& header) {
    constexpr std::array<std::uint8_t, kMaxMacBytes> kZeros{};
    const std::size_t parameters = writer.size();
    writer.put_bytes(header.salt);
    writer.put_header(tag::kOctetString, header.salt.size());
    writer.put_bytes(Bytes(kZeros).first(header.mac_size));
    const std::size_t mac_at = writer.size();
    writer.put_header(tag::kOctetString, header.mac_size);
    writer.put_string(tag::kOctetString, header.user);
    writer.put_integer(tag::kInteger, header.time);
    writer.put_integer(tag::kInteger, header.boots);
    writer.put_bytes(header.engine_id);
    writer.put_header(tag::kOctetString, header.engine_id.size());
    writer.wrap(tag::kSequence, parameters);
    writer.wrap(tag::kOctetString, parameters);

    std::uint8_t flags = header.reportable ? kFlagReportable : 0;
    if (header.level != SecurityLevel::kNoAuth) flags |= kFlagAuth;
    if (header.level == SecurityLevel::kAuthPrivacy) flags |= kFlagPrivacy;
    const std::size_t global = writer.size();
    writer.put_integer(tag::kInteger, kUserSecurity);
    writer.put_byte(flags);
    writer.put_header(tag::kOctetString, 1);
    writer.put_integer(tag::kInteger, static_cast<std::int64_t>(kMaxMessageBytes));
    writer.put_integer(tag::kInteger, header.message_id);
    writer.wrap(tag::kSequence, global);
    writer.put_integer(tag::kInteger, kWireV3);
    writer.wrap(tag::kSequence, mark);
    return mac_at;
}

}  // namespace pollux::protocol::snmp
