#include "net/resolver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "net/test_dns_server.hpp"

namespace pollux::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class ResolverTest : public testing::Test {
  protected:
    void open(ResolverOptions options = {}) {
        options.servers = {server.address()};
        resolver = Resolver::create(*loop, options).value();
    }

    // Runs the loop until the answer came.
    base::Result<SharedAddresses> resolve(const std::string& name) {
        std::optional<base::Result<SharedAddresses>> got;
        resolver->lookup(name, [&](const auto& result) { got = result; });
        EXPECT_FALSE(got.has_value()) << "called from inside lookup()";
        run_until([&] { return got.has_value(); });
        return got.value_or(base::internal_error("test", "no answer"));
    }

    std::vector<std::string> texts(const base::Result<SharedAddresses>& result) {
        if (!result) return {result.error().code};
        std::vector<std::string> list;
        for (const IpAddress& address : **result) list.push_back(address.to_string());
        return list;
    }

    template <class Condition>
    void run_until(Condition condition) {
        const auto until = boot_now() + seconds(30);
        while (!condition() && boot_now() < until) loop->run_once(milliseconds(50));
        ASSERT_TRUE(condition());
    }

    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    test::DnsServer server{*loop};
    std::unique_ptr<Resolver> resolver;
};

TEST_F(ResolverTest, AsksForBothFamilies) {
    open();
    server.names["both.example"] = {.addresses = {"192.0.2.1", "192.0.2.2", "2001:db8::1"}};
    server.names["six.example"] = {.addresses = {"2001:db8::6"}};
    EXPECT_THAT(texts(resolve("both.example")),
                UnorderedElementsAre("192.0.2.1", "192.0.2.2", "2001:db8::1"));
    EXPECT_THAT(texts(resolve("six.example")), ElementsAre("2001:db8::6"));
}

TEST_F(ResolverTest, LiteralsNeedNoServer) {
    open();
    EXPECT_THAT(texts(resolve("192.0.2.9")), ElementsAre("192.0.2.9"));
    EXPECT_THAT(texts(resolve("[::1]")), ElementsAre("::1"));
    EXPECT_EQ(resolver->find_now("192.0.2.9")->front().to_string(), "192.0.2.9");
    EXPECT_EQ(server.questions, 0);
    EXPECT_EQ(resolver->cached(), 0U);
}

TEST_F(ResolverTest, KeepsAnAnswerWhateverTheCaseOfItsName) {
    open();
    server.names["a.example"] = {.addresses = {"192.0.2.1"}};
    EXPECT_EQ(resolver->find_now("a.example"), nullptr);
    resolve("a.example");
    EXPECT_THAT(texts(resolve("A.Example")), ElementsAre("192.0.2.1"));
    EXPECT_NE(resolver->find_now("a.EXAMPLE"), nullptr);
    EXPECT_EQ(server.questions, 1);
    EXPECT_EQ(resolver->counts().lookups, 1U);
    EXPECT_EQ(resolver->counts().cache_hits, 2U);
    resolver->reload();
    EXPECT_EQ(resolver->find_now("a.example"), nullptr);
    EXPECT_THAT(texts(resolve("a.example")), ElementsAre("192.0.2.1"));
    EXPECT_EQ(server.questions, 2);
}

TEST_F(ResolverTest, ClampsTheTimeOfAnAnswerAtBothEnds) {
    open({.shortest_ttl = milliseconds(1), .longest_ttl = milliseconds(1)});
    server.names["long.example"] = {.addresses = {"192.0.2.1"}, .ttl = 1'000'000};
    resolve("long.example");
    std::this_thread::sleep_for(milliseconds(5));
    loop->run_once(milliseconds(0));
    EXPECT_EQ(resolver->find_now("long.example"), nullptr);

    open({.shortest_ttl = std::chrono::hours(1)});
    server.names["zero.example"] = {.addresses = {"192.0.2.1"}, .ttl = 0};
    resolve("zero.example");
    EXPECT_NE(resolver->find_now("zero.example"), nullptr);
}

TEST_F(ResolverTest, RemembersThatANameDoesNotExist) {
    open();
    const auto first = resolve("nothing.example");
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().code, "dns.not_found");
    EXPECT_EQ(first.error().error_class, base::ErrorClass::kTransient);
    EXPECT_THAT(first.error().message, HasSubstr("nothing.example"));
    const int asked = server.questions;
    server.names["nothing.example"] = {.addresses = {"192.0.2.1"}};
    EXPECT_EQ(texts(resolve("nothing.example")), std::vector<std::string>{"dns.not_found"});
    EXPECT_EQ(server.questions, asked);
}

TEST_F(ResolverTest, AFailingServerIsNotRemembered) {
    open();
    server.names["a.example"] = {.broken = true};
    EXPECT_EQ(texts(resolve("a.example")), std::vector<std::string>{"dns.server_failure"});
    server.names["a.example"] = {.addresses = {"192.0.2.1"}};
    EXPECT_THAT(texts(resolve("a.example")), ElementsAre("192.0.2.1"));
}

TEST_F(ResolverTest, ASilentServerEndsAtTheTimeout) {
    open({.timeout = milliseconds(200), .attempt_timeout = seconds(20)});
    server.names["silent.example"] = {.silent = true};
    const auto start = loop->now();  // what the timeout is counted from
    const auto result = resolve("silent.example");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, "dns.timeout");
    EXPECT_GE(boot_now() - start, milliseconds(200));
    EXPECT_THAT(result.error().message, HasSubstr("200 ms"));
}

TEST_F(ResolverTest, LookupsOfOneNameAreOne) {
    open();
    server.names["a.example"] = {.addresses = {"192.0.2.1"}};
    int done = 0;
    for (int i = 0; i < 100; ++i) {
        resolver->lookup(i % 2 == 0 ? "a.example" : "A.EXAMPLE",
                         [&](const auto& result) { done += result.has_value() ? 1 : 0; });
    }
    EXPECT_EQ(resolver->waiting(), 100U);
    run_until([&] { return done == 100; });
    EXPECT_EQ(server.questions, 1);
    EXPECT_EQ(resolver->waiting(), 0U);
}

TEST_F(ResolverTest, ManyNamesWaitForTheirTurn) {
    open({.max_entries = 10, .max_under_way = 3});
    int done = 0;
    for (int i = 0; i < 40; ++i) {
        const std::string name = "n" + std::to_string(i) + ".example";
        server.names[name] = {.addresses = {"192.0.2.1"}};
        resolver->lookup(name, [&](const auto& result) { done += result.has_value() ? 1 : 0; });
    }
    run_until([&] { return done == 40; });
    EXPECT_EQ(resolver->cached(), 10U);
}

TEST_F(ResolverTest, TooManyCallersAreTurnedAway) {
    open({.max_waiting = 2});
    server.names["a.example"] = {.addresses = {"192.0.2.1"}};
    std::vector<std::string> codes;
    for (int i = 0; i < 3; ++i) {
        resolver->lookup("a.example", [&](const auto& result) {
            codes.push_back(result ? "ok" : result.error().code);
        });
    }
    run_until([&] { return codes.size() == 3; });
    EXPECT_THAT(codes, UnorderedElementsAre("ok", "ok", "dns.overloaded"));
}

TEST_F(ResolverTest, ACancelledLookupIsNotHeardOf) {
    open();
    server.names["a.example"] = {.addresses = {"192.0.2.1"}};
    bool called = false;
    bool other = false;
    const auto ticket = resolver->lookup("a.example", [&](const auto&) { called = true; });
    resolver->lookup("a.example", [&](const auto&) { other = true; });
    resolver->cancel(ticket);
    const auto literal = resolver->lookup("192.0.2.1", [&](const auto&) { called = true; });
    resolver->cancel(literal);
    run_until([&] { return other; });
    EXPECT_FALSE(called);
}

TEST_F(ResolverTest, GoesAwayWithLookupsUnderWay) {
    open();
    server.names["silent.example"] = {.silent = true};
    bool called = false;
    resolver->lookup("silent.example", [&](const auto&) { called = true; });
    loop->run_once(milliseconds(20));
    resolver->reload();  // the old channel still waits
    resolver->lookup("silent.example", [&](const auto&) { called = true; });
    resolver.reset();
    EXPECT_FALSE(called);
    EXPECT_EQ(loop->timers(), 0U);
    EXPECT_EQ(loop->watched(), 1U);  // the server's own
}

TEST_F(ResolverTest, KnowsThisMachine) {
    open();
    EXPECT_THAT(texts(resolve("localhost")), testing::Contains("127.0.0.1"));
    EXPECT_THAT(texts(resolve("device.localhost")), testing::Contains("127.0.0.1"));
}

TEST_F(ResolverTest, RefusesWhatCanBeNoName) {
    open();
    for (const std::string& name :
         {std::string(), std::string("a b"), std::string("a\nb"), std::string(300, 'a')}) {
        const auto result = resolve(name);
        ASSERT_FALSE(result) << name;
        EXPECT_EQ(result.error().code, "dns.bad_name");
        EXPECT_EQ(result.error().error_class, base::ErrorClass::kConfig);
    }
    const auto label = resolve(std::string(70, 'a') + ".example");
    ASSERT_FALSE(label);
}

TEST_F(ResolverTest, RefusesServersThatAreNone) {
    const auto refused = Resolver::create(*loop, {.servers = {"not a server"}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "dns.servers");
}

}  // namespace
}  // namespace pollux::net
