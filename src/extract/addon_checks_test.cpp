// Manifests of commands, queries and checks: what they ask and what they read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extract/compiled_addon.hpp"
#include "extract/request_plan.hpp"

namespace pollux::extract {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr base::WallTime kNow{1'700'000'000'000'000};

std::string manifest(std::string_view protocol, std::string_view rest) {
    return fmt::format("schema: pollux/1\nname: test\nversion: 1.0.0\nprotocol: {}\n{}", protocol,
                       rest);
}

std::shared_ptr<const CompiledAddon> compiled(const std::string& text) {
    CompileResult result = compile(text, "test.yaml");
    EXPECT_NE(result.addon, nullptr) << result.diagnostics.text();
    return result.addon;
}

std::string refused(const std::string& text) {
    const CompileResult result = compile(text, "test.yaml");
    EXPECT_EQ(result.addon, nullptr);
    return result.diagnostics.text();
}

template <class Request>
Request request_of(const CompiledAddon& addon, const TargetBinding& binding, std::size_t ask = 0) {
    const auto asks = addon.asks(0, binding);
    EXPECT_TRUE(asks.has_value()) << (asks ? "" : asks.error().message);
    if (!asks || ask >= asks->size()) return {};
    const auto* request = std::get_if<Request>(&(*asks)[ask]->request);
    EXPECT_NE(request, nullptr);
    return request == nullptr ? Request{} : *request;
}

TargetBinding binding(Parameters parameters = {}) {
    TargetBinding out;
    out.host = "192.0.2.7";
    out.device_name = "seven";
    out.parameters = std::move(parameters);
    return out;
}

// name=value, in the order of the readings.
std::vector<std::string> texts(const CompiledAddon& addon, const model::Readings& readings) {
    std::vector<std::string> out;
    for (const model::Reading& one : readings.values) {
        const std::string& row = readings.rows[one.row];
        std::string value;
        if (const auto* text = std::get_if<std::string>(&one.value)) value = *text;
        if (const auto* i = std::get_if<std::int64_t>(&one.value)) value = fmt::format("{}", *i);
        if (const auto* d = std::get_if<double>(&one.value)) value = fmt::format("{}", *d);
        if (const auto* b = std::get_if<bool>(&one.value)) value = *b ? "1" : "0";
        out.push_back(fmt::format("{}{}={}", addon.addon().metrics[one.metric].name,
                                  row.empty() ? "" : "[" + row + "]", value));
    }
    return out;
}

std::vector<std::string> read(const CompiledAddon& addon, const model::Reply& reply) {
    const model::Reply* replies[] = {&reply};
    const model::Readings readings = addon.read(0, replies, kNow);
    EXPECT_TRUE(readings.problems.empty()) << readings.problems.front();
    return texts(addon, readings);
}

constexpr std::string_view kPlugin = R"yaml(
parameters: {plugin: {required: true, example: check_x}, warn: {default: ""}, text: {default: ""}}
exec:
  commands:
    - name: check
      command: ["{plugin}", [-H, "{host}"], [-p, "{port}"], [-w, "{warn}"], "{text}"]
      environment: {DEVICE: "{device}"}
      rows: {values: {from: "$.values[*]", name: $.label}}
metrics:
  - {name: state, type: state, path: $.state, map: {0: ok, 1: warning, 2: critical, 3: unknown}}
  - {name: text, type: text, path: $.text}
  - {name: value, rows: values, path: $.base_value, optional: true}
)yaml";

TEST(AddonChecks, FillAnArgumentWithoutSplittingIt) {
    const auto addon = compiled(manifest("exec", kPlugin));
    const auto ask = request_of<model::ExecAsk>(
        *addon, binding({{"plugin", "check_x"}, {"text", "two words; $(reboot) 'x'"}}));
    EXPECT_THAT(ask.argv, ElementsAre("check_x", "-H", "192.0.2.7", "two words; $(reboot) 'x'"));
    EXPECT_EQ(ask.environment, (decltype(ask.environment){{"DEVICE", "seven"}}));
    TargetBinding with_port = binding({{"plugin", "check_x"}, {"warn", "5"}});
    with_port.port = 8080;
    EXPECT_THAT(request_of<model::ExecAsk>(*addon, with_port).argv,
                ElementsAre("check_x", "-H", "192.0.2.7", "-p", "8080", "-w", "5"));
}

TEST(AddonChecks, ReadStateTextAndValuesOfAPlugin) {
    const auto addon = compiled(manifest("exec", kPlugin));
    model::Reply reply;
    reply.answer = model::CommandReply{.exit_status = 1,
                                       .signal = 0,
                                       .out = "SLOW|rta=80ms 'used space'=2KB x=U\n",
                                       .error_out = {}};
    EXPECT_THAT(read(*addon, reply),
                ElementsAre("state=1", "text=SLOW", "value[rta]=0.08", "value[used space]=2048"));
}

TEST(AddonChecks, RefuseVariablesThatLoadCode) {
    const std::string text = manifest("exec", R"yaml(
exec: {commands: [{name: a, command: [x], environment: {LD_PRELOAD: /tmp/x.so, PATH: /tmp}}]}
metrics: [{name: state, fact: state}]
)yaml");
    EXPECT_THAT(refused(text), HasSubstr("LD_PRELOAD"));
    EXPECT_THAT(refused(text), HasSubstr("PATH"));
}

TEST(AddonChecks, QuoteValuesForTheShellOfAHost) {
    const auto addon = compiled(manifest("ssh", R"yaml(
parameters: {folder: {default: /}}
ssh:
  commands:
    - {name: disk, command: "df {folder}", expect: [0, 4-5], max_output: 4KiB}
    - {name: late, command: "awk '{print $1}' /proc/uptime", optional: true, timeout: 3s}
metrics:
  - {name: used, endpoint: disk, pattern: "(\\d+)%"}
  - {name: seconds, endpoint: late, pattern: "^[0-9.]+"}
)yaml"));
    const auto bound = binding({{"folder", "/a b'; rm -rf /"}});
    const auto first = request_of<model::SshAsk>(*addon, bound);
    EXPECT_EQ(first.command, "df '/a b'\\''; rm -rf /'");
    EXPECT_EQ(first.good_exit, (std::vector<std::pair<int, int>>{{0, 0}, {4, 5}}));
    EXPECT_EQ(first.max_output_bytes, 4096U);
    EXPECT_EQ(request_of<model::SshAsk>(*addon, bound, 1).command, "awk '{print $1}' /proc/uptime");
    const auto asks = addon->asks(0, bound);
    ASSERT_TRUE(asks);
    EXPECT_EQ((*asks)[0]->port, 22);
    EXPECT_EQ((*asks)[1]->timeout, std::chrono::seconds(3));
    EXPECT_TRUE(addon->is_optional(0, 1));
}

TEST(AddonChecks, QuoteAnyWordForAShell) {
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(shell_quoted("a"), "'a'");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

TEST(AddonChecks, ReadTheFactsOfAPing) {
    const auto addon = compiled(manifest("icmp", R"yaml(
icmp: {count: 3, spacing: 50ms, payload: 100}
metrics:
  - {name: loss, fact: loss_percent}
  - {name: low, fact: rtt_min}
  - {name: mean, fact: rtt_avg}
  - {name: high, fact: rtt_max}
)yaml"));
    const auto ask = request_of<model::IcmpAsk>(*addon, binding());
    EXPECT_EQ(ask.count, 3U);
    EXPECT_EQ(ask.payload_bytes, 100U);
    model::Reply reply;
    reply.answer =
        model::IcmpReply{4, 2, {std::chrono::milliseconds(1), std::chrono::milliseconds(3)}};
    EXPECT_THAT(read(*addon, reply),
                ElementsAre("loss=50", "low=0.001", "mean=0.002", "high=0.003"));
}

TEST(AddonChecks, ReadTheFactsOfACertificate) {
    const auto addon = compiled(manifest("tls", R"yaml(
parameters: {starttls: {default: none}}
tls:
  starttls: "{starttls}"
  rows: {chain: {from: "$.certificates[*]", name: $.subject}}
metrics:
  - {name: days, fact: certificate_days}
  - {name: used, fact: certificate_lifetime_used}
  - {name: chain_ok, type: state, fact: chain_ok}
  - {name: why, type: text, fact: verify_error}
  - {name: chain_days, rows: chain, path: $.days}
)yaml"));
    EXPECT_EQ(request_of<model::TlsAsk>(*addon, binding({{"starttls", "imap"}})).start_tls,
              model::StartTls::kImap);
    EXPECT_FALSE(addon->asks(0, binding({{"starttls", "telnet"}})));
    model::TlsReply tls;
    tls.verify_error = "certificate has expired";
    tls.certificates.push_back({.subject = "CN=a",
                                .issuer = "CN=b",
                                .sha256 = {},
                                .not_before = kNow - std::chrono::hours(24 * 30),
                                .not_after = kNow + std::chrono::hours(24 * 10)});
    model::Reply reply;
    reply.answer = tls;
    EXPECT_THAT(read(*addon, reply),
                ElementsAre("days=10", "used=75", "chain_ok=0", "why=certificate has expired",
                            "chain_days[CN=a]=10"));
}

TEST(AddonChecks, ReadAnswersOfANameServer) {
    const auto addon = compiled(manifest("dns", R"yaml(
parameters: {name: {required: true, example: example.net}, type: {default: A}}
dns:
  queries:
    - {name: lookup, query: "{name}", type: "{type}", rows: {records: {from: "$.answers[*]", name: $.data}}}
metrics:
  - {name: rcode, type: state, fact: rcode}
  - {name: answers, fact: answers}
  - {name: answer, type: text, fact: answer}
  - {name: ttl, rows: records, path: $.ttl}
)yaml"));
    const auto ask =
        request_of<model::DnsAsk>(*addon, binding({{"name", "example.net"}, {"type", "mx"}}));
    EXPECT_EQ(ask.type, "MX");
    model::DnsReply dns;
    dns.status = "NOERROR";
    dns.type = "A";
    dns.answers = {
        {"x.", "CNAME", 5, "y."}, {"y.", "A", 60, "192.0.2.2"}, {"y.", "A", 60, "192.0.2.1"}};
    model::Reply reply;
    reply.answer = dns;
    EXPECT_THAT(read(*addon, reply),
                ElementsAre("rcode=NOERROR", "answers=3", "answer=192.0.2.1, 192.0.2.2",
                            "ttl[y.]=5", "ttl[192.0.2.2]=60", "ttl[192.0.2.1]=60"));
}

TEST(AddonChecks, NeedAPortForTcp) {
    const auto addon = compiled(manifest("tcp", R"yaml(
tcp: {send: "QUIT\r\n", expect: "221"}
metrics: [{name: latency, fact: latency}, {name: software, type: text, pattern: "^220 (.*)"}]
)yaml"));
    const auto without = addon->asks(0, binding());
    ASSERT_FALSE(without);
    EXPECT_EQ(without.error().code, "addon.port");
    TargetBinding bound = binding();
    bound.port = 25;
    EXPECT_EQ(request_of<model::TcpAsk>(*addon, bound).send, "QUIT\r\n");
}

TEST(AddonChecks, TellWhatDoesNotFitTheProtocol) {
    const std::string text = refused(manifest("icmp", R"yaml(
http: {endpoints: [{name: a}]}
metrics: [{name: status, fact: status}, {name: h, header: x}, {name: g, get: y}]
)yaml"));
    EXPECT_THAT(text, HasSubstr("http: does not fit protocol: icmp"));
    EXPECT_THAT(text, HasSubstr("loss_percent"));
    EXPECT_THAT(text, HasSubstr("only fits protocol: http"));
    EXPECT_THAT(text, HasSubstr("only fits protocol: snmp"));
}

}  // namespace
}  // namespace pollux::extract
