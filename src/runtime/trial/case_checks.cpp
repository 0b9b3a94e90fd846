#include "runtime/trial/case_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "document/map_reader.hpp"

namespace pollux::runtime {
namespace {

using document::MapReader;
using document::Node;
using namespace std::chrono_literals;

constexpr double kSecondsPerDay = 86'400;

model::CommandReply read_command(MapReader& reader, const CaseFiles& files) {
    model::CommandReply reply;
    reply.exit_status = static_cast<int>(reader.integer("exit", 0, 255).value_or(0));
    reply.out = text_or_file(reader, "output", "output_file", files);
    reply.error_out = text_or_file(reader, "error_output", "error_output_file", files);
    return reply;
}

model::TlsReply read_tls(MapReader& reader, base::WallTime now, document::Diagnostics& out) {
    model::TlsReply reply;
    reply.protocol = reader.string("protocol").value_or("TLSv1.3");
    reply.cipher = reader.string("cipher").value_or("TLS_AES_256_GCM_SHA384");
    reply.verify_error = reader.string("verify_error").value_or("");
    reply.name_matches = reader.boolean("name_matches").value_or(true);
    reply.names = reader.strings("names");
    if (const Node* list = reader.list("certificates")) {
        for (std::size_t i = 0; i < list->items().size(); ++i) {
            reply.certificates.push_back(
                read_certificate(list->items()[i],
                                 document::item_path(reader.path_of("certificates"), i), now, out));
        }
    }
    return reply;
}

model::IcmpReply read_icmp(MapReader& reader) {
    model::IcmpReply reply;
    if (const Node* list = reader.list("round_trips")) {
        for (const Node& item : list->items()) {
            Node one = Node::map();
            one.set("time", item);
            document::Diagnostics ignored;
            MapReader inner(one, "", ignored);
            const auto time = inner.duration("time", 0s, 1h);
            if (!time) reader.error("round_trips", "is no list of times like [1ms, 2ms]");
            reply.round_trips.push_back(time.value_or(0s));
        }
    }
    reply.received = static_cast<std::uint32_t>(reply.round_trips.size());
    reply.sent =
        static_cast<std::uint32_t>(reader.integer("sent", 0, 1000).value_or(reply.received));
    return reply;
}

model::DnsReply read_dns(MapReader& reader, document::Diagnostics& out) {
    model::DnsReply reply;
    reply.status = reader.string("status").value_or("NOERROR");
    reply.type = reader.string("type").value_or("A");
    reply.authoritative = reader.boolean("authoritative").value_or(false);
    reply.truncated = reader.boolean("truncated").value_or(false);
    if (const Node* list = reader.list("answers")) {
        for (std::size_t i = 0; i < list->items().size(); ++i) {
            MapReader inner(list->items()[i], document::item_path(reader.path_of("answers"), i),
                            out);
            model::DnsRecord record;
            record.name = inner.string("name").value_or("");
            record.type = inner.string("type").value_or(reply.type);
            record.ttl =
                static_cast<std::uint32_t>(inner.integer("ttl", 0, 0xFFFF'FFFFLL).value_or(300));
            record.data = inner.string("data").value_or("");
            inner.finish();
            reply.answers.push_back(std::move(record));
        }
    }
    return reply;
}

}  // namespace

model::CertificateFacts read_certificate(const Node& node, const std::string& path,
                                         base::WallTime now, document::Diagnostics& out) {
    MapReader reader(node, path, out);
    model::CertificateFacts facts;
    facts.subject = reader.string("subject").value_or("");
    facts.issuer = reader.string("issuer").value_or("");
    facts.sha256 = reader.string("sha256").value_or("");
    facts.not_after = now + base::from_seconds(reader.number("days").value_or(0) * kSecondsPerDay);
    facts.not_before =
        now - base::from_seconds(reader.number("age_days").value_or(0) * kSecondsPerDay);
    reader.finish();
    return facts;
}

bool read_check_reply(const Node& step, const std::string& path, const CaseFiles& files,
                      base::WallTime now, document::Diagnostics& out, model::Reply& reply) {
    for (const std::string_view kind : kCheckReplies) {
        const Node* node = step.find(kind);
        if (node == nullptr) continue;
        MapReader reader(*node, document::key_path(path, kind), out);
        reply.phases.total = reader.duration("latency", 0s, 1h).value_or(100ms);
        if (kind == "command") reply.answer = read_command(reader, files);
        if (kind == "tcp")
            reply.answer =
                model::TcpReply{text_or_file(reader, "received", "received_file", files)};
        if (kind == "tls") reply.answer = read_tls(reader, now, out);
        if (kind == "icmp") reply.answer = read_icmp(reader);
        if (kind == "dns") reply.answer = read_dns(reader, out);
        reader.finish();
        return true;
    }
    return false;
}

std::string describe_ask(const model::Ask& ask) {
    if (const auto* http = std::get_if<model::HttpAsk>(&ask.request)) return http->url;
    if (const auto* exec = std::get_if<model::ExecAsk>(&ask.request)) {
        return fmt::format("exec {}", fmt::join(exec->argv, " "));
    }
    const std::string place =
        fmt::format("{}://{}:{}", model::protocol_name(ask), ask.host, ask.port);
    if (const auto* ssh = std::get_if<model::SshAsk>(&ask.request)) {
        return place + " " + ssh->command;
    }
    if (const auto* dns = std::get_if<model::DnsAsk>(&ask.request)) {
        return fmt::format("{} {} {}", place, dns->type, dns->name);
    }
    return place;
}

}  // namespace pollux::runtime
