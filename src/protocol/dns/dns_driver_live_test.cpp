// A real dnsmasq, and what dig says of the same server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "net/test_dns_server.hpp"
#include "net/test_process.hpp"
#include "protocol/dns/dns_driver.hpp"
#include "protocol/dns/dns_message.hpp"
#include "protocol/test_bench.hpp"

namespace pollux::protocol {
namespace {

using net::test::free_port;
using net::test::Process;
using test::answer_in;
using test::failure_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DnsDriverLive : public ::testing::Test {
  protected:
    DnsDriverLive() : port(free_port()) {
        std::string many;
        for (int i = 0; i < 60; ++i) {
            many += fmt::format("txt-record=many.test,\"number {} {}\"\n", i, std::string(60, 'x'));
        }
        folder.write("dnsmasq.conf",
                     fmt::format("port={}\nlisten-address=127.0.0.1,::1\nbind-interfaces\n"
                                 "no-resolv\nno-hosts\nno-daemon\nuser=root\nlocal-ttl=60\n"
                                 "auth-ttl=60\nlocal=/test/\n"
                                 "address=/two.test/192.0.2.1\naddress=/two.test/2001:db8::1\n"
                                 "host-record=one.test,192.0.2.9\ncname=alias.test,one.test\n"
                                 "mx-host=test,mail.test,10\nsrv-host=_ldap._tcp.test,one.test,389,"
                                 "1,2\ntxt-record=words.test,\"a \\\"quote\\\"\",\"second\"\n"
                                 "ptr-record=9.2.0.192.in-addr.arpa,one.test\n"
                                 "caa-record=one.test,0,issue,ca.example.net\n"
                                 "dns-rr=odd.test,65280,01ABFF\n{}",
                                 port, many));
        server = std::make_unique<Process>(
            std::vector<std::string>{"dnsmasq", "-C", folder.file("dnsmasq.conf")}, folder);
        const auto hello = dns::encode({1, "one.test", 1, true, false});
        EXPECT_TRUE(server->wait_for_udp("127.0.0.1", port, *hello)) << server->output();
    }

    model::Ask ask_of(std::string name, std::string type, std::string host = "127.0.0.1") {
        model::Ask ask;
        ask.host = std::move(host);
        ask.port = port;
        ask.timeout = std::chrono::seconds(30);
        ask.request = model::DnsAsk{std::move(name), std::move(type), true};
        return ask;
    }

    // "name type data" of each answer, sorted.
    std::vector<std::string> ours(const model::DnsReply& reply) {
        std::vector<std::string> out;
        for (const auto& record : reply.answers) {
            out.push_back(fmt::format("{} {} {}", record.name, record.type, record.data));
        }
        std::ranges::sort(out);
        return out;
    }
    std::vector<std::string> digs(const std::string& name, const std::string& type) {
        std::istringstream in(net::test::run_tool(
            {"dig", "-p", std::to_string(port), "@127.0.0.1", "+noall", "+answer", name, type},
            folder));
        std::vector<std::string> out;
        std::string line;
        while (std::getline(in, line)) {
            std::istringstream words(line);
            std::string owner;
            std::string ttl;
            std::string in_class;
            std::string kind;
            words >> owner >> ttl >> in_class >> kind >> std::ws;
            std::string data;
            std::getline(words, data);
            if (!kind.empty()) out.push_back(fmt::format("{} {} {}", owner, kind, data));
        }
        std::ranges::sort(out);
        return out;
    }

    net::test::TempDir folder;
    std::uint16_t port;
    std::unique_ptr<Process> server;
    test::Bench bench;
    std::unique_ptr<net::Resolver> resolver = std::move(*net::Resolver::create(bench.loop(), {}));
    DnsDriver driver{bench.loop(), *resolver, std::make_shared<const net::EgressPolicy>()};
};

TEST_F(DnsDriverLive, SaysWhatDigSays) {
    for (const auto& [name, type] : {std::pair<std::string, std::string>{"one.test", "A"},
                                     {"two.test", "A"},
                                     {"two.test", "AAAA"},
                                     {"alias.test", "A"},
                                     {"alias.test", "CNAME"},
                                     {"test", "MX"},
                                     {"_ldap._tcp.test", "SRV"},
                                     {"words.test", "TXT"},
                                     {"9.2.0.192.in-addr.arpa", "PTR"},
                                     {"one.test", "CAA"},
                                     {"odd.test", "TYPE65280"},
                                     {"ONE.Test.", "A"}}) {
        const auto reply = answer_in<model::DnsReply>(bench.ask(driver, ask_of(name, type)));
        EXPECT_EQ(reply.status, "NOERROR") << name << " " << type;
        const auto expected = digs(name, type);
        EXPECT_FALSE(expected.empty()) << name << " " << type;
        EXPECT_EQ(ours(reply), expected) << name << " " << type;
    }
}

TEST_F(DnsDriverLive, AsksOverTcpWhenTheAnswerIsCut) {
    const auto reply = bench.ask(driver, ask_of("many.test", "TXT"), true);
    const auto answer = answer_in<model::DnsReply>(reply);
    EXPECT_EQ(answer.answers.size(), 60U);
    EXPECT_FALSE(answer.truncated);
    EXPECT_THAT(reply.trace, ::testing::Contains(HasSubstr("asking over TCP")));
}

TEST_F(DnsDriverLive, TellsThatThereIsNone) {
    EXPECT_EQ(answer_in<model::DnsReply>(bench.ask(driver, ask_of("none.test", "A"))).status,
              "NXDOMAIN");
    const auto refused =
        answer_in<model::DnsReply>(bench.ask(driver, ask_of("elsewhere.org", "A")));
    EXPECT_EQ(refused.status, "REFUSED");
}

TEST_F(DnsDriverLive, WorksOverIpv6AndByName) {
    for (const char* host : {"::1", "localhost"}) {
        const auto reply =
            answer_in<model::DnsReply>(bench.ask(driver, ask_of("one.test", "A", host)));
        EXPECT_EQ(reply.answers.size(), 1U) << host;
    }
}

TEST_F(DnsDriverLive, ClassifiesFailures) {
    EXPECT_EQ(failure_in(bench.ask(driver, ask_of("one.test", "NOTYPE"))).code, "dns.bad_type");
    EXPECT_EQ(failure_in(bench.ask(driver, ask_of("a..b", "A"))).code, "dns.bad_name");
    EXPECT_EQ(failure_in(bench.ask(driver, ask_of("x.test", "A", "169.254.169.254"))).code,
              "egress.denied");
    server->stop();
    EXPECT_EQ(failure_in(bench.ask(driver, ask_of("one.test", "A"))).code, "dns.refused");
}

TEST_F(DnsDriverLive, BelievesOnlyTheAnswerToItsQuestion) {
    // A server that first lies about id and question, then says the truth.
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const net::test::TestAddress any("127.0.0.1", 0);
    ASSERT_EQ(bind(fd, any.get(), any.length), 0);
    sockaddr_in bound{};
    socklen_t length = sizeof bound;
    getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length);
    model::Ask ask = ask_of("real.test", "A");
    ask.port = ntohs(bound.sin_port);
    const auto reply = bench.begin(driver, ask);
    std::array<char, 600> buffer{};
    sockaddr_in from{};
    socklen_t from_length = sizeof from;
    ssize_t got = -1;
    ASSERT_TRUE(bench.run_until([&] {
        got = recvfrom(fd, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from),
                       &from_length);
        return got > 0;
    }));
    const auto asked = dns::decode({buffer.data(), static_cast<std::size_t>(got)});
    const auto say = [&](std::uint16_t id, const std::string& name, char octet) {
        std::string packet = *dns::encode({id, name, 1, true, false});
        packet[2] = '\x84';
        packet[7] = 1;
        packet += std::string("\xc0\x0c\0\1\0\1\0\0\0\5\0\4\xC0\0\2", 15) + octet;
        sendto(fd, packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from),
               from_length);
    };
    say(static_cast<std::uint16_t>(asked->id + 1), "real.test", 66);
    say(asked->id, "other.test", 66);
    sendto(fd, "junk", 4, 0, reinterpret_cast<sockaddr*>(&from), from_length);
    say(asked->id, "real.test", 7);
    ASSERT_TRUE(bench.run_until([&] { return reply->has_value(); }));
    close(fd);
    const auto answer = answer_in<model::DnsReply>(**reply);
    ASSERT_EQ(answer.answers.size(), 1U);
    EXPECT_EQ(answer.answers[0].data, "192.0.2.7");
}

TEST_F(DnsDriverLive, KeepsTheContractOfDrivers) {
    const int silent = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const net::test::TestAddress any("127.0.0.1", 0);
    ASSERT_EQ(bind(silent, any.get(), any.length), 0);
    sockaddr_in bound{};
    socklen_t length = sizeof bound;
    getsockname(silent, reinterpret_cast<sockaddr*>(&bound), &length);
    model::Ask ask = ask_of("one.test", "A");
    ask.port = ntohs(bound.sin_port);
    EXPECT_THAT(test::contract_problems(bench, driver, ask, "dns.timeout"), ElementsAre());
    close(silent);
}

}  // namespace
}  // namespace pollux::protocol
