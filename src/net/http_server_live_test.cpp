// The server on real sockets, with curl as its peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/http_server.hpp"
#include "net/http_test_support.hpp"
#include "net/test_process.hpp"
#include "net/tls_stream.hpp"

namespace pollux::net {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class HttpServerLiveTest : public testing::Test {
  protected:
    HttpServerLiveTest() {
        server = std::make_unique<HttpServer>(*loop, HttpServerOptions{},
                                              [this](Request request, Responder responder) {
                                                  handle(std::move(request), std::move(responder));
                                              });
    }

    void handle(Request request, Responder responder) {
        ++requests;
        if (request.path == "/large") {
            auto left = std::make_shared<int>(400);
            responder.stream({}, [left](std::string& out) {
                out.assign(50'000, 'x');
                return --*left == 0 ? Fill::kDone : Fill::kMore;
            });
        } else if (request.path == "/abort") {
            responder.abort();
        } else {
            responder.send(Response::text(
                200, request.method + " " + request.path + " " +
                         std::to_string(request.body.size()) + " from " + request.peer.host() +
                         " to " + request.local.host() + (request.secure ? " secure" : "") + "\n"));
        }
    }

    static constexpr int kAnyFailure = -1;

    // What curl printed, while the loop of the server turns here.
    std::string curl(std::vector<std::string> arguments, int expected_code = 0) {
        std::vector<std::string> command = {"curl", "-sS", "--max-time", "60"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        test::Process process(command, folder);
        EXPECT_TRUE(test::turn_until(*loop, [&] { return !process.running(); }));
        if (expected_code == kAnyFailure) {
            EXPECT_NE(process.exit_code(), 0) << process.output();
        } else {
            EXPECT_EQ(process.exit_code(), expected_code) << process.output();
        }
        return process.output();
    }
    static std::string url(const SocketAddress& address, const std::string& path,
                           const std::string& scheme = "http") {
        return scheme + "://" + address.to_string() + path;
    }

    test::TempDir folder;
    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    std::unique_ptr<HttpServer> server;
    int requests = 0;
};

TEST_F(HttpServerLiveTest, ServesCurlOverBothAddressFamilies) {
    const SocketAddress v4 = server->listen(SocketAddress::loopback(0)).value();
    const SocketAddress v6 = server->listen(SocketAddress::parse("::1", 0).value()).value();
    EXPECT_EQ(curl({url(v4, "/a")}), "GET /a 0 from 127.0.0.1 to 127.0.0.1\n");
    EXPECT_EQ(curl({url(v6, "/b")}), "GET /b 0 from ::1 to ::1\n");
    EXPECT_THAT(curl({"-I", url(v4, "/")}), AllOf(HasSubstr("200 OK"), HasSubstr("Date: ")));
}

TEST_F(HttpServerLiveTest, KeepsTheConnectionOfSeveralRequests) {
    const SocketAddress at = server->listen(SocketAddress::loopback(0)).value();
    curl({url(at, "/1"), url(at, "/2"), url(at, "/3")});
    EXPECT_EQ(requests, 3);
    EXPECT_EQ(server->counters().connections, 1U);
}

TEST_F(HttpServerLiveTest, TakesBodiesInChunksAndAfterContinue) {
    const SocketAddress at = server->listen(SocketAddress::loopback(0)).value();
    const std::string file = folder.write("body", std::string(900'000, 'b'));
    EXPECT_THAT(curl({"-H", "Expect: 100-continue", "--data-binary", "@" + file, url(at, "/p")}),
                HasSubstr("POST /p 900000"));
    EXPECT_THAT(curl({"-H", "Transfer-Encoding: chunked", "-T", file, url(at, "/q")}),
                HasSubstr("PUT /q 900000"));
}

TEST_F(HttpServerLiveTest, TellsAClientWhoseBodyIsTooLarge) {
    const SocketAddress at = server->listen(SocketAddress::loopback(0)).value();
    const std::string file = folder.write("body", std::string(3'000'000, 'b'));
    EXPECT_THAT(curl({"-H", "Expect:", "--data-binary", "@" + file, url(at, "/")}),
                HasSubstr("413 Content Too Large"));
    EXPECT_EQ(requests, 0);
}

TEST_F(HttpServerLiveTest, StreamsALargePage) {
    const SocketAddress at = server->listen(SocketAddress::loopback(0)).value();
    const std::string file = folder.file("page");
    EXPECT_EQ(curl({"-o", file, "-w", "%{size_download}", url(at, "/large")}), "20000000");
}

TEST_F(HttpServerLiveTest, SpeaksTls) {
    const TlsIdentity identity = make_self_signed({}).value();
    const TlsServerContext context = TlsServerContext::create(identity).value();
    const SocketAddress at = server->listen(SocketAddress::loopback(0), &context).value();
    const std::string authority = folder.write("ca.pem", identity.certificate);
    EXPECT_THAT(curl({"--cacert", authority, url(at, "/t", "https")}), HasSubstr("secure"));
    EXPECT_THAT(curl({"-k", "--tls-max", "1.2", url(at, "/t", "https")}), HasSubstr("secure"));
    curl({url(at, "/t", "https")}, 60);  // not trusted
    const std::string file = folder.file("page");
    EXPECT_EQ(curl({"-k", "-o", file, "-w", "%{size_download}", url(at, "/large", "https")}),
              "20000000");
    const std::string body = folder.write("body", std::string(900'000, 'b'));
    EXPECT_THAT(curl({"-k", "--data-binary", "@" + body, url(at, "/p", "https")}),
                HasSubstr("POST /p 900000"));
    curl({url(at, "/")}, kAnyFailure);  // plain HTTP to a TLS port: refused, and nothing hangs
    EXPECT_EQ(server->connections(), 0U);
}

TEST_F(HttpServerLiveTest, AnExpiredCertificateIsSeenAsExpired) {
    const TlsIdentity identity = make_self_signed({.valid_days = -1}).value();
    const TlsServerContext context = TlsServerContext::create(identity).value();
    const SocketAddress at = server->listen(SocketAddress::loopback(0), &context).value();
    const std::string authority = folder.write("ca.pem", identity.certificate);
    EXPECT_THAT(curl({"--cacert", authority, url(at, "/", "https")}, 60), HasSubstr("expired"));
}

TEST_F(HttpServerLiveTest, RefusesBrokenIdentities) {
    const TlsIdentity a = make_self_signed({}).value();
    const TlsIdentity b = make_self_signed({}).value();
    EXPECT_FALSE(TlsServerContext::create({.certificate = "nonsense", .key = a.key}));
    const auto mixed = TlsServerContext::create({.certificate = a.certificate, .key = b.key});
    ASSERT_FALSE(mixed);
    EXPECT_THAT(mixed.error().message, HasSubstr("private key"));
}

TEST_F(HttpServerLiveTest, ResetsAndFiltersConnections) {
    SocketAddress at = server->listen(SocketAddress::loopback(0)).value();
    curl({url(at, "/abort")}, kAnyFailure);
    HttpServerOptions options;
    options.accept = [](const ByteStream& stream) { return stream.peer().host() == "127.0.0.9"; };
    HttpServer filtered(*loop, options, [](Request, Responder responder) {
        responder.send(Response::text(200, "in"));
    });
    at = filtered.listen(SocketAddress::loopback(0)).value();
    curl({url(at, "/")}, kAnyFailure);
    EXPECT_EQ(curl({"--interface", "127.0.0.9", url(at, "/")}), "in");
}

TEST_F(HttpServerLiveTest, ASenderThatHoldsItsConnectionsShutsNobodyElseOut) {
    std::vector<std::string> crowded;
    HttpServerOptions options;
    options.max_connections = 16;
    options.max_connections_per_sender = 2;
    options.on_crowded = [&](const IpAddress& sender) { crowded.push_back(sender.to_string()); };
    HttpServer bounded(*loop, options, [](Request, Responder responder) {
        responder.send(Response::text(200, "in"));
    });
    const SocketAddress at = bounded.listen(SocketAddress::loopback(0)).value();
    std::vector<int> held;
    for (int i = 0; i < 30; ++i) {
        held.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(connect(held.back(), at.data(), at.length()), 0);
    }
    ASSERT_TRUE(test::turn_until(*loop, [&] { return bounded.counters().refused >= 28; }));
    EXPECT_EQ(bounded.counters().connections, 2U);
    EXPECT_EQ(crowded.front(), "127.0.0.1");
    EXPECT_EQ(curl({"--interface", "127.0.0.2", url(at, "/")}), "in");
    for (const int fd : held) close(fd);
    ASSERT_TRUE(test::turn_until(*loop, [&] { return bounded.connections() == 0; }));
    EXPECT_EQ(curl({url(at, "/")}), "in");
    EXPECT_EQ(curl({url(at, "/")}), "in") << "what has ended does not count";
}

TEST_F(HttpServerLiveTest, SaysWhyItCannotListen) {
    const SocketAddress at = server->listen(SocketAddress::loopback(0)).value();
    const auto taken = server->listen(at);
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().message, HasSubstr("another process listens there"));
    const auto outside = server->listen(SocketAddress::ipv4(0, 0));
    ASSERT_FALSE(outside);
    EXPECT_THAT(outside.error().message, HasSubstr("reachable from outside"));
    EXPECT_FALSE(SocketAddress::parse("localhost", 1));
    EXPECT_EQ(SocketAddress().to_string(), "-");
    EXPECT_TRUE(SocketAddress::parse("::ffff:127.0.0.1", 1).value().is_loopback());
}

}  // namespace
}  // namespace pollux::net
