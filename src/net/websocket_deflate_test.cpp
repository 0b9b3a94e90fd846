#include "net/websocket_deflate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "net/websocket_frames.hpp"

namespace pollux::net {
namespace {

using Event = WebSocketDecoder::Event;
using testing::Optional;

constexpr std::string_view kPlain =
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

std::optional<std::string> agreed(std::vector<std::string> offers) {
    Request request;
    for (std::string& one : offers) {
        request.headers.push_back({"Sec-WebSocket-Extensions", std::move(one)});
    }
    return agree_on_deflate(request);
}

TEST(WebSocketDeflate, AgreesOnWhatClientsOffer) {
    EXPECT_THAT(agreed({"permessage-deflate; client_max_window_bits"}), Optional(kPlain));
    EXPECT_THAT(
        agreed({"permessage-deflate;client_no_context_takeover ; server_no_context_takeover"}),
        Optional(kPlain));
    EXPECT_THAT(
        agreed({"permessage-deflate; server_max_window_bits=12; client_max_window_bits=\"12\""}),
        Optional(std::string(kPlain) + "; server_max_window_bits=12"));
    EXPECT_THAT(agreed({"x-webkit-deflate-frame", "permessage-bzip2, permessage-deflate"}),
                Optional(kPlain));
    EXPECT_THAT(agreed({"permessage-deflate; server_max_window_bits=9, permessage-deflate"}),
                Optional(kPlain));
}

TEST(WebSocketDeflate, LeavesAnOfferThatIsWrongOrTooSmall) {
    EXPECT_EQ(agreed({}), std::nullopt);
    for (const char* offer :
         {"permessage-deflate; server_max_window_bits=11", "permessage-deflate; new_parameter",
          "permessage-deflate; server_max_window_bits",
          "permessage-deflate; client_max_window_bits=16",
          "permessage-deflate; client_max_window_bits=08", "Permessage-Deflate",
          "permessage-deflate; server_no_context_takeover=1",
          "permessage-deflate; client_max_window_bits; client_max_window_bits"}) {
        EXPECT_EQ(agreed({offer}), std::nullopt) << offer;
    }
}

// A text with some order in it, as events have.
std::string long_text() {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "[\"sw-" + std::to_string(i * 7919 % 1000) + "\",12],";
    return text;
}

std::string masked_packed(std::string_view packed, WebSocketOpcode opcode = WebSocketOpcode::kText,
                          bool final = true) {
    std::string frame;
    append_masked_frame(frame, opcode, packed, 0x01020304, final);
    frame[0] = static_cast<char>(static_cast<unsigned char>(frame[0]) | 0x40U);
    return frame;
}

std::string deflated(std::string_view text, int window = 15) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(text.size() + 1000, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
    out.resize(stream.total_out - 4);
    deflateEnd(&stream);
    return out;
}

TEST(WebSocketDeflate, WhatIsSentIsReadAgainAndShorter) {
    MessageDeflater deflater;
    const std::string text = long_text();
    std::string frames;
    deflater.append_text(frames, text);
    const std::size_t once = frames.size();
    EXPECT_LT(once, text.size() / 2);
    deflater.append_text(frames, text);
    EXPECT_EQ(frames.size(), 2 * once) << "each message stands for itself";
    deflater.append_text(frames, "short");
    EXPECT_TRUE(frames.ends_with("\x81\x05short"));
    WebSocketDecoder decoder(false, 100'000, true);
    std::string_view bytes = frames;
    for (const std::string& expected : {text, text, std::string("short")}) {
        EXPECT_EQ(decoder.next(bytes), Event::kText);
        EXPECT_EQ(decoder.payload(), expected);
    }
    EXPECT_TRUE(bytes.empty());
}

TEST(WebSocketDeflate, WhatDoesNotGetShorterIsSentAsItIs) {
    std::string noise;
    for (std::uint32_t i = 0, x = 1; i < 2000; ++i) {
        x = x * 1664525U + 1013904223U;
        noise += static_cast<char>('!' + (x >> 24U) % 94);
    }
    // Of 94 letters each is worth more than six bits and a half: not much is to be gained, and a
    // text of only a few hundred has no room for it.
    MessageDeflater deflater;
    for (std::size_t size = kWorthDeflating; size <= noise.size(); size += 100) {
        const std::string_view text = std::string_view(noise).substr(0, size);
        std::string frame;
        deflater.append_text(frame, text);
        EXPECT_LE(frame.size(), size + 4);
        WebSocketDecoder decoder(false, 100'000, true);
        std::string_view bytes = frame;
        ASSERT_EQ(decoder.next(bytes), Event::kText);
        EXPECT_EQ(decoder.payload(), text);
    }
}

TEST(WebSocketDeflate, ReadsTheExamplesOfTheStandard) {
    const auto read = [](std::string_view packed) { return inflate_message(packed, 100); };
    EXPECT_EQ(read(std::string_view("\xf2\x48\xcd\xc9\xc9\x07\x00", 7)), "Hello");
    EXPECT_EQ(read(std::string_view("\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 11)), "Hello");
    EXPECT_EQ(read(std::string_view("\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8)), "Hello")
        << "with a last block";
    EXPECT_EQ(read(std::string_view("\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 13)),
              "Hello")
        << "in two blocks";
    EXPECT_EQ(read(std::string_view("\x00", 1)), "");
}

TEST(WebSocketDeflate, AServerReadsFragmentsOfACompressedMessage) {
    const std::string text = long_text();
    const std::string packed = deflated(text);
    std::string bytes = masked_packed(packed.substr(0, 100), WebSocketOpcode::kText, false);
    append_masked_frame(bytes, WebSocketOpcode::kPing, "p", 7);
    append_masked_frame(bytes, WebSocketOpcode::kContinuation, packed.substr(100), 9);
    append_masked_frame(bytes, WebSocketOpcode::kText, "plain", 9);
    WebSocketDecoder decoder(true, 100'000, true);
    std::string_view rest = bytes;
    EXPECT_EQ(decoder.next(rest), Event::kPing);
    EXPECT_EQ(decoder.next(rest), Event::kText);
    EXPECT_EQ(decoder.payload(), text);
    EXPECT_EQ(decoder.next(rest), Event::kText);
    EXPECT_EQ(decoder.payload(), "plain");
}

TEST(WebSocketDeflate, RefusesBombsRubbishAndBitsThatNobodyAgreedOn) {
    const auto end_of = [](const std::string& frame, bool inflates) {
        WebSocketDecoder decoder(true, 10'000, inflates);
        std::string_view rest = frame;
        EXPECT_EQ(decoder.next(rest), Event::kFailed);
        EXPECT_TRUE(decoder.payload().empty());
        return decoder.close_code();
    };
    const std::string bomb = deflated(std::string(5'000'000, 'a'));
    ASSERT_LT(bomb.size(), 10'000U);
    EXPECT_EQ(end_of(masked_packed(bomb), true), kCloseTooBig);
    EXPECT_EQ(end_of(masked_packed("\xff\xff rubbish"), true), kCloseNotUtf8);
    EXPECT_EQ(end_of(masked_packed(deflated("\xc3\x28")), true), kCloseNotUtf8);
    EXPECT_EQ(end_of(masked_packed(deflated("x")), false), kCloseProtocol);
    EXPECT_EQ(end_of(masked_packed("x", WebSocketOpcode::kPing), true), kCloseProtocol);
    std::string again;
    append_masked_frame(again, WebSocketOpcode::kText, "a", 1, false);
    again += masked_packed("b", WebSocketOpcode::kContinuation);
    EXPECT_EQ(end_of(again, true), kCloseProtocol);
}

}  // namespace
}  // namespace pollux::net
