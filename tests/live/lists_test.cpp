// Lists: every one is read page by page and filtered in the same way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/live/api_stage.hpp"

namespace pollux::live {
namespace {

using document::Node;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class Lists : public ApiStage {
  protected:
    static std::vector<std::string> names(const ApiAnswer& page, const char* field = "name") {
        EXPECT_EQ(page.status, 200) << page.body;
        std::vector<std::string> all;
        const Node root = page.json();
        if (root.find("items") == nullptr) return all;
        for (const Node& one : root.find("items")->items()) all.push_back(text_at(one, field));
        return all;
    }
    // Page by page, so many at a time.
    std::vector<std::string> paged(ApiClient& client, const std::string& path, std::size_t limit,
                                   const char* field = "name") {
        std::vector<std::string> all;
        const char mark = path.find('?') == std::string::npos ? '?' : '&';
        std::string cursor;
        for (int pages = 0; pages < 1000; ++pages) {
            const ApiAnswer page = client.get(fmt::format(
                "{}{}limit={}{}", path, mark, limit, cursor.empty() ? "" : "&cursor=" + cursor));
            const auto some = names(page, field);
            EXPECT_LE(some.size(), limit);
            all.insert(all.end(), some.begin(), some.end());
            cursor = page.at("next");
            if (cursor.empty()) return all;
        }
        ADD_FAILURE() << path << " has no end";
        return all;
    }
};

TEST_F(Lists, AreFilteredByTextWithStars) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    const std::pair<const char*, std::string> collections[] = {
        {"/api/devices", R"("address":"192.0.2.1")"},
        {"/api/groups", R"("match":{"site":"bonn"})"},
        {"/api/credentials", R"("username":"monitor","password":"correct horse")"},
        {"/api/sources", fmt::format(R"("file_sd":"{}")", folder_.write("targets.json", "[]"))},
        {"/api/receivers", R"("channels":[{"url":"http://127.0.0.1:9/alerts"}])"},
        {"/api/routes", R"("receivers":["alpha-1"])"},
        {"/api/silences", R"("match":["device=\"core-1\""],"until":"2096-01-02T03:04:05Z",)"
                          R"("owner":"eve","reason":"new firmware")"}};
    for (const auto& [path, body] : collections) {
        const std::string where = path;
        for (const char* name : {"alpha-1", "alpha-2", "beta-1"}) {
            const ApiAnswer made =
                root.post(path, fmt::format(R"({{"name":"{}",{}}})", name, body));
            ASSERT_EQ(made.status, 201) << path << " " << made.body;
        }
        EXPECT_THAT(names(root.get(where + "?q=alpha*")), ElementsAre("alpha-1", "alpha-2"))
            << where;
        EXPECT_THAT(names(root.get(where + "?q=*-1")), ElementsAre("alpha-1", "beta-1")) << where;
        EXPECT_THAT(names(root.get(where + "?q=LPHA")), ElementsAre("alpha-1", "alpha-2")) << where;
        EXPECT_THAT(names(root.get(where + "?q=lpha*")), IsEmpty()) << where;
        EXPECT_THAT(paged(root, where + "?q=*a-*", 1), ElementsAre("alpha-1", "alpha-2", "beta-1"))
            << where;
    }
}

TEST_F(Lists, OfAddonsHavePagesAndFilters) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    const auto all = names(root.get("/api/addons"));
    EXPECT_GE(all.size(), 15U);
    EXPECT_EQ(root.get("/api/addons").at("next"), "") << "all that are shipped are on one page";
    EXPECT_EQ(paged(root, "/api/addons", 4), all);
    EXPECT_THAT(names(root.get("/api/addons?q=snmp-*")),
                AllOf(Contains("snmp-system"), Each(StartsWith("snmp-"))));
    EXPECT_THAT(names(root.get("/api/addons?protocol=snmp"), "protocol"),
                AllOf(Contains("snmp"), Each("snmp")));
    EXPECT_THAT(names(root.get("/api/addons?enabled=false")), IsEmpty());
    EXPECT_THAT(names(root.get("/api/addons?origin=api")), IsEmpty());
    EXPECT_EQ(names(root.get("/api/addons?origin=shipped")), all);
    ASSERT_EQ(root.post("/api/addons/http-json/disable").status, 200);
    EXPECT_THAT(names(root.get("/api/addons?enabled=false")), ElementsAre("http-json"));
    // A cursor belongs to its filter.
    const std::string next = root.get("/api/addons?limit=1").at("next");
    ASSERT_FALSE(next.empty());
    EXPECT_EQ(root.get("/api/addons?limit=1&q=snmp&cursor=" + next).status, 400);
    EXPECT_EQ(root.get("/api/addons?origin=elsewhere").status, 400);
}

TEST_F(Lists, OfUsersAreFiltered) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    new_user("alice", R"([{"role":"viewer"},{"role":"operator","selector":"site=bonn"}])");
    new_user("albert", R"([{"role":"auditor"}])");
    ASSERT_EQ(root.put("/api/users/albert", R"({"disabled":true,"display":"Bertie"})").status, 200);
    EXPECT_THAT(names(root.get("/api/users?role=operator")), ElementsAre("alice"));
    EXPECT_THAT(names(root.get("/api/users?role=admin")), ElementsAre("root"));
    EXPECT_THAT(names(root.get("/api/users?disabled=true")), ElementsAre("albert"));
    EXPECT_THAT(names(root.get("/api/users?disabled=false")), ElementsAre("alice", "root"));
    EXPECT_THAT(names(root.get("/api/users?q=al*")), ElementsAre("albert", "alice"));
    EXPECT_THAT(names(root.get("/api/users?q=bertie")), ElementsAre("albert"));
    EXPECT_THAT(paged(root, "/api/users?q=al*", 1), ElementsAre("albert", "alice"));
    EXPECT_EQ(root.get("/api/users?role=king").status, 400);
}

TEST_F(Lists, OfTargetsAreFilteredByLabelsAndOrigin) {
    ASSERT_NO_FATAL_FAILURE(
        start("devices:\n"
              "  a: {address: 127.0.0.1, labels: {site: bonn, rack: r1}, addons: [icmp-ping]}\n"
              "  b: {address: 127.0.0.1, labels: {site: bonn}, addons: [icmp-ping]}\n"));
    ApiClient root = admin();
    ASSERT_EQ(root.post("/api/targets", R"({"addon":"icmp-ping","device":"c","device_spec":)"
                                        R"({"address":"127.0.0.1","labels":{"site":"ulm"}}})")
                  .status,
              201);
    const auto devices = [&](const std::string& query) {
        return names(root.get("/api/targets" + query), "device");
    };
    EXPECT_THAT(devices(""), ElementsAre("a", "b", "c"));
    EXPECT_THAT(devices("?label=site=bonn"), ElementsAre("a", "b"));
    EXPECT_THAT(devices("?label=site=bonn&label=rack=r1"), ElementsAre("a"));
    EXPECT_THAT(devices("?label=site=elsewhere"), IsEmpty());
    EXPECT_THAT(devices("?origin=file"), ElementsAre("a", "b"));
    EXPECT_THAT(devices("?origin=api&label=site=ulm"), ElementsAre("c"));
    EXPECT_THAT(paged(root, "/api/targets?label=site=bonn", 1, "device"), ElementsAre("a", "b"));
    EXPECT_EQ(root.get("/api/targets?label=bonn").at("errors.0.parameter"), "label");
    EXPECT_EQ(root.get("/api/targets?origin=nobody").status, 400);
}

TEST_F(Lists, OfJobsAreFilteredByLabels) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    const auto job = [](const char* name, const char* labels) {
        return fmt::format(R"({{"name":"{}","type":"maintenance","hold":true,"labels":{{{}}}}})",
                           name, labels);
    };
    const ApiAnswer made = root.post(
        "/api/jobs", fmt::format(R"({{"name":"night","jobs":[{},{},{}]}})",
                                 job("one", R"("site":"bonn","team":"a")"),
                                 job("two", R"("site":"bonn","team":"b")"), job("three", "")));
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(names(root.get("/api/jobs?label=site=bonn")), ElementsAre("two", "one"));
    EXPECT_THAT(names(root.get("/api/jobs?label=site=bonn&label=team=a")), ElementsAre("one"));
    EXPECT_THAT(names(root.get("/api/jobs?label=site=berlin")), IsEmpty());
    EXPECT_THAT(paged(root, "/api/jobs?label=site=bonn", 1), ElementsAre("two", "one"));
    const ApiAnswer wrong = root.get("/api/jobs?label=site");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_EQ(wrong.at("errors.0.parameter"), "label") << wrong.body;
}

TEST_F(Lists, OfSettingsVersionsGoOnWithTheirNext) {
    ASSERT_NO_FATAL_FAILURE(start("devices: {}\n"));
    ApiClient root = admin();
    for (const char* rate : {"71", "72", "73", "74", "75"}) {
        ASSERT_EQ(root.put("/api/settings", fmt::format(R"({{"global_rate":{}}})", rate)).status,
                  200);
    }
    const auto all = names(root.get("/api/settings/versions"), "version");
    EXPECT_GE(all.size(), 5U);
    EXPECT_EQ(paged(root, "/api/settings/versions", 2, "version"), all);
    EXPECT_EQ(names(root.get("/api/settings/versions?limit=2&before=" + all.at(1)), "version"),
              (std::vector<std::string>{all.at(2), all.at(3)}));
}

}  // namespace
}  // namespace pollux::live
