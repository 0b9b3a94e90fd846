// A manifest, a line of three dashes, then what a device says: as an answer, a trap or a webhook.
// No crash; signals are within their bounds; the keeper stays bounded and reads back as itself.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "base/text.hpp"
#include "derive/signal_keeper.hpp"
#include "extract/compiled_addon.hpp"

namespace {

using namespace pollux;

void check(const std::vector<model::Signal>& signals) {
    POLLUX_CHECK(signals.size() <= 1000);
    for (const model::Signal& signal : signals) {
        POLLUX_CHECK(!signal.type.empty() && signal.type.size() <= 128);
        POLLUX_CHECK(signal.title.size() <= 256 && signal.message.size() <= 4096);
        POLLUX_CHECK(signal.fields.size() <= 64 && signal.subject.size() <= 256);
        POLLUX_CHECK(base::is_valid_utf8(signal.title) && base::is_valid_utf8(signal.message));
    }
}

void keep(derive::SignalKeeper& keeper) {
    POLLUX_CHECK(keeper.raised().size() <= 8);
    base::ByteWriter bytes;
    keeper.encode(bytes);
    const auto back = derive::SignalKeeper::decode(bytes.view(), 8);
    POLLUX_CHECK(back.has_value() && back->raised() == keeper.raised());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // Whatever the bytes are, decoding them ends.
    [[maybe_unused]] const auto decoded = derive::SignalKeeper::decode(text, 8);
    const std::size_t dashes = text.find("\n---\n");
    if (dashes == std::string_view::npos) return 0;
    const auto result = extract::compile(text.substr(0, dashes), "fuzz.yaml");
    if (result.addon == nullptr) return 0;
    const std::string body(text.substr(dashes + 5));
    derive::SignalKeeper keeper(8);
    model::HttpReply http;
    http.status = 200;
    http.body = body;
    model::SnmpReply snmp;
    model::SnmpValue value;
    value.type = model::SnmpType::kOctetString;
    value.bytes = body;
    snmp.gets.assign(4, value);
    model::PollFailure failure;
    failure.http_status = body.size() % 600 < 100 ? 0 : static_cast<int>(body.size() % 600);
    failure.message = body;
    std::vector<model::Reply> replies(3);
    replies[0].answer = http;
    replies[1].answer = snmp;
    replies[2].answer = failure;
    for (const model::Reply& reply : replies) {
        const std::vector<const model::Reply*> given(3, &reply);
        const model::PollSignals signals = result.addon->signals(0, given, {});
        check(signals.signals);
        keeper.apply(signals, {1});
        keep(keeper);
    }
    model::WebhookMessage webhook;
    webhook.body = body;
    webhook.content_type = body.size() % 2 == 0 ? "application/x-www-form-urlencoded" : "";
    model::TrapMessage trap;
    trap.trap.arcs = {1, 3, 6, 1, 6, 3, 1, 1, 5, 3 + static_cast<std::uint32_t>(body.size() % 2)};
    trap.varbinds = {{model::Oid{{1, 3, 6, 1, 2, 1, 2, 2, 1, 1, 7}}, value}};
    model::PushMessage push;
    push.up = body.size() % 2 == 0;
    push.message = body;
    std::vector<model::InboundMessage> messages(3);
    messages[0].content = webhook;
    messages[1].content = trap;
    messages[2].content = push;
    for (const model::InboundMessage& message : messages) {
        const auto signals = result.addon->signals(message);
        check(signals);
        keeper.apply(signals, {2});
        keep(keeper);
    }
    return 0;
}
