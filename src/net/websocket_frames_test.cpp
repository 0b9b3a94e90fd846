#include "net/websocket_frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace pollux::net {
namespace {

using Event = WebSocketDecoder::Event;
using enum WebSocketOpcode;
constexpr std::uint32_t kMask = 0x12345678;

std::string masked(WebSocketOpcode opcode, std::string_view payload, bool final = true) {
    std::string out;
    append_masked_frame(out, opcode, payload, kMask, final);
    return out;
}

struct Seen {
    std::vector<std::string> events;
    std::uint16_t code = 0;
    bool operator==(const Seen&) const = default;
};

// Everything that `bytes` say when they come in pieces of `step`.
Seen decoded(const std::string& bytes, std::size_t step, std::size_t limit = 100'000) {
    WebSocketDecoder decoder(true, limit);
    Seen seen;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        std::string_view piece = std::string_view(bytes).substr(at, step);
        while (true) {
            const Event event = decoder.next(piece);
            if (event == Event::kNeedMore) break;
            constexpr const char* kNames[] = {"", "text ", "binary ", "ping ", "pong ", "close "};
            if (event == Event::kFailed) {
                seen.code = decoder.close_code();
                return seen;
            }
            if (event == Event::kClose) seen.code = decoder.close_code();
            seen.events.push_back(kNames[static_cast<int>(event)] + decoder.payload());
        }
    }
    return seen;
}

Seen all_ways(const std::string& bytes, std::size_t limit = 100'000) {
    Seen whole = decoded(bytes, bytes.size(), limit);
    for (const std::size_t step : {1U, 2U, 3U, 7U}) EXPECT_EQ(decoded(bytes, step, limit), whole);
    return whole;
}

TEST(WebSocketFrames, ReadsTheExamplesOfTheStandard) {
    const std::string hello("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11);
    EXPECT_THAT(all_ways(hello).events, testing::ElementsAre("text Hello"));
    std::string out;
    append_frame(out, kText, "Hello");
    EXPECT_EQ(out, std::string("\x81\x05Hello"));
    std::string parts;
    append_frame(parts, kText, "Hel", false);
    append_frame(parts, kContinuation, "lo");
    EXPECT_EQ(parts, std::string("\x01\x03Hel\x80\x02lo"));
}

TEST(WebSocketFrames, PutsFragmentsTogetherWithControlFramesBetween) {
    const std::string bytes = masked(kText, "a", false) + masked(kPing, "p") +
                              masked(kContinuation, "", false) + masked(kContinuation, "b") +
                              masked(kBinary, "\xff") + masked(kPong, "") + masked(kText, "");
    EXPECT_THAT(all_ways(bytes).events,
                testing::ElementsAre("ping p", "text ab", "binary \xff", "pong ", "text "));
}

TEST(WebSocketFrames, ReadsAllFormsOfLengths) {
    for (const std::size_t size : {0U, 1U, 125U, 126U, 127U, 65535U, 65536U, 70000U}) {
        const std::string text(size, 'x');
        EXPECT_THAT(decoded(masked(kText, text), 1000).events,
                    testing::ElementsAre("text " + text));
        std::string plain;
        append_frame(plain, kText, text);
        WebSocketDecoder client(false, 100'000);
        std::string_view rest = plain;
        EXPECT_EQ(client.next(rest), Event::kText);
        EXPECT_EQ(client.payload(), text);
        EXPECT_TRUE(rest.empty());
    }
}

TEST(WebSocketFrames, ReadsCloseFrames) {
    EXPECT_EQ(all_ways(masked(kClose, "")).code, kCloseNoCode);
    EXPECT_EQ(all_ways(masked(kClose, close_payload(1000, "bye"))).events.at(0), "close bye");
    EXPECT_EQ(all_ways(masked(kClose, close_payload(4999, ""))).code, 4999);
    for (const int code : {0, 999, 1004, 1005, 1006, 1015, 2000, 2999, 5000, 65535}) {
        const Seen seen =
            all_ways(masked(kClose, close_payload(static_cast<std::uint16_t>(code), "")));
        EXPECT_TRUE(seen.events.empty()) << code;
        EXPECT_EQ(seen.code, kCloseProtocol) << code;
    }
    EXPECT_EQ(all_ways(masked(kClose, "x")).code, kCloseProtocol);
    EXPECT_EQ(all_ways(masked(kClose, close_payload(1000, "") + "\xff")).code, kCloseNotUtf8);
    const std::string longest = close_payload(1000, std::string(122, 'a') + "ä");
    EXPECT_EQ(longest.size(), 124U);  // half a letter is never sent
}

TEST(WebSocketFrames, RefusesWhatTheProtocolForbids) {
    const auto code = [](std::string bytes) {
        const Seen seen = all_ways(bytes + masked(kText, "after"));
        EXPECT_TRUE(seen.events.empty());
        return seen.code;
    };
    std::string plain;
    append_frame(plain, kText, "not masked");
    EXPECT_EQ(code(plain), kCloseProtocol);
    for (const unsigned bit : {0x40U, 0x20U, 0x10U}) {
        std::string reserved = masked(kText, "x");
        reserved[0] = static_cast<char>(static_cast<unsigned char>(reserved[0]) | bit);
        EXPECT_EQ(code(reserved), kCloseProtocol);
    }
    for (const int opcode : {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
        EXPECT_EQ(code(masked(static_cast<WebSocketOpcode>(opcode), "x")), kCloseProtocol);
    }
    EXPECT_EQ(code(masked(kPing, "x", false)), kCloseProtocol);
    EXPECT_EQ(code(masked(kPing, std::string(126, 'x'))), kCloseProtocol);
    EXPECT_EQ(code(masked(kContinuation, "x")), kCloseProtocol);
    EXPECT_EQ(code(masked(kText, "x", false) + masked(kText, "y")), kCloseProtocol);
    EXPECT_EQ(code(std::string("\x81\xfe\x00\x05", 4) + "maskhello"), kCloseProtocol);
    EXPECT_EQ(code(std::string("\x81\xff\0\0\0\0\0\0\0\x05", 10) + "maskhello"), kCloseProtocol);
    EXPECT_EQ(code(masked(kText, "\xff")), kCloseNotUtf8);
    EXPECT_EQ(code(masked(kText, "\xc3", false) + masked(kContinuation, "x")), kCloseNotUtf8);
    EXPECT_THAT(all_ways(masked(kText, "\xc3", false) + masked(kContinuation, "\xbc")).events,
                testing::ElementsAre("text ü"));
}

TEST(WebSocketFrames, BoundsAMessageWithAllItsFragments) {
    EXPECT_EQ(all_ways(masked(kText, "12345"), 5).events.size(), 1U);
    EXPECT_EQ(all_ways(masked(kText, "123456"), 5).code, kCloseTooBig);
    EXPECT_EQ(all_ways(masked(kText, "123", false) + masked(kContinuation, "456"), 5).code,
              kCloseTooBig);
    // Refused by its header, before a byte of it is kept.
    EXPECT_EQ(all_ways(std::string("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10) + "mask").code,
              kCloseTooBig);
}

}  // namespace
}  // namespace pollux::net
