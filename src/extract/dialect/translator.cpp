#include "extract/dialect/translator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "document/map_reader.hpp"
#include "document/scalar.hpp"
#include "extract/dialect/dialect.hpp"

namespace pollux::extract {

using base::quoted;
using document::Node;

namespace {

constexpr std::string_view kMethods[] = {"api_poll", "snmp_poll", "ssh", "snmp_trap", "webhook"};
constexpr std::string_view kProtocols[] = {"http", "snmp", "ssh", "trap", "webhook"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

Node marked(Node node, const document::Mark& mark) {
    node.set_mark(mark);
    return node;
}

std::string quoted_literal(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out.push_back('\\');
        out.push_back(c);
    }
    return out + "'";
}

std::string json_path_of(std::string_view path) {
    const auto member = [](std::string_view name) {
        std::string out = "['";
        for (const char c : name) {
            if (c == '\'' || c == '\\') out.push_back('\\');
            out.push_back(c);
        }
        return out + "']";
    };
    if (!path.starts_with("$.")) return path == "$" ? "$" : "$" + member(path);
    path.remove_prefix(2);
    std::string out = "$";
    while (!path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const std::string_view name = path.substr(0, dot);
        path.remove_prefix(std::min(dot + 1, path.size()));
        const bool number = !name.empty() && name.size() < 7 &&
                            std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
        // a[0].b is not theirs, but means what it says.
        const std::size_t bracket = name.find('[');
        if (number) {
            out += fmt::format("[{}]", name);
        } else if (bracket != std::string_view::npos && bracket > 0) {
            out += member(name.substr(0, bracket)) + std::string(name.substr(bracket));
        } else if (!name.empty()) {
            out += member(name);
        }
    }
    return out;
}

bool is_imported(const Node& root) {
    return root.is_map() && root.find("schema") == nullptr && root.find("method") != nullptr &&
           (root.find("id") != nullptr || root.find("name") != nullptr);
}

Node translate(const Node& root, document::Diagnostics& out) { return Translator(root, out).run(); }

const Node* Translator::find(std::string_view key) const {
    const Node* inner = section_ == nullptr ? nullptr : section_->find(key);
    return inner != nullptr ? inner : root_.find(key);
}

std::string Translator::text_of(const Node& node, std::string_view key, std::string otherwise) {
    const Node* value = node.find(key);
    return value != nullptr && value->is_scalar() ? value->scalar() : std::move(otherwise);
}

std::string Translator::text(std::string_view key, std::string otherwise) const {
    const Node* value = find(key);
    return value != nullptr && value->is_scalar() ? value->scalar() : std::move(otherwise);
}

bool Translator::flag_of(const Node& node, std::string_view key, bool otherwise) {
    return document::parse_boolean(text_of(node, key)).value_or(otherwise);
}

std::string Translator::fresh_name(std::string_view wanted) {
    std::string name;
    for (const char c : wanted.substr(0, 48)) name.push_back(is_word(c) ? lower(c) : '_');
    if (name.empty() || name[0] < 'a' || name[0] > 'z') name.insert(0, "f_");
    std::string out = name;
    for (int i = 2; !names_.insert(out).second; ++i) out = fmt::format("{}_{}", name, i);
    return out;
}

void Translator::metric(Node node, const Mark& mark) {
    metrics_.push(marked(std::move(node), mark));
}

Node Translator::run() {
    tree_.set_mark(root_.mark());
    for (const std::string_view taken : {"raw", "source", "trap_oid", "enterprise", "uptime",
                                         "webhook_path", "host", "port", "device"}) {
        names_.emplace(taken);
    }
    head();
    credentials();
    parameters();
    clear_rules();
    types();
    if (method_ == "api_poll") http();
    if (method_ == "snmp_poll") snmp();
    if (method_ == "ssh") ssh();
    if (method_ == "snmp_trap") trap();
    if (method_ == "webhook") webhook();
    check_unread();
    finish();
    return std::move(tree_);
}

void Translator::head() {
    method_ = text_of(root_, "method");
    const auto method = std::ranges::find(kMethods, method_);
    const Node* node = root_.find("method");
    if (method == std::end(kMethods)) {
        out_.error(node == nullptr ? root_.mark() : node->mark(), "method",
                   fmt::format("{} is not known; there are {}", quoted(method_),
                               document::word_list(kMethods)));
        return;
    }
    const Node* section = root_.find(method_);
    if (section != nullptr && section->is_map()) section_ = section;
    check_manifest();
    const auto place = [&](std::string_view key) {
        const Node* value = root_.find(key);
        return value == nullptr ? root_.mark() : value->mark();
    };
    std::string id = text_of(root_, "id", text_of(root_, "name"));
    std::string name;
    for (const char c : id) name.push_back(is_word(c) || c == '-' ? lower(c) : '_');
    if (name != id) {
        out_.warning(place("id"), "id", fmt::format("{} becomes {}", quoted(id), name));
    }
    std::string version = text_of(root_, "version", "1.0.0");
    const auto dots = std::ranges::count(version, '.');
    for (auto i = dots; i < 2; ++i) version += ".0";
    addon_category_ = text_of(root_, "category", "unknown");
    std::ranges::transform(addon_category_, addon_category_.begin(), lower);
    std::ranges::replace(addon_category_, ' ', '_');
    tree_.set("schema", Node::text("pollux/1"));
    tree_.set("name", marked(Node::text(name), place("id")));
    tree_.set("version", marked(Node::text(version), place("version")));
    tree_.set("title", marked(Node::text(text_of(root_, "name", name)), place("name")));
    const std::string about = text_of(root_, "description");
    if (!about.empty()) tree_.set("description", Node::text(about));
    tree_.set("category", marked(Node::text(addon_category_), place("category")));
    tree_.set("protocol",
              Node::text(std::string(
                  kProtocols[static_cast<std::size_t>(method - std::begin(kMethods))])));
    const bool polled = method_ == "api_poll" || method_ == "snmp_poll" || method_ == "ssh";
    if (polled) {
        const Node* interval = find("default_poll_interval");
        tree_.set("interval", interval == nullptr ? Node::text("300s") : *interval);
    }
    if (const Node* port = find("port"); port != nullptr && polled) {
        tree_.set("port", marked(Node::plain(port->scalar()), port->mark()));
    }
}

void Translator::credentials() {
    const Node* given = find("default_credentials");
    Node out = Node::map();
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"username", "username"},
                                                                        {"password", "password"},
                                                                        {"api_key", "token"},
                                                                        {"community", "community"},
                                                                        {"key_file", "ssh_key"}};
    if (given != nullptr && given->is_map()) {
        out.set_mark(given->mark());
        for (const document::MapEntry& entry : given->entries()) {
            const auto known = std::ranges::find(
                kNames, entry.key, &std::pair<std::string_view, std::string_view>::first);
            if (known == std::end(kNames)) {
                out_.warning(entry.key_mark, "default_credentials." + entry.key,
                             "is not known: ignored");
            } else if (!entry.value.scalar().empty()) {  // an empty one counts as absent
                out.set(std::string(known->second),
                        marked(Node::text(entry.value.scalar()), entry.value.mark()));
            }
        }
    }
    const Node* community = find("default_community");
    if (community != nullptr && !community->scalar().empty() && out.find("community") == nullptr) {
        out.set("community", marked(Node::text(community->scalar()), community->mark()));
    }
    if (!out.entries().empty()) tree_.set("credentials", std::move(out));
}

void Translator::parameters() {
    const Node* fields = find("target_config_fields");
    if (fields == nullptr || !fields->is_sequence()) return;
    for (std::size_t i = 0; i < fields->items().size(); ++i) {
        const Node& field = fields->items()[i];
        const std::string path = document::item_path("target_config_fields", i);
        check_keys(field, path, {"name", "type", "required", "default", "description", "label"});
        std::string name;
        for (const char c : text_of(field, "name")) name.push_back(is_word(c) ? lower(c) : '_');
        // The target has these by itself.
        constexpr std::string_view kOwn[] = {"",         "host",     "port",      "device",
                                             "username", "password", "community", "api_key",
                                             "key_file", "headers"};
        if (std::ranges::find(kOwn, name) != std::end(kOwn)) {
            if (!text_of(field, "default").empty()) {
                note(*field.find("default"), path + ".default",
                     fmt::format("is not taken over: {} belongs to the target", quoted(name)));
            }
            continue;
        }
        const std::string type = text_of(field, "type", "text");
        if (type == "password") {
            note(field, path + ".type",
                 "is password, but becomes a parameter like any other, which is not sealed");
        }
        Node parameter = Node::map();
        parameter.set_mark(field.mark());
        parameter.set("type", Node::text(type == "number"    ? "number"
                                         : type == "boolean" ? "boolean"
                                                             : "string"));
        const Node* initial = field.find("default");
        const bool usable = initial != nullptr && initial->is_scalar();
        if (usable) {
            parameter.set("default", marked(Node::text(initial->scalar()), initial->mark()));
        } else if (flag_of(field, "required", false)) {
            parameter.set("required", Node::boolean(true));
        }
        const std::string label = text_of(field, "description", text_of(field, "label"));
        if (!label.empty()) parameter.set("description", Node::text(label));
        parameters_.set(name, std::move(parameter));
    }
}

// Of one of several requests; null: it is asked with the addon. If all of them have one, the first
// one's is the addon's.
const Node* Translator::own_interval(const Node& list, std::size_t number) {
    const Node* own = list.items()[number].find("interval_seconds");
    const bool all = std::ranges::all_of(
        list.items(), [](const Node& node) { return node.find("interval_seconds") != nullptr; });
    if (!all || number > 0) return own;
    tree_.set("interval", *own);
    return nullptr;
}

// Placeholders other than host and port are parameters of the target; ours are in lower case.
std::string Translator::templated(const std::string& text, const Mark& mark) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t end = i + 1;
        while (text[i] == '{' && end < text.size() && is_word(text[end])) ++end;
        if (text[i] != '{' || end == i + 1 || end >= text.size() || text[end] != '}') {
            out.push_back(text[i]);
            continue;
        }
        std::string name = text.substr(i + 1, end - i - 1);
        std::ranges::transform(name, name.begin(), lower);
        out += "{" + name + "}";
        i = end;
        if (name == "host" || name == "port") continue;
        out_.warning(mark, "{" + name + "}",
                     "is filled in from the target's params; before it was sent as it stands");
        if (parameters_.find(name) != nullptr) continue;
        Node parameter = Node::map();
        parameter.set_mark(mark);
        parameter.set("required", Node::boolean(true));
        parameter.set("example", Node::text("1"));
        parameters_.set(name, std::move(parameter));
    }
    return out;
}

void Translator::finish() {
    if (!parameters_.entries().empty()) tree_.set("parameters", std::move(parameters_));
    if (!groups_.entries().empty()) tree_.set("groups", std::move(groups_));
    if (!metrics_.items().empty()) tree_.set("metrics", std::move(metrics_));
    if (!types_.entries().empty()) tree_.set("signal_types", std::move(types_));
    signals_.set_mark(root_.mark());
    tree_.set("signals", std::move(signals_));
}

}  // namespace pollux::extract
