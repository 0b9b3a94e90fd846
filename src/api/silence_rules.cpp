#include "api/silence_rules.hpp"

#include <algorithm>
#include <iterator>

#include "base/time.hpp"
#include "model/matcher.hpp"

namespace pollux::api {
namespace {

using document::Node;

void add_text(std::vector<model::LabelMatcher>& all, const Node& node) {
    auto some = model::parse_matchers(node.scalar());
    if (some) std::ranges::move(*some, std::back_inserter(all));
}

}  // namespace

bool may_on_silence(const access::Principal& principal, access::Permission permission,
                    std::span<const model::LabelMatcher> matchers) {
    constexpr access::Area kArea = access::Area::kMonitoring;
    if (access::may_everywhere(principal, permission, kArea)) return true;
    // Only what must be equal proves anything.
    std::string text;
    for (const model::LabelMatcher& matcher : matchers) {
        if (matcher.op != model::MatchOperator::kEqual || matcher.value.empty()) continue;
        const std::string one = matcher.label + "=" + matcher.value;
        const auto read = access::Selector::parse(one);
        // A value that reads as more than itself proves nothing.
        const std::vector<access::Requirement> meant = {
            {matcher.label, access::Operator::kIn, {matcher.value}}};
        if (!read || read->requirements() != meant) continue;
        text += text.empty() ? one : "," + one;
    }
    const auto selector = access::Selector::parse(text);
    return selector && access::may_on_all(principal, permission, kArea, *selector);
}

std::vector<model::LabelMatcher> matchers_of(const Node& body) {
    std::vector<model::LabelMatcher> all;
    const Node* match = body.find("match");
    if (match == nullptr) return all;
    if (match->is_scalar()) add_text(all, *match);
    for (const Node& item : match->items()) add_text(all, item);
    for (const document::MapEntry& entry : match->entries()) {
        all.push_back({entry.key, model::MatchOperator::kEqual, entry.value.scalar()});
    }
    return all;
}

Node silence_body(const model::Silence& silence) {
    Node match = Node::sequence();
    for (const model::LabelMatcher& one : silence.matchers) {
        match.push(Node::text(model::to_string(one)));
    }
    Node body = Node::map();
    body.set("match", std::move(match));
    if (silence.from != base::WallTime{}) {
        body.set("from", Node::text(base::format_utc(silence.from)));
    }
    body.set("until", Node::text(base::format_utc(silence.until)));
    body.set("owner", Node::text(silence.owner)).set("reason", Node::text(silence.reason));
    return body;
}

}  // namespace pollux::api
