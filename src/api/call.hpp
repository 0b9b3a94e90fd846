// One request on its way through a handler, and the one answer it gets.
//
//   void reset_breaker(Call call) {
//       const std::string key(call.parameter("key"));
//       core.ask([key](Core& core) { … }, [call = std::move(call)](auto answer) mutable {
//           call.json(200, to_json(answer));
//       });
//   }
//
// A Call is moved along until somebody answers it; what is answered twice is answered once, and a
// Call that is dropped unanswered gets 500. send(), json(), problem() and the destructor may be
// called on any thread: elsewhere than on the API's they are posted there. stream() and upgrade()
// belong to the API's thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "access/principal.hpp"
#include "access/rate_limiter.hpp"
#include "api/problem.hpp"
#include "api/query.hpp"
#include "api/route.hpp"
#include "api/trace_context.hpp"
#include "base/time.hpp"
#include "net/event_loop.hpp"
#include "net/http_server.hpp"

namespace pollux::api {

// Who finishes a Call: the server, or a test. Called on the API's thread, once per Call.
class CallSink {
  public:
    virtual void finish(Call call, net::Response response) = 0;
    virtual net::StreamHandle finish_stream(Call call, net::Response head, net::BodySource source,
                                            std::optional<std::uint64_t> length) = 0;
    virtual void finish_upgrade(Call call, net::Response head, net::UpgradeTaker taker) = 0;

  protected:
    ~CallSink() = default;
};

// Where Calls come home to. Outlives the server as long as a Call does; after close() answers go
// nowhere.
class CallHome {
  public:
    CallHome(net::EventLoop& loop, CallSink& sink) : loop_(&loop), sink_(&sink) {}

    // The thread that runs the loop says so once.
    void settle() { thread_ = std::this_thread::get_id(); }
    bool here() const { return std::this_thread::get_id() == thread_; }
    CallSink* sink() const { return sink_; }  // on the API's thread; nullptr after close()
    bool post(std::move_only_function<void()> work);
    void close();

  private:
    std::mutex mutex_;  // guards loop_
    net::EventLoop* loop_;
    CallSink* sink_;
    std::atomic<std::thread::id> thread_ = std::this_thread::get_id();
};

class Call {
  public:
    Call(std::shared_ptr<CallHome> home, net::Request request_in, net::Responder responder_in);
    ~Call();
    Call(Call&& other) noexcept = default;
    Call& operator=(Call&& other) noexcept;

    net::Request request;
    const Route* route = nullptr;
    std::string_view pattern = {};        // template of the path, or "unmatched"
    std::vector<std::string> parameters;  // of the path, decoded, in the order of the template
    Query query;
    access::Principal principal;
    std::string request_id;
    std::optional<TraceContext> trace;
    base::BootTime started;
    net::Responder responder;  // of the sink; handlers use what is below

    // Of the path, by its name in the template. The name must be there.
    std::string_view parameter(std::string_view name) const;

    bool answered() const { return home_ == nullptr; }
    void send(net::Response response);
    void json(int status, std::string body);
    void problem(const Problem& problem);
    void problem(const base::Error& error) { problem(problem_of(error)); }
    // The handle wakes a source that had nothing to give.
    net::StreamHandle stream(net::Response head, net::BodySource source,
                             std::optional<std::uint64_t> length = std::nullopt);
    void upgrade(net::Response head, net::UpgradeTaker taker);

    // What the sink needs to remember about this call.
    access::RateDecision rate;
    std::string etag;             // of the answer, if it has one
    std::string idempotency_key;  // of its entry in the table; empty: none

  private:
    std::shared_ptr<CallHome> home_;  // nullptr once answered
};

// What may stand in X-Request-Id and Idempotency-Key: 1 to 128 visible ASCII characters.
bool is_clean_id(std::string_view text);

}  // namespace pollux::api
