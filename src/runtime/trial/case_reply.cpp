#include "runtime/trial/case_reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/scalar.hpp"
#include "runtime/trial/case_checks.hpp"
#include "runtime/trial/case_message.hpp"

namespace pollux::runtime {
namespace {

using base::quoted;
using document::MapReader;
using document::Need;
using model::SnmpType;
using namespace std::chrono_literals;

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "up(1)" and "(12345) 0:02:03.45": the number in parentheses, else the text itself.
std::string_view number_part(std::string_view text) {
    const std::size_t open = text.find('(');
    const std::size_t close = text.find(')', open == text.npos ? 0 : open);
    if (open == text.npos || close == text.npos) return text.substr(0, text.find(' '));
    return text.substr(open + 1, close - open - 1);
}

bool read_hex(std::string_view text, std::string& out) {
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == ' ' || text[at] == ':') {
            ++at;
            continue;
        }
        const auto digit = [&](std::size_t i) {
            const char c = i < text.size() ? text[i] : ' ';
            return c >= '0' && c <= '9'   ? c - '0'
                   : c >= 'A' && c <= 'F' ? c - 'A' + 10
                   : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                          : -1;
        };
        if (digit(at) < 0 || digit(at + 1) < 0) return false;
        out.push_back(static_cast<char>(digit(at) * 16 + digit(at + 1)));
        at += 2;
    }
    return true;
}

bool read_address(std::string_view text, std::string& out) {
    int parts = 0;
    while (parts < 4) {
        const std::size_t dot = text.find('.');
        const auto byte = document::parse_integer(text.substr(0, dot));
        if (!byte || *byte < 0 || *byte > 255) return false;
        out.push_back(static_cast<char>(*byte));
        ++parts;
        if (dot == text.npos) break;
        text.remove_prefix(dot + 1);
    }
    return parts == 4;
}

bool read_unsigned(std::string_view text, model::SnmpValue& out) {
    const auto number = document::parse_unsigned(number_part(text));
    if (number) out.unsigned_value = *number;
    return number.has_value();
}

bool read_typed(std::string_view type, std::string_view text, model::SnmpValue& out) {
    if (type == "INTEGER") {
        out.type = SnmpType::kInteger;
        const auto number = document::parse_integer(number_part(text));
        if (number) out.integer = *number;
        return number.has_value();
    }
    if (type == "STRING") {
        out.type = SnmpType::kOctetString;
        const bool quotes = text.size() >= 2 && text.front() == '"' && text.back() == '"';
        out.bytes = std::string(quotes ? text.substr(1, text.size() - 2) : text);
        return true;
    }
    if (type == "Hex-STRING") {
        out.type = SnmpType::kOctetString;
        return read_hex(text, out.bytes);
    }
    if (type == "OID") {
        out.type = SnmpType::kObjectId;
        const auto oid = model::parse_oid(text);
        if (oid) out.oid = *oid;
        return oid.has_value();
    }
    if (type == "IpAddress") {
        out.type = SnmpType::kIpAddress;
        return read_address(text, out.bytes);
    }
    if (type == "Opaque: Float") {
        out.type = SnmpType::kOpaque;
        const auto number = document::parse_number(text);
        if (!number) return false;
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(*number));
        out.bytes = "\x9f\x78\x04";
        for (const unsigned shift : {24U, 16U, 8U, 0U}) {
            out.bytes.push_back(static_cast<char>(bits >> shift & 0xFFU));
        }
        return true;
    }
    constexpr std::pair<std::string_view, SnmpType> kUnsigned[] = {
        {"Counter32", SnmpType::kCounter32},
        {"Gauge32", SnmpType::kGauge32},
        {"Unsigned32", SnmpType::kGauge32},
        {"Timeticks", SnmpType::kTimeTicks},
        {"Counter64", SnmpType::kCounter64}};
    for (const auto& [name, kind] : kUnsigned) {
        if (type != name) continue;
        out.type = kind;
        return read_unsigned(text, out);
    }
    return false;
}

class ReplyReader {
  public:
    ReplyReader(const CaseFiles& files, base::WallTime now, document::Diagnostics& out)
        : files_(files), now_(now), out_(out) {}

    model::Reply read(const document::Node& node, const std::string& path, const model::Ask& ask) {
        model::Reply reply;
        reply.phases.total = 100ms;
        if (const auto* http = node.find("http")) {
            read_http(*http, document::key_path(path, "http"), reply);
        } else if (const auto* snmp = node.find("snmp")) {
            read_snmp(*snmp, document::key_path(path, "snmp"), ask, reply);
        } else if (node.find("not_asked") != nullptr) {
            model::PollFailure none;
            none.code = kNotAsked;
            reply.answer = std::move(none);
        } else if (const auto* failure = node.find("failure")) {
            read_failure(*failure, document::key_path(path, "failure"), reply);
        } else if (!read_check_reply(node, path, files_, now_, out_, reply)) {
            out_.error(node.mark(), path,
                       "has no reply; write http, snmp, command, tcp, tls, icmp, dns or failure");
        }
        return reply;
    }

  private:
    void read_http(const document::Node& node, const std::string& path, model::Reply& reply) {
        MapReader reader(node, path, out_);
        model::HttpReply http;
        http.status = static_cast<int>(reader.integer("status", 100, 599).value_or(200));
        http.http_version = reader.string("version").value_or("1.1");
        http.redirects = static_cast<std::uint32_t>(reader.integer("redirects", 0, 20).value_or(0));
        http.body = text_or_file(reader, "body", "body_file", files_);
        reply.phases.total = reader.duration("latency", 0s, 1h).value_or(100ms);
        reply.phases.first_byte = reader.duration("first_byte", 0s, 1h).value_or(0s);
        if (const auto* headers = reader.map("headers")) {
            for (const auto& entry : headers->entries()) {
                http.headers.emplace_back(entry.key, entry.value.scalar());
            }
        }
        if (const auto* certificate = reader.map("certificate")) {
            http.certificates.push_back(
                read_certificate(*certificate, reader.path_of("certificate"), now_, out_));
        }
        reader.finish();
        reply.bytes_in = http.body.size();
        reply.answer = std::move(http);
    }

    void read_snmp(const document::Node& node, const std::string& path, const model::Ask& ask,
                   model::Reply& reply) {
        std::string capture = node.scalar();
        if (node.is_map()) {
            MapReader reader(node, path, out_);
            capture = text_or_file(reader, "capture", "file", files_);
            reader.finish();
        }
        const auto* request = std::get_if<model::SnmpAsk>(&ask.request);
        if (request == nullptr) {
            out_.error(node.mark(), path, "is an SNMP reply to an HTTP request");
            return;
        }
        auto answer = snmp_capture_reply(capture, *request);
        if (!answer) {
            out_.error(node.mark(), path, answer.error().message);
            return;
        }
        reply.answer = std::move(*answer);
    }

    void read_failure(const document::Node& node, const std::string& path, model::Reply& reply) {
        MapReader reader(node, path, out_);
        model::PollFailure failure;
        failure.code = reader.string("code").value_or("case.failure");
        failure.message = reader.string("message").value_or("the request failed");
        failure.http_status = static_cast<int>(reader.integer("status", 100, 599).value_or(0));
        failure.kind = model::FailureKind::kConnection;
        reader.finish();
        reply.answer = std::move(failure);
    }

    const CaseFiles& files_;
    base::WallTime now_;
    document::Diagnostics& out_;
};

}  // namespace

base::Result<SnmpCapture> read_snmp_capture(std::string_view capture) {
    SnmpCapture values;
    std::size_t line_number = 0;
    while (!capture.empty()) {
        ++line_number;
        const std::size_t end = std::min(capture.find('\n'), capture.size());
        const std::string_view line = trimmed(capture.substr(0, end));
        capture.remove_prefix(std::min(end + 1, capture.size()));
        if (line.empty() || line.starts_with('#')) continue;
        const std::size_t equals = line.find(" = ");
        const auto oid = model::parse_oid(trimmed(line.substr(0, equals)));
        model::SnmpValue value;
        bool good = oid.has_value() && equals != line.npos;
        if (good) {
            std::string_view rest = trimmed(line.substr(equals + 3));
            if (rest == "\"\"") rest = "STRING: ";
            const std::string_view opaque = "Opaque: Float";
            const std::size_t colon =
                rest.starts_with(opaque) ? rest.find(':', opaque.size()) : rest.find(':');
            good = colon != rest.npos &&
                   read_typed(rest.substr(0, colon), trimmed(rest.substr(colon + 1)), value);
        }
        if (!good) {
            return base::config_error("case.snmp",
                                      fmt::format("line {} of the capture, {}, is not like "
                                                  "\".1.3.6.1.2.1.1.5.0 = STRING: core\"",
                                                  line_number, quoted(line)));
        }
        values[*oid] = std::move(value);
    }
    return values;
}

base::Result<model::SnmpReply> snmp_capture_reply(std::string_view capture,
                                                  const model::SnmpAsk& ask) {
    auto values = read_snmp_capture(capture);
    if (!values) return std::unexpected(values.error());
    model::SnmpReply reply;
    reply.pdus = 1;
    for (const model::Oid& oid : ask.gets) {
        const auto found = values->find(oid);
        model::SnmpValue missing;
        missing.type = SnmpType::kNoSuchInstance;
        reply.gets.push_back(found == values->end() ? missing : found->second);
    }
    for (const model::Oid& column : ask.walks) {
        auto& rows = reply.walks.emplace_back();
        for (auto at = values->lower_bound(column);
             at != values->end() && at->first.starts_with(column); ++at) {
            const auto begin =
                at->first.arcs.begin() + static_cast<std::ptrdiff_t>(column.arcs.size());
            rows.push_back({model::Oid{{begin, at->first.arcs.end()}}, at->second});
        }
    }
    return reply;
}

std::vector<model::Reply> case_replies(const document::Node& node, const std::string& path,
                                       std::span<const std::shared_ptr<const model::Ask>> asks,
                                       const CaseFiles& files, base::WallTime now,
                                       document::Diagnostics& out) {
    ReplyReader reader(files, now, out);
    std::vector<model::Reply> replies;
    const document::Node* list = node.find("replies");
    const std::size_t given = list == nullptr ? 1 : list->items().size();
    if (given != asks.size()) {
        out.error(
            node.mark(), path,
            fmt::format("has {} replies; the addon asks {} requests here", given, asks.size()));
        return replies;
    }
    for (std::size_t i = 0; i < asks.size(); ++i) {
        if (list == nullptr) {
            replies.push_back(reader.read(node, path, *asks[i]));
        } else {
            replies.push_back(
                reader.read(list->items()[i], document::item_path(path + ".replies", i), *asks[i]));
        }
    }
    return replies;
}

}  // namespace pollux::runtime
