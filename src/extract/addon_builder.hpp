// Builds an AddonPlan from the tree of a manifest, collecting every mistake. One use per object.
// Private to this folder; its parts lie in addon_builder_*.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "document/diagnostic.hpp"
#include "document/map_reader.hpp"
#include "extract/addon_plan.hpp"
#include "extract/compiled_addon.hpp"

namespace pollux::extract {

class AddonBuilder {
  public:
    // `parameters` of a target, or null: defaults and examples stand in.
    AddonBuilder(std::shared_ptr<const document::Node> root, std::string file,
                 const Parameters* parameters, document::Diagnostics& diagnostics);

    // Null if there are errors.
    std::shared_ptr<AddonPlan> build();  // null: there were errors

  private:
    using Reader = document::MapReader;
    using Node = document::Node;

    // addon_builder.cpp: the head, parameters, groups
    void read_head(Reader& reader);
    void read_parameters(Reader& reader);
    void read_parameter(const document::MapEntry& entry);
    void read_credentials(Reader& reader);
    void read_groups(Reader& reader);
    std::uint16_t group_of(Reader& reader, const std::string& name, bool own_interval);
    void finish_groups();

    // addon_builder_http.cpp
    void read_http(Reader& reader);
    void read_auth(Reader& http);
    void read_tls(Reader& http);
    void read_endpoint(const Node& node, std::string path);
    void read_name_and_group(Reader& reader, EndpointPlan& endpoint);
    void read_format(Reader& reader, EndpointPlan& endpoint);
    void add_endpoint(Reader& reader, EndpointPlan endpoint);
    void read_request(Reader& reader, EndpointPlan& endpoint);
    void read_expect(Reader& reader, EndpointPlan& endpoint);
    void read_json_rows(const document::MapEntry& entry, std::string path, std::uint16_t endpoint);
    std::vector<std::pair<std::string, Template>> read_headers(Reader& reader);
    Template url_template(Reader& reader, std::string_view key, const std::string& text);

    // addon_builder_checks.cpp: commands, queries and checks of the other protocols
    void read_check(Reader& reader);
    void read_commands(Reader& reader, std::string_view section);
    void read_command(const Node& node, std::string path);
    void read_arguments(Reader& reader, ExecRequestPlan& request);
    void read_environment(Reader& reader, ExecRequestPlan& request);
    std::vector<std::pair<int, int>> read_exit_codes(Reader& reader,
                                                     std::vector<std::pair<int, int>> usual);
    std::uint64_t read_size(Reader& reader, std::string_view key, std::uint64_t usual);
    void read_queries(Reader& reader);
    void read_query(const Node& node, std::string path);
    void read_single(Reader& reader, std::string_view section);
    RequestPlan read_tcp(Reader& reader);
    RequestPlan read_tls_check(Reader& reader);
    RequestPlan read_icmp(Reader& reader);

    // addon_builder_snmp.cpp
    void read_snmp(Reader& reader);
    void read_get(const Node& node, std::string path);
    void read_table(const Node& node, std::string path);
    void read_columns(Reader& reader, RowSet& table);
    std::uint16_t add_walk(std::uint16_t group, const model::Oid& oid);
    std::optional<model::Oid> read_oid(const Node& node, const std::string& path);

    // addon_builder_rows.cpp: filters of rows
    TextFilter read_filter(Reader& reader);
    std::vector<Pattern> read_patterns(Reader& reader, std::string_view key);
    void read_where(Reader& reader, RowSet& rows);

    // addon_builder_metrics.cpp
    void read_metrics(Reader& reader);
    void read_metric(const Node& node, std::string path);
    void read_shape(Reader& reader, model::MetricDef& metric, Rule& rule);
    void read_source(Reader& reader, Rule& rule);
    void read_http_source(Reader& reader, Rule& rule);
    bool read_fact(Reader& reader, Rule& rule);
    void read_snmp_source(Reader& reader, Rule& rule);
    void read_pattern(Reader& reader, Rule& rule);
    void read_value(Reader& reader, Rule& rule);
    void read_ratio(Reader& reader, model::MetricDef& metric, Rule& rule);
    void read_map(Reader& reader, model::MetricDef& metric, Rule& rule);
    void read_range(Reader& reader, Rule& rule);
    void check_use(Reader& reader, Rule& rule);

    // addon_builder_conditions.cpp
    struct Threshold {
        model::Comparison comparison = model::Comparison::kAbove;
        std::optional<double> number;
        std::string word;
    };
    static std::optional<Threshold> parse_threshold(std::string_view text);
    std::optional<Threshold> read_threshold(Reader& reader, std::string_view key,
                                            document::Need need, bool& disabled);
    void read_conditions(Reader& reader);
    void read_condition(const Node& node, std::string path);
    void read_condition_kind(Reader& reader, model::ConditionDef& condition);
    void read_clear(Reader& reader, const Threshold& clear, model::ConditionDef& condition);
    void read_severities(Reader& reader, model::ConditionDef& condition);
    void check_severities(Reader& reader, model::ConditionDef& condition);
    void read_patience(Reader& reader, model::ConditionDef& condition);
    void check_trigger(Reader& reader, const model::ConditionDef& condition, bool is_word);
    void read_change(Reader& reader);
    std::optional<std::uint16_t> metric_named(Reader& reader, std::string_view key);

    // addon_builder_formats.cpp
    BodyFormat read_body_format(Reader& reader, BodyFormat usual);
    void read_format_parts(Reader& reader, EndpointPlan& endpoint);
    void read_text_table(Reader& reader, EndpointPlan& endpoint);
    void read_grok(Reader& reader, EndpointPlan& endpoint);
    void read_fallback(Reader& reader, EndpointPlan& endpoint);
    // A path into the answers of an endpoint; with `leaf` it ends at a value, else at rows.
    base::Result<JsonPath> compile_path(std::uint16_t endpoint, const std::string& text, bool leaf);

    // addon_builder_inbound.cpp
    void read_protocol(Reader& reader);
    void read_trap(Reader& reader);
    void read_webhook(Reader& reader);
    void read_push(Reader& reader);
    void add_message_value(const std::string& name, const model::Oid& oid);
    void add_message_field(const document::MapEntry& entry, const std::string& path);

    // addon_builder_signals.cpp
    void read_signals(Reader& reader);
    void read_signal_type(const document::MapEntry& entry, std::string path);
    void read_signal(const Node& node, std::string path);
    SignalLook read_look(Reader& reader);
    void read_endpoint_signals(Reader& reader, EndpointPlan& endpoint);
    void read_signal_trigger(Reader& reader, SignalRule& signal);
    void read_signal_fields(Reader& reader, SignalRule& signal);
    void place_signal(Reader& reader, SignalRule& signal);
    std::optional<Expression> read_signal_expression(Reader& reader, std::string_view key,
                                                     SignalRule& signal);
    std::optional<std::uint16_t> field_named(Reader& reader, std::string_view key,
                                             const std::string& name);
    void use_rule(SignalRule& signal, std::uint16_t rule);
    void list_alert_types();

    // The text with the parameters filled in that it names; nullopt: one of them is empty, so that
    // what depends on it is left out.
    std::optional<std::string> substituted(const std::string& text, bool& disabled);
    const ParameterDef* find_parameter(std::string_view name) const;
    std::string value_of(const ParameterDef& parameter) const;
    bool check_name(Reader& reader, std::string_view key, const std::string& name);
    void each(Reader& reader, std::string_view key, std::size_t most,
              const std::function<void(const Node&, std::string)>& read);

    std::shared_ptr<const document::Node> root_;
    const Parameters* parameters_;
    document::Diagnostics& out_;
    std::shared_ptr<AddonPlan> plan_;
    std::map<std::string, std::uint16_t, std::less<>> groups_;
    std::map<std::string, std::uint16_t, std::less<>> rules_;
    std::set<std::string, std::less<>> condition_names_;
    std::vector<std::pair<std::string, std::string>> explained_;  // condition and what explains it
    std::set<std::string, std::less<>> signal_names_;
    std::vector<std::uint16_t> used_;  // rules that the signal at hand reads
};

// [a-z][a-z0-9_]{0,63}: names of metrics, endpoints, rows and so on.
bool is_identifier(std::string_view text);

// Words for the severity of a signal or a condition.
std::span<const std::string_view> severities();

}  // namespace pollux::extract
