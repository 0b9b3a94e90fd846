// api_poll: base, authentication, endpoints.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/scalar.hpp"
#include "extract/dialect/translator.hpp"

namespace pollux::extract {

using base::quoted;
using document::Node;

void Translator::http_auth(Node& http) {
    const Node* type = find("auth_type");
    if (type == nullptr) {
        note(root_, "auth_type", "is missing: digest is taken, as before; write it down");
        http.set("auth", Node::text("digest"));
        return;
    }
    if (type->is_null()) {
        const Node* place = section_ != nullptr ? section_ : &root_;
        note(*place, "auth_type",
             "is null, which means no authentication; before, a user name made it basic");
        return;
    }
    const std::string word = type->scalar();
    if (word != "api_key") note_key("auth_header", "only counts with api_key: ignored");
    constexpr std::string_view kKnown[] = {"none", "basic", "digest", "bearer", "api_key"};
    if (std::ranges::find(kKnown, word) == std::end(kKnown)) {
        out_.error(type->mark(), "auth_type",
                   fmt::format("{} is not known; there are {}", quoted(word),
                               document::word_list(kKnown)));
        return;
    }
    const std::string header = text("auth_header");
    if (word == "api_key" && !header.empty()) {
        Node auth = Node::map();
        auth.set("type", Node::text(word));
        auth.set("header", Node::text(header));
        http.set("auth", marked(std::move(auth), type->mark()));
    } else {
        http.set("auth", marked(Node::text(word), type->mark()));
    }
}

// B: a path to a list, one record for each of it.
void Translator::http_rows(Node& endpoint, const Node& node, Record& record) {
    const Node* path = node.find("alerts_path");
    if (path == nullptr || !path->is_scalar()) return;
    if (record.parser != "json") {
        note(*path, "alerts_path",
             fmt::format("fits JSON only, and the parser is {}: ignored", record.parser));
        return;
    }
    std::string from = json_path_of(path->scalar());
    if (!from.ends_with("[*]")) from += "[*]";
    record.rows = fresh_name(record.prefix + "_rows");
    Node rows = Node::map();
    Node set = Node::map();
    set.set("from", marked(Node::text(from), path->mark()));
    rows.set(record.rows, marked(std::move(set), path->mark()));
    endpoint.set("rows", marked(std::move(rows), path->mark()));
}

void Translator::endpoint(const Node& list, std::size_t number, bool must_answer) {
    const Node& node = list.items()[number];
    const std::string path = document::item_path("endpoints", number);
    check_keys(
        node, path,
        {"path", "method", "response_type", "check", "alert_on_failure", "name", "interval_seconds",
         "alerts_path", "field_mappings", "timeout", "body", "description"});
    Record record;
    record.prefix = fresh_name(
        text_of(node, "check", text_of(node, "name", fmt::format("endpoint_{}", number + 1))));
    record.endpoint = record.prefix;
    Node out = Node::map();
    out.set_mark(node.mark());
    out.set("name", Node::text(record.endpoint));
    std::string where = templated(text_of(node, "path"), node.mark());
    if (!where.starts_with('/')) where.insert(0, "/");
    out.set("path", Node::text(where));
    std::string method = text_of(node, "method", "GET");
    std::ranges::transform(method, method.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    out.set("method", marked(Node::text(method), node.mark()));
    out.set("expect", Node::text("200-399"));
    if (const Node* body = node.find("body"); body != nullptr && body->is_scalar())
        out.set("body", *body);
    if (const Node* timeout = node.find("timeout")) out.set("timeout", *timeout);
    if (const Node* interval = own_interval(list, number)) out.set("interval", *interval);
    const Node* failure = node.find("alert_on_failure");
    if (failure != nullptr && failure->is_scalar() && !failure->scalar().empty()) {
        out.set("on_failure", *failure);
        failure_type(*failure);
    } else if (!must_answer) {
        out.set("optional", Node::boolean(true));
    }
    const Node* parser = find("parser");
    const Node* mappings = node.find("field_mappings");
    if (mappings == nullptr && parser != nullptr) mappings = parser->find("field_mappings");
    record.parser = parser_type(parser, nullptr);
    const bool patterns = record.parser == "regex" || record.parser == "grok";
    const std::string response = text_of(node, "response_type", "json");
    const bool mapped = mappings != nullptr && !mappings->entries().empty();
    const bool reads = record.parser == "json" ? mapped : parser != nullptr;
    if (!reads) {
        out.set("format", Node::text("none"));
    } else {
        // What the answer is called says nothing about what the parser makes of it. But where it is
        // not called JSON, one that is none is what was expected, and no failure.
        if (record.parser == "json" && response != "json") {
            out.set("lenient", Node::boolean(true));
        }
        out = format(record.parser, parser, std::move(out));
        out.set_mark(node.mark());
        if (patterns) record.place = "$[0]";
        http_rows(out, node, record);
    }
    Node http = *tree_.find("http");
    Node endpoints = http.find("endpoints") == nullptr ? Node::sequence() : *http.find("endpoints");
    endpoints.push(std::move(out));
    http.set("endpoints", std::move(endpoints));
    tree_.set("http", std::move(http));
    if (reads) field_rule(record, read_fields(record, mappings, parser), node.mark());
}

void Translator::http() {
    Node http = Node::map();
    const Node* base = find("base_url_template");
    http.set_mark(base == nullptr ? root_.mark() : base->mark());
    std::string url = base == nullptr ? "" : templated(base->scalar(), base->mark());
    while (url.ends_with('/')) url.pop_back();
    if (url.find("{port}") != std::string::npos && tree_.find("port") == nullptr) {
        tree_.set("port", Node::integer(80));
    }
    http.set("base", marked(Node::text(url), http.mark()));
    http_auth(http);
    if (const Node* verify = find("verify_ssl"); verify != nullptr && verify->is_scalar()) {
        Node tls = Node::map();
        tls.set("verify", *verify);
        http.set("tls", marked(std::move(tls), verify->mark()));
    }
    if (const Node* headers = find("headers"); headers != nullptr && headers->is_map()) {
        http.set("headers", *headers);
    }
    tree_.set("http", std::move(http));
    const Node* endpoints = find("endpoints");
    if (endpoints == nullptr || !endpoints->is_sequence() || endpoints->items().empty()) {
        out_.error(root_.mark(), "endpoints", "is missing; there is nothing to ask");
        return;
    }
    const bool none_fails = std::ranges::none_of(endpoints->items(), [](const Node& node) {
        return !text_of(node, "alert_on_failure").empty();
    });
    if (none_fails) {
        note(endpoints->items()[0], "endpoints[0]",
             "must answer, because no endpoint has alert_on_failure; before, a dead device was not "
             "noticed");
    }
    for (std::size_t i = 0; i < endpoints->items().size(); ++i) {
        endpoint(*endpoints, i, none_fails && i == 0);
    }
}

}  // namespace pollux::extract
