// The published JSON Schema of the dialect and the reader know the same keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <span>

#include "document/parse.hpp"
#include "extract/manifest_keys.hpp"

namespace pollux::extract {
namespace {

document::Node schema() {
    std::ifstream in("addons/pollux-addon-1.schema.json");  // tests run in the project's root
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    document::Diagnostics diagnostics;
    document::Parsed parsed = document::parse(text, "schema.json", diagnostics);
    EXPECT_TRUE(parsed.ok) << diagnostics.text();
    return std::move(parsed.root);
}

void expect_keys(const document::Node& part, std::span<const std::string_view> keys,
                 const std::string& name) {
    const document::Node* properties = part.find("properties");
    ASSERT_NE(properties, nullptr) << name;
    std::vector<std::string_view> listed;
    for (const auto& entry : properties->entries()) listed.push_back(entry.key);
    EXPECT_THAT(listed, ::testing::UnorderedElementsAreArray(keys)) << name;
    ASSERT_NE(part.find("additionalProperties"), nullptr) << name;
    EXPECT_EQ(part.find("additionalProperties")->scalar(), "false") << name;
}

TEST(Schema, ListsTheKeysTheReaderTakes) {
    const document::Node root = schema();
    expect_keys(root, keys::kManifest, "manifest");
    const document::Node* defs = root.find("$defs");
    ASSERT_NE(defs, nullptr);
    const std::pair<const char*, std::span<const std::string_view>> parts[] = {
        {"parameter", keys::kParameter},
        {"http", keys::kHttp},
        {"auth", keys::kAuth},
        {"tls", keys::kTls},
        {"endpoint", keys::kEndpoint},
        {"json_rows", keys::kJsonRows},
        {"snmp", keys::kSnmp},
        {"get", keys::kGet},
        {"table", keys::kTable},
        {"filter", keys::kFilter},
        {"metric", keys::kMetric},
        {"ratio", keys::kRatio},
        {"valid", keys::kValid},
        {"condition", keys::kCondition},
        {"change", keys::kChange},
        {"signal", keys::kSignal},
        {"text_table", keys::kTextTable},
        {"grok", keys::kGrok},
        {"signal_type", keys::kSignalType},
        {"trap", keys::kTrap},
        {"webhook", keys::kWebhook},
        {"push", keys::kPush}};
    for (const auto& [name, keys] : parts) {
        const document::Node* part = defs->find(name);
        ASSERT_NE(part, nullptr) << name;
        expect_keys(*part, keys, name);
    }
}

}  // namespace
}  // namespace pollux::extract
