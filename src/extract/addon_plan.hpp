// What a manifest is compiled to: requests as templates, rules in the order they run, everything
// by number. Made by addon_builder*.cpp, used by asks.cpp and read_*.cpp; private to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "document/node.hpp"
#include "extract/expression.hpp"
#include "extract/facts.hpp"
#include "extract/json_path.hpp"
#include "extract/pattern.hpp"
#include "extract/placeholder.hpp"
#include "extract/request_plan.hpp"
#include "extract/signal_plan.hpp"
#include "extract/text_table.hpp"
#include "model/addon.hpp"
#include "model/ask.hpp"
#include "model/oid.hpp"
#include "model/reply.hpp"
#include "model/value.hpp"

namespace pollux::extract {

enum class ParameterType : std::uint8_t { kString, kInteger, kNumber, kBoolean, kPath };

struct ParameterDef {
    std::string name;
    ParameterType type = ParameterType::kString;
    bool required = false;
    std::optional<std::string> initial;  // `default`
    std::string example;
    std::string description;
};

enum class BodyFormat : std::uint8_t {
    kJson,
    kXml,
    kTable,
    kGrok,
    kText,
    kKeyValue,
    kForm,
    kNone,
    kNagios,  // output of a plugin, read as a tree
    kReply,   // no body: the reply itself is read as a tree
};

// Whether paths find something in it.
constexpr bool is_tree(BodyFormat format) {
    return format != BodyFormat::kText && format != BodyFormat::kKeyValue &&
           format != BodyFormat::kForm && format != BodyFormat::kNone;
}

struct EndpointPlan {
    std::string name;
    std::uint16_t group = 0;
    std::uint16_t ask = 0;  // number within the group
    bool optional = false;
    bool lenient = false;  // a body that cannot be read says nothing, and is no failure
    std::optional<base::Duration> timeout;
    model::HttpMethod method = model::HttpMethod::kGet;
    Template path;
    std::vector<std::pair<std::string, Template>> headers;
    Template body;
    bool json_body = false;
    std::vector<std::pair<int, int>> expect = {{200, 299}};
    std::uint32_t max_redirects = 0;
    std::uint64_t max_body_bytes = 4U << 20U;
    BodyFormat format = BodyFormat::kJson;
    std::string separator = "=";
    std::optional<TextTable> table;           // kTable
    std::optional<GrokFormat> grok;           // kGrok
    std::optional<std::uint16_t> instead_of;  // only asked when that one ended with such a status
    std::vector<std::pair<int, int>> when_status;
    RequestPlan request;     // of a protocol other than HTTP
    std::string on_failure;  // type of the signal that a failure raises; empty: none
    std::vector<std::pair<std::pair<int, int>, std::string>> on_status;  // range, type

    // The type that this status raises; null: none.
    const std::string* signal_of(int status) const;
    bool replaces(int status) const;  // whether it is asked after `instead_of` ended so
};

struct HttpPlan {
    Template base;
    model::HttpAuth auth = model::HttpAuth::kNone;
    std::string api_key_header = "X-API-Key";
    model::TlsOptions tls;
    bool http2 = true;
    std::vector<std::pair<std::string, Template>> headers;
    std::vector<EndpointPlan> endpoints;  // of other protocols: commands, queries, checks
};

struct SnmpGet {
    std::string name;
    model::Oid oid;
    std::uint16_t group = 0;
    std::uint16_t index = 0;  // within the gets of the group's ask
};

struct SnmpPlan {
    model::SnmpVersion version = model::SnmpVersion::kV2c;
    std::uint32_t max_repetitions = 25;
    std::uint32_t max_varbinds = 24;
    std::uint32_t max_rows = 10'000;
    std::uint32_t resends = 1;
    std::vector<SnmpGet> gets;
};

struct TextFilter {
    std::vector<Pattern> include;  // one of them must match, if there are any
    std::vector<Pattern> exclude;  // none of them may match

    bool empty() const { return include.empty() && exclude.empty(); }
    bool admits(std::string_view text) const;
};

struct FieldFilter {
    std::uint16_t column = 0;      // of a table
    std::optional<JsonPath> path;  // of a JSON row
    TextFilter filter;
};

struct SnmpColumn {
    std::string name;
    model::Oid oid;
    std::uint16_t walk = 0;  // within the walks of the group's ask
};

enum class RowNaming : std::uint8_t { kIndex, kField, kKey };

struct RowSet {
    std::string name;
    std::uint16_t group = 0;
    std::uint16_t endpoint = 0;       // http
    std::optional<JsonPath> from;     // http
    std::vector<SnmpColumn> columns;  // snmp
    RowNaming naming = RowNaming::kIndex;
    std::optional<JsonPath> name_path;        // http, kField
    std::vector<std::uint16_t> name_columns;  // snmp, kField: the first that has a text
    TextFilter names;
    std::vector<FieldFilter> where;
    std::vector<std::uint16_t> rules;
};

enum class SourceKind : std::uint8_t {
    kNone,    // an expression over other values
    kGet,     // snmp
    kColumn,  // snmp table
    kJson,
    kBody,  // the text as a whole
    kKey,
    kHeader,
    kFact,
};

struct ValueMap {
    std::vector<std::pair<model::Value, model::Value>> entries;
    std::optional<model::Value> otherwise;  // key "*"

    const model::Value* find(const model::Value& value) const;
};

struct Rule {
    std::string name;
    std::optional<std::uint16_t> metric;  // none: only for expressions
    model::MetricType type = model::MetricType::kGauge;
    std::uint16_t group = 0;
    std::optional<std::uint16_t> row_set;
    SourceKind source = SourceKind::kNone;
    std::vector<std::uint16_t> from;  // gets or columns; the first that exists counts
    std::uint16_t endpoint = 0;
    Fact fact = Fact::kStatus;
    std::optional<JsonPath> path;
    std::string key;
    std::optional<Pattern> pattern;
    bool matches = false;  // whether the pattern matches, instead of what it captures
    std::optional<Expression> value;
    ValueMap map;
    bool has_map = false;
    double scale = 1;
    double offset = 0;
    model::Range valid;
    bool optional = false;
    bool disabled = false;    // a parameter it needs is empty
    std::string time_format;  // a text that fits it becomes a time as ISO 8601 writes it
    bool as_read = false;     // a field of a message: keeps its kind
};

struct AddonPlan;

struct GroupPlan {
    std::vector<std::uint16_t> endpoints;  // of HttpPlan, in the order of the asks
    std::vector<model::Oid> gets;
    std::vector<model::Oid> walks;
    std::optional<std::uint16_t> uptime;  // which get is sysUpTime
    std::vector<std::uint16_t> rules;     // those of the target itself, in order
    std::vector<std::uint16_t> row_sets;
    bool keeps_values = false;  // some expression reads other values
};

// The reply of the request that was asked instead of this one; null: none was.
const model::Reply* stand_in(const AddonPlan& plan, std::size_t group, std::size_t ask,
                             std::span<const model::Reply* const> replies);

// Whether the request failed, and the poll is none the worse for it: another was asked instead, or
// its status is a signal by itself.
bool is_tolerated(const AddonPlan& plan, std::size_t group, std::size_t ask,
                  std::span<const model::Reply* const> replies);

// Numbers of names in expressions: 0 is `raw`, then the rules.
inline constexpr std::uint16_t kRawName = 0;

struct AddonPlan {
    model::Addon addon;
    std::string file;
    std::vector<ParameterDef> parameters;
    std::uint16_t port = 0;  // default; 0: by the scheme
    HttpPlan http;
    SnmpPlan snmp;
    std::vector<GroupPlan> groups;
    std::vector<RowSet> row_sets;
    std::vector<Rule> rules;
    model::Credentials credentials;  // where a target has none of its own
    std::vector<SignalType> signal_types;
    std::vector<SignalRule> signals;
    TrapPlan trap;
    PushPlan push;
    bool parametric = false;  // what is read depends on parameters, not only what is asked
    std::shared_ptr<const document::Node> source;
    std::uint64_t fingerprint = 0;  // of the manifest's text and, if parametric, the parameters
    bool imported = false;          // it was written in one of the imported dialects
};

}  // namespace pollux::extract
