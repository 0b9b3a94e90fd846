#include "api/static_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api_test_support.hpp"
#include "api/routes.hpp"

namespace pollux::api {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

// Not really compressed: what counts is which bytes are sent.
constexpr std::string_view kBlob = "<h1>page</h1>GZBRscriptgzipbrlogo";
constexpr PackedWebFile kPacked[] = {
    {"/", "text/html; charset=utf-8", "aa11", {0, 13}, {13, 2}, {15, 2}},
    {"/assets/index-1a2b.js", "text/javascript; charset=utf-8", "bb22", {17, 6}, {23, 4}, {27, 2}},
    {"/assets/logo.png", "image/png", "cc33", {29, 4}, {}, {}},
    {"/status", "text/html; charset=utf-8", "dd44", {0, 13}, {}, {}},
};

std::vector<Route> dashboard() {
    std::vector<Route> routes;
    add_static_routes(routes, std::make_shared<const StaticFiles>(kPacked, kBlob));
    return routes;
}

std::string coding(std::string_view path, std::string_view accepted) {
    const StaticFiles files(kPacked, kBlob);
    return static_response(*files.find(path), accepted).body;
}

TEST(StaticFiles, SendTheBestCodingThatTheClientTakes) {
    EXPECT_EQ(coding("/", ""), "<h1>page</h1>");
    EXPECT_EQ(coding("/", "gzip, deflate, br, zstd"), "BR");
    EXPECT_EQ(coding("/", "gzip"), "GZ");
    EXPECT_EQ(coding("/", "*"), "BR");
    EXPECT_EQ(coding("/", "br;q=0.2, gzip;q=0.3"), "GZ");
    EXPECT_EQ(coding("/", "br;q=0, gzip;q=0, identity;q=0"), "<h1>page</h1>");
    EXPECT_EQ(coding("/", "identity, gzip;q=0.5"), "<h1>page</h1>");
    EXPECT_EQ(coding("/assets/logo.png", "br, gzip"), "logo");
    EXPECT_EQ(coding("/", "br;q=9, gzip;q=0x1, \x01\x02;;;=,,"), "<h1>page</h1>");
}

TEST(StaticFiles, ArePagesThatAreAskedForAgainAndAssetsThatAreNot) {
    test::Stage stage(dashboard());
    const test::Reply page = stage.ask("GET", "/", "Accept-Encoding: br\r\n");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.body, "BR");
    EXPECT_EQ(page.field("content-type"), "text/html; charset=utf-8");
    EXPECT_EQ(page.field("content-encoding"), "br");
    EXPECT_EQ(page.field("vary"), "Accept-Encoding");
    EXPECT_EQ(page.field("cache-control"), "no-cache");
    EXPECT_EQ(page.field("etag"), "\"aa11-br\"");
    const test::Reply script = stage.ask("GET", "/assets/index-1a2b.js");
    EXPECT_EQ(script.body, "script");
    EXPECT_EQ(script.field("content-encoding"), "");
    EXPECT_EQ(script.field("cache-control"), "public, max-age=31536000, immutable");
    EXPECT_EQ(stage.ask("GET", "/assets/logo.png").field("vary"), "");
    EXPECT_EQ(stage.ask("GET", "/status?theme=dark&theme=%zz").status, 200);
    EXPECT_EQ(stage.ask("GET", "/robots.txt").body, "User-agent: *\nDisallow: /\n");
}

TEST(StaticFiles, SayHowBrowsersShallTreatThem) {
    test::Stage stage(dashboard());
    for (const char* path : {"/", "/status", "/assets/index-1a2b.js"}) {
        const test::Reply reply = stage.ask("GET", path);
        EXPECT_EQ(reply.field("content-security-policy"),
                  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                  "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
                  "frame-ancestors 'none'");
        EXPECT_EQ(reply.field("x-content-type-options"), "nosniff");
        EXPECT_EQ(reply.field("referrer-policy"), "no-referrer");
        EXPECT_EQ(reply.field("x-frame-options"), "DENY");
        EXPECT_EQ(reply.field("cross-origin-opener-policy"), "same-origin");
        EXPECT_THAT(reply.field("permissions-policy"), HasSubstr("camera=()"));
        EXPECT_EQ(reply.field("set-cookie"), "");
    }
}

TEST(StaticFiles, AreNotSentAgainToWhoHasThem) {
    test::Stage stage(dashboard());
    for (const char* known :
         {"\"aa11\"", "\"aa11-br\"", "W/\"aa11-gzip\"", "\"x\", \"aa11\"", "*"}) {
        const test::Reply reply = stage.ask(
            "GET", "/", fmt::format("Accept-Encoding: br\r\nIf-None-Match: {}\r\n", known));
        EXPECT_EQ(reply.status, 304) << known;
        EXPECT_EQ(reply.field("etag"), "\"aa11-br\"");
        EXPECT_EQ(reply.field("cache-control"), "no-cache");
        EXPECT_EQ(reply.field("vary"), "Accept-Encoding");
    }
    for (const char* other : {"\"aa12\"", "aa11", "\"\"", "\"aa11", "W/", ",,,"}) {
        EXPECT_EQ(stage.ask("GET", "/", fmt::format("If-None-Match: {}\r\n", other)).status, 200)
            << other;
    }
}

TEST(StaticFiles, TakeOnlyReadingMethods) {
    test::Stage stage(dashboard());
    const test::Reply head = stage.ask("HEAD", "/");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.field("content-length"), "13");
    EXPECT_EQ(head.body, "");
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
        const test::Reply reply = stage.ask(method, "/");
        EXPECT_EQ(reply.status, 405) << method;
        EXPECT_EQ(reply.field("allow"), "GET, HEAD, OPTIONS");
    }
}

TEST(StaticFiles, HaveNoWayOut) {
    test::Stage stage(dashboard());
    for (const char* path :
         {"/assets/..%2findex.html", "/assets/../", "/assets/%2e%2e/",
          "/assets/..%2f..%2fetc%2fpasswd", "/assets/..%5cindex.html", "/assets/", "/assets",
          "/assets/%00", "/assets/logo.png%00.js", "/assets//logo.png", "//", "/index.html",
          "/assets/LOGO.PNG", "/assets/a/b", "/nothing", "/assets/index-1a2b.js.map",
          "/%2e%2e/%2e%2e/etc/passwd"}) {
        const test::Reply reply = stage.ask("GET", path);
        EXPECT_EQ(reply.status, 404) << path;
        EXPECT_EQ(reply.field("content-type"), "application/problem+json") << path;
    }
    // An escape of what is a plain name is that name.
    EXPECT_EQ(stage.ask("GET", "/assets/logo%2epng").status, 200);
}

TEST(StaticFiles, SayThatThereIsNoDashboard) {
    std::vector<Route> routes;
    add_static_routes(routes, std::make_shared<const StaticFiles>(std::span<const PackedWebFile>{},
                                                                  std::string_view{}));
    test::Stage stage(std::move(routes));
    EXPECT_THAT(stage.ask("GET", "/").body, HasSubstr("has no dashboard"));
    EXPECT_EQ(stage.ask("GET", "/status").status, 404);
    EXPECT_EQ(stage.ask("GET", "/assets/x.js").status, 404);
}

// These rows are open and in no description of the API, so what they may be is written down here.
TEST(StaticFiles, OfThisBuildAreAllThatIsOpenBesideTheApi) {
    std::vector<Route> routes;
    add_static_routes(routes,
                      std::make_shared<const StaticFiles>(packed_web_files(), web_files_blob()));
    std::vector<std::string_view> paths;
    for (const Route& route : routes) {
        EXPECT_EQ(route.method, "GET") << route.path;
        EXPECT_TRUE(route.open) << route.path;
        paths.push_back(route.path);
    }
    EXPECT_THAT(paths, testing::IsSubsetOf({"/", "/status", "/robots.txt", "/assets/{file}"}));
    EXPECT_THAT(paths, testing::IsSupersetOf({"/", "/assets/{file}"}));
}

// What is in this very binary: every part lies in the blob, and every page has its assets.
TEST(StaticFiles, OfThisBuildAreWhole) {
    const std::string_view blob = web_files_blob();
    for (const PackedWebFile& file : packed_web_files()) {
        for (const PackedPart& part : {file.plain, file.gzip, file.brotli}) {
            ASSERT_LE(part.offset + part.length, blob.size()) << file.path;
        }
        EXPECT_GT(file.plain.length, 0U) << file.path;
        if (file.gzip.length > 0) {
            EXPECT_EQ(blob.substr(file.gzip.offset, 2), "\x1f\x8b") << file.path;
        }
    }
    const StaticFiles files(packed_web_files(), blob);
    ASSERT_NE(files.find("/"), nullptr);
    for (const StaticFile& file : files.files()) {
        if (!file.type.starts_with("text/html")) continue;
        std::size_t at = 0;
        while ((at = file.plain.find("assets/", at)) != std::string_view::npos) {
            const std::string_view name =
                file.plain.substr(at, file.plain.find_first_of("\"' ?#)", at) - at);
            EXPECT_NE(files.find("/" + std::string(name)), nullptr) << file.path << " " << name;
            at += name.size();
        }
        // Any path prefix works: nothing is addressed from the root.
        for (const char* rooted : {"href=\"/", "src=\"/", "src='/", "http://", "https://"}) {
            EXPECT_THAT(std::string(file.plain), Not(HasSubstr(rooted))) << file.path;
        }
    }
}

}  // namespace
}  // namespace pollux::api
