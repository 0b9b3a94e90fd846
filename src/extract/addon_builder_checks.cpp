// The parts ssh, exec, tcp, tls, icmp and dns of a manifest: commands, queries and single checks.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"
#include "extract/manifest_values.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;
using model::ProtocolKind;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMaxCommands = 64;
constexpr std::size_t kMaxArguments = 128;
constexpr std::size_t kMaxVariables = 64;
constexpr std::uint64_t kMaxOutput = 64ULL << 20U;
constexpr int kHighestExitCode = 255;

std::uint16_t usual_port(ProtocolKind protocol) {
    switch (protocol) {
        case ProtocolKind::kSsh: return 22;
        case ProtocolKind::kTls: return 443;
        case ProtocolKind::kDns: return 53;
        default: return 0;
    }
}

bool is_variable_name(std::string_view text) {
    return !text.empty() && text.size() <= 128 && !(text[0] >= '0' && text[0] <= '9') &&
           std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_';
           });
}

// They decide which code a program loads, which is not for a manifest to say.
bool is_loader_variable(std::string_view name) {
    return name.starts_with("LD_") || name == "PATH" || name == "IFS" || name == "BASH_ENV" ||
           name == "ENV" || name == "PYTHONPATH" || name == "PERL5LIB" || name == "PERL5OPT";
}

}  // namespace

void AddonBuilder::read_check(Reader& reader) {
    const ProtocolKind protocol = plan_->addon.protocol;
    if (plan_->port == 0) plan_->port = usual_port(protocol);
    const std::string_view section = model::to_string(protocol);
    switch (protocol) {
        case ProtocolKind::kSsh:
        case ProtocolKind::kExec: return read_commands(reader, section);
        case ProtocolKind::kDns: return read_queries(reader);
        default: return read_single(reader, section);
    }
}

void AddonBuilder::read_commands(Reader& reader, std::string_view section) {
    const Node* node = reader.map(section, Need::kRequired);
    if (node == nullptr) return;
    Reader inner(*node, std::string(section), out_, keys::kCommands);
    inner.any("commands", Need::kRequired);
    each(inner, "commands", kMaxCommands,
         [this](const Node& item, std::string path) { read_command(item, std::move(path)); });
    inner.finish();
}

void AddonBuilder::read_command(const Node& node, std::string path) {
    const bool exec = plan_->addon.protocol == ProtocolKind::kExec;
    const std::span<const std::string_view> known =
        exec ? std::span<const std::string_view>(keys::kExecCommand)
             : std::span<const std::string_view>(keys::kSshCommand);
    Reader reader(node, std::move(path), out_, known);
    EndpointPlan endpoint;
    endpoint.format = exec ? BodyFormat::kNagios : BodyFormat::kText;
    read_name_and_group(reader, endpoint);
    endpoint.timeout = reader.duration("timeout", 10ms, 10min);
    read_format(reader, endpoint);
    // The codes of a plugin are its answer; of any other program only 0 is a good end.
    const bool plugin = endpoint.format == BodyFormat::kNagios;
    const std::vector<std::pair<int, int>> usual = {{0, plugin ? 3 : 0}};
    if (exec) {
        ExecRequestPlan request;
        read_arguments(reader, request);
        read_environment(reader, request);
        request.good_exit = read_exit_codes(reader, usual);
        request.max_output_bytes = read_size(reader, "max_output", request.max_output_bytes);
        endpoint.request = std::move(request);
    } else {
        SshRequestPlan request;
        const std::string command = reader.string("command", Need::kRequired).value_or("");
        request.command = url_template(reader, "command", command);
        request.good_exit = read_exit_codes(reader, usual);
        request.max_output_bytes = read_size(reader, "max_output", request.max_output_bytes);
        endpoint.request = std::move(request);
    }
    add_endpoint(reader, std::move(endpoint));
}

// A list; an item that is a list itself is left out as a whole when a placeholder in it is empty.
void AddonBuilder::read_arguments(Reader& reader, ExecRequestPlan& request) {
    const Node* list = reader.list("command", Need::kRequired);
    if (list == nullptr) return;
    const std::string path = reader.path_of("command");
    std::size_t count = 0;
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        const Node& item = list->items()[i];
        ExecRequestPlan::Part part;
        const auto add = [&](const Node& argument, const std::string& place) {
            if (!argument.is_scalar()) {
                out_.error(argument.mark(), place, "is no text; write each argument by itself");
                return;
            }
            ++count;
            part.push_back(url_template(reader, "command", argument.scalar()));
        };
        if (item.is_sequence()) {
            for (const Node& argument : item.items()) add(argument, document::item_path(path, i));
        } else {
            add(item, document::item_path(path, i));
        }
        request.command.push_back(std::move(part));
    }
    if (count == 0 || count > kMaxArguments) {
        reader.error("command", fmt::format("has {} arguments; 1 to {} are possible, the first is "
                                            "the program",
                                            count, kMaxArguments));
    }
}

void AddonBuilder::read_environment(Reader& reader, ExecRequestPlan& request) {
    const Node* node = reader.map("environment");
    if (node == nullptr) return;
    Reader inner(*node, reader.path_of("environment"), out_);
    for (const document::MapEntry& entry : node->entries()) {
        const auto text = inner.string(entry.key);
        if (!text) continue;
        if (!is_variable_name(entry.key) || is_loader_variable(entry.key) ||
            request.environment.size() >= kMaxVariables) {
            inner.error(entry.key,
                        fmt::format("is no variable a manifest may set (letters, digits and _; not "
                                    "PATH, LD_* and the like), or there are more than {}",
                                    kMaxVariables));
            continue;
        }
        request.environment.emplace_back(entry.key, url_template(inner, entry.key, *text));
    }
}

std::vector<std::pair<int, int>> AddonBuilder::read_exit_codes(
    Reader& reader, std::vector<std::pair<int, int>> usual) {
    const auto expect = reader.strings("expect");
    if (expect.empty()) return usual;
    std::vector<std::pair<int, int>> codes;
    for (const std::string& text : expect) {
        const auto range =
            text == "any" ? std::pair(0, kHighestExitCode) : parse_range(text, 0, kHighestExitCode);
        if (!range) {
            reader.error("expect",
                         fmt::format("{} is no exit code; write 0, 0-3 or any", quoted(text)));
            continue;
        }
        codes.push_back(*range);
    }
    return codes;
}

std::uint64_t AddonBuilder::read_size(Reader& reader, std::string_view key, std::uint64_t usual) {
    const auto text = reader.string(key);
    if (!text) return usual;
    const auto size = parse_size(*text, kMaxOutput);
    if (!size) {
        reader.error(key, fmt::format("{} is no size up to 64MiB; write it like 64KiB or 4MiB",
                                      quoted(*text)));
    }
    return size.value_or(usual);
}

void AddonBuilder::read_queries(Reader& reader) {
    const Node* node = reader.map("dns", Need::kRequired);
    if (node == nullptr) return;
    Reader inner(*node, "dns", out_, keys::kDns);
    inner.any("queries", Need::kRequired);
    each(inner, "queries", kMaxCommands,
         [this](const Node& item, std::string path) { read_query(item, std::move(path)); });
    inner.finish();
}

void AddonBuilder::read_query(const Node& node, std::string path) {
    Reader reader(node, std::move(path), out_, keys::kDnsQuery);
    EndpointPlan endpoint;
    endpoint.format = BodyFormat::kReply;
    read_name_and_group(reader, endpoint);
    endpoint.timeout = reader.duration("timeout", 10ms, 10min);
    DnsRequestPlan request;
    request.name =
        url_template(reader, "query", reader.string("query", Need::kRequired).value_or(""));
    request.type = url_template(reader, "type", reader.string("type").value_or("A"));
    request.recursion = reader.boolean("recursion").value_or(true);
    endpoint.request = std::move(request);
    add_endpoint(reader, std::move(endpoint));
}

void AddonBuilder::read_single(Reader& reader, std::string_view section) {
    static const Node kNothing;
    const Node* node = reader.map(section);
    if (node == nullptr) node = &kNothing;  // everything has a default
    const ProtocolKind protocol = plan_->addon.protocol;
    const std::span<const std::string_view> known =
        protocol == ProtocolKind::kTcp   ? std::span<const std::string_view>(keys::kTcpCheck)
        : protocol == ProtocolKind::kTls ? std::span<const std::string_view>(keys::kTlsCheck)
                                         : std::span<const std::string_view>(keys::kIcmp);
    Reader inner(*node, std::string(section), out_, known);
    EndpointPlan endpoint;
    endpoint.name = std::string(section);
    if (protocol == ProtocolKind::kTcp) {
        endpoint.format = BodyFormat::kText;
        endpoint.request = read_tcp(inner);
    } else if (protocol == ProtocolKind::kTls) {
        endpoint.format = BodyFormat::kReply;
        endpoint.request = read_tls_check(inner);
    } else {
        endpoint.format = BodyFormat::kNone;
        endpoint.request = read_icmp(inner);
    }
    if (plan_->groups.empty()) plan_->groups.resize(1);
    const auto index = static_cast<std::uint16_t>(plan_->http.endpoints.size());
    plan_->groups.front().endpoints.push_back(index);
    plan_->http.endpoints.push_back(std::move(endpoint));
    if (protocol == ProtocolKind::kTls) {
        if (const Node* rows = inner.map("rows")) {
            for (const document::MapEntry& entry : rows->entries()) {
                read_json_rows(entry, document::key_path(inner.path_of("rows"), entry.key), index);
            }
        }
    }
    inner.finish();
}

RequestPlan AddonBuilder::read_tcp(Reader& reader) {
    TcpRequestPlan request;
    request.send = url_template(reader, "send", reader.string("send").value_or(""));
    request.expect = url_template(reader, "expect", reader.string("expect").value_or(""));
    request.max_bytes = read_size(reader, "max_bytes", request.max_bytes);
    return request;
}

RequestPlan AddonBuilder::read_tls_check(Reader& reader) {
    TlsRequestPlan request;
    request.start_tls =
        url_template(reader, "starttls", reader.string("starttls").value_or("none"));
    request.server_name =
        url_template(reader, "server_name", reader.string("server_name").value_or(""));
    request.ca_file = reader.string("ca_file").value_or("");
    request.require_valid = reader.boolean("require_valid").value_or(false);
    return request;
}

RequestPlan AddonBuilder::read_icmp(Reader& reader) {
    IcmpRequestPlan request;
    model::IcmpAsk& ask = request.ask;
    ask.count = static_cast<std::uint32_t>(reader.integer("count", 1, 100).value_or(ask.count));
    ask.spacing = reader.duration("spacing", 1ms, 10s).value_or(ask.spacing);
    ask.payload_bytes =
        static_cast<std::uint32_t>(reader.integer("payload", 16, 65'000).value_or(56));
    return request;
}

}  // namespace pollux::extract
