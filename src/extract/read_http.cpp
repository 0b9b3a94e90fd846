#include "extract/read_http.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/text.hpp"
#include "extract/json_document.hpp"
#include "extract/key_value.hpp"
#include "extract/reply_document.hpp"
#include "extract/value_math.hpp"
#include "extract/xml_document.hpp"

namespace pollux::extract {
namespace {

using model::Reply;
using model::Value;

// One endpoint's reply, read at most once.
struct Answer {
    const Reply* reply = nullptr;
    bool good = false;       // false: failed or not asked
    bool tolerated = false;  // failed, and nobody minds
    std::string_view body;
    std::optional<JsonDocument> json;
    std::optional<KeyValues> key_values;
};

// The answer as JSON text, which it may be already.
base::Result<std::string> tree_text(const EndpointPlan& endpoint, const Reply& reply,
                                    std::string_view body, base::WallTime now) {
    const auto most = static_cast<std::size_t>(endpoint.max_body_bytes) * 4;
    const auto* command = std::get_if<model::CommandReply>(&reply.answer);
    switch (endpoint.format) {
        case BodyFormat::kXml: return xml_to_json(body, {.max_bytes = endpoint.max_body_bytes});
        case BodyFormat::kTable: return endpoint.table->to_json(body, most);
        case BodyFormat::kGrok: return endpoint.grok->to_json(body, most);
        case BodyFormat::kNagios:
            return command != nullptr ? plugin_document(*command) : reply_document(reply, now);
        case BodyFormat::kReply: return reply_document(reply, now);
        default: return std::string(body);
    }
}

class HttpReader {
  public:
    HttpReader(const AddonPlan& plan, const GroupPlan& group, base::WallTime now,
               ReadingWriter& writer)
        : plan_(plan), group_(group), now_(now), writer_(writer) {}

    void read(std::span<const Reply* const> replies) {
        for (std::size_t i = 0; i < group_.endpoints.size(); ++i) {
            open(i, replies);
        }
        for (const std::uint16_t index : group_.rules) read_rule(plan_.rules[index]);
        for (const std::uint16_t index : group_.row_sets) read_rows(plan_.row_sets[index]);
        if (SignalWriter* signals = writer_.signals()) {
            signals->record(std::nullopt, "", writer_.values());
            signals->finish();
        }
    }

  private:
    void open(std::size_t ask, std::span<const Reply* const> replies) {
        const EndpointPlan& endpoint = plan_.http.endpoints[group_.endpoints[ask]];
        const Reply* reply = ask < replies.size() ? replies[ask] : nullptr;
        Answer& answer = answers_.emplace_back();
        const Reply* instead = stand_in(plan_, group_number(), ask, replies);
        answer.tolerated = is_tolerated(plan_, group_number(), ask, replies);
        SignalWriter* const signals = writer_.signals();
        if (signals != nullptr && reply != nullptr && !endpoint.instead_of) {
            signals->exchange(endpoint, instead != nullptr ? *instead : *reply);
        }
        answer.reply = reply;
        answer.good = reply != nullptr && reply->ok();
        if (!answer.good) {
            // Of two that stand for each other one answer is enough.
            const bool covered = (instead != nullptr && instead->ok()) ||
                                 (endpoint.instead_of && answer_of(*endpoint.instead_of).good);
            if (signals != nullptr && !covered) signals->unreadable(number_of(endpoint));
            failed(endpoint, reply, instead != nullptr);
            return;
        }
        answer.body = body_of(*reply);
        if (endpoint.format == BodyFormat::kKeyValue) {
            answer.key_values = KeyValues::parse(answer.body, endpoint.separator);
        }
        if (endpoint.format == BodyFormat::kForm) {
            answer.key_values = KeyValues::parse_form(answer.body);
        }
        if (!is_tree(endpoint.format) || !wants_json(endpoint)) return;
        JsonLimits limits;
        limits.max_memory = static_cast<std::size_t>(writer_.budget().bytes);
        const auto text = tree_text(endpoint, *reply, answer.body, now_);
        auto parsed = text ? JsonDocument::parse(*text, limits)
                           : base::Result<JsonDocument>(std::unexpected(text.error()));
        if (parsed) {
            answer.json.emplace(std::move(*parsed));
            return;
        }
        if (signals != nullptr) signals->unreadable(number_of(endpoint));
        if (!endpoint.lenient) {
            if (!endpoint.optional) ++writer_.readings().unreadable;
            writer_.problem(fmt::format("endpoint {}: the answer is {}", endpoint.name,
                                        parsed.error().message));
        }
        writer_.trace(fmt::format("endpoint {}: {}", endpoint.name, parsed.error().message));
    }

    std::size_t group_number() const {
        return static_cast<std::size_t>(&group_ - plan_.groups.data());
    }

    std::size_t number_of(const EndpointPlan& endpoint) const {
        return static_cast<std::size_t>(&endpoint - plan_.http.endpoints.data());
    }

    // A body of an addon that only looks at status and times is not parsed.
    bool wants_json(const EndpointPlan& endpoint) const {
        const std::size_t index = number_of(endpoint);
        return std::ranges::any_of(plan_.rules, [&](const Rule& rule) {
            return rule.endpoint == index && rule.source == SourceKind::kJson && !rule.disabled;
        });
    }

    void failed(const EndpointPlan& endpoint, const Reply* reply, bool replaced) {
        const auto* failure =
            reply == nullptr ? nullptr : std::get_if<model::PollFailure>(&reply->answer);
        const std::string why = failure == nullptr ? "was not asked" : failure->message;
        writer_.trace(fmt::format("endpoint {}: {}", endpoint.name, why));
        if (failure != nullptr && !replaced) {
            writer_.problem(fmt::format("endpoint {}{}: {}", endpoint.name,
                                        endpoint.optional ? " (optional)" : "", why));
        }
    }

    Answer& answer_of(std::uint16_t endpoint) {
        return answers_[plan_.http.endpoints[endpoint].ask];
    }

    std::string where(const Rule& rule) const {
        const std::string& endpoint = plan_.http.endpoints[rule.endpoint].name;
        std::string out;
        switch (rule.source) {
            case SourceKind::kJson: out = rule.path ? rule.path->text() : ""; break;
            case SourceKind::kKey: out = "key " + rule.key; break;
            case SourceKind::kHeader: out = "header " + rule.key; break;
            case SourceKind::kBody: out = "the body"; break;
            case SourceKind::kFact: out = "the exchange"; break;
            default: return fmt::format("value {}", rule.value ? rule.value->text() : "");
        }
        if (rule.pattern) out += fmt::format(" by pattern {}", rule.pattern->text());
        return fmt::format("{} of endpoint {}", out, endpoint);
    }

    static Value text_value(std::optional<std::string_view> text) {
        return text ? Value(std::string(*text)) : Value();
    }

    // Null if nothing is there. Containers are told apart from nothing by `found`.
    Value source_value(const Rule& rule, const JsonNode* row, std::string& found) {
        Value out;
        if (rule.source == SourceKind::kNone) return out;
        Answer& answer = answer_of(rule.endpoint);
        if (!answer.good) {
            found = "the request failed";
            return out;
        }
        switch (rule.source) {
            case SourceKind::kJson: {
                const JsonNode* root = row != nullptr            ? row
                                       : answer.json.has_value() ? &answer.json->root()
                                                                 : nullptr;
                if (root == nullptr) {
                    found = "the answer is not JSON";
                    break;
                }
                const JsonNode* node = rule.path->first(*root, writer_.budget());
                if (node != nullptr && !to_value(*node, out)) found = "it is " + preview(*node);
                break;
            }
            case SourceKind::kKey: out = text_value(answer.key_values->find(rule.key)); break;
            case SourceKind::kHeader: {
                const auto* http = std::get_if<model::HttpReply>(&answer.reply->answer);
                if (http == nullptr) break;
                const auto header = std::ranges::find(http->headers, rule.key,
                                                      &std::pair<std::string, std::string>::first);
                if (header != http->headers.end()) out = header->second;
                break;
            }
            case SourceKind::kBody: break;
            case SourceKind::kFact: out = fact_value(rule.fact, *answer.reply, now_); break;
            default: break;
        }
        if (rule.pattern) apply_pattern(rule, answer, out);
        return out;
    }

    static void apply_pattern(const Rule& rule, const Answer& answer, Value& value) {
        std::string text;
        std::string_view searched;
        if (rule.source == SourceKind::kBody) {
            searched = answer.body;
        } else if (is_null(value)) {
            return;
        } else {
            text = to_text(value);
            searched = text;
        }
        if (rule.matches) {
            value = rule.pattern->matches(searched);
        } else {
            const auto found = rule.pattern->capture(searched);
            value = found ? Value(std::string(found->substr(0, 4096))) : Value();
        }
    }

    // Whether the rule's endpoint is optional and failed: then nobody misses the value.
    bool excused(const Rule& rule) {
        if (rule.source == SourceKind::kNone) return false;
        const EndpointPlan& endpoint = plan_.http.endpoints[rule.endpoint];
        const Answer& answer = answer_of(rule.endpoint);
        return !answer.good && (endpoint.optional || answer.tolerated || answer.reply == nullptr);
    }

    void read_rule(const Rule& rule) {
        if (excused(rule)) return;
        std::string found;
        Value raw = source_value(rule, nullptr, found);
        writer_.take(rule, 0, std::move(raw),
                     [&] { return where(rule) + (found.empty() ? "" : " (" + found + ")"); });
    }

    struct JsonRow {
        const JsonNode* node;
        std::string name;
    };

    // The rows as the manifest wants them: what the path selects, or the members of it.
    bool collect(const RowSet& set, const JsonNode& root, std::vector<JsonRow>& out) {
        std::vector<const JsonNode*> nodes;
        bool complete = set.from->select(root, nodes, writer_.budget());
        for (const JsonNode* node : nodes) {
            if (set.naming == RowNaming::kKey && node->is_object()) {
                for (const auto& member : node->get_object()) {
                    out.push_back({&member.value(), std::string(member.key())});
                    complete = complete && writer_.budget().spend();
                }
            } else if (set.naming == RowNaming::kField) {
                Value name;
                const JsonNode* found = set.name_path->first(*node, writer_.budget());
                if (found != nullptr) to_value(*found, name);
                out.push_back({node, to_text(name)});
            } else {
                out.push_back({node, fmt::format("{}", out.size())});
            }
            if (!complete) break;
        }
        return complete;
    }

    bool fields_admit(const RowSet& set, const JsonNode& row) {
        return std::ranges::all_of(set.where, [&](const FieldFilter& filter) {
            Value value;
            const JsonNode* node = filter.path->first(row, writer_.budget());
            if (node != nullptr) to_value(*node, value);
            return filter.filter.admits(to_text(value));
        });
    }

    void read_rows(const RowSet& set) {
        Answer& answer = answer_of(set.endpoint);
        if (!answer.json || !set.from) return;
        std::vector<JsonRow> rows;
        bool complete = collect(set, answer.json->root(), rows);
        std::set<std::string, std::less<>> names;
        std::size_t left_out = 0;
        for (JsonRow& row : rows) {
            if (names.size() >= writer_.budget().rows || writer_.budget().nodes == 0) {
                complete = false;
                break;
            }
            if (row.name.size() > 200) row.name.resize(200);
            if (row.name.empty() || !base::is_valid_utf8(row.name) || base::has_control(row.name)) {
                ++writer_.readings().missing;
                writer_.problem(fmt::format("{}: a row without a usable name at {}", set.name,
                                            set.name_path ? set.name_path->text() : "its key"));
                continue;
            }
            if (!set.names.admits(row.name) || !fields_admit(set, *row.node)) {
                ++left_out;
                continue;
            }
            if (!names.insert(row.name).second) {
                writer_.problem(fmt::format("{}: two rows are called {}; the second is not read",
                                            set.name, base::quoted(row.name)));
                continue;
            }
            writer_.trace_rows(names.size() <= 3);
            read_row(set, *row.node, writer_.add_row(row.name));
        }
        writer_.trace_rows(true);
        if (SignalWriter* signals = writer_.signals()) {
            signals->rows_read(static_cast<std::size_t>(&set - plan_.row_sets.data()), complete);
        }
        if (!complete) {
            writer_.problem(
                fmt::format("{}: too many rows; only {} are read", set.name, names.size()));
        }
        if (writer_.traces()) {
            writer_.trace(fmt::format("{}: {} rows at {}, {} left out by filters", set.name,
                                      rows.size(), set.from->text(), left_out));
        }
    }

    void read_row(const RowSet& set, const JsonNode& node, std::uint32_t row) {
        writer_.forget(set.rules);
        for (const std::uint16_t index : set.rules) {
            const Rule& rule = plan_.rules[index];
            std::string found;
            Value raw = source_value(rule, &node, found);
            const bool good = writer_.take(rule, row, std::move(raw), [&] { return where(rule); });
            if (!good && rule.source == SourceKind::kJson) {
                writer_.miss(rule, where(rule),
                             fmt::format("row {} has none", writer_.readings().rows[row]));
            }
        }
        if (SignalWriter* signals = writer_.signals()) {
            signals->record(static_cast<std::size_t>(&set - plan_.row_sets.data()),
                            writer_.readings().rows[row], writer_.values());
        }
    }

    const AddonPlan& plan_;
    const GroupPlan& group_;
    base::WallTime now_;
    ReadingWriter& writer_;
    std::vector<Answer> answers_;
};

}  // namespace

void read_http(const AddonPlan& plan, std::size_t group, std::span<const Reply* const> replies,
               base::WallTime now, ReadingWriter& writer) {
    HttpReader(plan, plan.groups[group], now, writer).read(replies);
}

}  // namespace pollux::extract
