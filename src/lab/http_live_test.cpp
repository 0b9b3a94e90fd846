// The HTTP devices and the control endpoint on real sockets, asked by curl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "lab/fleet_server.hpp"
#include "lab/http_auth.hpp"
#include "lab/http_pages.hpp"
#include "net/test_process.hpp"

namespace pollux::lab {
namespace {

namespace json = boost::json;
using net::test::Process;
using net::test::TempDir;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class HttpLiveTest : public testing::Test {
  protected:
    HttpLiveTest() {
        auto started = FleetServer::start({.snmp = 2, .http = 20, .seed = 3});
        EXPECT_TRUE(started) << started.error().message;
        server = std::move(*started);
    }
    struct Output {
        int code = 0;
        std::string text;
    };
    Output run(std::vector<std::string> arguments) {
        std::vector<std::string> command = {"curl", "-sS", "--max-time", "20"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        Process process(command, folder);
        EXPECT_TRUE(process.wait_for_end());
        return {process.exit_code(), process.output()};
    }
    std::string curl(std::vector<std::string> arguments) {
        const Output output = run(std::move(arguments));
        EXPECT_EQ(output.code, 0) << output.text;
        return output.text;
    }
    std::string status(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"-o", folder.file("body"), "-w", "%{http_code}"});
        return curl(std::move(arguments));
    }
    std::string url(const std::string& path, std::size_t number = 0, bool tls = false) const {
        return std::string(tls ? "https://" : "http://") +
               address_text(server->fleet().http()[number].address()) + ":" +
               std::to_string(tls ? server->ports().https : server->ports().http) + path;
    }
    std::string control(const std::string& path) const {
        return "http://127.0.0.1:" + std::to_string(server->ports().control) + path;
    }
    static std::string as(const std::string& personality) {
        return "/as/" + personality + "/status";
    }

    TempDir folder;
    std::unique_ptr<FleetServer> server;
};

TEST_F(HttpLiveTest, EachDeviceShowsItself) {
    for (const std::size_t number : {0U, 5U, 19U}) {
        const json::value page = json::parse(curl({url(as("json"), number)}));
        EXPECT_EQ(page.at("name").as_string(), server->fleet().http()[number].name());
        EXPECT_EQ(page.at("temperatures").as_array().size(), 3U);
        EXPECT_GE(page.at("disks").as_array().size(), 1U);
        EXPECT_TRUE(page.at("counters").at("requests_total").is_number());
    }
    EXPECT_THAT(curl({url("/status.xml")}),
                AllOf(StartsWith("<?xml"), HasSubstr("<device name=\"web-00001\"")));
    EXPECT_EQ(status({url("/nothing")}), "404");
    EXPECT_EQ(status({"-X", "POST", url("/status")}), "405");
}

TEST_F(HttpLiveTest, AsksWhoIsThere) {
    const std::string right = std::string(kUser) + ":" + std::string(kPassword);
    EXPECT_EQ(status({url(as("basic"))}), "401");
    EXPECT_EQ(status({"-u", right, url(as("basic"))}), "200");
    EXPECT_EQ(status({"-u", "pollux:wrong", url(as("basic"))}), "401");
    for (const std::string personality : {"digest-md5", "digest-sha256"}) {
        EXPECT_EQ(status({url(as(personality))}), "401");
        EXPECT_EQ(status({"--digest", "-u", right, url(as(personality))}), "200") << personality;
        EXPECT_EQ(status({"--digest", "-u", right, url(as(personality) + "?a=b")}), "200");
        EXPECT_EQ(status({"--digest", "-u", "pollux:wrong", url(as(personality))}), "401");
    }
    const std::string bearer = "Authorization: Bearer " + std::string(kToken);
    EXPECT_EQ(status({url(as("bearer"))}), "401");
    EXPECT_EQ(status({"-H", bearer, url(as("bearer"))}), "200");
    EXPECT_EQ(status({url(as("api-key"))}), "403");
    EXPECT_EQ(status({"-H", "X-API-Key: " + std::string(kToken), url(as("api-key"))}), "200");
}

TEST_F(HttpLiveTest, SpeaksTlsWithItsOwnCertificate) {
    EXPECT_EQ(run({url(as("json"), 1, true)}).code, 60) << "nobody signed it but itself";
    EXPECT_THAT(curl({"-k", url(as("json"), 1, true)}), HasSubstr("web-00002"));
    const std::string authority = folder.write("ca.pem", server->certificate());
    const std::string named = "https://web.lab.example:" + std::to_string(server->ports().https);
    const std::string address = address_text(server->fleet().http()[4].address());
    EXPECT_THAT(
        curl({"--cacert", authority, "--connect-to", "::" + address + ":", named + as("json")}),
        HasSubstr("web-00005"));
    EXPECT_GE(server->counters().https_requests, 2U);
}

TEST_F(HttpLiveTest, TellsHowADeviceIsAsked) {
    constexpr std::chrono::seconds kTakes{2};
    const std::string& name = server->fleet().http()[0].name();
    ASSERT_TRUE(server->set_fault(name, FaultKind::kLatency, base::Duration::max(), 2000));
    curl({"-Z", "--parallel-immediate", url(as("json")), url(as("json"))});
    DeviceLoad load = server->take_http_loads().at(0);
    EXPECT_EQ(load.requests, 2U);
    EXPECT_EQ(load.most_at_once, 2U);
    EXPECT_LT(load.smallest_gap, kTakes);
    EXPECT_EQ(load.largest_gap, load.smallest_gap) << "there is only one";
    curl({url(as("json"))});
    server->take_http_loads();
    curl({url(as("json"))});
    load = server->take_http_loads().at(0);
    EXPECT_EQ(load.requests, 1U);
    EXPECT_EQ(load.most_at_once, 1U);
    EXPECT_GE(load.smallest_gap, kTakes) << "one after the other";
}

TEST_F(HttpLiveTest, HasEveryOddity) {
    const std::string plain = curl({url(as("gzip"))});
    EXPECT_THAT(plain, StartsWith("{\"name\""));
    EXPECT_THAT(curl({"--compressed", url(as("gzip"))}), StartsWith("{\"name\""));
    EXPECT_THAT(curl({"-H", "Accept-Encoding: gzip", url(as("gzip"))}), StartsWith("\x1F\x8B"));
    EXPECT_EQ(status({url(as("redirect"))}), "302");
    EXPECT_THAT(curl({"-L", url(as("redirect"))}), StartsWith("{\"name\""));
    EXPECT_THAT(curl({"-I", url(as("wrong-type"))}), HasSubstr("Content-Type: image/png"));
    EXPECT_EQ(status({url(as("slow") + "?ms=50")}), "200");
    EXPECT_EQ(status({url(as("rate-limited"))}), "200");
    EXPECT_EQ(status({url(as("rate-limited"))}), "429");
    EXPECT_THAT(curl({"-I", url(as("rate-limited"))}), HasSubstr("Retry-After: "));
    EXPECT_EQ(run({"--max-filesize", "1000000", url(as("huge"))}).code, 63);
    const Output drip = run({"--max-time", "3", "-N", url(as("drip"))});
    EXPECT_EQ(drip.code, 28);
    EXPECT_THAT(drip.text, StartsWith("{"));
    int broken = 0;
    for (int i = 0; i < 12; ++i) {
        const Output garbage = run({url(as("garbage"))});
        std::error_code problem;
        json::parse(garbage.text, problem);
        broken += garbage.code != 0 || problem ? 1 : 0;
    }
    EXPECT_EQ(broken, 12);
    EXPECT_THAT(run({url(as("flapping"))}).code, testing::AnyOf(0, 28, 52, 56));
}

TEST_F(HttpLiveTest, CanBeSteered) {
    ASSERT_TRUE(server->set_fault("web-00001", FaultKind::kDown));
    EXPECT_NE(run({url("/health")}).code, 0);
    EXPECT_EQ(run({url("/health", 1)}).code, 0) << "others are not touched";
    ASSERT_TRUE(server->clear_faults("web-00001"));
    ASSERT_TRUE(server->set_fault("web-00001", FaultKind::kBlackHole));
    EXPECT_EQ(run({"--max-time", "1", url("/health")}).code, 28);
    server->clear_all_faults();
    ASSERT_TRUE(server->set_fault("web-00001", FaultKind::kServerError));
    EXPECT_EQ(status({url("/health")}), "500");
    server->clear_all_faults();
    ASSERT_TRUE(server->set_fault("web-00001", FaultKind::kAuthFailure));
    EXPECT_EQ(status({url("/health")}), "401");
    server->clear_all_faults();
    ASSERT_TRUE(server->set_fault("web-00001", FaultKind::kLatency, std::chrono::hours(1), 30));
    EXPECT_EQ(run({url("/health")}).code, 0);
    EXPECT_EQ(server->count_faults()[static_cast<std::size_t>(FaultKind::kLatency)], 1U);
}

TEST_F(HttpLiveTest, IsSteeredByItsControlEndpoint) {
    const json::value list = json::parse(curl({control("/devices?limit=3&offset=1")}));
    EXPECT_EQ(list.at("total").as_int64(), 22);
    EXPECT_EQ(list.at("devices").as_array().size(), 3U);
    EXPECT_EQ(list.at("devices").at(0).at("name").as_string(), "sw-00002");
    EXPECT_EQ(list.at("devices").at(1).at("address").as_string(), "127.128.0.1");

    const std::string fault = control("/devices/web-00001/fault");
    const std::string body = R"({"kind": "server-error", "for": "60s"})";
    EXPECT_THAT(curl({"-d", body, fault}), HasSubstr("\"faults\":[\"server-error\"]"));
    EXPECT_EQ(status({url("/health")}), "500");
    EXPECT_EQ(status({"-X", "DELETE", fault}), "204");
    EXPECT_THAT(status({url("/health")}), testing::AnyOf("200", "503"));

    EXPECT_THAT(curl({"-d", "{\"kind\": \"melt\"}", fault}), HasSubstr("must be one of down"));
    EXPECT_THAT(curl({"-d", "{\"kind\": \"down\", \"until\": 1}", fault}), HasSubstr("not known"));
    EXPECT_THAT(curl({"-d", "{\"kind\": \"down\", \"for\": \"soon\"}", fault}),
                HasSubstr("not a time"));
    EXPECT_THAT(curl({"-d", "nonsense", fault}), HasSubstr("not a JSON object"));
    EXPECT_THAT(curl({"-d", body, control("/devices/web-99999/fault")}),
                HasSubstr("web-00001 to web-00020"));
    EXPECT_THAT(curl({"-d", "{\"name\": \"storm\"}", control("/profile")}), HasSubstr("storm"));
    EXPECT_EQ(status({"-d", "{\"name\": \"x\"}", control("/profile")}), "400");
    EXPECT_EQ(json::parse(curl({control("/status")})).at("profile").as_string(), "storm");
    EXPECT_EQ(status({"-X", "DELETE", control("/faults")}), "204");
    EXPECT_EQ(status({control("/nothing")}), "404");
}

TEST_F(HttpLiveTest, OtherAddressesAreDropped) {
    const std::string nobody = "http://127.200.0.1:" + std::to_string(server->ports().http) + "/";
    EXPECT_NE(run({nobody}).code, 0);
}

TEST(HttpPages, AreTheSameForTheSameSeedAndTime) {
    const Profile profile = find_profile("demo").value();
    const Device a(DeviceKind::kHttp, 4, 1, 9, profile);
    const Device b(DeviceKind::kHttp, 4, 1, 9, profile);
    const Device other(DeviceKind::kHttp, 4, 1, 10, profile);
    const FleetTime now = std::chrono::minutes(77);
    EXPECT_EQ(status_json(a, now), status_json(b, now));
    EXPECT_EQ(status_xml(a, now), status_xml(b, now));
    EXPECT_NE(status_json(a, now), status_json(other, now));
    EXPECT_NE(status_json(a, now), status_json(a, now + std::chrono::seconds(60)));
}

TEST(DigestGuard, TellsStaleNoncesFromWrongOnes) {
    const DigestGuard guard(1);
    const FleetTime now = std::chrono::seconds(1000);
    const std::string challenge = guard.challenge(DigestAlgorithm::kMd5, false, now);
    EXPECT_THAT(challenge, AllOf(StartsWith("Digest realm=\"lab\""), HasSubstr("algorithm=MD5")));
    EXPECT_THAT(guard.challenge(DigestAlgorithm::kSha256, true, now), HasSubstr("stale=true"));
    net::Request request;
    request.method = "GET";
    request.target = "/";
    request.headers = {{"Authorization", "Digest username=\"pollux\", realm=\"lab\", uri=\"/\""}};
    EXPECT_EQ(guard.check(request, DigestAlgorithm::kMd5, now), DigestGuard::Verdict::kWrong);
    EXPECT_NE(guard.challenge(DigestAlgorithm::kMd5, false, now),
              DigestGuard(2).challenge(DigestAlgorithm::kMd5, false, now));
}

}  // namespace
}  // namespace pollux::lab
