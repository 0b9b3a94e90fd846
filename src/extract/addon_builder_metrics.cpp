// The metrics of a manifest: where each value comes from and what it becomes.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/scalar.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;

namespace {

constexpr std::size_t kMaxMetrics = 1000;
constexpr std::size_t kMaxMapEntries = 500;
constexpr std::int64_t kMaxStateNumber = 255;

template <class Items, class Projection>
std::vector<std::string_view> names_of(const Items& items, Projection name) {
    std::vector<std::string_view> out;
    for (const auto& item : items) out.push_back(std::invoke(name, item));
    return out;
}

model::Value scalar_value(const document::Node& node) {
    if (!node.is_scalar()) return {};
    if (node.quoted()) return node.scalar();
    if (const auto flag = document::parse_boolean(node.scalar())) return *flag;
    if (const auto i = document::parse_integer(node.scalar())) return *i;
    if (const auto d = document::parse_number(node.scalar())) return *d;
    return node.scalar();
}

// Keys of a map are plain words; a number among them means the number.
model::Value key_value(const std::string& key) {
    if (const auto flag = document::parse_boolean(key)) return *flag;
    if (const auto i = document::parse_integer(key)) return *i;
    return key;
}

}  // namespace

void AddonBuilder::read_metrics(Reader& reader) {
    // What only makes signals need not measure anything.
    const bool signals = reader.has("signals") || model::is_inbound(plan_->addon.protocol);
    reader.any("metrics", signals ? Need::kOptional : Need::kRequired);
    each(reader, "metrics", kMaxMetrics,
         [this](const Node& item, std::string path) { read_metric(item, std::move(path)); });
}

void AddonBuilder::read_metric(const Node& node, std::string path) {
    Reader reader(node, std::move(path), out_, keys::kMetric);
    model::MetricDef metric;
    Rule rule;
    metric.name = reader.string("name", Need::kRequired).value_or("");
    check_name(reader, "name", metric.name);
    if (metric.name == "raw" || rules_.contains(metric.name)) {
        reader.error("name", metric.name == "raw"
                                 ? "raw is what a value reads before it is computed; choose another"
                                 : "is taken by a metric above; choose another");
    }
    rule.name = metric.name;
    read_shape(reader, metric, rule);
    const bool internal = reader.boolean("internal").value_or(false);
    if (reader.has("ratio")) {
        read_ratio(reader, metric, rule);
    } else {
        read_source(reader, rule);
        read_value(reader, rule);
        check_use(reader, rule);
    }
    read_map(reader, metric, rule);
    read_range(reader, rule);
    reader.finish();
    metric.valid = rule.valid;
    metric.group = rule.group;
    metric.per_row = rule.row_set.has_value();
    // A derived metric reads nothing: its place among the rules is only a name.
    if (metric.ratio) {
        rule.disabled = true;
        metric.per_row = plan_->addon.metrics[metric.ratio->of].per_row;
        metric.group = plan_->addon.metrics[metric.ratio->of].group;
    }
    if (!internal) {
        rule.metric = static_cast<std::uint16_t>(plan_->addon.metrics.size());
        plan_->addon.metrics.push_back(std::move(metric));
    }
    rules_.emplace(rule.name, static_cast<std::uint16_t>(plan_->rules.size()));
    plan_->rules.push_back(std::move(rule));
}

void AddonBuilder::read_shape(Reader& reader, model::MetricDef& metric, Rule& rule) {
    metric.type = reader
                      .choice<model::MetricType>("type", {{"gauge", model::MetricType::kGauge},
                                                          {"counter", model::MetricType::kCounter},
                                                          {"state", model::MetricType::kState},
                                                          {"text", model::MetricType::kText}})
                      .value_or(model::MetricType::kGauge);
    rule.type = metric.type;
    metric.unit = reader.string("unit").value_or("");
    metric.help = reader.string("help").value_or("");
    if (const auto bits = reader.integer("bits", 32, 64)) {
        if ((*bits != 32 && *bits != 64) || metric.type != model::MetricType::kCounter) {
            reader.error("bits", "is 32 or 64, for a counter");
        }
        metric.counter_bits = static_cast<std::uint8_t>(*bits);
    }
    rule.optional = reader.boolean("optional").value_or(false);
    const auto rows = reader.string("rows");
    if (!rows) return;
    const auto found = std::ranges::find(plan_->row_sets, *rows, &RowSet::name);
    if (found == plan_->row_sets.end()) {
        const auto names = names_of(plan_->row_sets, &RowSet::name);
        reader.error("rows",
                     fmt::format("{} is not known; {}", quoted(*rows),
                                 names.empty() ? "there are no tables or rows above"
                                               : "there are " + document::word_list(names)));
        return;
    }
    rule.row_set = static_cast<std::uint16_t>(found - plan_->row_sets.begin());
    rule.group = found->group;
    rule.endpoint = found->endpoint;
}

void AddonBuilder::read_source(Reader& reader, Rule& rule) {
    const bool http = plan_->addon.protocol == model::ProtocolKind::kHttp ||
                      plan_->addon.protocol == model::ProtocolKind::kWebhook;
    for (const std::string_view key : {"endpoint", "path", "key", "header", "fact"}) {
        if (!http && reader.has(key)) reader.error(key, "only fits protocol: http");
    }
    for (const std::string_view key : {"get", "column"}) {
        if (http && reader.has(key)) reader.error(key, "only fits protocol: snmp");
    }
    if (http) {
        read_http_source(reader, rule);
    } else {
        read_snmp_source(reader, rule);
    }
    read_pattern(reader, rule);
}

// Whether the metric is a fact of the exchange itself.
bool AddonBuilder::read_fact(Reader& reader, Rule& rule) {
    if (!reader.has("fact")) return false;
    rule.source = SourceKind::kFact;
    rule.fact =
        reader
            .choice<HttpFact>("fact", {{"status", HttpFact::kStatus},
                                       {"latency", HttpFact::kLatency},
                                       {"dns_time", HttpFact::kDnsTime},
                                       {"connect_time", HttpFact::kConnectTime},
                                       {"tls_time", HttpFact::kTlsTime},
                                       {"first_byte_time", HttpFact::kFirstByteTime},
                                       {"size", HttpFact::kSize},
                                       {"redirects", HttpFact::kRedirects},
                                       {"http_version", HttpFact::kHttpVersion},
                                       {"certificate_days", HttpFact::kCertificateDays},
                                       {"certificate_subject", HttpFact::kCertificateSubject},
                                       {"certificate_issuer", HttpFact::kCertificateIssuer}})
            .value_or(HttpFact::kStatus);
    return true;
}

void AddonBuilder::read_http_source(Reader& reader, Rule& rule) {
    const auto& endpoints = plan_->http.endpoints;
    if (const auto name = reader.string("endpoint")) {
        const auto found = std::ranges::find(endpoints, *name, &EndpointPlan::name);
        if (found == endpoints.end()) {
            reader.error(
                "endpoint",
                fmt::format("{} is not known; there are {}", quoted(*name),
                            document::word_list(names_of(endpoints, &EndpointPlan::name))));
            return;
        }
        const auto index = static_cast<std::uint16_t>(found - endpoints.begin());
        if (rule.row_set && index != rule.endpoint) {
            reader.error("endpoint", "is not the endpoint of the rows; leave it away");
        }
        rule.endpoint = index;
    }
    int sources = 0;
    const auto text_of = [&](std::string_view key, SourceKind kind) -> std::optional<std::string> {
        const auto text = reader.string(key);
        if (!text) return std::nullopt;
        ++sources;
        rule.source = kind;
        return substituted(*text, rule.disabled);
    };
    if (const auto path = text_of("path", SourceKind::kJson); path && !endpoints.empty()) {
        auto compiled = compile_path(rule.endpoint, *path, true);
        if (!compiled) {
            reader.error("path", compiled.error().message);
        } else {
            rule.path = std::move(*compiled);
        }
    }
    if (const auto key = text_of("key", SourceKind::kKey)) rule.key = *key;
    if (auto header = text_of("header", SourceKind::kHeader)) {
        std::ranges::transform(*header, header->begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        rule.key = std::move(*header);
    }
    if (read_fact(reader, rule)) ++sources;
    if (sources > 1) {
        reader.error("name", "has several sources; keep one of path, key, header and fact");
    }
    if (sources == 0 && (reader.has("pattern") || reader.has("matches"))) {
        rule.source = SourceKind::kBody;
    }
    if (rule.source == SourceKind::kNone || endpoints.empty()) return;
    if (endpoints.size() > 1 && !reader.has("endpoint") && !rule.row_set) {
        reader.error("endpoint", "is missing; there are several endpoints");
    }
    const EndpointPlan& endpoint = endpoints[rule.endpoint];
    rule.group = endpoint.group;
    if (rule.source == SourceKind::kJson && !is_tree(endpoint.format)) {
        reader.error("path",
                     fmt::format("needs format: json, xml, table or grok at the endpoint {}",
                                 endpoint.name));
    }
    if (rule.source == SourceKind::kKey && endpoint.format != BodyFormat::kKeyValue &&
        endpoint.format != BodyFormat::kForm) {
        reader.error("key",
                     fmt::format("needs format: key_value at the endpoint {}", endpoint.name));
    }
    if (rule.row_set && rule.source != SourceKind::kJson) {
        reader.error("rows", "only fits a metric with path or value");
    }
}

void AddonBuilder::read_snmp_source(Reader& reader, Rule& rule) {
    const auto gets = reader.strings("get");
    const auto columns = reader.strings("column");
    if (!gets.empty() && !columns.empty()) reader.error("get", "stands beside column; keep one");
    for (const std::string& name : gets) {
        rule.source = SourceKind::kGet;
        const auto found = std::ranges::find(plan_->snmp.gets, name, &SnmpGet::name);
        if (found == plan_->snmp.gets.end()) {
            const auto names = names_of(plan_->snmp.gets, &SnmpGet::name);
            const auto near = base::nearest(name, names);
            reader.error(
                "get", near ? fmt::format("{} is not known; did you mean {}?", quoted(name), *near)
                            : fmt::format("{} is not under snmp.gets", quoted(name)));
            continue;
        }
        if (!rule.from.empty() && rule.group != found->group) {
            reader.error("get", "names values of several groups; one task reads one group");
        }
        rule.group = found->group;
        rule.from.push_back(found->index);
    }
    if (!gets.empty() && rule.row_set) reader.error("rows", "does not fit get; use column");
    for (const std::string& name : columns) {
        rule.source = SourceKind::kColumn;
        if (!rule.row_set) {
            reader.error("column", "needs rows: the name of the table");
            return;
        }
        const auto& known = plan_->row_sets[*rule.row_set].columns;
        const auto found = std::ranges::find(known, name, &SnmpColumn::name);
        if (found == known.end()) {
            reader.error("column",
                         fmt::format("{} is no column of the table; there are {}", quoted(name),
                                     document::word_list(names_of(known, &SnmpColumn::name))));
            continue;
        }
        rule.from.push_back(static_cast<std::uint16_t>(found - known.begin()));
    }
}

void AddonBuilder::read_pattern(Reader& reader, Rule& rule) {
    const auto capture = reader.string("pattern");
    const auto matches = reader.string("matches");
    if (capture && matches) reader.error("matches", "stands beside pattern; keep one");
    if (!capture && !matches) return;
    rule.matches = matches.has_value();
    const auto filled = substituted(capture ? *capture : *matches, rule.disabled);
    if (!filled) return;
    auto pattern = Pattern::compile(*filled);
    if (!pattern) {
        reader.error(capture ? "pattern" : "matches", pattern.error().message);
        return;
    }
    rule.pattern = std::move(*pattern);
    if (rule.source == SourceKind::kNone) {
        reader.error(capture ? "pattern" : "matches", "has nothing to look at; name a source too");
    }
}

void AddonBuilder::read_value(Reader& reader, Rule& rule) {
    const auto text = reader.string("value");
    if (!text) {
        if (rule.source == SourceKind::kNone) {
            reader.error("name",
                         plan_->addon.protocol == model::ProtocolKind::kHttp
                             ? "has no source; name path, key, header, fact, pattern or value"
                             : "has no source; name get, column or value");
        }
        return;
    }
    const auto filled = substituted(*text, rule.disabled);
    if (!filled) return;
    auto compiled =
        Expression::compile(*filled, [&](std::string_view name) -> std::optional<std::uint16_t> {
            if (name == "raw" && rule.source != SourceKind::kNone) return kRawName;
            const auto found = rules_.find(name);
            if (found == rules_.end()) return std::nullopt;
            return static_cast<std::uint16_t>(found->second + 1);
        });
    if (!compiled) {
        reader.error("value", compiled.error().message + "; names are metrics above this one" +
                                  (rule.source == SourceKind::kNone ? "" : " and raw"));
        return;
    }
    rule.value = std::move(*compiled);
}

// An expression lives where its values live: in one task, and in one kind of row.
void AddonBuilder::check_use(Reader& reader, Rule& rule) {
    if (!rule.value) return;
    bool placed = rule.source != SourceKind::kNone || rule.row_set;
    for (const std::uint16_t name : rule.value->names()) {
        if (name == kRawName) continue;
        const Rule& used = plan_->rules[name - 1U];
        if (used.disabled) rule.disabled = true;
        if (placed && used.group != rule.group) {
            reader.error("value", fmt::format("uses {}, which another task reads; values of one "
                                              "expression belong to one group",
                                              used.name));
        }
        if (!placed) rule.group = used.group;
        placed = true;
        if (!used.row_set) continue;
        if (rule.row_set ? *rule.row_set != *used.row_set : rule.source != SourceKind::kNone) {
            reader.error("value", fmt::format("uses {}, which belongs to other rows", used.name));
        } else {
            rule.row_set = used.row_set;
        }
    }
}

void AddonBuilder::read_ratio(Reader& reader, model::MetricDef& metric, Rule& rule) {
    const Node* node = reader.map("ratio");
    if (node == nullptr) return;
    for (const std::string_view key : {"value", "path", "get", "column", "key", "header", "fact",
                                       "pattern", "matches", "rows", "map", "scale", "offset"}) {
        if (reader.has(key)) reader.error(key, "does not fit ratio, which is derived");
    }
    if (metric.type != model::MetricType::kGauge) reader.error("type", "of a ratio is gauge");
    Reader inner(*node, reader.path_of("ratio"), out_, keys::kRatio);
    model::RateRatio ratio;
    ratio.factor = inner.number("factor").value_or(1);
    const auto of = metric_named(inner, "of");
    const auto to = metric_named(inner, "to");
    inner.finish();
    if (!of || !to) return;
    const model::MetricDef& counter = plan_->addon.metrics[*of];
    const model::MetricDef& whole = plan_->addon.metrics[*to];
    if (counter.type != model::MetricType::kCounter) inner.error("of", "is no counter");
    if (whole.type != model::MetricType::kGauge) inner.error("to", "is no gauge");
    if (counter.group != whole.group || (whole.per_row && !counter.per_row)) {
        inner.error("to", "is not read together with `of`; both belong to the same rows and group");
    }
    ratio.of = *of;
    ratio.to = *to;
    metric.ratio = ratio;
    rule.group = counter.group;
}

void AddonBuilder::read_map(Reader& reader, model::MetricDef& metric, Rule& rule) {
    const Node* map = reader.map("map");
    if (map == nullptr) return;
    if (map->entries().size() > kMaxMapEntries) {
        reader.error("map", fmt::format("has more than {} entries", kMaxMapEntries));
        return;
    }
    rule.has_map = true;
    const bool state = metric.type == model::MetricType::kState;
    const bool numbered =
        state && std::ranges::all_of(map->entries(), [](const auto& entry) {
            const auto number = document::parse_integer(entry.key);
            return entry.key == "*" || (number && *number >= 0 && *number <= kMaxStateNumber);
        });
    for (const document::MapEntry& entry : map->entries()) {
        const std::string path = document::key_path(reader.path_of("map"), entry.key);
        model::Value to = scalar_value(entry.value);
        if (std::holds_alternative<std::monostate>(to)) {
            out_.error(entry.value.mark(), path, "is no single value; write it like 1: up");
            continue;
        }
        if (state) {
            // States are words with numbers: the device's own where it has them, else in order.
            const std::string word = entry.value.scalar();
            std::size_t number = metric.states.size();
            if (numbered && entry.key != "*") {
                number = static_cast<std::size_t>(*document::parse_integer(entry.key));
            } else {
                const auto known = std::ranges::find(metric.states, word);
                number = static_cast<std::size_t>(known - metric.states.begin());
            }
            if (number >= metric.states.size()) metric.states.resize(number + 1);
            metric.states[number] = word;
            to = static_cast<std::int64_t>(number);
        }
        if (entry.key == "*") {
            rule.map.otherwise = std::move(to);
        } else {
            rule.map.entries.emplace_back(key_value(entry.key), std::move(to));
        }
    }
}

void AddonBuilder::read_range(Reader& reader, Rule& rule) {
    rule.scale = reader.number("scale").value_or(1);
    rule.offset = reader.number("offset").value_or(0);
    const bool numeric =
        rule.type == model::MetricType::kGauge || rule.type == model::MetricType::kCounter;
    if ((reader.has("scale") || reader.has("offset")) && !numeric) {
        reader.error(reader.has("scale") ? "scale" : "offset", "only fits a gauge or a counter");
    }
    const Node* valid = reader.map("valid");
    if (valid == nullptr) return;
    Reader inner(*valid, reader.path_of("valid"), out_, keys::kValid);
    rule.valid.low = inner.number("min");
    rule.valid.high = inner.number("max");
    if (rule.valid.low && rule.valid.high && *rule.valid.low > *rule.valid.high) {
        inner.error("max", "is below min");
    }
    inner.finish();
}

}  // namespace pollux::extract
