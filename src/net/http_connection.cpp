#include "net/http_connection.hpp"

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <utility>

namespace pollux::net {
namespace {

constexpr std::size_t kReadAhead = 64 * 1024;
constexpr int kRoundsPerPump = 64;  // then other connections get their turn
constexpr std::uint64_t kLingerBytes = 4 * 1024 * 1024;
constexpr base::Duration kLingerTime = std::chrono::seconds(2);

// Fields are data: a line break inside one would let it write further fields.
void append_clean(std::string& out, std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out += byte < 0x20 || byte == 0x7F ? '?' : c;
    }
}

}  // namespace

HttpConnection::HttpConnection(HttpServer& server, std::unique_ptr<ByteStream> stream, bool secure)
    : server_(server),
      stream_(std::move(stream)),
      parser_(server.options_.limits),
      timer_(server.loop_,
             [this] {
                 if (server_.loop_.now() < deadline_) return timer_.arm(deadline_);
                 expire();
             }),
      secure_(secure) {
    link_->connection = this;
}

HttpConnection::~HttpConnection() {
    link_->connection = nullptr;
    if (stream_ != nullptr) stream_->set_handler(nullptr);
}

void HttpConnection::start() {
    stream_->set_handler(this);
    enter(Phase::kReading);
    update_interest();
}

void HttpConnection::refuse() {
    stream_->set_handler(this);
    old_client_ = false;
    say_no(503, "too many connections; try again later");
    pump();
}

void HttpConnection::close_when_done() {
    close_after_ = true;
    if (phase_ != Phase::kReading || parser_.started() || !in_.empty()) return;
    end();
    pump();
}

void HttpConnection::close_now() {
    end();
    pump();
}

// --- time ---------------------------------------------------------------------------------------

void HttpConnection::set_deadline(base::Duration delay) {
    deadline_ = server_.loop_.now() + delay;
    // Most deadlines are replaced by later ones before they come: the timer then stays where it is
    // and looks again when it fires.
    if (!timer_.armed() || timer_.at() > deadline_) timer_.arm(deadline_);
}

void HttpConnection::enter(Phase phase) {
    phase_ = phase;
    const HttpServerOptions& options = server_.options_;
    switch (phase) {
        case Phase::kReading: return set_deadline(options.idle_timeout);
        case Phase::kHandling:
        case Phase::kStreaming: return set_deadline(options.handler_timeout);
        case Phase::kFlushing:
        case Phase::kUpgrading: return set_deadline(options.write_timeout);
        case Phase::kLingering: return set_deadline(kLingerTime);
        case Phase::kEnded: return timer_.cancel();
    }
}

void HttpConnection::expire() {
    const bool idle = phase_ == Phase::kReading && !parser_.started();
    if (!idle && phase_ != Phase::kLingering) ++server_.counters_.timeouts;
    if (phase_ == Phase::kReading && parser_.started()) {
        reject(408, "the request did not arrive in time");
    } else if (phase_ == Phase::kHandling) {
        reject(503, "the answer took too long");
    } else if (idle || phase_ == Phase::kLingering) {
        end();
    } else {
        reset();
    }
    pump();
}

// --- the pump -----------------------------------------------------------------------------------

void HttpConnection::pump() {
    if (pumping_) {
        again_ = true;
        return;
    }
    pumping_ = true;
    yielded_ = false;
    int rounds = 0;
    while (phase_ != Phase::kEnded && (round() || std::exchange(again_, false))) {
        if (++rounds < kRoundsPerPump) continue;
        yielded_ = true;
        break;
    }
    pumping_ = false;
    if (phase_ != Phase::kEnded) return update_interest();
    server_.remove(*this);  // destroys this object
}

bool HttpConnection::round() {
    // Reads also while the client takes its time: a level nobody serves would spin the loop.
    if (out_done_ < out_.size()) return write_out() || (phase_ != Phase::kEnded && read_in());
    switch (phase_) {
        case Phase::kReading: return parse() || read_in();
        case Phase::kHandling: return read_in();
        case Phase::kStreaming: return fill();
        case Phase::kFlushing: end_of_answer(); return true;
        case Phase::kUpgrading: {
            auto taker = std::move(taker_);
            auto stream = std::move(stream_);
            stream->set_handler(nullptr);
            stream->want(false, false);
            enter(Phase::kEnded);
            taker(std::move(stream), std::move(in_));
            return false;
        }
        case Phase::kLingering: return read_in();
        case Phase::kEnded: return false;
    }
    return false;
}

void HttpConnection::update_interest() {
    const bool read_ahead = in_.size() < kReadAhead && !peer_ended_;
    const bool to_write = out_done_ < out_.size() || yielded_;
    stream_->want(read_ahead, to_write);
}

bool HttpConnection::write_out() {
    const IoResult result = stream_->write(std::span(out_).subspan(out_done_));
    if (result.state == IoState::kWouldBlock) return false;
    if (result.state != IoState::kOk) {
        end();
        return false;
    }
    out_done_ += result.bytes;
    set_deadline(server_.options_.write_timeout);
    if (out_done_ < out_.size()) return true;
    out_.clear();
    out_done_ = 0;
    // A large page must not leave its memory with every idle connection.
    if (out_.capacity() > kReadAhead) out_.shrink_to_fit();
    if (phase_ == Phase::kStreaming) set_deadline(server_.options_.handler_timeout);
    return true;
}

bool HttpConnection::read_in() {
    if (peer_ended_ || in_.size() >= kReadAhead) return false;
    const IoResult result = stream_->read(server_.scratch_);
    switch (result.state) {
        case IoState::kWouldBlock: return false;
        case IoState::kOk: break;
        case IoState::kClosed:
            peer_ended_ = true;
            // A client may end its side and still wait for the answer it asked for.
            if (phase_ == Phase::kReading || phase_ == Phase::kLingering) end();
            return false;
        case IoState::kFailed: end(); return false;
    }
    const std::string_view bytes(server_.scratch_.data(), result.bytes);
    if (phase_ == Phase::kLingering) {
        lingered_ += bytes.size();
        if (lingered_ > kLingerBytes) end();
        return true;
    }
    if (phase_ == Phase::kReading && in_.empty()) return feed(bytes);
    in_.append(bytes);
    return phase_ == Phase::kReading;
}

bool HttpConnection::parse() {
    if (in_.empty()) return false;
    const std::string bytes = std::exchange(in_, {});
    return feed(bytes);
}

// Gives the bytes to the parser and keeps what belongs to the next request.
bool HttpConnection::feed(std::string_view bytes) {
    const bool had_started = parser_.started();
    const RequestParser::State before = parser_.state();
    const std::size_t used = parser_.consume(bytes);
    in_.assign(bytes.substr(used));
    const RequestParser::State state = parser_.state();
    if (state == RequestParser::State::kFailed) {
        reject(parser_.status(), parser_.reason());
        return true;
    }
    if (state == RequestParser::State::kComplete) {
        dispatch();
        return true;
    }
    if (!had_started) set_deadline(server_.options_.head_timeout);
    if (state == RequestParser::State::kBody && before == RequestParser::State::kHead) {
        set_deadline(server_.options_.body_timeout);
        if (parser_.expects_continue() && parser_.request().body.empty()) {
            out_ += "HTTP/1.1 100 Continue\r\n\r\n";
        }
    }
    return true;
}

void HttpConnection::dispatch() {
    Request request = std::move(parser_.request());
    request.peer = stream_->peer();
    request.local = stream_->local();
    request.secure = secure_;
    head_only_ = request.method == "HEAD";
    old_client_ = request.minor_version == 0;
    if (!request.keep_alive || server_.draining_) close_after_ = true;
    enter(Phase::kHandling);
    ++link_->serial;
    ++server_.counters_.requests;
    server_.handler_(std::move(request), Responder(link_, link_->serial));
}

bool HttpConnection::fill() {
    if (source_waits_) return read_in();
    std::string piece;
    BodySource source = std::move(source_);  // lives on if the call ends the connection
    const Fill result = source(piece);
    if (phase_ != Phase::kStreaming) return false;
    source_ = std::move(source);
    if (result == Fill::kAbort) {
        reset();
        return false;
    }
    source_waits_ = result == Fill::kWait;
    if (!piece.empty()) {
        if (chunked_) out_ += fmt::format("{:x}\r\n", piece.size());
        out_ += piece;
        if (chunked_) out_ += "\r\n";
    }
    if (result == Fill::kDone) {
        if (chunked_) out_ += "0\r\n\r\n";
        source_ = nullptr;
        enter(Phase::kFlushing);
    }
    return true;
}

// --- answers ------------------------------------------------------------------------------------

bool HttpConnection::bodiless(int status) const {
    return status < 200 || status == 204 || status == 304;
}

void HttpConnection::append_head(const Response& response, std::optional<std::uint64_t> length,
                                 bool chunked) {
    fmt::format_to(std::back_inserter(out_), "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                   reason_phrase(response.status), server_.date());
    out_ += response.fixed_fields;
    for (const HeaderField& field : response.headers) {
        append_clean(out_, field.name);
        out_ += ": ";
        append_clean(out_, field.value);
        out_ += "\r\n";
    }
    if (length && !bodiless(response.status)) {
        fmt::format_to(std::back_inserter(out_), "Content-Length: {}\r\n", *length);
    }
    if (chunked) out_ += "Transfer-Encoding: chunked\r\n";
    if (response.status != 101) {
        if (close_after_) {
            out_ += "Connection: close\r\n";
        } else if (old_client_) {
            out_ += "Connection: keep-alive\r\n";
        }
    }
    out_ += "\r\n";
}

void HttpConnection::answer(Response response) {
    ++link_->serial;
    append_head(response, response.body.size(), false);
    if (!head_only_ && !bodiless(response.status)) out_ += response.body;
    enter(Phase::kFlushing);
    pump();
}

void HttpConnection::answer_with(Response head, BodySource source,
                                 std::optional<std::uint64_t> length) {
    // HTTP/1.0 knows no chunks: there the end of the connection is the end of the body.
    const bool without_body = bodiless(head.status);
    chunked_ = !length && !old_client_ && !without_body;
    if (!length && old_client_) close_after_ = true;
    append_head(head, length, chunked_);
    if (head_only_ || without_body) {
        ++link_->serial;
        enter(Phase::kFlushing);
    } else {
        source_ = std::move(source);
        source_waits_ = false;
        enter(Phase::kStreaming);
    }
    pump();
}

void HttpConnection::answer_with_upgrade(std::optional<Response> head, UpgradeTaker taker) {
    ++link_->serial;
    if (head) append_head(*head, std::nullopt, false);
    taker_ = std::move(taker);
    enter(Phase::kUpgrading);
    pump();
}

void HttpConnection::reject(int status, std::string_view reason) {
    ++server_.counters_.rejected;
    say_no(status, reason);
}

void HttpConnection::say_no(int status, std::string_view reason) {
    ++link_->serial;  // a responder that comes late finds nothing
    close_after_ = true;
    head_only_ = false;
    const auto& shaped = server_.options_.error_page;
    const Response response =
        shaped ? shaped(status, reason)
               : Response::text(status,
                                fmt::format("{} {}: {}\n", status, reason_phrase(status), reason));
    append_head(response, response.body.size(), false);
    out_ += response.body;
    enter(Phase::kFlushing);
}

void HttpConnection::end_of_answer() {
    ++link_->serial;
    if (close_after_ || server_.draining_) return linger();
    parser_.start_over();
    enter(Phase::kReading);
    if (peer_ended_ && in_.empty()) end();
}

// Closing with unread bytes would reset the connection and might take the answer with it.
void HttpConnection::linger() {
    if (peer_ended_) return end();
    stream_->shutdown_write();
    in_.clear();
    enter(Phase::kLingering);
}

void HttpConnection::reset() {
    stream_->abort();
    end();
}

void HttpConnection::abort() {
    reset();
    pump();
}

void HttpConnection::resume() {
    if (phase_ != Phase::kStreaming) return;
    source_waits_ = false;
    pump();
}

void HttpConnection::end() {
    ++link_->serial;
    source_ = nullptr;
    enter(Phase::kEnded);
}

}  // namespace pollux::net
