// The http part of a manifest: base, authentication, endpoints and the rows of JSON bodies.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"
#include "extract/manifest_values.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMaxEndpoints = 64;
constexpr std::uint64_t kMaxBody = 64ULL << 20U;

bool is_header_name(std::string_view text) {
    return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-_").find(c) != std::string_view::npos;
    });
}

}  // namespace

Template AddonBuilder::url_template(Reader& reader, std::string_view key, const std::string& text) {
    Template compiled = Template::compile(text);
    std::vector<std::string_view> known = {"host", "port", "device"};
    for (const ParameterDef& parameter : plan_->parameters) known.push_back(parameter.name);
    for (const std::string& name : compiled.names()) {
        if (std::ranges::find(known, name) != known.end()) continue;
        const auto near = base::nearest(name, known);
        reader.error(key, fmt::format("the placeholder {{{}}} is not known; {}", name,
                                      near ? fmt::format("did you mean {{{}}}?", *near)
                                           : "declare it under parameters; known are " +
                                                 document::word_list(known)));
    }
    return compiled;
}

std::vector<std::pair<std::string, Template>> AddonBuilder::read_headers(Reader& reader) {
    std::vector<std::pair<std::string, Template>> out;
    const Node* headers = reader.map("headers");
    if (headers == nullptr) return out;
    Reader inner(*headers, reader.path_of("headers"), out_);
    for (const document::MapEntry& entry : headers->entries()) {
        const auto value = inner.string(entry.key);
        if (!value) continue;
        if (!is_header_name(entry.key) || base::has_control(*value)) {
            inner.error(entry.key,
                        "is no HTTP header; names are letters, digits and -, values one "
                        "line");
            continue;
        }
        out.emplace_back(entry.key, url_template(inner, entry.key, *value));
    }
    return out;
}

void AddonBuilder::read_http(Reader& reader) {
    const Node* node = reader.map("http", Need::kRequired);
    if (node == nullptr) return;
    HttpPlan& http = plan_->http;
    Reader inner(*node, "http", out_, keys::kHttp);
    const std::string base = inner.string("base").value_or("http://{host}:{port}");
    // A scheme that is a parameter is checked when the requests are made.
    const bool open_scheme = base.starts_with("{scheme}://") && find_parameter("scheme") != nullptr;
    if (!base.starts_with("http://") && !base.starts_with("https://") && !open_scheme) {
        inner.error("base", fmt::format("{} does not begin with http:// or https://; write it like "
                                        "https://{{host}}:{{port}}",
                                        quoted(base)));
    }
    http.base = url_template(inner, "base", base);
    if (plan_->port == 0 && !open_scheme) plan_->port = base.starts_with("https://") ? 443 : 80;
    read_auth(inner);
    read_tls(inner);
    http.http2 = inner.boolean("http2").value_or(true);
    http.headers = read_headers(inner);
    inner.any("endpoints", Need::kRequired);
    each(inner, "endpoints", kMaxEndpoints,
         [this](const Node& item, std::string path) { read_endpoint(item, std::move(path)); });
    inner.finish();
}

void AddonBuilder::read_auth(Reader& http) {
    const Node* node = http.any("auth");
    if (node == nullptr) return;
    const auto choices = {
        std::pair<std::string_view, model::HttpAuth>{"none", model::HttpAuth::kNone},
        {"basic", model::HttpAuth::kBasic},
        {"digest", model::HttpAuth::kDigest},
        {"bearer", model::HttpAuth::kBearer},
        {"api_key", model::HttpAuth::kApiKey}};
    if (node->is_scalar()) {
        plan_->http.auth =
            http.choice<model::HttpAuth>("auth", choices).value_or(model::HttpAuth::kNone);
        return;
    }
    Reader inner(*node, http.path_of("auth"), out_, keys::kAuth);
    plan_->http.auth = inner.choice<model::HttpAuth>("type", choices, Need::kRequired)
                           .value_or(model::HttpAuth::kNone);
    if (const auto header = inner.string("header")) {
        plan_->http.api_key_header = *header;
        if (!is_header_name(*header)) inner.error("header", "is no name of an HTTP header");
    }
    inner.finish();
}

void AddonBuilder::read_tls(Reader& http) {
    const Node* node = http.map("tls");
    if (node == nullptr) return;
    Reader inner(*node, http.path_of("tls"), out_, keys::kTls);
    model::TlsOptions& tls = plan_->http.tls;
    tls.verify = inner.boolean("verify").value_or(true);
    tls.ca_file = inner.string("ca_file").value_or("");
    tls.pin_sha256 = inner.string("pin_sha256").value_or("");
    const bool hex = std::ranges::all_of(
        tls.pin_sha256, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (!tls.pin_sha256.empty() && (tls.pin_sha256.size() != 64 || !hex)) {
        inner.error("pin_sha256", "is no SHA-256; write 64 hexadecimal digits in lower case");
    }
    inner.finish();
}

void AddonBuilder::read_endpoint(const Node& node, std::string path) {
    Reader reader(node, std::move(path), out_, keys::kEndpoint);
    EndpointPlan endpoint;
    read_name_and_group(reader, endpoint);
    read_request(reader, endpoint);
    read_expect(reader, endpoint);
    read_format(reader, endpoint);
    read_fallback(reader, endpoint);
    if (endpoint.format == BodyFormat::kNagios) {
        reader.error("format", "nagios only fits a command, which has an exit code");
    }
    add_endpoint(reader, std::move(endpoint));
}

void AddonBuilder::read_name_and_group(Reader& reader, EndpointPlan& endpoint) {
    endpoint.name = reader.string("name", Need::kRequired).value_or("");
    check_name(reader, "name", endpoint.name);
    const HttpPlan& http = plan_->http;
    if (std::ranges::find(http.endpoints, endpoint.name, &EndpointPlan::name) !=
        http.endpoints.end()) {
        reader.error("name", "is taken by one above; choose another");
    }
    endpoint.group = group_of(reader, endpoint.name, true);
}

void AddonBuilder::read_format(Reader& reader, EndpointPlan& endpoint) {
    endpoint.format = read_body_format(reader, endpoint.format);
    endpoint.separator = reader.string("separator").value_or("=");
    if (endpoint.separator.empty()) reader.error("separator", "is empty; write it like \"=\"");
    if (reader.has("separator") && endpoint.format != BodyFormat::kKeyValue) {
        reader.error("separator", "only fits format: key_value");
    }
    read_format_parts(reader, endpoint);
}

// What all kinds of requests have in common; ends the reader.
void AddonBuilder::add_endpoint(Reader& reader, EndpointPlan endpoint) {
    HttpPlan& http = plan_->http;
    endpoint.optional = reader.boolean("optional").value_or(false);
    read_endpoint_signals(reader, endpoint);
    const auto index = static_cast<std::uint16_t>(http.endpoints.size());
    if (plan_->groups.size() <= endpoint.group) plan_->groups.resize(endpoint.group + 1U);
    GroupPlan& group = plan_->groups[endpoint.group];
    endpoint.ask = static_cast<std::uint16_t>(group.endpoints.size());
    group.endpoints.push_back(index);
    const Node* rows = reader.map("rows");
    if (rows != nullptr && !is_tree(endpoint.format)) {
        reader.error("rows", "only fits format: json, xml, table, grok or nagios");
    }
    const std::string rows_path = reader.path_of("rows");
    reader.finish();
    http.endpoints.push_back(std::move(endpoint));
    if (rows == nullptr) return;
    for (const document::MapEntry& entry : rows->entries()) {
        read_json_rows(entry, document::key_path(rows_path, entry.key), index);
    }
}

void AddonBuilder::read_request(Reader& reader, EndpointPlan& endpoint) {
    const std::string path = reader.string("path").value_or("/");
    if (!path.starts_with('/') && !path.starts_with('{')) {
        reader.error("path", fmt::format("{} does not begin with /", quoted(path)));
    }
    endpoint.path = url_template(reader, "path", path);
    endpoint.method = reader
                          .choice<model::HttpMethod>("method", {{"GET", model::HttpMethod::kGet},
                                                                {"POST", model::HttpMethod::kPost},
                                                                {"HEAD", model::HttpMethod::kHead},
                                                                {"PUT", model::HttpMethod::kPut}})
                          .value_or(model::HttpMethod::kGet);
    endpoint.headers = read_headers(reader);
    const std::string body = reader.string("body").value_or("");
    endpoint.json_body = body.starts_with('{') || body.starts_with('[');
    endpoint.body = url_template(reader, "body", body);
    endpoint.timeout = reader.duration("timeout", 10ms, 10min);
    endpoint.max_redirects =
        static_cast<std::uint32_t>(reader.integer("redirects", 0, 20).value_or(0));
    endpoint.lenient = reader.boolean("lenient").value_or(false);
    if (const auto size = reader.string("max_body")) {
        const auto bytes = parse_size(*size, kMaxBody);
        if (!bytes) {
            reader.error("max_body", fmt::format("{} is no size up to 64MiB; write it like 64KiB "
                                                 "or 4MiB",
                                                 quoted(*size)));
        }
        endpoint.max_body_bytes = bytes.value_or(endpoint.max_body_bytes);
    }
}

void AddonBuilder::read_expect(Reader& reader, EndpointPlan& endpoint) {
    const auto expect = reader.strings("expect");
    if (expect.empty()) return;
    endpoint.expect.clear();
    for (const std::string& text : expect) {
        const auto range = text == "any" ? std::pair(100, 599) : parse_range(text, 100, 599);
        if (!range) {
            reader.error("expect",
                         fmt::format("{} is no status; write 200, 200-299 or any", quoted(text)));
            continue;
        }
        endpoint.expect.push_back(*range);
    }
}

void AddonBuilder::read_json_rows(const document::MapEntry& entry, std::string path,
                                  std::uint16_t endpoint) {
    RowSet rows;
    rows.name = entry.key;
    rows.endpoint = endpoint;
    rows.group = plan_->http.endpoints[endpoint].group;
    const bool taken =
        std::ranges::find(plan_->row_sets, entry.key, &RowSet::name) != plan_->row_sets.end();
    if (!is_identifier(entry.key) || taken) {
        out_.error(entry.key_mark, path, "is no name for rows, or taken; write a-z, 0-9 and _");
    }
    Reader reader(entry.value, std::move(path), out_, keys::kJsonRows);
    bool disabled = false;
    const auto compile = [&](std::string_view key, const std::string& text, bool leaf) {
        std::optional<JsonPath> out;
        const auto filled = substituted(text, disabled);
        if (!filled) return out;
        auto compiled = compile_path(endpoint, *filled, leaf);
        if (!compiled) {
            reader.error(key, compiled.error().message);
        } else {
            out = std::move(*compiled);
        }
        return out;
    };
    if (const auto from = reader.string("from", Need::kRequired)) {
        rows.from = compile("from", *from, false);
    }
    if (const auto name = reader.string("name")) {
        rows.naming = *name == "key"     ? RowNaming::kKey
                      : *name == "index" ? RowNaming::kIndex
                                         : RowNaming::kField;
        if (rows.naming == RowNaming::kField) rows.name_path = compile("name", *name, true);
    }
    rows.names = read_filter(reader);
    read_where(reader, rows);
    reader.finish();
    plan_->row_sets.push_back(std::move(rows));
}

}  // namespace pollux::extract
