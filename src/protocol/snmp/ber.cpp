#include "protocol/snmp/ber.hpp"

#include <bit>
#include <cstring>
#include <limits>

namespace pollux::protocol::snmp {
namespace {

constexpr std::uint64_t kMaxArc = std::numeric_limits<std::uint32_t>::max();

// The next arc of an encoded OID. Returns false if it is cut or does not fit `max`.
bool next_arc(Bytes& content, std::uint64_t max, std::uint64_t& arc) {
    arc = 0;
    std::size_t used = 0;
    while (used < content.size()) {
        const std::uint8_t byte = content[used++];
        arc = arc << 7U | (byte & 0x7FU);
        if (arc > max) return false;
        if ((byte & 0x80U) == 0) {
            content = content.subspan(used);
            return true;
        }
    }
    return false;
}

// The first two arcs share one number on the wire: X.690 8.19.4.
constexpr std::uint64_t kMaxFirst = kMaxArc + 80;

std::pair<std::uint32_t, std::uint32_t> split_first(std::uint64_t first) {
    const std::uint64_t top = first < 40 ? 0 : first < 80 ? 1 : 2;
    return {static_cast<std::uint32_t>(top), static_cast<std::uint32_t>(first - top * 40)};
}

std::uint64_t join_first(const model::Oid& oid) {
    const std::uint64_t top = oid.arcs.empty() ? 0 : oid.arcs[0];
    const std::uint64_t second = oid.arcs.size() < 2 ? 0 : oid.arcs[1];
    return top * 40 + second;
}

std::size_t base128_size(std::uint64_t value) {
    const int bits = 64 - std::countl_zero(value | 1U);
    return static_cast<std::size_t>((bits + 6) / 7);
}

}  // namespace

Parsed<Tlv> BerReader::next() {
    if (rest_.size() < 2) return malformed("an element that is cut");
    const std::uint8_t element_tag = rest_[0];
    if ((element_tag & 0x1FU) == 0x1FU) return malformed("a tag of several bytes");
    std::size_t length = rest_[1];
    std::size_t header = 2;
    if (length >= 0x80) {
        const std::size_t count = length & 0x7FU;
        if (count == 0) return malformed("an element of indefinite length");
        if (count > 4) return malformed("a length of more than four bytes");
        if (rest_.size() < 2 + count) return malformed("a length that is cut");
        length = 0;
        for (std::size_t i = 0; i < count; ++i) length = length << 8U | rest_[2 + i];
        header += count;
    }
    if (length > rest_.size() - header) return malformed("an element longer than its frame");
    const Tlv element{.tag = element_tag, .content = rest_.subspan(header, length)};
    rest_ = rest_.subspan(header + length);
    return element;
}

Parsed<Bytes> BerReader::next(std::uint8_t expected_tag) {
    const Parsed<Tlv> element = next();
    if (!element) return malformed(element.error());
    if (element->tag != expected_tag) return malformed("another element than SNMP has there");
    return element->content;
}

Parsed<std::int32_t> BerReader::next_int32() {
    const Parsed<Bytes> content = next(tag::kInteger);
    if (!content) return malformed(content.error());
    const Parsed<std::int64_t> value = parse_integer(*content);
    if (!value) return malformed(value.error());
    if (*value < std::numeric_limits<std::int32_t>::min() ||
        *value > std::numeric_limits<std::int32_t>::max()) {
        return malformed("a number beyond 32 bits in its header");
    }
    return static_cast<std::int32_t>(*value);
}

Parsed<std::int64_t> parse_integer(Bytes content) {
    if (content.empty()) return malformed("an integer without bytes");
    if (content.size() > 8) return malformed("an integer of more than 64 bits");
    std::uint64_t value = (content[0] & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
    for (const std::uint8_t byte : content) value = value << 8U | byte;
    return static_cast<std::int64_t>(value);
}

Parsed<std::uint64_t> parse_unsigned(Bytes content, std::uint64_t max) {
    if (content.empty()) return malformed("an integer without bytes");
    if (content.size() > 9 || (content.size() == 9 && content[0] != 0)) {
        return malformed("an integer of more than 64 bits");
    }
    std::uint64_t value = 0;
    for (const std::uint8_t byte : content) value = value << 8U | byte;
    if (value > max) return malformed("a number too large for its type");
    return value;
}

Parsed<void> parse_oid(Bytes content, model::Oid& oid) {
    oid.arcs.clear();
    if (content.empty()) {
        oid.arcs.assign(2, 0);
        return {};
    }
    std::uint64_t arc = 0;
    if (!next_arc(content, kMaxFirst, arc)) return malformed("a bad object identifier");
    oid.arcs.reserve(content.size() + 2 < model::kMaxOidArcs ? content.size() + 2
                                                             : model::kMaxOidArcs);
    const auto [top, second] = split_first(arc);
    oid.arcs.push_back(top);
    oid.arcs.push_back(second);
    while (!content.empty()) {
        if (oid.arcs.size() == model::kMaxOidArcs) {
            return malformed("an object identifier of more than 128 arcs");
        }
        if (!next_arc(content, kMaxArc, arc)) return malformed("a bad object identifier");
        oid.arcs.push_back(static_cast<std::uint32_t>(arc));
    }
    return {};
}

bool equals(Bytes content, const model::Oid& oid) {
    std::uint64_t arc = 0;
    if (oid.arcs.size() < 2 || !next_arc(content, kMaxFirst, arc) || arc != join_first(oid)) {
        return false;
    }
    for (std::size_t i = 2; i < oid.arcs.size(); ++i) {
        if (!next_arc(content, kMaxArc, arc) || arc != oid.arcs[i]) return false;
    }
    return content.empty();
}

void BerWriter::put_bytes(Bytes bytes) {
    if (static_cast<std::size_t>(at_ - begin_) < bytes.size()) {
        ok_ = false;
        return;
    }
    at_ -= bytes.size();
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
}

void BerWriter::put_header(std::uint8_t element_tag, std::size_t content_size) {
    if (content_size < 0x80) {
        put_byte(static_cast<std::uint8_t>(content_size));
    } else {
        std::uint8_t count = 0;
        for (std::size_t left = content_size; left != 0; left >>= 8U) {
            put_byte(static_cast<std::uint8_t>(left & 0xFFU));
            ++count;
        }
        put_byte(static_cast<std::uint8_t>(0x80U | count));
    }
    put_byte(element_tag);
}

void BerWriter::put_integer(std::uint8_t element_tag, std::int64_t value) {
    const std::size_t mark = size();
    // As few bytes as keep the sign: the rest must be all sign bits.
    std::int64_t left = value;
    std::uint8_t byte = 0;
    do {
        byte = static_cast<std::uint8_t>(left & 0xFF);
        put_byte(byte);
        left >>= 8;
    } while (!(left == 0 && (byte & 0x80U) == 0) && !(left == -1 && (byte & 0x80U) != 0));
    wrap(element_tag, mark);
}

void BerWriter::put_unsigned(std::uint8_t element_tag, std::uint64_t value) {
    const std::size_t mark = size();
    std::uint8_t byte = 0;
    do {
        byte = static_cast<std::uint8_t>(value & 0xFFU);
        put_byte(byte);
        value >>= 8U;
    } while (value != 0);
    if ((byte & 0x80U) != 0) put_byte(0);
    wrap(element_tag, mark);
}

void BerWriter::put_string(std::uint8_t element_tag, std::string_view text) {
    put_bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    put_header(element_tag, text.size());
}

void BerWriter::put_base128(std::uint64_t value) {
    put_byte(static_cast<std::uint8_t>(value & 0x7FU));
    for (value >>= 7U; value != 0; value >>= 7U) {
        put_byte(static_cast<std::uint8_t>(0x80U | (value & 0x7FU)));
    }
}

void BerWriter::put_oid(const model::Oid& oid) {
    const std::size_t mark = size();
    for (std::size_t i = oid.arcs.size(); i > 2; --i) put_base128(oid.arcs[i - 1]);
    put_base128(join_first(oid));
    wrap(tag::kObjectId, mark);
}

std::size_t encoded_oid_size(const model::Oid& oid) {
    std::size_t content = base128_size(join_first(oid));
    for (std::size_t i = 2; i < oid.arcs.size(); ++i) content += base128_size(oid.arcs[i]);
    return content + (content < 0x80 ? 2U : content < 0x100 ? 3U : 4U);
}

}  // namespace pollux::protocol::snmp
