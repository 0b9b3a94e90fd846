// The WebSocket on a real socket, with the library that people use in Python as its peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_server.hpp"
#include "net/http_test_support.hpp"
#include "net/test_process.hpp"
#include "net/websocket.hpp"
#include "net/websocket_deflate.hpp"

namespace pollux::net {
namespace {

// With the word "packed" as it is out of the box: it offers compression and uses it where it can.
constexpr const char* kScript = R"python(
import asyncio, sys, websockets

compression = "deflate" if sys.argv[2] == "packed" else None

async def main():
    async with websockets.connect(sys.argv[1], compression=compression) as socket:
        print([one.name for one in socket.extensions])
        await socket.send("hello ü")
        print(await socket.recv())
        await socket.send(b"\x00\xff" * 40000)
        print(len(await socket.recv()))
        await socket.send(["frag", "ments"])
        print(await socket.recv())
        await (await socket.ping())
        print("pong")
        text = ",".join(str(number % 100) for number in range(20000))
        await socket.send(text)
        print(await socket.recv() == "echo " + text)
        await socket.send("close")
        try:
            await socket.recv()
        except websockets.ConnectionClosed as closed:
            print(closed.code, closed.reason)
    try:
        async with websockets.connect(sys.argv[1] + "/nothing"):
            pass
    except websockets.InvalidStatusCode as refused:
        print(refused.status_code)

asyncio.run(main())
)python";

// A server that says everything again; the output of the client that talked to it.
std::string talk(const std::string& word) {
    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    std::unique_ptr<WebSocket> socket;
    MessageDeflater deflater;
    HttpServer server(*loop, {}, [&](Request request, Responder responder) {
        const WebSocketHandshake handshake = websocket_handshake(request, true);
        if (request.path != "/ws" || handshake.status != 101) {
            return responder.send(Response::text(404, "nothing here\n"));
        }
        responder.upgrade(handshake.head, [&, deflate = handshake.deflate](
                                              std::unique_ptr<ByteStream> stream,
                                              std::string unread) {
            WebSocketEvents events;
            events.on_message = [&, deflate](std::string message, bool text) {
                if (message == "close") return socket->close(4001, "as you wish");
                if (!text) {
                    socket->send_binary(message);
                } else if (deflate) {
                    std::string frame;
                    deflater.append_text(frame, "echo " + message);
                    socket->send_encoded(frame);
                } else {
                    socket->send("echo " + message);
                }
            };
            events.on_closed = [&](std::uint16_t, std::string_view) { socket.reset(); };
            socket = std::make_unique<WebSocket>(
                *loop, std::move(stream), std::move(unread),
                WebSocketOptions{.message_limit = 100'000, .deflate = deflate}, std::move(events));
        });
    });
    const SocketAddress at = server.listen(SocketAddress::loopback(0)).value();
    test::TempDir folder;
    const std::string script = folder.write("client.py", kScript);
    // Debian's own: its packages are not those of another python3 in the path.
    test::Process client({"/usr/bin/python3", script, "ws://" + at.to_string() + "/ws", word},
                         folder);
    EXPECT_TRUE(test::turn_until(*loop, [&] { return !client.running(); }));
    EXPECT_EQ(client.exit_code(), 0);
    EXPECT_EQ(socket, nullptr);
    return client.output();
}

constexpr std::string_view kSaid =
    "echo hello ü\n80000\necho fragments\npong\nTrue\n4001 as you wish\n404\n";

TEST(WebSocketLive, SpeaksWithAnotherImplementation) {
    EXPECT_EQ(talk("plain"), "[]\n" + std::string(kSaid));
}

TEST(WebSocketLive, SpeaksCompressedWithAnotherImplementation) {
    EXPECT_EQ(talk("packed"), "['permessage-deflate']\n" + std::string(kSaid));
}

}  // namespace
}  // namespace pollux::net
