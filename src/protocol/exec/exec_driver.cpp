#include "protocol/exec/exec_driver.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "net/ip_address.hpp"

namespace pollux::protocol {
namespace {

using model::FailureKind;
using namespace std::chrono_literals;

constexpr base::Duration kGrace = 2s;             // between SIGTERM and SIGKILL
constexpr std::uint64_t kFloodBytes = 8U << 20U;  // beyond what is kept: nobody prints that much
constexpr int kReadsPerTurn = 4;
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

FailureKind kind_of(base::ErrorClass cause) {
    return cause == base::ErrorClass::kConfig ? FailureKind::kConfiguration
                                              : FailureKind::kInternal;
}

// The first line of what a program said, for a message.
std::string said(const model::CommandReply& reply) {
    for (const std::string* text : {&reply.error_out, &reply.out}) {
        const std::string plain = base::plain_text(std::string_view(*text).substr(0, 2000));
        const std::size_t first = plain.find_first_not_of('\n');
        if (first == std::string::npos) continue;
        const std::string_view rest = std::string_view(plain).substr(first);
        return ": " + base::quoted(rest.substr(0, rest.find('\n')), 200);
    }
    return {};
}

}  // namespace

struct ExecDriver::Run final : RunBase, net::FdHandler {
    Run(net::EventLoop& loop, Order given, Done then, std::function<void()> fire, ExecDriver& owner)
        : RunBase(loop, std::move(given), std::move(then), std::move(fire)), driver(owner) {}
    ~Run() override = default;

    const model::ExecAsk& exec() const { return std::get<model::ExecAsk>(ask().request); }

    void watch() {
        for (const int fd : {child.out(), child.error_out(), child.pidfd()}) {
            // A full table of watches shows at the deadline; nothing is lost by it.
            [[maybe_unused]] const auto status = driver.loop_.watch(fd, EPOLLIN, *this);
        }
        watched = true;
    }

    void stop_watching() {
        if (!watched) return;
        watched = false;
        for (const int fd : {child.out(), child.error_out(), child.pidfd()}) {
            if (fd >= 0) driver.loop_.unwatch(fd);
        }
    }

    void stop() override {
        stop_watching();
        if (child.exists()) driver.let_die(std::move(child));
    }

    void on_ready(int fd, std::uint32_t) override {
        if (fd == child.pidfd()) {
            drain(child.out());
            drain(child.error_out());
            driver.finish(*this);
            return;
        }
        drain(fd);
        if (seen > exec().max_output_bytes + kFloodBytes) {
            child.signal(SIGKILL);
            driver.runs_.end(
                *this, failure_of(FailureKind::kApi, "exec.output_too_large",
                                  fmt::format("{} was stopped: it printed more than {} bytes; see "
                                              "what it prints, or raise max_output",
                                              base::quoted(exec().argv.front()), seen)));
        }
    }

    // Takes what is there, within bounds; the loop calls again for more.
    void drain(int fd) {
        if (fd < 0) return;
        std::array<char, 65'536> buffer;
        for (int turn = 0; turn < kReadsPerTurn; ++turn) {
            const ssize_t got = read(fd, buffer.data(), buffer.size());
            if (got > 0) {
                keep(fd, {buffer.data(), static_cast<std::size_t>(got)});
                continue;
            }
            if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
            driver.loop_.unwatch(fd);
            if (fd == child.out()) {
                child.close_out();
            } else {
                child.close_error_out();
            }
            return;
        }
    }

    void keep(int fd, std::string_view bytes) {
        if (seen == 0) reply.phases.first_byte = since_start();
        seen += bytes.size();
        const std::uint64_t kept = answer.out.size() + answer.error_out.size();
        const std::uint64_t room = exec().max_output_bytes - kept;
        if (bytes.size() > room) {
            answer.truncated = true;
            bytes = bytes.substr(0, static_cast<std::size_t>(room));
        }
        (fd == child.out() ? answer.out : answer.error_out) += bytes;
    }

    ExecDriver& driver;
    exec::ChildProcess child;
    model::CommandReply answer;
    std::uint64_t seen = 0;  // bytes, kept or not
    bool watched = false;
};

// A process whose ask has ended: asked to go, killed if it does not, reaped when it has gone.
class ExecDriver::Dying final : net::FdHandler {
  public:
    Dying(ExecDriver& driver, exec::ChildProcess child)
        : driver_(driver), child_(std::move(child)), timer_(driver.loop_, [this] { end(); }) {
        child_.close_out();
        child_.close_error_out();
        child_.signal(SIGTERM);
        timer_.arm(net::boot_now() + kGrace);
        [[maybe_unused]] const auto status = driver_.loop_.watch(child_.pidfd(), EPOLLIN, *this);
    }
    ~Dying() { driver_.loop_.unwatch(child_.pidfd()); }

  private:
    void on_ready(int, std::uint32_t) override {
        [[maybe_unused]] const auto end = child_.reap();  // how it ended no longer matters
        --driver_.processes_;
        driver_.next_.arm(driver_.loop_.now());
        driver_.dying_.remove_if([this](const auto& one) { return one.get() == this; });
    }

    void end() {
        child_.signal(SIGKILL);
        timer_.arm_in(kGrace);  // again, should it not die of it
    }

    ExecDriver& driver_;
    exec::ChildProcess child_;
    net::Timer timer_;
};

ExecDriver::ExecDriver(net::EventLoop& loop, exec::ExecRules rules,
                       std::shared_ptr<const net::EgressPolicy> egress)
    : loop_(loop),
      rules_(std::move(rules)),
      egress_(std::move(egress)),
      runs_(loop, [this](Run& run) { expire(run); }),
      next_(loop, [this] { launch_waiting(); }) {}

ExecDriver::~ExecDriver() {
    // Nothing waits for a grace any more.
    runs_.each([](Run& run) { run.child.signal(SIGKILL); });
}

void ExecDriver::start(Order order, Done done) {
    Run& run = runs_.add(std::move(order), std::move(done), *this);
    if (std::get_if<model::ExecAsk>(&run.ask().request) == nullptr) {
        runs_.end_later(run, failure_of(FailureKind::kInternal, "exec.not_exec",
                                        "the ask is not one of a program"));
        return;
    }
    waiting_.push_back(run.order.id);
    next_.arm(loop_.now());
}

void ExecDriver::cancel(std::uint64_t id) { runs_.cancel(id); }

// What a plugin connects to is its own affair; but a target with a forbidden address is refused
// like everywhere else.
base::Status ExecDriver::check_host(const model::Ask& ask) const {
    const auto address = net::IpAddress::parse(ask.host);
    return address && egress_ ? egress_->check_target(*address) : base::Status();
}

void ExecDriver::launch_waiting() {
    while (!waiting_.empty() && processes_ < kMaxProcesses) {
        Run* const run = runs_.find(waiting_.front());
        waiting_.pop_front();
        if (run != nullptr && !run->ending) launch(*run);
    }
}

void ExecDriver::launch(Run& run) {
    const model::ExecAsk& ask = run.exec();
    if (const auto allowed = check_host(run.ask()); !allowed) {
        return runs_.end(run, failure_of(FailureKind::kConfiguration, allowed.error().code,
                                         allowed.error().message));
    }
    const auto path = ask.argv.empty()
                          ? base::config_error("exec.not_allowed", "there is no program to run")
                          : exec::find_program(rules_, ask.argv.front());
    if (!path) {
        return runs_.end(
            run, failure_of(FailureKind::kConfiguration, path.error().code, path.error().message));
    }
    exec::ChildCommand command{*path, ask.argv, {{"PATH", kPath}, {"LC_ALL", "C"}}, ask.input};
    command.argv.front() = *path;
    command.environment.insert(command.environment.end(), ask.environment.begin(),
                               ask.environment.end());
    auto child = exec::ChildProcess::start(command);
    if (!child) {
        return runs_.end(run, failure_of(kind_of(child.error().error_class), child.error().code,
                                         child.error().message));
    }
    run.child = std::move(*child);
    run.reply.phases.connect = run.since_start();
    if (run.order.trace) {
        std::string line = "run";
        for (const std::string& argument : command.argv) line += " " + base::quoted(argument, 200);
        run.note(std::move(line));
        run.note(fmt::format("process {}", run.child.pid()));
    }
    ++processes_;
    run.watch();
}

void ExecDriver::expire(Run& run) {
    const std::string waited = base::format_duration(run.deadline - run.started);
    if (!run.child.exists()) {
        return runs_.end(run,
                         failure_of(FailureKind::kInternal, "exec.overloaded",
                                    fmt::format("the program still waited for its turn after {}; "
                                                "too many run at once, spread them out",
                                                waited)));
    }
    runs_.end(run, failure_of(FailureKind::kTimeout, "exec.timeout",
                              fmt::format("{} did not end within {} and was stopped{}; raise the "
                                          "timeout, or its own, which should be shorter",
                                          base::quoted(run.exec().argv.front()), waited,
                                          said(run.answer))));
}

void ExecDriver::finish(Run& run) {
    run.stop_watching();
    const auto end = run.child.reap();
    --processes_;
    next_.arm(loop_.now());
    if (!end) {
        run.child = {};
        return runs_.end(run,
                         failure_of(FailureKind::kInternal, end.error().code, end.error().message));
    }
    model::CommandReply answer = std::move(run.answer);
    answer.out = base::valid_utf8(answer.out);
    answer.error_out = base::valid_utf8(answer.error_out);
    run.reply.bytes_in = run.seen;
    const std::string name = base::quoted(run.exec().argv.front());
    if (end->by_signal) {
        answer.signal = end->code;
        return runs_.end(run,
                         failure_of(FailureKind::kApi, "exec.signal",
                                    fmt::format("{} was ended by signal {} ({}){}", name, end->code,
                                                strsignal(end->code), said(answer))));
    }
    answer.exit_status = end->code;
    run.note(fmt::format("exit status {}, {} bytes of output, {} of errors", end->code,
                         answer.out.size(), answer.error_out.size()));
    const bool good = std::ranges::any_of(run.exec().good_exit, [&](const auto& range) {
        return end->code >= range.first && end->code <= range.second;
    });
    if (!good) {
        return runs_.end(run, failure_of(FailureKind::kApi, "exec.exit_status",
                                         fmt::format("{} ended with status {}{}", name, end->code,
                                                     said(answer))));
    }
    runs_.end(run, std::move(answer));
}

void ExecDriver::let_die(exec::ChildProcess child) {
    dying_.push_back(std::make_unique<Dying>(*this, std::move(child)));
}

}  // namespace pollux::protocol
