// Every row of every manifest: a message or an answer with its type raises it as the row says, or
// ends what it ends. As many rows as the manifests that these stand for have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "document/diagnostic.hpp"
#include "document/parse.hpp"
#include "tests/imported/imported_device.hpp"

namespace pollux::tests {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::IsTrue;

using Signals = std::vector<model::Signal>;

// What several rows of one type say together.
struct Wanted {
    bool enabled = true;               // the first row decides
    std::string severity = "warning";  // of the last one that is enabled
};

class Table {
  public:
    explicit Table(const std::string& name) : addon(load_imported(name).addon) {
        document::Diagnostics diagnostics;
        root = document::parse(imported_text(name), name, diagnostics).root;
        EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
        for (const document::Node& group : root.find("alert_mappings")->items()) {
            for (const document::Node& row : group.find("alerts")->items()) add(row);
        }
    }

    // Whether they are what the table says about the type, or the end of it.
    void expect(const Signals& signals, const std::string& type, bool over = false) const {
        SCOPED_TRACE(type);
        const auto row = wanted.find(type);
        if (row == wanted.end() || !row->second.enabled) {
            EXPECT_THAT(signals, IsEmpty());
        } else if (row->second.severity == "clear") {
            EXPECT_THAT(signals, Each(Field(&model::Signal::clear, IsTrue())));
        } else {
            EXPECT_THAT(told_of(signals),
                        ElementsAre((over ? "clear " : "") + type + " " + row->second.severity));
        }
    }

    std::shared_ptr<const extract::CompiledAddon> addon;
    document::Node root;
    std::map<std::string, Wanted> wanted;
    std::size_t rows = 0;

  private:
    void add(const document::Node& row) {
        ++rows;
        const auto text = [&](std::string_view key, const std::string& otherwise) {
            const document::Node* found = row.find(key);
            return found == nullptr ? otherwise : found->scalar();
        };
        const bool enabled = text("enabled", "true") == "true";
        const auto [known, first] = wanted.try_emplace(text("alert_type", ""));
        if (first) known->second.enabled = enabled;
        if (enabled) known->second.severity = text("severity", "warning");
    }
};

Signals hook(const extract::CompiledAddon& addon, std::string body, std::string type) {
    model::WebhookMessage content;
    content.path = "/x";
    content.content_type = std::move(type);
    content.body = std::move(body);
    return addon.signals({"192.0.2.9", {}, std::move(content)});
}

Signals trap(const extract::CompiledAddon& addon, std::string_view oid) {
    model::TrapMessage content;
    content.trap = *model::parse_oid(oid);
    return addon.signals({"192.0.2.9", {}, std::move(content)});
}

Signals answer(const extract::CompiledAddon& addon, std::string body) {
    model::HttpReply http;
    http.status = 200;
    http.body = std::move(body);
    model::Reply reply;
    reply.answer = std::move(http);
    const model::Reply* const replies[] = {&reply};
    return addon.signals(0, replies, {}, {"box", "192.0.2.1"}).signals;
}

TEST(ImportedTables, AreAsLongAsTheOnesTheyStandFor) {
    const std::pair<const char*, std::size_t> kRows[] = {
        {"axis", 13},  {"cradlepoint", 40}, {"ubiquiti", 21},    {"mcp", 7},
        {"siklu", 24}, {"cisco_asa", 19},   {"eaton-traps", 19}, {"snmp_trap", 23},
        {"prtg", 29},  {"milestone", 114}};
    for (const auto& [name, rows] : kRows) EXPECT_EQ(Table(name).rows, rows) << name;
}

TEST(ImportedTables, EveryEventOfMilestoneIsRaisedAndEnds) {
    const Table table("milestone");
    const std::string form = "application/x-www-form-urlencoded";
    for (const auto& [type, row] : table.wanted) {
        table.expect(hook(*table.addon, "EventType=" + type, form), type);
        if (row.severity == "clear") continue;
        table.expect(hook(*table.addon, "EventType=" + type + "_ended", form), type, true);
    }
}

TEST(ImportedTables, EveryCodeAndWordOfPrtgIsRaised) {
    const Table table("prtg");
    const std::map<std::string, std::string> words = {
        {"3", "sensor_up"}, {"4", "sensor_warning"}, {"5", "sensor_down"}};
    for (const auto& [type, row] : table.wanted) {
        const auto word = words.find(type);
        table.expect(hook(*table.addon, R"({"statusid": ")" + type + "\"}", "application/json"),
                     word == words.end() ? type : word->second);
    }
}

// OIDs of traps that end another one, and of which type that is.
std::map<std::string, std::string> ends_of(const Table& table, const document::Node& definitions) {
    const auto type_of = [&](const std::string& oid) {
        return definitions.find(oid)->find("alert_type")->scalar();
    };
    std::map<std::string, std::string> ends;
    if (const auto* pairs = table.root.find("clear_events")->find("oid_pairs")) {
        for (const auto& pair : pairs->entries()) ends[pair.value.scalar()] = type_of(pair.key);
    }
    for (const auto& entry : definitions.entries()) {
        const document::Node* clear = entry.value.find("clear_oid");
        if (clear != nullptr && !clear->is_null()) ends[clear->scalar()] = type_of(entry.key);
    }
    return ends;
}

TEST(ImportedTables, EveryTrapRaisesOrEndsItsType) {
    for (const char* name : {"siklu", "cisco_asa", "eaton-traps", "snmp_trap"}) {
        SCOPED_TRACE(name);
        const Table table(name);
        const document::Node* section = table.root.find("snmp_trap");
        const document::Node& definitions =
            *(section == nullptr ? table.root : *section).find("trap_definitions");
        const document::Node* suffix = table.root.find("clear_events")->find("clear_suffix");
        const auto ends = ends_of(table, definitions);
        std::set<std::string> seen;
        for (const auto& entry : definitions.entries()) {
            const document::Node* known = entry.value.find("alert_type");
            std::string type = known == nullptr ? "" : known->scalar();
            seen.insert(type);
            bool over = false;
            if (const auto end = ends.find(entry.key); end != ends.end()) {
                type = end->second;
                over = true;
            } else if (suffix != nullptr && type.ends_with(suffix->scalar())) {
                type.resize(type.size() - suffix->scalar().size());
                over = true;
            }
            table.expect(trap(*table.addon, entry.key), type, over);
        }
        for (const auto& [type, row] : table.wanted) EXPECT_TRUE(seen.contains(type)) << type;
    }
}

TEST(ImportedTables, EveryTypeOfAPollIsRaised) {
    const std::pair<const char*, std::pair<const char*, const char*>> kBodies[] = {
        {"cradlepoint", {R"({"events": [{"type": ")", "\"}]}"}},
        {"mcp", {R"({"alarms": [{"state": "raised", "severity": ")", "\"}]}"}}};
    for (const auto& [name, around] : kBodies) {
        SCOPED_TRACE(name);
        const Table table(name);
        for (const auto& [type, row] : table.wanted) {
            table.expect(answer(*table.addon, around.first + type + around.second), type);
        }
    }
}

}  // namespace
}  // namespace pollux::tests
