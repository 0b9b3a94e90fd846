// Runs the cases of channels/*/cases: a notification and a channel, and the request that must come
// out. Then every channel with the most hostile texts: they may change no structure.
#include "feed/shipped_channels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "document/parse.hpp"
#include "document/write.hpp"
#include "feed/channel.hpp"
#include "feed/feed_test_support.hpp"
#include "net/http_message.hpp"

namespace pollux::feed {
namespace {

using document::Node;

constexpr std::string_view kSecret = "hush/hush:1";

std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    EXPECT_TRUE(in.good()) << path;
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Node parsed(std::string_view text, const std::string& file) {
    document::Diagnostics diagnostics;
    auto out = document::parse(text, file, diagnostics);
    EXPECT_TRUE(out.ok) << diagnostics.text();
    return std::move(out.root);
}

std::string text_at(const Node& node, std::string_view key) {
    const Node* found = node.find(key);
    return found == nullptr ? std::string() : found->scalar();
}

std::string_view name_of(model::HttpMethod method) {
    return method == model::HttpMethod::kPut   ? "PUT"
           : method == model::HttpMethod::kGet ? "GET"
                                               : "POST";
}

std::shared_ptr<const model::Credentials> credentials() {
    auto out = std::make_shared<model::Credentials>();
    out->username = "joe";
    out->token = base::Secret(std::string(kSecret));
    return out;
}

std::shared_ptr<const Endpoint> endpoint_of(const Node& given) {
    model::Channel channel;
    channel.name = "main";
    channel.url = text_at(given, "url");
    channel.template_name = text_at(given, "template");
    if (const Node* params = given.find("params")) {
        for (const auto& [name, mark, value] : params->entries())
            channel.params[name] = value.scalar();
    }
    const bool secret = given.find("credentials") != nullptr;
    if (secret) channel.credentials = text_at(given, "credentials");
    auto endpoint =
        make_endpoint(channel, secret ? credentials() : nullptr, ChannelLibrary::shipped());
    EXPECT_FALSE(endpoint->problem) << endpoint->problem->message;
    return endpoint;
}

std::vector<std::filesystem::path> all_cases() {
    std::vector<std::filesystem::path> out;
    for (const ShippedChannel& channel : shipped_channels()) {
        const std::filesystem::path folder = "channels/" + std::string(channel.name) + "/cases";
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            out.push_back(entry.path());
    }
    std::ranges::sort(out);
    return out;
}

base::Result<model::HttpAsk> request_of(const Node& given, std::string body) {
    const auto endpoint = endpoint_of(given);
    if (endpoint->problem) return std::unexpected(*endpoint->problem);
    model::Notification notification = test::notification(7);
    notification.body = std::move(body);
    return make_request(*endpoint->definition, endpoint->channel, endpoint->credentials.get(),
                        notification);
}

// The request as a case writes it; what the client adds by itself is named, not shown.
Node tree_of(const model::HttpAsk& request) {
    Node headers = Node::map();
    for (const auto& [name, value] : request.headers) headers.set(name, Node::text(value));
    if (request.auth == model::HttpAuth::kBearer) {
        headers.set("Authorization", Node::text("Bearer, by the client"));
    }
    if (request.auth == model::HttpAuth::kBasic) {
        headers.set("Authorization", Node::text("Basic, by the client"));
    }
    Node out = Node::map();
    out.set("method", Node::text(std::string(name_of(request.method))));
    out.set("url", Node::text(request.url));
    out.set("headers", std::move(headers));
    const bool json = request.body.starts_with('{');
    out.set("body", json ? parsed(request.body, "body") : Node::text(request.body));
    return out;
}

void run_case(const std::filesystem::path& path) {
    SCOPED_TRACE(path.string());
    const Node given = parsed(read_file(path), path.string());
    const std::string body =
        read_file("channels/notifications/" + text_at(given, "notification") + ".json");
    const auto request = request_of(given, body);
    ASSERT_TRUE(request) << request.error().message;
    const Node* expect = given.find("expect");
    ASSERT_NE(expect, nullptr);
    EXPECT_EQ(document::to_json(tree_of(*request)), document::to_json(*expect));
}

// The kinds and keys of a tree, without its texts.
std::string shape_of(const Node& node) {
    if (node.is_sequence()) {
        std::string out = "[";
        for (const Node& item : node.items()) out += shape_of(item) + ",";
        return out + "]";
    }
    if (!node.is_map()) return node.quoted() ? "s" : "p";
    std::string out = "{";
    for (const auto& [key, mark, value] : node.entries()) out += key + ":" + shape_of(value) + ",";
    return out + "}";
}

void expect_same_shape(const Node& given, std::string_view kind) {
    test::BodyFacts tame{.kind = std::string(kind)};
    test::BodyFacts wild = tame;
    wild.title = wild.device = wild.message = test::kHostile;
    const auto quiet = request_of(given, test::body_of(tame));
    const auto hostile = request_of(given, test::body_of(wild));
    ASSERT_TRUE(quiet && hostile);
    EXPECT_EQ(hostile->url, quiet->url) << "no text of a device is a part of the address";
    EXPECT_EQ(hostile->headers, quiet->headers);
    EXPECT_EQ(hostile->body.find('\x01'), std::string::npos);
    EXPECT_EQ(hostile->body.find("\xE2\x80\xAE"), std::string::npos);
    if (quiet->body.front() == '{') {
        document::Diagnostics diagnostics;
        ASSERT_TRUE(document::parse_json(hostile->body, "body", diagnostics).ok)
            << diagnostics.text();
        EXPECT_EQ(shape_of(parsed(hostile->body, "b")), shape_of(parsed(quiet->body, "a")));
    } else {
        const auto names = [](const std::string& body) {
            std::vector<std::string> out;
            for (const auto& [name, value] : net::query_parameters(body, 100)) out.push_back(name);
            return out;
        };
        EXPECT_EQ(names(hostile->body), names(quiet->body));
    }
}

TEST(ShippedChannels, DoWhatTheirCasesSay) {
    std::set<std::string> covered;
    for (const auto& path : all_cases()) {
        run_case(path);
        covered.insert(path.parent_path().parent_path().filename().string() + "/" +
                       path.stem().string());
    }
    for (const ShippedChannel& channel : shipped_channels()) {
        EXPECT_TRUE(covered.contains(std::string(channel.name) + "/problem")) << channel.name;
        EXPECT_TRUE(covered.contains(std::string(channel.name) + "/recovery")) << channel.name;
    }
}

TEST(ShippedChannels, StayWholeWithHostileNames) {
    for (const auto& path : all_cases()) {
        SCOPED_TRACE(path.string());
        const Node given = parsed(read_file(path), path.string());
        expect_same_shape(given, text_at(given, "notification"));
    }
}

TEST(ShippedChannels, ShowNoMarkupAndCallNobody) {
    test::BodyFacts wild;
    wild.title = wild.device = wild.message = "<b>x</b> @everyone <!channel> **y**";
    const auto body_for = [&](std::string url, std::string name) {
        Node given = Node::map();
        given.set("url", Node::text(std::move(url)));
        given.set("credentials", Node::text(std::move(name)));
        return request_of(given, test::body_of(wild)).value_or(model::HttpAsk{}).body;
    };
    EXPECT_EQ(body_for("slack://{secret}", "c").find("<!channel>"), std::string::npos);
    EXPECT_EQ(body_for("tgram://{secret}/1", "c").find("<b>x"), std::string::npos);
    EXPECT_EQ(body_for("mmost://h/{secret}", "c").find("@everyone"), std::string::npos);
    EXPECT_NE(body_for("discord://{secret}", "c").find(R"("allowed_mentions": {"parse": []})"),
              std::string::npos);
}

TEST(ShippedChannels, ADefinitionOfOnesOwnTakesThePlace) {
    document::Diagnostics diagnostics;
    auto own = read_channel_definition(
        "channel: slack\ntitle: Ours\nabout: ours\nformat: text\nurl: /x\nbody: 'hello {{ "
        "incident.title }}'\n",
        "own.yaml", diagnostics);
    ASSERT_NE(own, nullptr) << diagnostics.text();
    const ChannelLibrary library({own});
    EXPECT_EQ((*library.find("slack"))->title, "Ours");
    EXPECT_TRUE(library.find("ntfy"));
}

TEST(ShippedChannels, MistakesInADefinitionAreTold) {
    document::Diagnostics diagnostics;
    EXPECT_EQ(read_channel_definition("channel: x\ntitle: X\nabout: x\nformat: jsn\nbdy: x\n",
                                      "own.yaml", diagnostics),
              nullptr);
    EXPECT_THAT(diagnostics.text(),
                testing::AllOf(testing::HasSubstr("own.yaml:4"), testing::HasSubstr("bdy")));
    document::Diagnostics more;
    EXPECT_EQ(read_channel_definition(
                  "channel: x\ntitle: X\nabout: x\nformat: json\nbody: '{{ incidnt }}'\n",
                  "own.yaml", more),
              nullptr);
    EXPECT_THAT(more.text(), testing::HasSubstr("there is no \"incidnt\""));
}

TEST(Redacted, TakesSecretsOutInEveryForm) {
    const auto given = credentials();
    EXPECT_EQ(redacted("https://h/bothush/hush:1/x and hush%2Fhush%3A1", given.get()),
              "https://h/bot***/x and ***");
}

}  // namespace
}  // namespace pollux::feed
