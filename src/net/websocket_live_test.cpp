// The WebSocket on a real socket, with the library that people use in Python as its peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_server.hpp"
#include "net/http_test_support.hpp"
#include "net/test_process.hpp"
#include "net/websocket.hpp"

namespace pollux::net {
namespace {

constexpr const char* kScript = R"python(
import asyncio, sys, websockets

async def main():
    async with websockets.connect(sys.argv[1], compression=None) as socket:
        await socket.send("hello ü")
        print(await socket.recv())
        await socket.send(b"\x00\xff" * 40000)
        print(len(await socket.recv()))
        await socket.send(["frag", "ments"])
        print(await socket.recv())
        await (await socket.ping())
        print("pong")
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

TEST(WebSocketLive, SpeaksWithAnotherImplementation) {
    std::unique_ptr<EventLoop> loop = EventLoop::create().value();
    std::unique_ptr<WebSocket> socket;
    HttpServer server(*loop, {}, [&](Request request, Responder responder) {
        const WebSocketHandshake handshake = websocket_handshake(request);
        if (request.path != "/ws" || handshake.status != 101) {
            return responder.send(Response::text(404, "nothing here\n"));
        }
        responder.upgrade(
            handshake.head, [&](std::unique_ptr<ByteStream> stream, std::string unread) {
                WebSocketEvents events;
                events.on_message = [&](std::string message, bool text) {
                    if (message == "close") return socket->close(4001, "as you wish");
                    if (text) {
                        socket->send("echo " + message);
                    } else {
                        socket->send_binary(message);
                    }
                };
                events.on_closed = [&](std::uint16_t, std::string_view) { socket.reset(); };
                socket = std::make_unique<WebSocket>(*loop, std::move(stream), std::move(unread),
                                                     WebSocketOptions{.message_limit = 100'000},
                                                     std::move(events));
            });
    });
    const SocketAddress at = server.listen(SocketAddress::loopback(0)).value();
    test::TempDir folder;
    const std::string script = folder.write("client.py", kScript);
    // Debian's own: its packages are not those of another python3 in the path.
    test::Process client({"/usr/bin/python3", script, "ws://" + at.to_string() + "/ws"}, folder);
    EXPECT_TRUE(test::turn_until(*loop, [&] { return !client.running(); }));
    EXPECT_EQ(client.exit_code(), 0);
    EXPECT_EQ(client.output(),
              "echo hello ü\n80000\necho fragments\npong\n4001 as you wish\n404\n");
    EXPECT_EQ(socket, nullptr);
}

}  // namespace
}  // namespace pollux::net
