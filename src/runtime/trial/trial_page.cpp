#include "runtime/trial/trial_page.hpp"

#include "document/json_writer.hpp"

namespace pollux::runtime {
namespace {

using document::JsonWriter;

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
    json.key(key).array();
    for (const std::string& text : texts) json.value(text);
    json.end_array();
}

void write_texts(JsonWriter& json, std::string_view key, const TrialTexts& texts) {
    json.key(key).object();
    for (const auto& [name, text] : texts) json.field(name, text);
    json.end_object();
}

}  // namespace

std::string trial_page(const std::vector<std::string>& asks, const std::vector<TrialStep>& steps,
                       const std::vector<TrialReply>& replies) {
    std::string page;
    JsonWriter json(page);
    json.object();
    write_texts(json, "asks", asks);
    json.key("steps").array();
    for (const TrialStep& step : steps) {
        json.object().field("failed", step.failed).field("changed", step.changed);
        write_texts(json, "readings", step.readings);
        write_texts(json, "samples", step.samples);
        write_texts(json, "conditions", step.conditions);
        write_texts(json, "rows", step.rows);
        json.key("signals").array();
        for (const model::Signal& signal : step.signals) {
            json.object().field("type", signal.type).text_field("subject", signal.subject);
            json.field("clear", signal.clear).field("severity", signal.severity);
            json.text_field("title", signal.title).text_field("message", signal.message);
            json.end_object();
        }
        json.end_array();
        write_texts(json, "problems", step.problems);
        json.field("missing", step.missing).field("dropped", step.dropped);
        json.field("degraded", step.degraded).field("unreadable", step.unreadable);
        json.field("restarted", step.restarted).end_object();
    }
    json.end_array();
    if (!replies.empty()) {
        json.key("replies").array();
        for (const TrialReply& reply : replies) {
            json.object().field("text", reply.text).field("status", reply.status);
            json.text_field("problem", reply.problem).end_object();
        }
        json.end_array();
    }
    json.end_object();
    return page;
}

}  // namespace pollux::runtime
