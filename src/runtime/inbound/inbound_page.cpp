// What people can ask the desk: one target, or all of it.
#include <fmt/format.h>

#include "document/write.hpp"
#include "runtime/inbound/inbound_desk.hpp"
#include "runtime/inbound/message_text.hpp"

namespace pollux::runtime {
namespace {

using document::Node;

Node when(base::WallTime at) { return at.us == 0 ? Node() : Node::text(base::format_utc(at)); }

std::string push_verdict(const InboundTarget& target, const PushRecord& record,
                         base::BootTime deadline, base::Instant now) {
    const auto ago = [&](base::WallTime at) { return base::format_duration(now.wall - at); };
    const std::string down_in = deadline == base::BootTime::max()
                                    ? "when it is heard it is up"
                                    : fmt::format("it counts as down in {} unless one comes",
                                                  base::format_duration(deadline - now.boot));
    const std::string every = base::format_duration(target.interval);
    switch (record.state) {
        case PushState::kUnknown:
            if (record.last.us == 0) {
                return fmt::format("unknown: no heartbeat yet; one is expected every {}, {}", every,
                                   down_in);
            }
            return fmt::format(
                "unknown: the last heartbeat came {} ago, and one may have been missed while "
                "nobody listened; {}",
                ago(record.last), down_in);
        case PushState::kUp:
            return fmt::format("up: the last heartbeat came {} ago; one is expected every {}, {}",
                               ago(record.last), every, down_in);
        case PushState::kDown:
            return fmt::format("down: {}; {}",
                               record.message.empty() ? "the sender says so" : record.message,
                               deadline == base::BootTime::max()
                                   ? "when it is heard it is up"
                                   : fmt::format("its next heartbeat is expected within {}",
                                                 base::format_duration(deadline - now.boot)));
    }
    return "";
}

std::string verdict(const InboundTarget& target) {
    if (!target.enabled) return "disabled: it hears nothing";
    if (!target.problem.empty()) return "it hears nothing: " + target.problem;
    if (target.kind == model::ProtocolKind::kTrap) {
        return "waits for traps; it is not polled";
    }
    return "waits for messages at its own address (`pollux hook url`); it is not polled";
}

void add_push(Node& page, const InboundTarget& target, const PushRecord& record,
              base::BootTime deadline, base::Instant now) {
    page.set("state", Node::text(std::string(to_string(record.state))));
    page.set("since", when(record.since));
    page.set("last_heartbeat", when(record.last));
    page.set("message", Node::text(record.message));
    page.set("value", record.value ? Node::number(*record.value) : Node());
    page.set("interval", Node::number(base::to_seconds(target.interval)));
    page.set("grace", Node::number(base::to_seconds(target.grace)));
    page.set("down_at",
             deadline == base::BootTime::max() ? Node() : when(now.wall + (deadline - now.boot)));
}

Node list_of(const std::vector<std::string>& texts) {
    Node list = Node::sequence();
    for (const std::string& text : texts) list.push(Node::text(text));
    return list;
}

Node counts_node(const InboundCounts& counts) {
    Node node = Node::map();
    for (std::size_t kind = 0; kind < kInboundKindNames.size(); ++kind) {
        Node results = Node::map();
        for (std::size_t result = 0; result < kInboundResultNames.size(); ++result) {
            results.set(std::string(kInboundResultNames[result]),
                        Node::unsigned_integer(counts.messages[kind][result]));
        }
        node.set(std::string(kInboundKindNames[kind]), std::move(results));
    }
    return node;
}

}  // namespace

void InboundDesk::explain(std::string key, std::move_only_function<void(std::string)> done) {
    loop_->post([this, key = std::move(key), done = std::move(done)]() mutable {
        const InboundTargetPtr target = book_.image().find(key);
        Node page = Node::map();
        if (!target) {
            page.set("error", Node::text(fmt::format("no target {}", key)));
            return done(document::to_json(page));
        }
        const base::Instant now = net::instant_now();
        const InboundMemory* memory = book_.find(key);
        page.set("key", Node::text(key));
        page.set("inbound", Node::text(std::string(to_string(target->kind))));
        const bool push = target->kind == model::ProtocolKind::kPush && target->hears();
        if (push) {
            const base::BootTime deadline = book_.deadline(key);
            page.set("verdict", Node::text(push_verdict(*target, memory->push, deadline, now)));
            add_push(page, *target, memory->push, deadline, now);
        } else {
            page.set("verdict", Node::text(verdict(*target)));
        }
        Node raised = Node::sequence();
        for (const auto& [name, one] : memory->signals.raised()) {
            Node line = Node::map();
            line.set("type", Node::text(one.signal.type));
            line.set("subject", Node::text(one.signal.subject));
            line.set("severity", Node::text(one.signal.severity));
            line.set("title", Node::text(one.signal.title));
            line.set("since", when(one.since));
            line.set("last", when(one.last));
            line.set("occurrences", Node::unsigned_integer(one.occurrences));
            raised.push(std::move(line));
        }
        page.set("raised", std::move(raised));
        done(document::to_json(page));
    });
}

void InboundDesk::push_rows(std::move_only_function<void(std::vector<PushRow>)> done) {
    loop_->post([this, done = std::move(done)]() mutable {
        const base::Instant now = net::instant_now();
        std::vector<PushRow> rows;
        for (const InboundTargetPtr& target : book_.image().targets) {
            if (target->kind != model::ProtocolKind::kPush) continue;
            const base::BootTime deadline = book_.deadline(target->key);
            const bool awaited = deadline != base::BootTime::max();
            rows.push_back({target->key, book_.find(target->key)->push,
                            awaited ? now.wall + (deadline - now.boot) : base::WallTime{}});
        }
        done(std::move(rows));
    });
}

void InboundDesk::page(std::move_only_function<void(std::string)> done) {
    loop_->post([this, done = std::move(done)]() mutable {
        const base::Instant now = net::instant_now();
        const InboundCounts all = counts();
        Node page = Node::map();
        page.set("traps", list_of(trap_addresses_));
        page.set("http", list_of(http_addresses_));
        page.set("messages", counts_node(all));
        page.set("waiting", Node::unsigned_integer(all.waiting));
        page.set("datagrams_dropped", Node::unsigned_integer(all.datagrams_dropped));
        Node unknown = Node::sequence();
        for (const UnknownSender& sender : traps_->unknown().latest_first()) {
            Node line = Node::map();
            line.set("source", Node::text(sender.source.to_string()));
            line.set("messages", Node::unsigned_integer(sender.messages));
            line.set("first", when(sender.first));
            line.set("last", when(sender.last));
            line.set("reason", Node::text(sender.reason));
            line.set("trap", Node::text(sender.trap));
            unknown.push(std::move(line));
        }
        page.set("unknown_senders", std::move(unknown));
        Node targets = Node::sequence();
        for (const InboundTargetPtr& target : book_.image().targets) {
            const InboundMemory* memory = book_.find(target->key);
            Node line = Node::map();
            line.set("key", Node::text(target->key));
            line.set("kind", Node::text(std::string(to_string(target->kind))));
            line.set("problem", Node::text(target->problem));
            line.set("enabled", Node::boolean(target->enabled));
            line.set("raised", Node::unsigned_integer(memory->signals.raised().size()));
            if (target->kind == model::ProtocolKind::kPush) {
                add_push(line, *target, memory->push, book_.deadline(target->key), now);
            }
            targets.push(std::move(line));
        }
        page.set("targets", std::move(targets));
        done(document::to_json(page));
    });
}

}  // namespace pollux::runtime
