#include "app/addon_import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "app/addon_files.hpp"
#include "document/parse.hpp"
#include "extract/compiled_addon.hpp"
#include "net/test_process.hpp"

namespace pollux::app {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& name) { return "tests/imported/" + name + ".json"; }

std::string text_of(const std::string& name) {
    return read_text_file(file_of(name), kMaxManifestBytes).value();
}

ImportedAddon imported(const std::string& name) {
    return import_addon(text_of(name), file_of(name));
}

// All manifests of tests/imported, each with an answer or a message that says something.
constexpr std::pair<const char*, const char*> kSamples[] = {
    {"axis", "Brand=AXIS"},
    {"cisco_asa", ""},
    {"cradlepoint", R"({"name": "truck", "events": [{"type": "wan_primary_down", "text": "x"}]})"},
    {"eaton", "5"},
    {"eaton-traps", ""},
    {"mcp", R"({"alarms": [{"severity": "MAJOR", "description": "x", "state": "raised"}]})"},
    {"milestone", "EventType=recording_stopped&SourceAddress=192.0.2.4"},
    {"prtg", R"({"statusid": 5, "host": "192.0.2.3", "sensor": {"name": "Ping"}})"},
    {"siklu", ""},
    {"snmp-generic", ""},
    {"snmp_trap", ""},
    {"ubiquiti", R"({"data": [{"event": "Lost Contact", "name": "roof"}]})"},
    {"ubiquiti-ssh", "linkState=0\ndeviceName=roof\n"}};

using Compiled = extract::CompiledAddon;

extract::TargetBinding target_of(const Compiled& addon) {
    extract::TargetBinding out;
    out.host = "192.0.2.1";
    for (const auto& parameter : addon.parameters()) {
        if (parameter.required) out.parameters[parameter.name] = "7";
    }
    return out;
}

void expect_same_asks(const Compiled& one, const Compiled& other, std::size_t group) {
    const auto left = one.asks(group, target_of(one));
    const auto right = other.asks(group, target_of(other));
    ASSERT_TRUE(left.has_value() && right.has_value());
    ASSERT_EQ(left->size(), right->size());
    for (std::size_t i = 0; i < left->size(); ++i) {
        const model::Ask& a = *(*left)[i];
        const model::Ask& b = *(*right)[i];
        EXPECT_TRUE(a.request == b.request);
        EXPECT_EQ(std::tie(a.host, a.port, a.timeout), std::tie(b.host, b.port, b.timeout));
        ASSERT_EQ(a.credentials == nullptr, b.credentials == nullptr);
        EXPECT_TRUE(a.credentials == nullptr || *a.credentials == *b.credentials);
        EXPECT_EQ(one.is_optional(group, i), other.is_optional(group, i));
    }
}

model::Reply answer_to(const model::Ask& ask, const std::string& sample) {
    model::Reply reply;
    if (const auto* snmp = std::get_if<model::SnmpAsk>(&ask.request)) {
        model::SnmpReply answer;
        answer.gets.resize(snmp->gets.size());
        for (model::SnmpValue& value : answer.gets) {
            value.type = model::SnmpType::kOctetString;
            value.bytes = sample;
        }
        reply.answer = std::move(answer);
    } else if (std::holds_alternative<model::SshAsk>(ask.request)) {
        model::CommandReply answer;
        answer.out = sample;
        reply.answer = std::move(answer);
    } else {
        model::HttpReply answer;
        answer.status = 200;
        answer.body = sample;
        reply.answer = std::move(answer);
    }
    return reply;
}

model::Reply silence() {
    model::PollFailure failure;
    failure.kind = model::FailureKind::kTimeout;
    failure.code = "http.timeout";
    failure.message = "no answer";
    model::Reply reply;
    reply.answer = std::move(failure);
    return reply;
}

// What polls with and without an answer say; the number of signals.
std::size_t expect_same_polls(const Compiled& one, const Compiled& other,
                              const std::string& sample) {
    std::size_t count = 0;
    for (std::size_t group = 0; group < one.addon().groups.size(); ++group) {
        expect_same_asks(one, other, group);
        const auto asks = one.asks(group, target_of(one)).value();
        for (const bool answers : {true, false}) {
            std::vector<model::Reply> replies;
            for (const auto& ask : asks) {
                replies.push_back(answers ? answer_to(*ask, sample) : silence());
            }
            std::vector<const model::Reply*> given;
            for (const model::Reply& reply : replies) given.push_back(&reply);
            const model::PollSignals left = one.signals(group, given, {}, {"d", "192.0.2.1"});
            EXPECT_TRUE(left == other.signals(group, given, {}, {"d", "192.0.2.1"}));
            count += left.signals.size();
        }
    }
    return count;
}

// What messages say: the sample, or one trap of each definition.
std::size_t expect_same_messages(const Compiled& one, const Compiled& other,
                                 const std::string& sample, const document::Node& original) {
    std::vector<model::InboundMessage> messages;
    if (one.addon().protocol == model::ProtocolKind::kWebhook) {
        model::WebhookMessage hook;
        hook.body = sample;
        messages.push_back({"192.0.2.9", {}, std::move(hook)});
    } else {
        const document::Node* section = original.find("snmp_trap");
        const document::Node* traps =
            (section == nullptr ? original : *section).find("trap_definitions");
        for (const document::MapEntry& entry : traps->entries()) {
            model::TrapMessage trap;
            trap.trap = *model::parse_oid(entry.key);
            EXPECT_EQ(one.trap_fit(trap), other.trap_fit(trap));
            messages.push_back({"192.0.2.9", {}, std::move(trap)});
        }
    }
    std::size_t count = 0;
    for (const model::InboundMessage& message : messages) {
        const std::vector<model::Signal> left = one.signals(message);
        EXPECT_EQ(left, other.signals(message));
        count += left.size();
    }
    return count;
}

TEST(AddonImport, WritesWhatMeansTheSame) {
    for (const auto& [name, sample] : kSamples) {
        SCOPED_TRACE(name);
        const ImportedAddon addon = imported(name);
        ASSERT_TRUE(addon.good) << addon.notes.text();
        EXPECT_THAT(addon.manifest, HasSubstr("schema: pollux/1"));
        const std::string text = text_of(name);
        const auto original = extract::compile(text, "original.json").addon;
        const auto written = extract::compile(addon.manifest, "written.yaml");
        ASSERT_NE(original, nullptr);
        ASSERT_NE(written.addon, nullptr) << written.diagnostics.text();
        EXPECT_TRUE(original->addon() == written.addon->addon());
        document::Diagnostics diagnostics;
        const document::Parsed parsed = document::parse(text, "original.json", diagnostics);
        const std::size_t count =
            model::is_inbound(original->addon().protocol)
                ? expect_same_messages(*original, *written.addon, sample, parsed.root)
                : expect_same_polls(*original, *written.addon, sample);
        EXPECT_GT(count, 0U) << "nothing was compared";
    }
}

TEST(AddonImport, EveryManifestOfTheTestsIsCompared) {
    std::vector<std::string> there;
    for (const auto& entry : std::filesystem::directory_iterator("tests/imported")) {
        if (entry.path().extension() == ".json") there.push_back(entry.path().stem().string());
    }
    std::ranges::sort(there);
    std::vector<std::string> compared;
    for (const auto& sample : kSamples) compared.emplace_back(sample.first);
    EXPECT_EQ(there, compared);
}

TEST(AddonImport, TellsLineByLineWhatChanges) {
    const std::string notes = imported("prtg").notes.text();
    EXPECT_THAT(notes, HasSubstr("prtg.json:7: auth_token: warning: is not taken over"));
    EXPECT_THAT(notes, HasSubstr("endpoint_path: warning: changes"));
    EXPECT_THAT(
        imported("mcp").notes.text(),
        HasSubstr("mcp.json:12: alert_on_failure: warning: device_offline is in no mapping"));
}

TEST(AddonImport, KeepsWhatIsThereUnlessToldToReplaceIt) {
    const net::test::TempDir folder;
    ImportedAddon addon = imported("axis");
    const auto path = write_addon(addon, folder.path(), false);
    ASSERT_TRUE(path.has_value()) << path.error().message;
    EXPECT_TRUE(write_addon(addon, folder.path(), false).has_value());  // the same once more
    addon.manifest += "# edited\n";
    const auto refused = write_addon(addon, folder.path(), false);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, HasSubstr("--replace"));
    EXPECT_TRUE(write_addon(addon, folder.path(), true).has_value());
    EXPECT_EQ(read_text_file(*path, kMaxManifestBytes).value(), addon.manifest);
    const auto loaded = load_addons(folder.path());
    ASSERT_TRUE(loaded.has_value());
    EXPECT_TRUE(std::ranges::any_of(*loaded, [](const LoadedAddon& one) {
        return one.addon != nullptr && one.addon->addon().name == "axis" && one.origin != "shipped";
    }));
}

TEST(AddonImport, RefusesWhatIsNoManifestOfThatSystem) {
    EXPECT_THAT(import_addon("schema: pollux/1\nname: x\n", "x.yaml").notes.text(),
                HasSubstr("is no manifest to import"));
    const ImportedAddon odd = import_addon(R"({"id": "x", "method": "carrier_pigeon"})", "x.json");
    EXPECT_FALSE(odd.good);
    EXPECT_THAT(odd.notes.text(), HasSubstr("\"carrier_pigeon\" is not known"));
}

}  // namespace
}  // namespace pollux::app
