// One connection of an HttpServer; nobody else uses it.
//
// Invariants
// 1. One request at a time: while its answer is outstanding no further request is parsed, and at
//    most kReadAhead bytes of what follows are held.
// 2. pump() is the only place that moves bytes and the only one that ends the connection, as its
//    last act; a call from inside itself only asks for another round.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/http_server.hpp"

namespace pollux::net {

class HttpConnection final : private StreamHandler {
  public:
    HttpConnection(HttpServer& server, std::unique_ptr<ByteStream> stream, bool secure);
    ~HttpConnection();

    void start();
    void refuse();  // 503: the server is full
    void close_when_done();
    void close_now();

    // For Responder and StreamHandle.
    void answer(Response response);
    void answer_with(Response head, BodySource source, std::optional<std::uint64_t> length);
    void answer_with_upgrade(std::optional<Response> head, UpgradeTaker taker);
    void abort();
    void resume();

  private:
    friend class HttpServer;
    enum class Phase : std::uint8_t {
        kReading,    // a request, or the wait for one
        kHandling,   // the handler has it
        kStreaming,  // the source of the body has more
        kFlushing,   // the answer is in out_
        kUpgrading,  // 101 is in out_, then the stream goes away
        kLingering,  // our side is closed; what still comes is dropped
        kEnded,
    };

    void on_stream_ready() override { pump(); }
    void pump();
    bool round();  // whether something moved
    bool write_out();
    bool read_in();
    bool parse();
    bool feed(std::string_view bytes);
    bool fill();
    void dispatch();
    void reject(int status, std::string_view reason);
    void say_no(int status, std::string_view reason);
    void append_head(const Response& response, std::optional<std::uint64_t> length, bool chunked);
    void end_of_answer();
    void linger();
    void reset();  // ends with an error the client sees; pump() does the rest, like after end()
    void end();
    void update_interest();
    void enter(Phase phase);
    void set_deadline(base::Duration delay);
    void expire();
    bool bodiless(int status) const;

    HttpServer& server_;
    std::unique_ptr<ByteStream> stream_;
    std::shared_ptr<HttpLink> link_ = std::make_shared<HttpLink>();
    std::size_t index_ = 0;            // in the server's table
    std::optional<IpAddress> sender_;  // whom it is counted for, if senders are limited
    RequestParser parser_;
    Phase phase_ = Phase::kReading;
    std::string in_;  // read ahead of the request in work
    std::string out_;
    std::size_t out_done_ = 0;
    BodySource source_;
    UpgradeTaker taker_;
    std::uint64_t lingered_ = 0;
    base::BootTime deadline_;
    Timer timer_;
    bool secure_;
    bool head_only_ = false;   // the request was HEAD
    bool old_client_ = false;  // HTTP/1.0: no chunks
    bool chunked_ = false;
    bool source_waits_ = false;
    bool close_after_ = false;
    bool peer_ended_ = false;
    bool pumping_ = false;
    bool again_ = false;
    bool yielded_ = false;  // stopped for the sake of others though more could be done
};

}  // namespace pollux::net
