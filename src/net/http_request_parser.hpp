// Reads HTTP/1.1 requests from bytes, strictly (RFC 9112): what two readers could understand
// differently is refused, so that nobody can smuggle a request past somebody else.
//
// Sans-IO: give it the bytes that came, in pieces of any size; it says how many it used. Bytes of
// the next request are left to the caller. Used by one connection, one thread.
//
// Refused: a bare LF or CR, folded lines, NUL and other controls, blanks around names,
// Content-Length with Transfer-Encoding, repeated or malformed lengths, codings other than chunked,
// a missing or repeated Host, chunk sizes that are not plain hexadecimal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "net/http_message.hpp"

namespace pollux::net {

struct RequestLimits {
    std::size_t head_bytes = 16 * 1024;  // request line and fields together; trailers likewise
    std::size_t target_bytes = 8 * 1024;
    std::size_t fields = 100;
    std::size_t body_bytes = 1024 * 1024;
    // Asked when the head of a request with a body is known: how long that one may be. Must stay.
    const std::function<std::size_t(const Request& head)>* body_limit = nullptr;
};

class RequestParser {
  public:
    enum class State : std::uint8_t {
        kHead,      // waits for the rest of the head
        kBody,      // the head is known, request() has it; waits for the body
        kComplete,  // request() is whole; start_over() for the next one
        kFailed,    // refused: status() and reason() say how; nothing more can be read
    };

    explicit RequestParser(RequestLimits limits) : limits_(limits) {}

    // Uses as much of `bytes` as belongs to this request and returns how much that was.
    std::size_t consume(std::string_view bytes);
    void start_over();

    State state() const { return state_; }
    bool started() const { return started_; }  // the first byte of a request came
    // The client waits for "100 Continue" before it sends the body; true from the head on.
    bool expects_continue() const { return expects_continue_; }
    int status() const { return status_; }
    std::string_view reason() const { return reason_; }
    Request& request() { return request_; }

  private:
    enum class BodyPhase : std::uint8_t {
        kLength,     // counted bytes
        kChunkSize,  // the line before a chunk
        kChunkData,  // the bytes of a chunk
        kChunkEnd,   // CR LF after them
        kTrailers,   // fields after the last chunk, read and dropped
    };
    std::size_t consume_head(std::string_view bytes);
    std::size_t consume_body(std::string_view bytes);
    std::size_t take_counted(std::string_view bytes);
    // Collects one line without its CR LF in line_; returns the bytes used; `whole` tells the end.
    std::size_t take_line(std::string_view bytes, bool& whole);
    std::size_t take_chunk_line(std::string_view bytes);
    void trailer(std::size_t used, bool whole);
    bool check_field(std::string_view line, std::size_t& colon);
    void line_of_head();
    void request_line(std::string_view line);
    bool take_target(std::string_view target);
    void field_line(std::string_view line);
    void end_of_head();
    void take_connection_fields();
    void take_body_framing();
    void take_content_length(std::string_view value);
    void chunk_size_line(std::string_view line);
    void fail(int status, std::string_view reason);

    RequestLimits limits_;
    std::size_t body_bytes_ = 0;  // the limit of this request
    State state_ = State::kHead;
    BodyPhase phase_ = BodyPhase::kLength;
    bool started_ = false;
    bool has_request_line_ = false;
    bool expects_continue_ = false;
    std::size_t head_bytes_ = 0;
    std::size_t blank_lines_ = 0;
    std::uint64_t remaining_ = 0;  // of the counted body or the chunk
    std::string line_;
    Request request_;
    int status_ = 0;
    std::string_view reason_;
};

}  // namespace pollux::net
