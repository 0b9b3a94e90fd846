#include "protocol/ssh/agent_login.hpp"

#include <libssh/libssh.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace pollux::protocol::ssh {
namespace {

// An end of the pair that has gone is an error of the call, not the end of this process.
void block_broken_pipes() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

}  // namespace

base::Status AgentThreads::submit(net::WorkPool::Work work) {
    if (!pool_) pool_ = std::make_unique<net::WorkPool>(kThreads, kQueue);
    return pool_->submit(std::move(work));
}

AgentLogin::AgentLogin(net::EventLoop& loop, AgentThreads& threads, std::function<void()> go_on)
    : loop_(loop), threads_(threads), go_on_(std::move(go_on)), client_(loop) {
    const char* path = std::getenv("SSH_AUTH_SOCK");
    path_ = path == nullptr ? "" : path;
}

AgentLogin::~AgentLogin() { close_way(); }

int AgentLogin::step(const Session& session) {
    if (waits_) return SSH_AUTH_AGAIN;
    if (std::exchange(has_result_, false)) {
        if (result_ == SSH_AUTH_AGAIN) return result_;
        close_way();
        return problem_.empty() ? result_ : static_cast<int>(SSH_AUTH_DENIED);
    }
    if (ours_ < 0 && !open_way(session)) return SSH_AUTH_DENIED;
    const auto submitted = threads_.submit([this, session = Session(session), loop = &loop_,
                                            alive = std::weak_ptr<bool>(alive_)]() mutable {
        block_broken_pipes();
        const int result = ssh_userauth_agent(session.get(), nullptr);
        session.reset();  // before the loop touches it again
        loop->post([this, result, alive = std::move(alive)] {
            if (!alive.expired()) finished(result);
        });
    });
    if (!submitted) {
        problem_ = submitted.error().message;
        return SSH_AUTH_DENIED;
    }
    waits_ = true;
    return SSH_AUTH_AGAIN;
}

void AgentLogin::finished(int result) {
    waits_ = false;
    has_result_ = true;
    result_ = result;
    go_on_();
}

bool AgentLogin::open_way(const Session& session) {
    std::array<int, 2> pair{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
        problem_ = "too many files are open";
        return false;
    }
    ours_ = pair[0];
    const int room = 2 * static_cast<int>(kMaxAgentMessage);  // an answer fits whole
    setsockopt(ours_, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    const bool watched = loop_.watch(ours_, EPOLLIN, *this).has_value();
    if (watched && ssh_set_agent_socket(session.get(), pair[1]) == SSH_OK) return true;
    close(pair[1]);
    close_way();
    problem_ = "its answers cannot be handed on";
    return false;
}

void AgentLogin::close_way() {
    if (ours_ < 0) return;
    loop_.unwatch(ours_);
    close(std::exchange(ours_, -1));
}

void AgentLogin::on_ready(int fd, std::uint32_t) {
    std::array<char, 16'384> buffer{};
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return close_way();
    question_.append(buffer.data(), static_cast<std::size_t>(got));
    if (question_.size() < 4) return;
    const std::size_t length = agent_number(question_);
    if (length > kMaxAgentMessage) return close_way();
    if (question_.size() < 4 + length) return;
    // The next one comes after the answer.
    const std::string message = std::exchange(question_, {}).substr(4, length);
    client_.ask(
        path_, message,
        [this, signs = message.starts_with(kAgentSign)](const base::Result<std::string>& said) {
            if (said && signs && !said->starts_with(kAgentSignature)) {
                problem_ = "it refused to sign";
            }
            answer(said);
        });
}

void AgentLogin::answer(const base::Result<std::string>& answer) {
    if (!answer) {
        problem_ = answer.error().message;
        return close_way();
    }
    if (ours_ < 0) return;
    const std::string frame = agent_frame(*answer);
    if (send(ours_, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT) != std::ssize(frame)) {
        problem_ = "it holds too many keys";
        close_way();
    }
}

}  // namespace pollux::protocol::ssh
