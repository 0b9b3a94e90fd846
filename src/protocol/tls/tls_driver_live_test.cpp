// Real openssl s_server with certificates that are good, and bad in every usual way.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>

#include "net/test_process.hpp"
#include "net/test_tcp_server.hpp"
#include "protocol/test_bench.hpp"
#include "protocol/tls/start_tls.hpp"
#include "protocol/tls/tls_driver.hpp"

namespace pollux::protocol {
namespace {

using net::test::free_port;
using net::test::Process;
using net::test::run_tool;
using test::answer_in;
using test::failure_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TlsDriverLive : public ::testing::Test {
  protected:
    TlsDriverLive() {
        run_tool({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                  "-nodes", "-keyout", folder.file("root.key"), "-out", folder.file("root.pem"),
                  "-days", "30", "-subj", "/CN=Test Root"},
                 folder);
        issue("middle", "root", "/CN=Test Middle", "basicConstraints=CA:TRUE", 30);
    }

    // A certificate `name`.pem with its key, signed by `by`.
    void issue(const std::string& name, const std::string& by, const std::string& subject,
               const std::string& extension, int days) {
        run_tool({"openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                  "-nodes", "-keyout", folder.file(name + ".key"), "-out",
                  folder.file(name + ".csr"), "-subj", subject},
                 folder);
        folder.write(name + ".ext", extension + "\n");
        run_tool({"openssl", "x509", "-req", "-in", folder.file(name + ".csr"), "-CA",
                  folder.file(by + ".pem"), "-CAkey", folder.file(by + ".key"), "-CAcreateserial",
                  "-extfile", folder.file(name + ".ext"), "-days", std::to_string(days), "-out",
                  folder.file(name + ".pem")},
                 folder);
    }

    std::unique_ptr<Process> serve(const std::string& name, std::uint16_t port,
                                   std::vector<std::string> more = {}) {
        std::vector<std::string> command = {"openssl",
                                            "s_server",
                                            "-quiet",
                                            "-accept",
                                            fmt::format("127.0.0.1:{}", port),
                                            "-cert",
                                            folder.file(name + ".pem"),
                                            "-key",
                                            folder.file(name + ".key")};
        command.insert(command.end(), more.begin(), more.end());
        auto process = std::make_unique<Process>(command, folder);
        EXPECT_TRUE(process->wait_for_tcp("127.0.0.1", port));
        return process;
    }

    model::Ask ask_of(std::uint16_t port, const std::string& name = "www.example.net") {
        model::TlsAsk tls;
        tls.server_name = name;
        tls.tls.ca_file = folder.file("root.pem");
        model::Ask ask;
        ask.host = "127.0.0.1";
        ask.port = port;
        ask.timeout = std::chrono::seconds(30);
        ask.request = tls;
        return ask;
    }

    net::test::TempDir folder;
    test::Bench bench;
    std::unique_ptr<net::Resolver> resolver = std::move(*net::Resolver::create(bench.loop(), {}));
    TlsDriver driver{bench.loop(), *resolver, std::make_shared<const net::EgressPolicy>()};
};

TEST_F(TlsDriverLive, SeesAGoodCertificate) {
    issue("good", "middle", "/CN=www", "subjectAltName=DNS:www.example.net,IP:127.0.0.1", 20);
    const std::uint16_t port = free_port();
    const auto server = serve("good", port, {"-cert_chain", folder.file("middle.pem")});
    const auto reply = bench.ask(driver, ask_of(port), true);
    const auto tls = answer_in<model::TlsReply>(reply);
    EXPECT_EQ(tls.verify_error, "");
    EXPECT_TRUE(tls.name_matches);
    EXPECT_THAT(tls.names, ElementsAre("www.example.net", "127.0.0.1"));
    EXPECT_EQ(tls.protocol, "TLSv1.3");
    ASSERT_EQ(tls.certificates.size(), 2U);
    EXPECT_EQ(tls.certificates[0].subject, "CN=www");
    EXPECT_EQ(tls.certificates[0].issuer, "CN=Test Middle");
    EXPECT_NEAR(base::to_seconds(tls.certificates[0].not_after - net::wall_now()), 20 * 86400,
                3600);
    EXPECT_GT(reply.phases.tls, reply.phases.connect);
    // By its address, it is good as well.
    EXPECT_TRUE(answer_in<model::TlsReply>(bench.ask(driver, ask_of(port, ""))).name_matches);
    const std::uint16_t old_port = free_port();
    const auto old = serve("good", old_port, {"-tls1_2"});
    const auto older = answer_in<model::TlsReply>(bench.ask(driver, ask_of(old_port)));
    EXPECT_EQ(older.protocol, "TLSv1.2");
    EXPECT_EQ(older.verify_error, "unable to get local issuer certificate");
    model::Ask pinned = ask_of(port);
    std::get<model::TlsAsk>(pinned.request).tls.pin_sha256 = std::string(64, 'a');
    EXPECT_THAT(answer_in<model::TlsReply>(bench.ask(driver, pinned)).verify_error,
                HasSubstr("pinned"));
}

TEST_F(TlsDriverLive, TellsWhatIsWrongWithACertificate) {
    issue("wrong_name", "root", "/CN=a", "subjectAltName=DNS:other.example.net", 20);
    issue("short_chain", "middle", "/CN=a", "subjectAltName=DNS:www.example.net", 20);
    run_tool({"openssl", "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-keyout",
              folder.file("self.key"), "-out", folder.file("self.pem"), "-days", "3", "-subj",
              "/CN=self", "-addext", "subjectAltName=DNS:www.example.net"},
             folder);
    // It ended a day before it began.
    issue("expired", "root", "/CN=a", "subjectAltName=DNS:www.example.net", -1);
    struct Row {
        const char* name;
        const char* error;
        bool name_ok;
    };
    for (const Row& row : {Row{"wrong_name", "", false},
                           Row{"short_chain", "unable to get local issuer certificate", true},
                           Row{"self", "self-signed certificate", true},
                           Row{"expired", "certificate has expired", true}}) {
        const std::uint16_t port = free_port();
        const auto server = serve(row.name, port, {"-cipher", "ALL:@SECLEVEL=0"});
        const auto tls = answer_in<model::TlsReply>(bench.ask(driver, ask_of(port)));
        EXPECT_EQ(tls.verify_error, row.error) << row.name;
        EXPECT_EQ(tls.name_matches, row.name_ok) << row.name;
        EXPECT_EQ(tls.certificates.size(), 1U) << row.name;
        model::Ask strict = ask_of(port);
        std::get<model::TlsAsk>(strict.request).require_valid = true;
        const auto failure = failure_in(bench.ask(driver, strict));
        EXPECT_EQ(failure.code, "tls.certificate") << row.name;
        EXPECT_EQ(failure.kind, model::FailureKind::kCertificate);
    }
}

// Says the words of a protocol, then passes everything on to a TLS server behind it: s_server
// itself knows no STARTTLS.
class Front final : net::FdHandler {
  public:
    Front(net::EventLoop& loop, std::uint16_t behind, std::vector<std::string> lines)
        : loop_(loop), server_(loop), behind_(behind), lines_(std::move(lines)) {
        server_.on_accept = [this](auto& peer) {
            peer_ = &peer;
            if (!lines_[0].empty()) peer.send(lines_[0]);
        };
        server_.on_data = [this](auto& peer) {
            const std::string heard = std::exchange(peer.received, "");
            if (next_ < lines_.size()) {
                peer.send(lines_[next_++]);
                return;
            }
            if (fd_ < 0) open();
            EXPECT_EQ(send(fd_, heard.data(), heard.size(), MSG_NOSIGNAL),
                      static_cast<ssize_t>(heard.size()));
        };
    }
    ~Front() {
        if (fd_ < 0) return;
        loop_.unwatch(fd_);
        close(fd_);
    }
    std::uint16_t port() const { return server_.port(); }

  private:
    void open() {
        const net::test::TestAddress to("127.0.0.1", behind_);
        fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_EQ(connect(fd_, to.get(), to.length), 0);
        ASSERT_TRUE(loop_.watch(fd_, EPOLLIN, *this));
    }
    void on_ready(int fd, std::uint32_t) override {
        std::array<char, 16'384> buffer{};
        const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got > 0) return peer_->send({buffer.data(), static_cast<std::size_t>(got)});
        loop_.unwatch(fd);
    }

    net::EventLoop& loop_;
    net::test::TcpServer server_;
    std::uint16_t behind_;
    std::vector<std::string> lines_;
    std::size_t next_ = 1;
    net::test::TcpServer::Peer* peer_ = nullptr;
    int fd_ = -1;
};

TEST_F(TlsDriverLive, SpeaksBeforeTls) {
    issue("good", "root", "/CN=www", "subjectAltName=DNS:www.example.net", 20);
    const std::uint16_t port = free_port();
    const auto behind = serve("good", port);
    struct Row {
        model::StartTls kind;
        std::vector<std::string> lines;
    };
    const std::string ldap("\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00", 14);
    for (const Row& row :
         {Row{model::StartTls::kSmtp,
              {"220-hello\r\n220 mail\r\n", "250-SIZE\r\n250 STARTTLS\r\n", "220 go\r\n"}},
          Row{model::StartTls::kImap, {"* OK ready\r\n", "* CAPABILITY X\r\na1 OK go\r\n"}},
          Row{model::StartTls::kPop3, {"+OK pop\r\n", "+OK go\r\n"}},
          Row{model::StartTls::kFtp, {"220 ftp\r\n", "234 go\r\n"}},
          Row{model::StartTls::kPostgres, {"", "S"}}, Row{model::StartTls::kLdap, {"", ldap}}}) {
        Front front(bench.loop(), port, row.lines);
        model::Ask ask = ask_of(front.port());
        std::get<model::TlsAsk>(ask.request).start_tls = row.kind;
        const auto tls = answer_in<model::TlsReply>(bench.ask(driver, ask));
        EXPECT_EQ(tls.verify_error, "") << static_cast<int>(row.kind);
        EXPECT_TRUE(tls.name_matches);
        ASSERT_EQ(tls.certificates.size(), 1U);
        EXPECT_EQ(tls.certificates[0].subject, "CN=www");
    }
}

TEST(StartTlsTalk, TellsWhatTheServerSaidInstead) {
    tls::StartTlsTalk talk(model::StartTls::kSmtp);
    EXPECT_TRUE(talk.hear("220 x\r\n25"));
    EXPECT_EQ(talk.take_output(), "EHLO pollux\r\n");
    const auto refused = talk.hear("0-A\r\n500 no\r\n");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "tls.starttls");
    EXPECT_THAT(refused.error().message, HasSubstr("500 no"));
    for (const std::string_view answer :
         {"\x30\x03\x02\x01\x02", "\x31\x01x", "\x30\x84\xff\xff\xff\xff"}) {
        tls::StartTlsTalk ldap(model::StartTls::kLdap);
        EXPECT_FALSE(ldap.hear(answer));
        EXPECT_FALSE(ldap.done());
    }
}

TEST_F(TlsDriverLive, ClassifiesFailures) {
    EXPECT_EQ(failure_in(bench.ask(driver, ask_of(free_port()))).code, "tls.refused");
    net::test::TcpServer plain(bench.loop());
    plain.on_data = [](auto& peer) {
        peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
        peer.finish();
    };
    EXPECT_EQ(failure_in(bench.ask(driver, ask_of(plain.port()))).code, "tls.handshake");
    net::test::TcpServer refuses(bench.loop());
    refuses.on_accept = [](auto& peer) { peer.send("554 no\r\n"); };
    model::Ask ask = ask_of(refuses.port());
    std::get<model::TlsAsk>(ask.request).start_tls = model::StartTls::kSmtp;
    EXPECT_EQ(failure_in(bench.ask(driver, ask)).code, "tls.starttls");
    refuses.on_accept = [](auto& peer) { peer.stream([] { return std::string(4000, 'x'); }); };
    EXPECT_EQ(failure_in(bench.ask(driver, ask)).code, "tls.starttls");
    model::Ask denied = ask_of(443);
    denied.host = "169.254.169.254";
    EXPECT_EQ(failure_in(bench.ask(driver, denied)).code, "egress.denied");
}

TEST_F(TlsDriverLive, KeepsTheContractOfDrivers) {
    net::test::TcpServer silent(bench.loop());
    EXPECT_THAT(test::contract_problems(bench, driver, ask_of(silent.port()), "tls.timeout"),
                ElementsAre());
}

}  // namespace
}  // namespace pollux::protocol
