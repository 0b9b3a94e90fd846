#include "app/addon_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/addon_files.hpp"
#include "extract/shipped_addons.hpp"
#include "runtime/trial/case_reply.hpp"

namespace pollux::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<const extract::CompiledAddon> shipped(std::string_view name) {
    for (const extract::ShippedAddon& addon : extract::shipped_addons()) {
        if (addon.name == name) return extract::compile(addon.manifest, "m").addon;
    }
    return nullptr;
}

std::vector<std::string> failures(std::string_view text) {
    return run_addon_case(shipped("http-status"), text, "c.yaml").failures;
}

TEST(AddonCase, PassesWhatFitsAndTellsWhatDoesNot) {
    EXPECT_THAT(failures("steps: [{http: {status: 204}, expect: {readings: {status: 204}}}]"),
                IsEmpty());
    EXPECT_THAT(failures("steps: [{http: {status: 204}, expect: {readings: {status: 200}}}]"),
                ElementsAre("c.yaml: steps[0].expect.readings: status: expected \"200\", found "
                            "\"204\""));
    EXPECT_THAT(failures("steps: [{http: {}, expect: {samples: {nothing: 1}, missing: 3}}]").size(),
                2U);
    EXPECT_THAT(failures("steps: [{http: {}, expect: {conditions: {server_error: triggered}}}]"),
                ElementsAre(HasSubstr("found \"clear\"")));
    EXPECT_THAT(failures("steps: [{http: {}, expect: {rows: [a], changed: true}}]").size(), 2U);
    EXPECT_THAT(failures("steps: [{failure: {}, expect: {}}]"),
                ElementsAre(HasSubstr("the poll failed")));
}

TEST(AddonCase, RefusesCasesThatAreWrongThemselves) {
    EXPECT_THAT(failures("steps: [{http: {statsu: 1}, expect: {}}]"),
                ElementsAre(HasSubstr("did you mean status?")));
    EXPECT_THAT(failures("steps: [{expect: {}}]"), ElementsAre(HasSubstr("has no reply")));
    EXPECT_THAT(failures("stepps: []"), ::testing::SizeIs(2));
    EXPECT_THAT(failures("parameters: {x: 1}\nsteps: []"), ElementsAre(HasSubstr("no parameter")));
    EXPECT_THAT(failures("group: fast\nsteps: []"), ElementsAre(HasSubstr("no group")));
}

TEST(AddonCase, ReadsWalksAsNetSnmpPrintsThem) {
    model::SnmpAsk ask;
    ask.gets = {*model::parse_oid("1.3.6.1.2.1.1.3.0"), *model::parse_oid("1.3.6.1.9.9")};
    ask.walks = {*model::parse_oid("1.3.6.1.2.1.2.2.1.2")};
    const auto reply = runtime::snmp_capture_reply(
        "# a comment\n"
        ".1.3.6.1.2.1.1.3.0 = Timeticks: (4200) 0:00:42.00\n"
        ".1.3.6.1.2.1.2.2.1.2.10 = STRING: \"eth1\"\n"
        ".1.3.6.1.2.1.2.2.1.2.9 = Hex-STRING: 65 74 68 30\n"
        ".1.3.6.1.2.1.2.2.1.20.1 = Counter32: 1\n",
        ask);
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->gets[0].unsigned_value, 4200U);
    EXPECT_FALSE(reply->gets[1].exists());
    ASSERT_EQ(reply->walks[0].size(), 2U);
    EXPECT_EQ(reply->walks[0][0].value.bytes, "eth0");
    EXPECT_EQ(reply->walks[0][1].index.arcs, std::vector<std::uint32_t>{10});
    EXPECT_THAT(runtime::snmp_capture_reply(".1.3.6 = NONSENSE: 1", ask).error().message,
                HasSubstr("line 1"));
}

TEST(AddonFiles, FindsManifestsAndSaysWhatIsNotThere) {
    const auto found = find_manifests("addons");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->size(), extract::shipped_addons().size()) << "not the schema beside them";
    EXPECT_THAT(find_manifests("addons/none").error().message, HasSubstr("no file and no folder"));
    EXPECT_THAT(read_text_file("addons", kMaxManifestBytes).error().message,
                HasSubstr("no regular file"));
    EXPECT_THAT(read_text_file("addons/http-json/manifest.yaml", 10).error().message,
                HasSubstr("at most 10"));
}

}  // namespace
}  // namespace pollux::app
