// Translates one manifest. One use per object; its parts lie in translate_*.cpp. Private to this
// folder.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/diagnostic.hpp"
#include "document/node.hpp"

namespace pollux::extract {

class Translator {
  public:
    Translator(const document::Node& root, document::Diagnostics& out) : root_(root), out_(out) {}

    document::Node run();

  private:
    using Node = document::Node;
    using Mark = document::Mark;

    // Where values of one record come from.
    struct Record {
        std::string prefix;    // of the names of its metrics
        std::string endpoint;  // http and ssh; empty: a message or an SNMP group
        std::string rows;      // of the endpoint; empty: one record
        std::string parser;    // json, key_value, regex, grok
        std::string place;     // in front of a field in a path: "$[0]" for patterns
    };
    // A field as it is called there, and the metric that reads it.
    using Fields = std::vector<std::pair<std::string, std::string>>;

    // translator.cpp: head, parameters, credentials
    void head();
    void credentials();
    void parameters();
    const Node* own_interval(const Node& list, std::size_t number);
    std::string templated(const std::string& text, const Mark& mark);
    void finish();

    // translate_types.cpp: types and clear rules
    void types();
    void mapping_rows(const Node& groups);
    void flat_maps();
    void set_type(const std::string& type, Node look, const Mark& mark);
    void recoveries();
    void clear_rules();
    void tell_usual_suffix();
    void tell_no_clear_field();
    std::string type_without_suffix(const std::string& type) const;
    std::string clear_expression(const Fields& fields) const;
    void failure_type(const Node& type);

    // translate_fields.cpp: parsers, transformations, rules that take their type from a field
    std::string parser_type(const Node* parser, const Node* parse_type);
    Node format(const std::string& parser, const Node* config, Node endpoint);
    Fields read_fields(const Record& record, const Node* mappings, const Node* parser);
    std::string add_field(const Record& record, const std::string& field, const std::string& source,
                          const Mark& mark);
    std::string transformed(const Record& record, const std::string& field, std::string metric,
                            Node first, const Mark& mark);
    std::string one_step(const Record& record, const Node& step, const std::string& metric);
    void field_rule(const Record& record, const Fields& fields, const Mark& mark);
    void describe_rule(Node& rule, const Fields& fields);

    // translate_http.cpp
    void http();
    void endpoint(const Node& list, std::size_t number, bool must_answer);
    void http_auth(Node& http);
    void http_rows(Node& endpoint, const Node& node, Record& record);

    // translate_snmp.cpp
    void snmp();
    void snmp_group(const Node& node, const Node* interval, Node& gets, Node& tables);
    void snmp_condition(const Node& node, const std::map<std::string, std::string>& by_oid,
                        const Fields& fields, const std::string& rows);
    void ssh();
    void ssh_command(const Node& given, std::size_t number, Node& commands);

    // translate_inbound.cpp
    void trap();
    std::map<std::string, std::string> trap_pairs(const Node& definitions) const;
    void trap_rules(const Fields& fields);
    void tell_webhook_address();
    void webhook();

    // Keys: in the section of the method, or at the top.
    const Node* find(std::string_view key) const;
    std::string text(std::string_view key, std::string otherwise = "") const;
    static std::string text_of(const Node& node, std::string_view key, std::string otherwise = "");
    static bool flag_of(const Node& node, std::string_view key, bool otherwise);
    // translate_keys.cpp: tells about the keys nobody knows, and about those not taken over
    void check_manifest();
    void check_parts();
    void check_parser(const Node& parser, const std::string& path);
    void check_identification();
    void check_transformations();
    void check_unread();
    void check_keys(const Node& node, const std::string& path,
                    std::span<const std::string_view> known);
    void check_keys(const Node& node, const std::string& path,
                    std::initializer_list<std::string_view> known);
    void note_key(std::string_view key, std::string message);
    void note(const Node& at, std::string field, std::string message) {
        out_.warning(at.mark(), std::move(field), std::move(message));
    }
    // A name of our own from one of theirs, new and short enough.
    std::string fresh_name(std::string_view wanted);
    void metric(Node node, const Mark& mark);

    const Node& root_;
    document::Diagnostics& out_;
    const Node* section_ = nullptr;
    std::string method_;
    std::string addon_category_;
    Node tree_ = Node::map();
    Node metrics_ = Node::sequence();
    Node signals_ = Node::sequence();
    Node types_ = Node::map();
    Node parameters_ = Node::map();
    Node groups_ = Node::map();
    std::set<std::string> names_;
    std::set<std::string> read_;  // fields, as they are called there
    std::map<std::string, std::string> severities_;
    std::string clear_method_ = "suffix";
    std::string clear_suffix_ = "_clear";
    std::string clear_field_ = "status";
    std::vector<std::string> clear_values_ = {"clear", "ok", "resolved"};
    bool all_types_ = false;
    bool suffix_told_ = false;
};

// A text as an expression writes it.
std::string quoted_literal(std::string_view text);

// `$.a.b.0.c` as JSONPath; without `$.` it is the name of a key at the top.
std::string json_path_of(std::string_view path);

document::Node marked(document::Node node, const document::Mark& mark);

}  // namespace pollux::extract
