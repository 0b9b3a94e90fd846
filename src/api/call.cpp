#include "api/call.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace pollux::api {

bool CallHome::post(std::move_only_function<void()> work) {
    const std::scoped_lock lock(mutex_);
    if (loop_ == nullptr) return false;
    loop_->post(std::move(work));
    return true;
}

void CallHome::close() {
    const std::scoped_lock lock(mutex_);
    loop_ = nullptr;
    sink_ = nullptr;
}

Call::Call(std::shared_ptr<CallHome> home, net::Request request_in, net::Responder responder_in)
    : request(std::move(request_in)), responder(std::move(responder_in)), home_(std::move(home)) {}

Call::~Call() {
    if (home_ == nullptr) return;
    problem(Problem{.code = "api.dropped", .detail = "the request was dropped without an answer"});
}

Call& Call::operator=(Call&& other) noexcept {
    if (this != &other) {
        std::destroy_at(this);
        std::construct_at(this, std::move(other));
    }
    return *this;
}

std::string_view Call::parameter(std::string_view name) const {
    std::size_t index = 0;
    std::string_view rest = route->path;
    while (true) {
        const std::size_t open = rest.find('{');
        POLLUX_CHECK_MSG(open != std::string_view::npos, "the route has no parameter of that name");
        const std::size_t close = rest.find('}', open);
        if (rest.substr(open + 1, close - open - 1) == name) return parameters[index];
        rest.remove_prefix(close);
        ++index;
    }
}

bool is_clean_id(std::string_view text) {
    return !text.empty() && text.size() <= 128 &&
           std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
}

void Call::send(net::Response response) {
    if (home_ == nullptr) return;
    std::shared_ptr<CallHome> home = std::move(home_);
    if (home->here()) {
        CallSink* sink = home->sink();
        if (sink != nullptr) sink->finish(std::move(*this), std::move(response));
        return;
    }
    CallHome& target = *home;
    target.post(
        [home = std::move(home), call = std::move(*this), answer = std::move(response)]() mutable {
            CallSink* sink = home->sink();
            if (sink != nullptr) sink->finish(std::move(call), std::move(answer));
        });
}

void Call::json(int status, std::string body) {
    send(net::Response::json(status, std::move(body)));
}

void Call::problem(const Problem& what) { send(to_response(what, request_id)); }

net::StreamHandle Call::stream(net::Response head, net::BodySource source,
                               std::optional<std::uint64_t> length) {
    if (home_ == nullptr) return {};
    const std::shared_ptr<CallHome> home = std::move(home_);
    POLLUX_CHECK_MSG(home->here(), "streams begin on the API's thread");
    CallSink* sink = home->sink();
    if (sink == nullptr) return {};
    return sink->finish_stream(std::move(*this), std::move(head), std::move(source), length);
}

void Call::upgrade(net::Response head, net::UpgradeTaker taker) {
    if (home_ == nullptr) return;
    const std::shared_ptr<CallHome> home = std::move(home_);
    POLLUX_CHECK_MSG(home->here(), "connections are handed over on the API's thread");
    CallSink* sink = home->sink();
    if (sink != nullptr) sink->finish_upgrade(std::move(*this), std::move(head), std::move(taker));
}

}  // namespace pollux::api
