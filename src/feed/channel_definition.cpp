#include "feed/channel_definition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/parse.hpp"
#include "feed/shipped_channels.hpp"

namespace pollux::feed {
namespace {

using document::MapReader;
using document::Need;

constexpr std::array<std::string_view, 17> kNames = {
    "version",     "kind",         "provisional", "receiver", "route", "externalURL",
    "groupLabels", "commonLabels", "incident",    "alerts",   "more",  "notification",
    "param",       "credential",   "delivery",    "channel",  "about"};

constexpr std::array<std::string_view, 7> kCommonParams = {
    "auth", "auth_header", "method", "verify", "ca_file", "user", "tls"};

// A template of the definition; an error is told at the place of its text.
std::optional<Template> read_template(MapReader& reader, std::string_view key,
                                      const std::string& text, Format format) {
    auto made = Template::compile(text, format, kNames);
    if (made) return std::move(*made);
    reader.error(key, made.error().message);
    return std::nullopt;
}

void read_headers(MapReader& reader, std::vector<std::pair<std::string, Template>>& out,
                  document::Diagnostics& diagnostics) {
    const document::Node* headers = reader.map("headers");
    if (headers == nullptr) return;
    for (const auto& [name, mark, value] : headers->entries()) {
        auto made = Template::compile(value.scalar(), Format::kHeader, kNames);
        if (made) {
            out.emplace_back(name, std::move(*made));
        } else {
            diagnostics.error(value.mark(), "headers." + name, made.error().message);
        }
    }
}

// "https://host" in front of a path; empty if the text is only a path.
std::string take_origin(std::string& url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string::npos) return {};
    const std::size_t path = std::min(url.find('/', scheme + 3), url.size());
    std::string origin = url.substr(0, path);
    url.erase(0, path);
    return origin;
}

}  // namespace

std::span<const std::string_view> template_names() { return kNames; }

bool is_common_param(std::string_view name) {
    return name.starts_with("header.") ||
           std::ranges::find(kCommonParams, name) != kCommonParams.end();
}

std::shared_ptr<const ChannelDefinition> read_channel_definition(
    std::string_view text, const std::string& file, document::Diagnostics& diagnostics) {
    const document::Parsed parsed = document::parse(text, file, diagnostics);
    if (!parsed.ok) return nullptr;
    MapReader reader(parsed.root, "", diagnostics);
    const auto name = reader.string("channel", Need::kRequired);
    const auto title = reader.string("title", Need::kRequired);
    const auto about = reader.string("about", Need::kRequired);
    const auto credential = reader.string("credential");
    const auto digests = reader.boolean("digests");
    auto url = reader.string("url").value_or("");
    using model::HttpMethod;
    const auto method = reader.choice<HttpMethod>(
        "method",
        {{"POST", HttpMethod::kPost}, {"PUT", HttpMethod::kPut}, {"GET", HttpMethod::kGet}});
    const auto auth = reader.choice<model::HttpAuth>("auth", {{"none", model::HttpAuth::kNone},
                                                              {"bearer", model::HttpAuth::kBearer},
                                                              {"basic", model::HttpAuth::kBasic}});
    const auto format = reader.choice<Format>("format",
                                              {{"json", Format::kJson},
                                               {"text", Format::kText},
                                               {"html", Format::kHtml},
                                               {"form", Format::kForm}},
                                              Need::kRequired);
    const auto body = reader.string("body", Need::kRequired);
    std::map<std::string, std::string> params;
    if (const document::Node* all = reader.map("params")) {
        for (const auto& [key, mark, value] : all->entries()) params[key] = value.scalar();
    }
    std::vector<std::pair<std::string, Template>> headers;
    read_headers(reader, headers, diagnostics);
    reader.finish();
    std::string origin = take_origin(url);
    auto url_template = read_template(reader, "url", url, Format::kUrl);
    auto body_template =
        read_template(reader, "body", body.value_or(""), format.value_or(Format::kText));
    if (!diagnostics.ok() || !url_template || !body_template) return nullptr;
    return std::make_shared<const ChannelDefinition>(
        ChannelDefinition{.name = *name,
                          .title = *title,
                          .about = *about,
                          .credential = credential.value_or(""),
                          .digests = digests.value_or(false),
                          .params = std::move(params),
                          .method = method.value_or(HttpMethod::kPost),
                          .auth = auth.value_or(model::HttpAuth::kNone),
                          .fixed_origin = std::move(origin),
                          .url = std::move(*url_template),
                          .headers = std::move(headers),
                          .body = std::move(*body_template)});
}

const ChannelLibrary& ChannelLibrary::shipped() {
    static const ChannelLibrary library = [] {
        ChannelLibrary made;
        for (const ShippedChannel& one : shipped_channels()) {
            document::Diagnostics diagnostics;
            auto definition =
                read_channel_definition(one.definition, std::string(one.file), diagnostics);
            // They are tested: one that cannot be read is a broken build.
            POLLUX_CHECK_MSG(definition != nullptr, "a shipped channel cannot be read");
            made.all_.emplace(one.name, std::move(definition));
        }
        return made;
    }();
    return library;
}

ChannelLibrary::ChannelLibrary(std::vector<std::shared_ptr<const ChannelDefinition>> own)
    : all_(shipped().all_) {
    for (auto& one : own) all_[one->name] = std::move(one);
}

base::Result<std::shared_ptr<const ChannelDefinition>> ChannelLibrary::find(
    std::string_view name) const {
    const auto found = all_.find(name);
    if (found != all_.end()) return found->second;
    std::vector<std::string_view> names;
    for (const auto& [known, definition] : all_) names.push_back(known);
    const auto meant = base::nearest(name, names);
    return base::config_error(
        "feed.unknown_template",
        fmt::format("there is no template {}{}; there are {}; those of your own stand in the "
                    "folder that the setting channel_folder names",
                    base::quoted(name), meant ? fmt::format(", did you mean {}?", *meant) : "",
                    document::word_list(names)));
}

}  // namespace pollux::feed
