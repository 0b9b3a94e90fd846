// How handlers reach the running server from the API's thread: questions to the core, changes on
// the main loop, reads that block on the pool. Everything given outlives the handlers.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/call.hpp"
#include "api/loop_door.hpp"
#include "document/node.hpp"
#include "model/audit.hpp"
#include "net/event_loop.hpp"
#include "net/work_pool.hpp"
#include "observe/log.hpp"
#include "runtime/server.hpp"

namespace pollux::api {

struct ServerLink {
    runtime::Server& server;  // its own thread is that of `main`; see what it says of others
    net::EventLoop& main;
    std::shared_ptr<LoopDoor> loop;  // of the API; answers may come after it is gone
    net::WorkPool& pool;
    observe::Log& log;
    std::string version;  // of the program

    std::shared_ptr<const runtime::FleetView> view() const { return server.view(); }

    // `question` runs on the core's thread; `answer` on the API's, with what it returned.
    template <class Question, class Answer>
    void ask(Question question, Answer answer) const {
        server.core()->ask([to = loop, question = std::move(question), answer = std::move(answer)](
                               const runtime::CoreLoop::View& view) mutable {
            to->post([facts = question(view), answer = std::move(answer)]() mutable {
                answer(std::move(facts));
            });
        });
    }

    // `change` runs on the main loop, where the server may be changed. It answers the call.
    template <class Change>
    void on_main(Change change) const {
        main.post(std::move(change));
    }

    // `work` may block; it runs on the pool and answers the call. A full pool answers 503.
    template <class Work>
    void block(Call call, Work work) const {
        auto held = std::make_shared<Call>(std::move(call));
        const auto accepted =
            pool.submit([held, work = std::move(work)]() mutable { work(std::move(*held)); });
        if (!accepted) held->problem(accepted.error());
    }
};

// Who did what: an entry of the audit trail that the act completes.
model::AuditEntry audit_entry(const Call& call, std::string action, std::string object,
                              std::string reason);

// The body as a tree; an empty one is an empty map.
std::expected<document::Node, Problem> read_body(const Call& call);

// The `reason` of a body that may hold nothing else: {"reason": "…"}, or no body at all.
std::expected<std::string, Problem> read_reason(const Call& call);

// The version that If-Match names, such as "v7"; nothing: any. 412 for what names none of ours.
std::expected<std::optional<std::uint64_t>, Problem> version_of_if_match(const Call& call);

// Of the target behind a task: what scopes of grants are compared with.
access::Labels labels_of(const runtime::FleetView& view, std::string_view task_key);

// An error of an edit or an operator's action with its status: unknown 404, owned by files or
// nothing to do 409, somebody was faster 412.
Problem problem_of_edit(const base::Error& error);

}  // namespace pollux::api
