// A byte that chooses the format, a template, a line "---", and a text that all values hold: no
// crash, bounded output; what a JSON template makes is JSON, and no value gets out of its place.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "document/node.hpp"
#include "document/parse.hpp"
#include "feed/template.hpp"

namespace {

using pollux::document::Node;
using pollux::feed::Format;
using pollux::feed::Template;

// One alert in a list, one incident; every text is the given one.
Node body_with(std::string_view text) {
    const auto leaf = [&] { return Node::text(std::string(text)); };
    Node alert = Node::map();
    for (const char* key : {"device", "title", "message"}) alert.set(key, leaf());
    alert.set("occurrences", Node::integer(3));
    Node alerts = Node::sequence();
    alerts.push(alert);
    alerts.push(std::move(alert));
    Node root = Node::map();
    root.set("alerts", std::move(alerts));
    Node incident = Node::map();
    incident.set("title", leaf());
    root.set("incident", std::move(incident));
    root.set("kind", leaf());
    return root;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr Format kFormats[] = {Format::kJson, Format::kText, Format::kHtml,
                                   Format::kForm, Format::kUrl,  Format::kHeader};
    const Format format = kFormats[data[0] % 6];
    std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    const std::size_t cut = std::min(text.find("\n---\n"), text.size());
    const std::string_view value = text.substr(std::min(text.size(), cut + 5));
    const auto made = Template::compile(text.substr(0, cut), format);
    if (!made) {
        POLLUX_CHECK(made.error().code == "feed.template" && !made.error().message.empty());
        return 0;
    }
    const Node root = body_with(value);
    pollux::feed::TemplateNames names;
    for (const auto& [key, mark, node] : root.entries()) names.emplace_back(key, &node);
    const auto out = made->render(names, 32U << 10U);
    if (!out) {
        POLLUX_CHECK(out.error().code == "feed.template_output");
        return 0;
    }
    POLLUX_CHECK(out->size() <= (32U << 10U));
    if (format == Format::kJson) {
        pollux::document::Diagnostics diagnostics;
        POLLUX_CHECK(pollux::document::parse_json(*out, "out", diagnostics).ok);
    }
    // A template that is one value alone: nothing of the format's own signs is left in it.
    const auto alone = Template::compile("{{ incident.title }}", format);
    const auto only = alone->render(names, 1U << 20U);
    POLLUX_CHECK(only.has_value() && pollux::base::is_valid_utf8(*only));
    POLLUX_CHECK(only->find_first_of("\r\n") == std::string::npos);
    if (format == Format::kHtml) POLLUX_CHECK(only->find_first_of("<>\"'") == std::string::npos);
    if (format == Format::kForm || format == Format::kUrl) {
        POLLUX_CHECK(only->find_first_of("&=?#/ ") == std::string::npos);
    }
    return 0;
}
