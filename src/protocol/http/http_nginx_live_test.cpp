// The driver against a real nginx: plain HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/http/http_test_support.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;
using test::answer_of;
using test::failure_of;
using test::HttpWorld;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kHosts = 120;

class HttpNginx : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder = std::make_unique<net::test::TempDir>();
        port = net::test::free_port();
        folder->write("www/hello.txt", "hello");
        folder->write("www/large.txt", std::string(3'000'000, 'x'));
        // user "reader", password "open sesame" in the scheme that needs no crypt()
        folder->write("passwords", "reader:{PLAIN}open sesame\n");
        const std::string p = std::to_string(port);
        std::string more;
        for (int i = 1; i <= kHosts; ++i) {
            more += "listen 127.0.1." + std::to_string(i) + ":" + p + "; ";
        }
        nginx = std::make_unique<net::test::Nginx>(
            *folder,
            "server { listen 127.0.0.1:" + p + "; listen [::1]:" + p + "; " + more + "root " +
                folder->file("www") +
                ";\n"
                "location /echo { return 200 \"$request_method $http_x_own|$http_authorization|"
                "$http_x_api_key|$content_type|$http_user_agent|$connection\"; }\n"
                "location /private { auth_basic closed; auth_basic_user_file " +
                folder->file("passwords") +
                "; try_files /hello.txt =404; }\n"
                "location /gzip { gzip on; gzip_min_length 1; gzip_types text/plain; "
                "try_files /large.txt =404; }\n"
                "location /r/same { return 302 /hello.txt; }\n"
                "location /r/loop { return 302 /r/loop; }\n"
                "location /r/denied { return 302 http://169.254.169.254/latest/; }\n"
                "location /r/public { return 302 http://192.0.2.1/; }\n"
                "location /r/file { return 302 file:///etc/passwd; }\n"
                "location /r/other { return 307 http://127.0.0.2:" +
                p +
                "/echo; }\n"
                "location /r/see { return 303 /echo; }\n"
                "location /r/keep { return 307 /echo; }\n"
                "location /busy { add_header Retry-After 17 always; return 429; }\n"
                "location /down { add_header Retry-After 'Sun, 06 Nov 2094 08:49:37 GMT' always; "
                "return 503; }\n"
                "location /forbidden { return 403; }\n"
                "}\n"
                "server { listen 127.0.0.2:" +
                p +
                "; location / { return 200 "
                "\"$request_method $http_x_own|$http_authorization|$http_x_api_key\"; } }\n",
            port);
    }
    static void TearDownTestSuite() {
        nginx.reset();
        folder.reset();
    }

    static std::string url(const std::string& path, const std::string& host = "127.0.0.1") {
        return "http://" + host + ":" + std::to_string(port) + path;
    }

    static std::unique_ptr<net::test::TempDir> folder;
    static std::unique_ptr<net::test::Nginx> nginx;
    static std::uint16_t port;
    HttpWorld world;
};

std::unique_ptr<net::test::TempDir> HttpNginx::folder;
std::unique_ptr<net::test::Nginx> HttpNginx::nginx;
std::uint16_t HttpNginx::port = 0;

TEST_F(HttpNginx, GetsAPage) {
    const model::Reply reply = world.ask(HttpWorld::get(url("/hello.txt?token=secret")));
    const model::HttpReply& answer = answer_of(reply);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(answer.http_version, "1.1");
    EXPECT_THAT(answer.headers, testing::Contains(testing::Pair("content-length", "5")));
    EXPECT_THAT(answer.final_url, Not(HasSubstr("secret")));
    EXPECT_TRUE(answer.certificates.empty());
    EXPECT_GT(reply.phases.connect, base::Duration::zero());
    EXPECT_GE(reply.phases.first_byte, reply.phases.connect);
    EXPECT_GE(reply.phases.total, reply.phases.first_byte);
    EXPECT_EQ(reply.phases.tls, base::Duration::zero());
    EXPECT_EQ(reply.phases.dns, base::Duration::zero());
    EXPECT_GT(reply.bytes_in, 5U);
    EXPECT_GT(reply.bytes_out, 10U);
}

TEST_F(HttpNginx, SpeaksIPv6) {
    EXPECT_EQ(answer_of(world.ask(HttpWorld::get(url("/hello.txt", "[::1]")))).body, "hello");
}

TEST_F(HttpNginx, ResolvesNamesItself) {
    world.names.names["device.example"] = {.addresses = {"127.0.0.1"}};
    const model::Reply reply = world.ask(HttpWorld::get(url("/hello.txt", "device.example")));
    EXPECT_EQ(answer_of(reply).body, "hello");
    EXPECT_GT(reply.phases.dns, base::Duration::zero());
    // The second time neither the name nor the connection is new.
    const model::Reply again = world.ask(HttpWorld::get(url("/hello.txt", "Device.Example.")));
    EXPECT_EQ(answer_of(again).body, "hello");
    EXPECT_EQ(answer_of(world.ask(HttpWorld::get(url("/echo", "device.example")))).status, 200);
    EXPECT_EQ(world.names.questions, 2);  // with and without the final dot
    EXPECT_EQ(answer_of(world.ask(HttpWorld::get(url("/hello.txt", "localhost")))).body, "hello");
}

TEST_F(HttpNginx, FollowsANameToItsNewAddress) {
    net::ResolverOptions options = HttpWorld::resolver_options(world.names);
    options.shortest_ttl = std::chrono::milliseconds(1);
    options.longest_ttl = std::chrono::milliseconds(1);
    auto resolver = net::Resolver::create(*world.loop, options).value();
    world.driver = std::make_unique<HttpDriver>(*world.loop, *resolver, world.policy);
    world.names.names["device.example"] = {.addresses = {"127.0.0.1"}};
    EXPECT_EQ(answer_of(world.ask(HttpWorld::get(url("/hello.txt", "device.example")))).body,
              "hello");
    world.names.names["device.example"] = {.addresses = {"127.0.0.2"}};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    world.loop->run_once(base::Duration::zero());
    model::HttpAsk fresh = HttpWorld::get(url("/hello.txt", "device.example"));
    fresh.keep_alive = false;
    EXPECT_EQ(answer_of(world.ask(fresh)).body, "GET ||");
    world.driver.reset();
}

TEST_F(HttpNginx, TriesTheOtherAddressesOfAName) {
    // Nobody listens on the first two; both families are there.
    world.names.names["device.example"] = {.addresses = {"127.0.0.77", "127.0.0.78", "::1"}};
    EXPECT_EQ(answer_of(world.ask(HttpWorld::get(url("/hello.txt", "device.example")))).body,
              "hello");
}

TEST_F(HttpNginx, SendsMethodsBodiesAndHeaders) {
    model::HttpAsk ask = HttpWorld::get(url("/echo"));
    ask.headers = {{"X-Own", "own value"}, {"Content-Type", "application/json"}};
    ask.body = "{}";
    ask.method = model::HttpMethod::kPost;
    EXPECT_THAT(answer_of(world.ask(ask)).body,
                testing::StartsWith("POST own value|||application/json|pollux|"));
    ask.method = model::HttpMethod::kPut;
    EXPECT_THAT(answer_of(world.ask(ask)).body, testing::StartsWith("PUT own value"));
    ask.method = model::HttpMethod::kHead;
    ask.body.clear();
    const model::Reply head = world.ask(ask);
    EXPECT_EQ(answer_of(head).status, 200);
    EXPECT_EQ(answer_of(head).body, "");
    // The same handle goes back to a plain GET.
    EXPECT_THAT(answer_of(world.ask(HttpWorld::get(url("/echo")))).body,
                testing::StartsWith("GET ||||pollux|"));
    ask = HttpWorld::get(url("/echo"));
    ask.method = model::HttpMethod::kPost;
    EXPECT_THAT(answer_of(world.ask(ask)).body, testing::StartsWith("POST ||||"));
}

TEST_F(HttpNginx, LogsInWithUserAndPassword) {
    model::Credentials credentials;
    credentials.username = "reader";
    credentials.password = base::Secret("open sesame");
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    model::HttpAsk ask = HttpWorld::get(url("/private"));
    ask.auth = model::HttpAuth::kBasic;
    EXPECT_EQ(answer_of(world.ask(ask)).body, "hello");

    credentials.password = base::Secret("hunter2");
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    const model::Reply refused = world.ask(ask);
    EXPECT_EQ(failure_of(refused).kind, FailureKind::kAuth);
    EXPECT_EQ(failure_of(refused).code, "http.auth");
    EXPECT_EQ(failure_of(refused).http_status, 401);
    EXPECT_THAT(failure_of(refused).message, Not(HasSubstr("hunter2")));

    // Nothing of it stays with the handle.
    EXPECT_THAT(answer_of(world.ask(HttpWorld::get(url("/echo")))).body,
                testing::StartsWith("GET ||||"));
}

TEST_F(HttpNginx, LogsInWithTokens) {
    model::Credentials credentials;
    credentials.token = base::Secret("s3cr3t");
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    model::HttpAsk ask = HttpWorld::get(url("/echo"));
    ask.auth = model::HttpAuth::kBearer;
    EXPECT_THAT(answer_of(world.ask(ask)).body, testing::StartsWith("GET |Bearer s3cr3t||"));
    ask.auth = model::HttpAuth::kApiKey;
    EXPECT_THAT(answer_of(world.ask(ask)).body, testing::StartsWith("GET ||s3cr3t|"));
    EXPECT_THAT(answer_of(world.ask(HttpWorld::get(url("/echo")))).body,
                testing::StartsWith("GET |||"));
}

TEST_F(HttpNginx, UsesConnectionsAgain) {
    const auto connection = [&](bool fresh, bool keep = true) {
        model::HttpAsk ask = HttpWorld::get(url("/echo"));
        ask.keep_alive = keep;
        const std::string body = answer_of(world.ask(ask, fresh)).body;
        return body.substr(body.rfind('|') + 1);
    };
    const std::string first = connection(false);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(connection(false), first);
    const std::string fresh = connection(true);
    EXPECT_NE(fresh, first);
    EXPECT_NE(connection(false, false), first);
    EXPECT_EQ(connection(false), first);
    EXPECT_EQ(world.driver->client().counts().requests, 24U);
    EXPECT_EQ(world.driver->client().counts().connections, 3U);
    EXPECT_EQ(world.driver->client().counts().hosts, 1U);
    EXPECT_EQ(world.driver->client().counts().idle_handles, 1U);
}

TEST_F(HttpNginx, DecompressesWithinTheLimit) {
    model::HttpAsk ask = HttpWorld::get(url("/gzip"));
    const model::Reply reply = world.ask(ask);
    EXPECT_EQ(answer_of(reply).body, std::string(3'000'000, 'x'));
    EXPECT_LT(reply.bytes_in, 100'000U);
    ask.max_body_bytes = 1'000'000;
    const model::Reply refused = world.ask(ask);
    EXPECT_EQ(failure_of(refused).code, "http.body_too_large");
    EXPECT_EQ(failure_of(refused).kind, FailureKind::kValidation);
    EXPECT_THAT(failure_of(refused).message, HasSubstr("1000000 bytes"));
}

TEST_F(HttpNginx, AStatusOutsideTheGoodOnesIsAFailure) {
    const model::Reply missing = world.ask(HttpWorld::get(url("/nothing?key=hunter2")));
    EXPECT_EQ(failure_of(missing).code, "http.status");
    EXPECT_EQ(failure_of(missing).kind, FailureKind::kNotFound);
    EXPECT_EQ(failure_of(missing).http_status, 404);
    EXPECT_THAT(failure_of(missing).message, AllOf(HasSubstr("/nothing"), HasSubstr("404")));
    EXPECT_THAT(failure_of(missing).message, Not(HasSubstr("hunter2")));
    EXPECT_EQ(failure_of(world.ask(HttpWorld::get(url("/forbidden")))).code, "http.auth");

    model::HttpAsk taken = HttpWorld::get(url("/nothing"));
    taken.good_status = {{200, 200}, {404, 404}};
    EXPECT_EQ(answer_of(world.ask(taken)).status, 404);
}

TEST_F(HttpNginx, HearsWhenItShallComeBack) {
    const model::Reply busy = world.ask(HttpWorld::get(url("/busy")));
    EXPECT_EQ(failure_of(busy).http_status, 429);
    EXPECT_EQ(failure_of(busy).retry_after, std::chrono::seconds(17));
    const model::Reply down = world.ask(HttpWorld::get(url("/down")));
    EXPECT_EQ(failure_of(down).http_status, 503);
    EXPECT_EQ(failure_of(down).retry_after, std::chrono::hours(24));
    EXPECT_EQ(model::classify({.kind = failure_of(down).kind, .http_status = 503, .message = ""}),
              base::ErrorClass::kTransient);
}

TEST_F(HttpNginx, FollowsRedirectsOnlyWhenAllowed) {
    model::HttpAsk ask = HttpWorld::get(url("/r/same"));
    const model::Reply refused = world.ask(ask);
    EXPECT_EQ(failure_of(refused).http_status, 302);
    EXPECT_EQ(failure_of(refused).kind, FailureKind::kConfiguration);
    ask.max_redirects = 1;
    const model::Reply followed = world.ask(ask);
    EXPECT_EQ(answer_of(followed).body, "hello");
    EXPECT_EQ(answer_of(followed).redirects, 1U);
    EXPECT_THAT(answer_of(followed).final_url, HasSubstr("/hello.txt"));

    ask.url = url("/r/loop");
    ask.max_redirects = 5;
    EXPECT_EQ(failure_of(world.ask(ask)).code, "http.redirect_limit");
}

TEST_F(HttpNginx, ARedirectCannotLeadToWhereWeMayNotGo) {
    model::HttpAsk ask = HttpWorld::get(url("/r/denied"));
    ask.max_redirects = 3;
    // Once over a new connection and once over one that is there already.
    for (int i = 0; i < 2; ++i) {
        const model::Reply denied = world.ask(ask);
        EXPECT_EQ(failure_of(denied).code, "http.egress_denied");
        EXPECT_EQ(failure_of(denied).kind, FailureKind::kConfiguration);
        EXPECT_THAT(failure_of(denied).message,
                    AllOf(HasSubstr("169.254.169.254"), HasSubstr("egress_redirect_allow")));
    }
    ask.url = url("/r/public");
    EXPECT_THAT(failure_of(world.ask(ask)).message, HasSubstr("from a loopback to a public"));
    ask.url = url("/r/file");
    EXPECT_EQ(failure_of(world.ask(ask)).code, "http.redirect_refused");
}

TEST_F(HttpNginx, ATargetIsCheckedByItsAddressNotItsName) {
    net::EgressSettings settings = net::default_egress_settings();
    settings.target.deny.push_back(net::IpRange::parse("127.0.0.2").value());
    HttpWorld guarded(settings);
    guarded.names.names["sneaky.example"] = {.addresses = {"127.0.0.2"}};
    guarded.names.names["mixed.example"] = {.addresses = {"127.0.0.2", "127.0.0.1"}};
    for (const char* host : {"127.0.0.2", "sneaky.example", "0x7f.2", "[::ffff:127.0.0.2]"}) {
        const model::Reply denied = guarded.ask(HttpWorld::get(url("/", host)));
        ASSERT_FALSE(denied.ok()) << host;
        EXPECT_EQ(failure_of(denied).code, "http.egress_denied") << failure_of(denied).message;
    }
    EXPECT_EQ(answer_of(guarded.ask(HttpWorld::get(url("/hello.txt", "mixed.example")))).body,
              "hello");
}

TEST_F(HttpNginx, ANewPolicyHoldsForConnectionsThatAreThereAlready) {
    EXPECT_EQ(answer_of(world.ask(HttpWorld::get(url("/hello.txt")))).body, "hello");
    net::EgressSettings settings = net::default_egress_settings();
    settings.target.deny.push_back(net::IpRange::parse("127.0.0.0/8").value());
    world.driver->client().set_egress(std::make_shared<const net::EgressPolicy>(settings));
    EXPECT_EQ(failure_of(world.ask(HttpWorld::get(url("/hello.txt")))).code, "http.egress_denied");
}

TEST_F(HttpNginx, CredentialsDoNotFollowARedirectToAnotherHost) {
    model::Credentials credentials;
    credentials.username = "reader";
    credentials.password = base::Secret("open sesame");
    credentials.token = base::Secret("s3cr3t");
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    for (const auto auth : {model::HttpAuth::kBasic, model::HttpAuth::kBearer,
                            model::HttpAuth::kApiKey, model::HttpAuth::kDigest}) {
        model::HttpAsk ask = HttpWorld::get(url("/r/other"));
        ask.max_redirects = 1;
        ask.auth = auth;
        ask.headers = {{"X-Own", "own value"}, {"Accept", "text/plain"}};
        EXPECT_EQ(answer_of(world.ask(ask)).body, "GET ||");
    }
    // To the same host they do.
    model::HttpAsk ask = HttpWorld::get(url("/r/keep"));
    ask.max_redirects = 1;
    ask.auth = model::HttpAuth::kBearer;
    EXPECT_THAT(answer_of(world.ask(ask)).body, HasSubstr("Bearer s3cr3t"));
}

TEST_F(HttpNginx, ABodyGoesAlongOnlyToTheSameHost) {
    model::HttpAsk ask = HttpWorld::get(url("/r/keep"));
    ask.method = model::HttpMethod::kPost;
    ask.body = "data";
    ask.max_redirects = 1;
    EXPECT_THAT(answer_of(world.ask(ask)).body, testing::StartsWith("POST "));
    ask.url = url("/r/see");
    EXPECT_THAT(answer_of(world.ask(ask)).body, testing::StartsWith("GET "));
    ask.url = url("/r/other");
    EXPECT_EQ(failure_of(world.ask(ask)).code, "http.redirect_refused");
}

TEST_F(HttpNginx, TellsWhatItDid) {
    world.trace = true;
    model::Credentials credentials;
    credentials.token = base::Secret("s3cr3t");
    world.credentials = std::make_shared<const model::Credentials>(credentials);
    world.names.names["device.example"] = {.addresses = {"127.0.0.1"}};
    model::HttpAsk ask = HttpWorld::get(url("/r/same?key=hunter2", "device.example"));
    ask.max_redirects = 1;
    ask.auth = model::HttpAuth::kBearer;
    const model::Reply reply = world.ask(ask);
    EXPECT_TRUE(reply.ok());
    std::string all;
    for (const std::string& line : reply.trace) all += line + "\n";
    EXPECT_THAT(all, AllOf(HasSubstr("device.example is 127.0.0.1"), HasSubstr("redirected to"),
                           HasSubstr("login sent"), HasSubstr("answered 200")));
    EXPECT_THAT(all, AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr("s3cr3t"))));
    world.trace = false;
    EXPECT_TRUE(world.ask(ask).trace.empty());
}

TEST_F(HttpNginx, ManyAsksAtOnce) {
    int done = 0;
    int good = 0;
    for (int i = 0; i < 200; ++i) {
        const std::string host = "127.0.1." + std::to_string(i % kHosts + 1);
        world.start(HttpWorld::get(url("/hello.txt", host)), [&](model::Reply&& reply) {
            ++done;
            good += reply.ok() && answer_of(reply).body == "hello" ? 1 : 0;
        });
    }
    EXPECT_EQ(world.driver->in_flight(), 200U);
    EXPECT_TRUE(world.run_until([&] { return done == 200; }));
    EXPECT_EQ(good, 200);
    EXPECT_EQ(world.driver->client().counts().hosts, 120U);
    EXPECT_EQ(world.driver->client().counts().shards, 3U);
    EXPECT_EQ(world.driver->in_flight(), 0U);
}

}  // namespace
}  // namespace pollux::protocol
