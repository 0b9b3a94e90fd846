// Digest logins (RFC 7616) against a small server that checks them; nginx cannot.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <map>

#include "net/test_tcp_server.hpp"
#include "protocol/http/http_test_support.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;
using net::test::TcpServer;
using test::answer_of;
using test::failure_of;
using test::HttpWorld;

std::string digest(const EVP_MD* kind, const std::string& text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned length = 0;
    EVP_Digest(text.data(), text.size(), bytes.data(), &length, kind, nullptr);
    std::string hex;
    for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", bytes[i]);
    return hex;
}

// The fields of an Authorization header, without quotes.
std::map<std::string, std::string> fields_of(const std::string& request) {
    std::map<std::string, std::string> fields;
    const auto start = request.find("Authorization: Digest ");
    if (start == std::string::npos) return fields;
    const std::string line = request.substr(start + 22, request.find("\r\n", start) - start - 22);
    std::size_t at = 0;
    while (at < line.size()) {
        const auto equals = line.find('=', at);
        const bool is_quoted = line[equals + 1] == '"';
        const auto end = is_quoted ? line.find('"', equals + 2) : line.find(',', equals);
        const auto from = equals + (is_quoted ? 2 : 1);
        fields[line.substr(at, equals - at)] = line.substr(from, end - from);
        at = end == std::string::npos ? line.size() : line.find_first_not_of("\", ", end);
    }
    return fields;
}

class HttpDigest : public testing::Test {
  protected:
    void SetUp() override {
        server.on_data = [this](TcpServer::Peer& peer) {
            if (peer.received.find("\r\n\r\n") == std::string::npos) return;
            const std::string request = std::exchange(peer.received, {});
            ++requests;
            const bool in = is_right(request);
            const std::string body = in ? "inside" : "outside";
            peer.send(fmt::format(
                "HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", in ? "200 OK" : "401 Unauthorized",
                body.size(),
                in ? std::string()
                   : fmt::format("WWW-Authenticate: Digest realm=\"device\", nonce=\"abc{}\", "
                                 "qop=\"auth\", algorithm={}\r\n",
                                 requests, sha256 ? "SHA-256" : "MD5"),
                body));
        };
        login("reader", "open sesame");
    }

    bool is_right(const std::string& request) {
        auto fields = fields_of(request);
        if (fields["username"] != "reader" || fields["realm"] != "device") return false;
        const EVP_MD* kind = sha256 ? EVP_sha256() : EVP_md5();
        const std::string first = digest(kind, "reader:device:open sesame");
        const std::string second =
            digest(kind, request.substr(0, request.find(' ')) + ":" + fields["uri"]);
        return fields["response"] ==
               digest(kind, first + ":" + fields["nonce"] + ":" + fields["nc"] + ":" +
                                fields["cnonce"] + ":auth:" + second);
    }

    void login(const std::string& user, const std::string& password) {
        model::Credentials credentials;
        credentials.username = user;
        credentials.password = base::Secret(password);
        world.credentials = std::make_shared<const model::Credentials>(credentials);
    }

    model::HttpAsk ask() {
        model::HttpAsk what = HttpWorld::get(server.url("/status?part=1"));
        what.auth = model::HttpAuth::kDigest;
        return what;
    }

    HttpWorld world;
    TcpServer server{*world.loop};
    bool sha256 = false;
    int requests = 0;
};

TEST_F(HttpDigest, AnswersTheChallenge) {
    EXPECT_EQ(answer_of(world.ask(ask())).body, "inside");
    EXPECT_EQ(requests, 2);
    EXPECT_EQ(server.accepted(), 1);
    sha256 = true;
    EXPECT_EQ(answer_of(world.ask(ask())).body, "inside");
}

TEST_F(HttpDigest, SendsTheBodyWithThePost) {
    model::HttpAsk post = ask();
    post.method = model::HttpMethod::kPost;
    post.body = "";
    EXPECT_EQ(answer_of(world.ask(post)).body, "inside");
}

TEST_F(HttpDigest, AWrongPasswordIsAnAuthFailure) {
    login("reader", "hunter2");
    const model::Reply refused = world.ask(ask());
    EXPECT_EQ(failure_of(refused).kind, FailureKind::kAuth);
    EXPECT_EQ(failure_of(refused).code, "http.auth");
    EXPECT_EQ(failure_of(refused).http_status, 401);
    EXPECT_THAT(failure_of(refused).message, testing::Not(testing::HasSubstr("hunter2")));
    login("reader", "open sesame");
    EXPECT_EQ(answer_of(world.ask(ask())).body, "inside");
}

TEST_F(HttpDigest, NothingOfALoginReachesTheNextServer) {
    EXPECT_EQ(answer_of(world.ask(ask())).body, "inside");
    std::string seen;
    TcpServer second(*world.loop);
    second.on_data = [&](TcpServer::Peer& peer) {
        seen += peer.received;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    };
    EXPECT_TRUE(world.ask(HttpWorld::get(second.url())).ok());
    EXPECT_THAT(seen, testing::Not(testing::HasSubstr("Authorization")));
}

}  // namespace
}  // namespace pollux::protocol
