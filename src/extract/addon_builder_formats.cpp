// How answers are written (XML, tables, patterns), paths into them, and which request stands in for
// which.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"
#include "extract/xml_document.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;

namespace {

constexpr std::size_t kMaxColumns = 256;
constexpr std::size_t kMaxLine = 100'000;

}  // namespace

bool EndpointPlan::replaces(int status) const {
    return std::ranges::any_of(when_status, [&](const auto& range) {
        return status >= range.first && status <= range.second;
    });
}

BodyFormat AddonBuilder::read_body_format(Reader& reader) {
    return reader
        .choice<BodyFormat>("format", {{"json", BodyFormat::kJson},
                                       {"xml", BodyFormat::kXml},
                                       {"table", BodyFormat::kTable},
                                       {"grok", BodyFormat::kGrok},
                                       {"text", BodyFormat::kText},
                                       {"key_value", BodyFormat::kKeyValue},
                                       {"form", BodyFormat::kForm},
                                       {"none", BodyFormat::kNone}})
        .value_or(BodyFormat::kJson);
}

void AddonBuilder::read_format_parts(Reader& reader, EndpointPlan& endpoint) {
    if (reader.has("table") && endpoint.format != BodyFormat::kTable) {
        reader.error("table", "only fits format: table");
    }
    if (reader.has("grok") && endpoint.format != BodyFormat::kGrok) {
        reader.error("grok", "only fits format: grok");
    }
    if (endpoint.format == BodyFormat::kTable) read_text_table(reader, endpoint);
    if (endpoint.format == BodyFormat::kGrok) read_grok(reader, endpoint);
}

void AddonBuilder::read_text_table(Reader& reader, EndpointPlan& endpoint) {
    TextTable& table = endpoint.table.emplace();
    const Node* node = reader.map("table");
    if (node == nullptr) return;
    Reader inner(*node, reader.path_of("table"), out_, keys::kTextTable);
    table.separator = inner.string("separator").value_or("");
    table.columns = inner.strings("columns");
    table.skip = static_cast<std::size_t>(inner.integer("skip", 0, 1000).value_or(0));
    if (table.columns.size() > kMaxColumns) inner.error("columns", "are more than 256");
    if (const Node* fixed = inner.map("fixed")) {
        Reader places(*fixed, inner.path_of("fixed"), out_);
        for (const document::MapEntry& entry : fixed->entries()) {
            const std::string text = places.string(entry.key).value_or("");
            const std::size_t dash = text.find('-');
            const auto first = document::parse_unsigned(std::string_view(text).substr(0, dash));
            const bool open = dash != std::string::npos && dash + 1 == text.size();
            const auto last =
                dash == std::string::npos ? first
                : open                    ? std::optional<std::uint64_t>(0)
                       : document::parse_unsigned(std::string_view(text).substr(dash + 1));
            const bool good = first && last && *first >= 1 && *first <= kMaxLine &&
                              *last <= kMaxLine && (*last == 0 || *last >= *first);
            if (!good || table.fixed.size() >= kMaxColumns) {
                places.error(entry.key,
                             "is no place in a line; write it like 1-10, counted from 1, or 11- "
                             "for the rest");
                continue;
            }
            table.fixed.emplace_back(entry.key, std::pair(static_cast<std::size_t>(*first),
                                                          static_cast<std::size_t>(*last)));
        }
    }
    if (!table.fixed.empty() && (!table.columns.empty() || !table.separator.empty())) {
        inner.error("fixed", "stands beside columns or separator; keep one");
    }
    inner.finish();
}

void AddonBuilder::read_grok(Reader& reader, EndpointPlan& endpoint) {
    const Node* node = reader.map("grok", Need::kRequired);
    if (node == nullptr) return;
    Reader inner(*node, reader.path_of("grok"), out_, keys::kGrok);
    GrokOptions options;
    if (const Node* patterns = inner.map("patterns")) {
        Reader own(*patterns, inner.path_of("patterns"), out_);
        for (const document::MapEntry& entry : patterns->entries()) {
            if (const auto text = own.string(entry.key)) options.patterns[entry.key] = *text;
        }
    }
    options.fields = inner.strings("fields");
    const bool whole = inner.boolean("whole").value_or(false);
    if (const auto pattern = inner.string("pattern", Need::kRequired)) {
        auto compiled = Grok::compile(*pattern, options);
        if (compiled) {
            endpoint.grok.emplace(GrokFormat{std::move(*compiled), whole});
        } else {
            inner.error("pattern", compiled.error().message);
        }
    }
    inner.finish();
}

// A request that is only made when another one ended with such a status.
void AddonBuilder::read_fallback(Reader& reader, EndpointPlan& endpoint) {
    const auto name = reader.string("instead_of");
    const auto statuses = reader.strings("when_status");
    if (!name) {
        if (!statuses.empty()) reader.error("when_status", "needs instead_of: another endpoint");
        return;
    }
    const auto& endpoints = plan_->http.endpoints;
    const auto found = std::ranges::find(endpoints, *name, &EndpointPlan::name);
    if (found == endpoints.end() || found->group != endpoint.group || found->instead_of) {
        reader.error("instead_of",
                     fmt::format("{} is no endpoint above in the same group, or stands in for "
                                 "another itself",
                                 quoted(*name)));
        return;
    }
    endpoint.instead_of = static_cast<std::uint16_t>(found - endpoints.begin());
    const auto& above = plan_->groups[endpoint.group].endpoints;
    const EndpointPlan& previous = endpoints[above.back()];
    if (above.back() != *endpoint.instead_of && previous.instead_of != endpoint.instead_of) {
        reader.error("instead_of", "stands directly below the endpoint that it stands in for");
    }
    for (const std::string& text : statuses) {
        const auto range = parse_status_range(text);
        if (range) {
            endpoint.when_status.push_back(*range);
        } else {
            reader.error("when_status",
                         fmt::format("{} is no status; write 404 or 400-499", quoted(text)));
        }
    }
    if (statuses.empty()) endpoint.when_status = {{404, 404}};
}

base::Result<JsonPath> AddonBuilder::compile_path(std::uint16_t endpoint, const std::string& text,
                                                  bool leaf) {
    if (plan_->http.endpoints[endpoint].format != BodyFormat::kXml) return JsonPath::compile(text);
    const auto path = xml_path_to_json_path(text, leaf);
    if (!path) return std::unexpected(path.error());
    return JsonPath::compile(*path);
}

}  // namespace pollux::extract
