#include "net/websocket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_test_support.hpp"

namespace pollux::net {
namespace {

using std::chrono::milliseconds;
using test::MemoryClient;
using testing::ElementsAre;
using testing::HasSubstr;
using enum WebSocketOpcode;

Request upgrade_request() {
    Request request;
    request.method = "GET";
    request.path = "/ws";
    request.headers = {{"Connection", "keep-alive, Upgrade"},
                       {"Upgrade", "websocket"},
                       {"Sec-WebSocket-Version", "13"},
                       {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
    return request;
}

TEST(WebSocketHandshake, AnswersAsTheStandardShows) {
    const WebSocketHandshake handshake = websocket_handshake(upgrade_request());
    EXPECT_EQ(handshake.status, 101);
    EXPECT_EQ(handshake.head.status, 101);
    EXPECT_THAT(
        handshake.head.headers,
        testing::Contains(HeaderField{"Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="}));
}

TEST(WebSocketHandshake, RefusesWhatIsNoUpgrade) {
    const auto status = [](std::size_t field, std::string value) {
        Request request = upgrade_request();
        request.headers[field].value = std::move(value);
        return websocket_handshake(request).status;
    };
    EXPECT_EQ(status(0, "keep-alive"), 426);
    EXPECT_EQ(status(1, "h2c"), 426);
    EXPECT_EQ(status(2, "8"), 426);
    EXPECT_EQ(status(3, "short"), 400);
    EXPECT_EQ(status(3, "dGhlIHNhbXBsZSBub25jZ!=="), 400);
    Request post = upgrade_request();
    post.method = "POST";
    EXPECT_EQ(websocket_handshake(post).status, 400);
}

class WebSocketTest : public testing::Test {
  protected:
    void open(WebSocketOptions options = {}, std::string unread = {},
              std::size_t capacity = 64 * 1024) {
        auto [ours, theirs] = MemoryStream::make_pair(*loop, capacity);
        client = std::make_unique<MemoryClient>(std::move(ours));
        WebSocketEvents events;
        events.on_message = [this](std::string message, bool text) {
            seen.push_back((text ? "text " : "binary ") + message);
            if (message == "bye") socket->close(kCloseGoingAway, "told so");
            if (message == "die") socket.reset();
        };
        events.on_drained = [this] { seen.emplace_back("drained"); };
        events.on_closed = [this](std::uint16_t code, std::string_view reason) {
            seen.push_back("closed " + std::to_string(code) + " " + std::string(reason));
            socket.reset();
        };
        socket = std::make_unique<WebSocket>(*loop, std::move(theirs), std::move(unread), options,
                                             std::move(events));
    }
    void say(WebSocketOpcode opcode, std::string_view payload, bool final = true) {
        std::string out;
        append_masked_frame(out, opcode, payload, 0xA1B2C3D4, final);
        client->send(out);
        turn();
    }
    void turn() { test::turn(*loop); }
    // What the client got, as a strict client reads it.
    std::vector<std::string> got() {
        WebSocketDecoder decoder(false, 1'000'000);
        std::vector<std::string> all;
        std::string_view bytes = client->received;
        while (true) {
            const auto event = decoder.next(bytes);
            if (event == WebSocketDecoder::Event::kNeedMore) return all;
            if (event == WebSocketDecoder::Event::kFailed) {
                ADD_FAILURE() << decoder.reason();
                return all;
            }
            constexpr const char* kNames[] = {"", "text ", "binary ", "ping ", "pong ", "close "};
            std::string text = kNames[static_cast<int>(event)];
            if (event == WebSocketDecoder::Event::kClose) {
                text += std::to_string(decoder.close_code()) + " ";
            }
            all.push_back(text + decoder.payload());
        }
    }

    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    std::unique_ptr<WebSocket> socket;
    std::unique_ptr<MemoryClient> client;
    std::vector<std::string> seen;
};

TEST_F(WebSocketTest, CarriesMessagesBothWays) {
    std::string early;
    append_masked_frame(early, kText, "early", 7);
    open({}, early);
    turn();
    say(kText, "hel", false);
    say(kContinuation, "lo");
    say(kBinary, std::string(60'000, 'x'));
    EXPECT_EQ(socket->send("one"), WebSocket::Sent::kTaken);
    EXPECT_EQ(socket->send_binary("\xff"), WebSocket::Sent::kTaken);
    std::string encoded;
    append_frame(encoded, kText, "two");
    EXPECT_EQ(socket->send_encoded(encoded), WebSocket::Sent::kTaken);
    turn();
    EXPECT_THAT(seen,
                ElementsAre("text early", "text hello", "binary " + std::string(60'000, 'x')));
    EXPECT_THAT(got(), ElementsAre("text one", "binary \xff", "text two"));
}

TEST_F(WebSocketTest, AnswersPings) {
    open();
    say(kPing, "are you there");
    EXPECT_THAT(got(), ElementsAre("pong are you there"));
    EXPECT_TRUE(seen.empty());
}

TEST_F(WebSocketTest, ClosesWhenThePeerDoes) {
    open();
    socket->send("last");
    say(kClose, close_payload(1000, "done"));
    EXPECT_THAT(got(), ElementsAre("text last", "close 1000 "));
    EXPECT_THAT(seen, ElementsAre("closed 1000 done"));
    turn();
    EXPECT_TRUE(client->closed);
}

TEST_F(WebSocketTest, ClosesByItselfAndWaitsForThePeer) {
    open();
    say(kText, "bye");
    EXPECT_THAT(got(), ElementsAre("close 1001 told so"));
    EXPECT_EQ(socket->send("too late"), WebSocket::Sent::kClosed);
    say(kText, "not read any more");
    EXPECT_THAT(seen, ElementsAre("text bye"));
    say(kClose, close_payload(1001, ""));
    EXPECT_THAT(seen, ElementsAre("text bye", "closed 1001 told so"));
}

TEST_F(WebSocketTest, DoesNotWaitForeverForAClose) {
    open({.close_timeout = milliseconds(20)});
    socket->close(kCloseNormal, "");
    EXPECT_TRUE(test::turn_until(*loop, [&] { return !seen.empty(); }));
    EXPECT_THAT(seen, ElementsAre("closed 1000 "));
}

TEST_F(WebSocketTest, TellsThePeerWhatItDidWrong) {
    open({.message_limit = 10});
    say(kText, "12345678901");
    EXPECT_THAT(got(), ElementsAre("close 1009 the message is too large"));
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_THAT(seen[0], HasSubstr("closed 1009"));
}

TEST_F(WebSocketTest, NoticesABrokenConnection) {
    open();
    client->stream.reset();
    EXPECT_TRUE(test::turn_until(*loop, [&] { return !seen.empty(); }));
    EXPECT_THAT(seen[0], HasSubstr("closed 1006"));
}

TEST_F(WebSocketTest, PingsWhoIsSilentAndGivesUp) {
    open({.ping_interval = milliseconds(20), .pong_timeout = milliseconds(200)});
    EXPECT_TRUE(test::turn_until(*loop, [&] { return !got().empty(); }));
    EXPECT_EQ(got().at(0), "ping ");
    say(kPong, "");
    const std::size_t before = got().size();
    EXPECT_TRUE(test::turn_until(*loop, [&] { return got().size() > before; }));
    EXPECT_TRUE(test::turn_until(*loop, [&] { return !seen.empty(); }));
    EXPECT_THAT(seen[0], HasSubstr("does not answer pings"));
}

TEST_F(WebSocketTest, BoundsWhatWaitsAndTellsWhenThereIsRoom) {
    open({.send_limit = 10'000}, {}, 1000);
    client->pause();
    int taken = 0;
    while (socket->send(std::string(500, 'x')) == WebSocket::Sent::kTaken) {
        ++taken;
        turn();
        ASSERT_LT(taken, 100);
    }
    EXPECT_LE(socket->waiting(), 10'000U);
    EXPECT_TRUE(seen.empty());
    client->go_on();
    EXPECT_TRUE(test::turn_until(*loop, [&] { return !seen.empty(); }));
    EXPECT_THAT(seen, ElementsAre("drained"));
    EXPECT_EQ(socket->send("again"), WebSocket::Sent::kTaken);
    EXPECT_TRUE(test::turn_until(*loop, [&] { return socket->waiting() == 0; }));
    turn();
    EXPECT_EQ(got().size(), static_cast<std::size_t>(taken) + 1);
}

TEST_F(WebSocketTest, GathersMessagesIntoOneWrite) {
    open({.gather = milliseconds(50)});
    socket->send("a");
    turn();
    EXPECT_TRUE(client->received.empty());
    socket->send("b");
    EXPECT_TRUE(test::turn_until(*loop, [&] { return !client->received.empty(); }));
    EXPECT_THAT(got(), ElementsAre("text a", "text b"));
}

TEST_F(WebSocketTest, MayBeDestroyedByItsOwnEvent) {
    open();
    say(kText, "die");
    EXPECT_EQ(socket, nullptr);
    EXPECT_THAT(seen, ElementsAre("text die"));
}

}  // namespace
}  // namespace pollux::net
