#include "protocol/dns/dns_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "net/ip_address.hpp"

namespace pollux::protocol::dns {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint16_t>, 21> kTypes = {
    {{"A", 1},      {"NS", 2},     {"CNAME", 5},  {"SOA", 6},     {"PTR", 12},  {"HINFO", 13},
     {"MX", 15},    {"TXT", 16},   {"AAAA", 28},  {"LOC", 29},    {"SRV", 33},  {"NAPTR", 35},
     {"DS", 43},    {"SSHFP", 44}, {"RRSIG", 46}, {"DNSKEY", 48}, {"TLSA", 52}, {"SVCB", 64},
     {"HTTPS", 65}, {"ANY", 255},  {"CAA", 257}}};
constexpr std::array<std::string_view, 11> kCodes = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN",
                                                     "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
                                                     "NXRRSET", "NOTAUTH", "NOTZONE"};
constexpr std::size_t kMaxName = 255;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxRecords = 2000;
constexpr int kMaxJumps = 64;
constexpr std::uint16_t kOpt = 41;
constexpr std::uint16_t kUdpBytes = 1232;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

void put16(std::string& out, unsigned value) {
    out.push_back(static_cast<char>(value >> 8U & 0xFFU));
    out.push_back(static_cast<char>(value & 0xFFU));
}

std::unexpected<base::Error> bad_name(std::string_view name) {
    return base::config_error(
        "dns.bad_name",
        fmt::format("{} is no name of the DNS: labels of up to 63 bytes, 255 together",
                    base::quoted(name)));
}

// The labels of a name in the form of the wire, from text with escapes.
base::Result<std::string> wire_name(std::string_view name) {
    std::string out;
    std::string label;
    const auto close = [&] {
        out.push_back(static_cast<char>(label.size()));
        out += label;
        label.clear();
    };
    if (name.empty()) return bad_name(name);
    if (name == ".") return std::string(1, '\0');
    const auto digit = [&](std::size_t at) {
        return at < name.size() && name[at] >= '0' && name[at] <= '9' ? name[at] - '0' : -1;
    };
    for (std::size_t at = 0; at < name.size(); ++at) {
        char c = name[at];
        if (c == '.') {
            if (label.empty() || label.size() > kMaxLabel) return bad_name(name);
            close();
            continue;
        }
        if (c == '\\') {
            const int number = digit(at + 1) < 0 || digit(at + 2) < 0 || digit(at + 3) < 0
                                   ? -1
                                   : digit(at + 1) * 100 + digit(at + 2) * 10 + digit(at + 3);
            if (at + 1 >= name.size() || number > 255) return bad_name(name);
            c = number >= 0 ? static_cast<char>(number) : name[at + 1];
            at += number >= 0 ? 3 : 1;
        }
        label.push_back(c);
    }
    if (label.size() > kMaxLabel) return bad_name(name);
    if (!label.empty()) close();
    out.push_back('\0');
    if (out.size() > kMaxName) return bad_name(name);
    return out;
}

// A character of a label as dig prints it.
void show(std::string& out, char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7F) {
        out += fmt::format("\\{:03}", byte);
        return;
    }
    if (std::string_view(".\\\"();@$").find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
}

class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    bool good() const { return good_; }
    std::size_t at() const { return at_; }
    void seek(std::size_t at) { at_ = at; }
    std::size_t left() const { return bytes_.size() - std::min(at_, bytes_.size()); }

    unsigned u8() {
        if (left() < 1) return fail();
        return static_cast<unsigned char>(bytes_[at_++]);
    }
    unsigned u16() {
        const unsigned high = u8();
        return high << 8U | u8();
    }
    std::uint32_t u32() {
        const std::uint32_t high = u16();
        return high << 16U | u16();
    }
    std::string_view take(std::size_t count) {
        if (left() < count) {
            fail();
            return {};
        }
        const std::string_view out = bytes_.substr(at_, count);
        at_ += count;
        return out;
    }

    // With the dot at the end. Jumps only go backwards, and not often.
    std::string name() {
        std::string out;
        std::size_t here = at_;
        std::size_t total = 0;
        bool jumped = false;
        for (int jumps = 0; jumps < kMaxJumps;) {
            if (here >= bytes_.size()) break;
            const auto length = static_cast<unsigned char>(bytes_[here]);
            if (length == 0) {
                if (!jumped) at_ = here + 1;
                return out.empty() ? "." : out;
            }
            if ((length & 0xC0U) == 0xC0U) {
                if (here + 1 >= bytes_.size()) break;
                const std::size_t to =
                    (length & 0x3FU) << 8U | static_cast<unsigned char>(bytes_[here + 1]);
                if (to >= here) break;
                if (!jumped) at_ = here + 2;
                jumped = true;
                ++jumps;
                here = to;
                continue;
            }
            total += length + 1U;
            if (length > kMaxLabel || here + 1 + length > bytes_.size() || total > kMaxName) break;
            for (const char c : bytes_.substr(here + 1, length)) show(out, c);
            out.push_back('.');
            here += length + 1U;
        }
        fail();
        return {};
    }

  private:
    unsigned fail() {
        good_ = false;
        return 0;
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    bool good_ = true;
};

std::string quoted_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7F) {
            out += fmt::format("\\{:03}", byte);
            continue;
        }
        if (c == '"' || c == '\\') out.push_back('\\');
        out.push_back(c);
    }
    return out + "\"";
}

// RFC 3597: what any type can be written as.
std::string generic(std::string_view data) {
    std::string out = fmt::format("\\# {}", data.size());
    if (data.empty()) return out;
    out.push_back(' ');
    for (std::size_t i = 0; i < data.size(); ++i) {
        // dig groups the digits in blocks of 56.
        if (i != 0 && i % 28 == 0) out.push_back(' ');
        out += fmt::format("{:02X}", static_cast<unsigned char>(data[i]));
    }
    return out;
}

std::string data_text(Reader& reader, std::uint16_t type, std::size_t length) {
    const std::size_t end = reader.at() + length;
    switch (type) {
        case 1:
            if (length == 4) {
                const std::string_view b = reader.take(4);
                std::array<std::uint8_t, 4> v4{};
                std::copy(b.begin(), b.end(), v4.begin());
                return net::IpAddress::v4(v4).to_string();
            }
            break;
        case 28:
            if (length == 16) {
                const std::string_view b = reader.take(16);
                std::array<std::uint8_t, 16> v6{};
                std::copy(b.begin(), b.end(), v6.begin());
                return net::IpAddress::v6(v6).to_string();
            }
            break;
        case 2:
        case 5:
        case 12: return reader.name();
        case 15: {
            const unsigned preference = reader.u16();
            return fmt::format("{} {}", preference, reader.name());
        }
        case 33: {
            const unsigned priority = reader.u16();
            const unsigned weight = reader.u16();
            const unsigned port = reader.u16();
            return fmt::format("{} {} {} {}", priority, weight, port, reader.name());
        }
        case 6: {
            std::string out = reader.name();
            out += " " + reader.name();
            for (int i = 0; i < 5; ++i) out += fmt::format(" {}", reader.u32());
            return out;
        }
        case 16: {
            std::string out;
            while (reader.good() && reader.at() < end) {
                const unsigned size = reader.u8();
                if (reader.at() + size > end) break;
                out += (out.empty() ? "" : " ") + quoted_text(reader.take(size));
            }
            if (reader.at() == end) return out;
            break;
        }
        case 257: {
            const unsigned flags = reader.u8();
            const unsigned size = reader.u8();
            if (length < 2 + size) break;
            const std::string tag(reader.take(size));
            return fmt::format("{} {} {}", flags, base::valid_utf8(tag),
                               quoted_text(reader.take(end - reader.at())));
        }
        default: break;
    }
    reader.seek(end - length);
    return generic(reader.take(length));
}

std::unexpected<base::Error> malformed(std::string_view what) {
    return base::make_error(base::ErrorClass::kTransient, "dns.malformed",
                            fmt::format("the answer is no message of the DNS: {}", what));
}

}  // namespace

std::optional<std::uint16_t> type_number(std::string_view name) {
    std::string upper(name);
    std::ranges::transform(upper, upper.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    for (const auto& [known, number] : kTypes) {
        if (known == upper) return number;
    }
    if (!upper.starts_with("TYPE") || upper.size() > 9 || upper.size() < 5) return std::nullopt;
    std::uint32_t number = 0;
    for (const char c : std::string_view(upper).substr(4)) {
        if (c < '0' || c > '9') return std::nullopt;
        number = number * 10 + static_cast<std::uint32_t>(c - '0');
    }
    if (number == 0 || number > 0xFFFF) return std::nullopt;
    return static_cast<std::uint16_t>(number);
}

std::string type_name(std::uint16_t number) {
    for (const auto& [name, known] : kTypes) {
        if (known == number) return std::string(name);
    }
    return fmt::format("TYPE{}", number);
}

std::string code_name(std::uint16_t code) {
    if (code < kCodes.size()) return std::string(kCodes[code]);
    if (code == 16) return "BADVERS";
    return fmt::format("RCODE{}", code);
}

std::string canonical(std::string_view name) {
    std::string out(name);
    std::ranges::transform(out, out.begin(), lower);
    if (!out.ends_with('.') || out.ends_with("\\.")) out.push_back('.');
    return out;
}

base::Result<std::string> encode(const Question& question) {
    const auto name = wire_name(question.name);
    if (!name) return std::unexpected(name.error());
    std::string out;
    put16(out, question.id);
    put16(out, question.recursion ? 0x0100U : 0U);
    put16(out, 1);
    put16(out, 0);
    put16(out, 0);
    put16(out, question.edns ? 1 : 0);
    out += *name;
    put16(out, question.type);
    put16(out, 1);  // IN
    if (question.edns) {
        out.push_back('\0');
        put16(out, kOpt);
        put16(out, kUdpBytes);
        out.append(6, '\0');
    }
    return out;
}

base::Result<Message> decode(std::string_view bytes) {
    Reader reader(bytes);
    Message message;
    message.id = static_cast<std::uint16_t>(reader.u16());
    const unsigned flags = reader.u16();
    std::array<unsigned, 4> counts{};
    for (unsigned& count : counts) count = reader.u16();
    if (!reader.good()) return malformed("it is too short");
    message.is_response = (flags & 0x8000U) != 0;
    message.authoritative = (flags & 0x0400U) != 0;
    message.truncated = (flags & 0x0200U) != 0;
    message.code = static_cast<std::uint16_t>(flags & 0xFU);
    for (unsigned i = 0; i < counts[0]; ++i) {
        const std::string name = reader.name();
        const auto type = static_cast<std::uint16_t>(reader.u16());
        reader.u16();
        if (!reader.good()) return malformed("its question ends early");
        if (i > 0) continue;
        message.question = canonical(name);
        message.question_type = type;
    }
    const std::size_t records = std::size_t{counts[1]} + counts[2] + counts[3];
    for (std::size_t i = 0; i < records; ++i) {
        model::DnsRecord record;
        record.name = reader.name();
        const auto type = static_cast<std::uint16_t>(reader.u16());
        reader.u16();
        record.ttl = reader.u32();
        const std::size_t length = reader.u16();
        if (!reader.good() || reader.left() < length) {
            // A truncated answer may end anywhere.
            if (message.truncated) return message;
            return malformed("a record ends early");
        }
        const std::size_t end = reader.at() + length;
        if (type == kOpt) {
            message.code = static_cast<std::uint16_t>(message.code | (record.ttl >> 24U << 4U));
        } else if (i < counts[1] && message.answers.size() < kMaxRecords) {
            record.type = type_name(type);
            record.data = data_text(reader, type, length);
            if (!reader.good() || reader.at() > end) return malformed("a record is damaged");
            message.answers.push_back(std::move(record));
        }
        reader.seek(end);
    }
    return message;
}

}  // namespace pollux::protocol::dns
