// The driver against a real nginx over TLS: whom it trusts, and what it says when it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "protocol/http/http_test_support.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;
using net::test::TestCertificate;
using test::answer_of;
using test::failure_of;
using test::HttpWorld;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kLongAgo = "20200101000000Z";
constexpr const char* kBefore = "20200201000000Z";
constexpr const char* kFuture = "20900101000000Z";
constexpr const char* kFarFuture = "20910101000000Z";

class HttpTls : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder = std::make_unique<net::test::TempDir>();
        folder->write("www/hello.txt", "hello");
        authority = make_authority();
        const std::string names = "DNS:localhost,DNS:device.example,IP:127.0.0.1,IP:::1";
        good = net::test::make_signed(*folder, "good", authority, kLongAgo, kFuture, names);
        expired = net::test::make_signed(*folder, "expired", authority, kLongAgo, kBefore, names);
        early = net::test::make_signed(*folder, "early", authority, kFuture, kFarFuture, names);
        other = net::test::make_signed(*folder, "other", authority, kLongAgo, kFuture,
                                       "DNS:other.example");
        self_signed = net::test::make_self_signed(*folder, "self", 30);
        client = net::test::make_signed(*folder, "client", authority, kLongAgo, kFuture,
                                        "DNS:client.example");
        std::string servers;
        for (auto& [name, number] : ports) number = net::test::free_port();
        servers += server("good", good, "http2", "");
        servers += server("plain", good, "", "");
        servers += server("expired", expired, "", "");
        servers += server("early", early, "", "");
        servers += server("other", other, "", "");
        servers += server("self", self_signed, "", "");
        servers +=
            server("client", good, "",
                   "ssl_verify_client on; ssl_client_certificate " + authority.certificate + ";");
        nginx = std::make_unique<net::test::Nginx>(*folder, servers, ports["good"]);
    }
    static void TearDownTestSuite() {
        nginx.reset();
        folder.reset();
    }

    static TestCertificate make_authority() {
        const TestCertificate made{folder->file("authority.pem"), folder->file("authority.key")};
        net::test::run_tool({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                             "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=Test Authority",
                             "-days", "3000", "-keyout", made.key, "-out", made.certificate},
                            *folder);
        return made;
    }

    static std::string server(const std::string& name, const TestCertificate& shown,
                              const std::string& extra, const std::string& more) {
        const std::string p = std::to_string(ports[name]);
        return "server { listen 127.0.0.1:" + p + " ssl " + extra + "; listen [::1]:" + p +
               " ssl " + extra + "; ssl_certificate " + shown.certificate +
               "; ssl_certificate_key " + shown.key + "; " + more + " root " + folder->file("www") +
               "; location /who { return 200 \"$ssl_client_s_dn|$ssl_server_name|$connection|"
               "$server_protocol\"; }\n"
               "location /count { return 200 $connection; } }\n";
    }

    static model::HttpAsk ask_for(const std::string& server_name, const std::string& path,
                                  const std::string& host = "127.0.0.1") {
        model::HttpAsk ask =
            HttpWorld::get("https://" + host + ":" + std::to_string(ports[server_name]) + path);
        ask.tls.ca_file = authority.certificate;
        return ask;
    }

    const model::PollFailure& fail(model::HttpAsk ask) {
        reply = world.ask(std::move(ask));
        EXPECT_FALSE(reply.ok());
        return failure_of(reply);
    }

    static std::unique_ptr<net::test::TempDir> folder;
    static std::unique_ptr<net::test::Nginx> nginx;
    static std::map<std::string, std::uint16_t> ports;
    static TestCertificate authority, good, expired, early, other, self_signed, client;
    HttpWorld world;
    model::Reply reply;
};

std::unique_ptr<net::test::TempDir> HttpTls::folder;
std::unique_ptr<net::test::Nginx> HttpTls::nginx;
std::map<std::string, std::uint16_t> HttpTls::ports = {{"good", 0},  {"plain", 0}, {"expired", 0},
                                                       {"early", 0}, {"other", 0}, {"self", 0},
                                                       {"client", 0}};
TestCertificate HttpTls::authority, HttpTls::good, HttpTls::expired, HttpTls::early, HttpTls::other,
    HttpTls::self_signed, HttpTls::client;

TEST_F(HttpTls, TrustsWhatItsAuthoritySigned) {
    for (const char* host : {"127.0.0.1", "[::1]", "localhost"}) {
        const model::Reply got = world.ask(ask_for("plain", "/hello.txt", host));
        EXPECT_EQ(answer_of(got).body, "hello");
        EXPECT_GE(got.phases.tls, got.phases.connect);
        EXPECT_GE(got.phases.first_byte, got.phases.tls);
    }
}

TEST_F(HttpTls, TellsTheFactsOfTheCertificateAlsoOnAUsedConnection) {
    std::string expected = net::test::fingerprint_of(*folder, good);
    std::erase(expected, ':');
    std::ranges::transform(expected, expected.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* name : {"plain", "good"}) {
        for (int i = 0; i < 2; ++i) {
            const model::Reply got = world.ask(ask_for(name, "/hello.txt"));
            ASSERT_EQ(answer_of(got).certificates.size(), 1U);
            const model::CertificateFacts& leaf = answer_of(got).certificates.front();
            EXPECT_EQ(leaf.subject, "CN=good");
            EXPECT_EQ(leaf.issuer, "CN=Test Authority");
            EXPECT_EQ(leaf.sha256, expected);
            EXPECT_EQ(base::format_utc(leaf.not_before), "2020-01-01T00:00:00.000Z");
            EXPECT_EQ(base::format_utc(leaf.not_after), "2090-01-01T00:00:00.000Z");
            EXPECT_EQ(got.phases.tls > base::Duration::zero(), i == 0);
        }
    }
}

TEST_F(HttpTls, SpeaksHttp2WhereItIsOffered) {
    model::HttpAsk ask = ask_for("good", "/who");
    model::Reply got = world.ask(ask);
    EXPECT_EQ(answer_of(got).http_version, "2");
    EXPECT_THAT(answer_of(got).body, HasSubstr("HTTP/2.0"));
    EXPECT_THAT(answer_of(got).headers, testing::Contains(testing::Key("content-type")));

    int done = 0;
    std::set<std::string> connections;
    for (int i = 0; i < 40; ++i) {
        world.start(ask_for("good", "/count"), [&](model::Reply&& one) {
            connections.insert(answer_of(one).body);
            ++done;
        });
    }
    EXPECT_TRUE(world.run_until([&] { return done == 40; }));
    EXPECT_EQ(connections.size(), 1U);  // the one that was there already

    ask.http2 = false;
    got = world.ask(ask);
    EXPECT_EQ(answer_of(got).http_version, "1.1");
    EXPECT_EQ(answer_of(world.ask(ask_for("plain", "/who"))).http_version, "1.1");
}

TEST_F(HttpTls, SendsTheNameOfTheDevice) {
    world.names.names["device.example"] = {.addresses = {"127.0.0.1"}};
    EXPECT_THAT(answer_of(world.ask(ask_for("plain", "/who", "device.example"))).body,
                testing::StartsWith("|device.example|"));
}

TEST_F(HttpTls, RefusesSelfSignedCertificates) {
    EXPECT_EQ(fail(ask_for("self", "/hello.txt")).code, "http.tls_self_signed");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kCertificate);
    EXPECT_THAT(failure_of(reply).message, HasSubstr("CN=self"));
    // Unless it is the authority itself, or nobody wants to know.
    model::HttpAsk ask = ask_for("self", "/hello.txt");
    ask.tls.ca_file = self_signed.certificate;
    EXPECT_EQ(answer_of(world.ask(ask)).body, "hello");
    ask.tls = {.verify = false, .ca_file = "", .pin_sha256 = ""};
    EXPECT_EQ(answer_of(world.ask(ask)).body, "hello");
    EXPECT_EQ(answer_of(world.ask(ask)).certificates.front().subject, "CN=self");
}

TEST_F(HttpTls, RefusesCertificatesOutsideOfTheirTime) {
    EXPECT_EQ(fail(ask_for("expired", "/hello.txt")).code, "http.tls_certificate_expired");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kCertificate);
    EXPECT_THAT(failure_of(reply).message,
                AllOf(HasSubstr("2020-02-01"), HasSubstr("renew"), HasSubstr("https://127.0.0.1")));
    EXPECT_EQ(fail(ask_for("early", "/hello.txt")).code, "http.tls_certificate_not_yet_valid");
    model::HttpAsk ask = ask_for("expired", "/hello.txt");
    ask.tls.verify = false;
    EXPECT_EQ(answer_of(world.ask(ask)).body, "hello");
}

TEST_F(HttpTls, RefusesStrangersAndWrongNames) {
    EXPECT_EQ(fail(ask_for("other", "/hello.txt")).code, "http.tls_host_mismatch");
    EXPECT_THAT(failure_of(reply).message, HasSubstr("127.0.0.1"));
    EXPECT_EQ(fail(ask_for("other", "/hello.txt", "localhost")).code, "http.tls_host_mismatch");
    model::HttpAsk ask = ask_for("plain", "/hello.txt");
    ask.tls.ca_file = "";  // the system's do not know ours
    EXPECT_EQ(fail(ask).code, "http.tls_untrusted");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kCertificate);
    ask.tls.ca_file = folder->file("no-such-file");
    EXPECT_EQ(fail(ask).code, "http.bad_request");
    EXPECT_THAT(failure_of(reply).message, HasSubstr("no-such-file"));
}

TEST_F(HttpTls, APinDecidesWithAndWithoutVerification) {
    const std::string right = net::test::fingerprint_of(*folder, self_signed);
    const std::string wrong = net::test::fingerprint_of(*folder, good);
    model::HttpAsk ask = ask_for("self", "/hello.txt");
    ask.tls = {.verify = false, .ca_file = "", .pin_sha256 = right};
    EXPECT_EQ(answer_of(world.ask(ask)).body, "hello");
    ask.tls.pin_sha256 = wrong;
    EXPECT_EQ(fail(ask).code, "http.tls_pin_mismatch");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kCertificate);
    EXPECT_THAT(failure_of(reply).message, HasSubstr("its SHA-256 is"));
    // A right pin does not replace the verification, where that is on.
    ask.tls = {.verify = true, .ca_file = "", .pin_sha256 = right};
    EXPECT_EQ(fail(ask).code, "http.tls_self_signed");
    ask = ask_for("plain", "/hello.txt");
    ask.tls.pin_sha256 = wrong;  // this server shows that one
    EXPECT_EQ(answer_of(world.ask(ask)).body, "hello");
    ask.tls.pin_sha256 = right;
    EXPECT_EQ(fail(ask).code, "http.tls_pin_mismatch");
}

TEST_F(HttpTls, NoRequestLeavesBeforeThePinIsChecked) {
    model::HttpAsk ask = ask_for("self", "/count?planted-by-the-pin-test");
    ask.tls = {
        .verify = false, .ca_file = "", .pin_sha256 = net::test::fingerprint_of(*folder, good)};
    fail(ask);
    ask.tls.pin_sha256 = net::test::fingerprint_of(*folder, self_signed);
    ask.url += "-allowed";
    EXPECT_TRUE(world.ask(ask).ok());
    ASSERT_TRUE(net::test::Process::wait_until(net::test::kPatience, [&] {
        return folder->read("access.log").find("pin-test-allowed") != std::string::npos;
    }));
    EXPECT_THAT(folder->read("access.log"), testing::Not(HasSubstr("pin-test HTTP")));
}

// The heart of the matter: a connection that somebody else opened without looking at the
// certificate must not serve an ask that wants to look.
TEST_F(HttpTls, AConnectionServesOnlyAsksWithTheSameDemands) {
    model::HttpAsk careless = ask_for("self", "/count");
    careless.tls = {.verify = false, .ca_file = "", .pin_sha256 = ""};
    const std::string first = answer_of(world.ask(careless)).body;
    EXPECT_EQ(answer_of(world.ask(careless)).body, first);

    model::HttpAsk careful = careless;
    careful.tls.verify = true;
    EXPECT_EQ(fail(careful).code, "http.tls_self_signed");
    model::HttpAsk pinned = careless;
    pinned.tls.pin_sha256 = net::test::fingerprint_of(*folder, good);
    EXPECT_EQ(fail(pinned).code, "http.tls_pin_mismatch");
    model::HttpAsk other_authority = ask_for("plain", "/count");
    EXPECT_TRUE(world.ask(other_authority).ok());
    other_authority.tls.ca_file = self_signed.certificate;
    EXPECT_EQ(fail(other_authority).code, "http.tls_untrusted");

    EXPECT_EQ(answer_of(world.ask(careless)).body, first);
    EXPECT_NE(answer_of(world.ask(careless, true)).body, first);  // a fresh login
}

TEST_F(HttpTls, ShowsItsOwnCertificate) {
    model::HttpAsk ask = ask_for("client", "/who");
    EXPECT_EQ(failure_of(world.ask(ask)).http_status, 400);  // nginx wants one
    model::Credentials credentials;
    credentials.client_certificate = client.certificate;
    credentials.client_key = client.key;
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    EXPECT_THAT(answer_of(world.ask(ask)).body, testing::StartsWith("CN=client|"));
    // Without it the connection that has shown it is not used.
    world.credentials = nullptr;
    EXPECT_EQ(failure_of(world.ask(ask)).http_status, 400);
    credentials.client_key = good.key;
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    EXPECT_EQ(fail(ask).code, "http.tls_client_certificate");
    EXPECT_EQ(failure_of(reply).kind, FailureKind::kConfiguration);
}

TEST_F(HttpTls, ReadsAnEncryptedKey) {
    const std::string encrypted = folder->file("encrypted.key");
    net::test::run_tool({"openssl", "ec", "-in", client.key, "-aes256", "-passout", "pass:hunter2",
                         "-out", encrypted},
                        *folder);
    model::Credentials credentials;
    credentials.client_certificate = client.certificate;
    credentials.client_key = encrypted;
    credentials.client_key_password = base::Secret("hunter2");
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    EXPECT_THAT(answer_of(world.ask(ask_for("client", "/who"))).body,
                testing::StartsWith("CN=client|"));
    credentials.client_key_password = base::Secret("wrong");
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    world.driver->client().set_egress(world.policy);  // no connection from before
    EXPECT_EQ(fail(ask_for("client", "/who")).code, "http.tls_client_certificate");
}

TEST_F(HttpTls, TracesTheHandshake) {
    world.trace = true;
    const model::Reply got = world.ask(ask_for("plain", "/hello.txt"));
    EXPECT_THAT(got.trace, testing::Contains(AllOf(HasSubstr("CN=good"), HasSubstr("SHA-256"))));
    fail(ask_for("expired", "/hello.txt"));
    EXPECT_THAT(reply.trace, testing::Contains(HasSubstr("CN=expired")));
    EXPECT_THAT(reply.trace, testing::Contains(HasSubstr("failed after")));
}

}  // namespace
}  // namespace pollux::protocol
