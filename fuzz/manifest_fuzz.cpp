// Manifests from arbitrary text: no crash, within bounds, every refusal has words, and what is
// accepted can make requests and read a reply.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "extract/compiled_addon.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const extract::CompileResult result = extract::compile(text, "fuzz.yaml");
    if (result.addon == nullptr) {
        POLLUX_CHECK(!result.diagnostics.ok());
        for (const auto& item : result.diagnostics.items()) POLLUX_CHECK(!item.message.empty());
        return 0;
    }
    extract::TargetBinding binding;
    binding.host = "192.0.2.1";
    const auto reader = extract::specialise(result.addon, binding.parameters);
    if (!reader) return 0;
    for (std::size_t group = 0; group < (*reader)->addon().groups.size(); ++group) {
        const auto asks = (*reader)->asks(group, binding);
        if (!asks) continue;
        // A reply of the other protocol, an empty one, and one with the manifest itself as body.
        model::Reply reply;
        model::HttpReply http;
        http.body = text;
        reply.answer = http;
        model::Reply snmp;
        snmp.answer = model::SnmpReply{};
        for (const model::Reply* answer : {&reply, &snmp}) {
            const std::vector<const model::Reply*> replies(asks->size(), answer);
            extract::Trace trace;
            const model::Readings readings = (*reader)->read(group, replies, {}, &trace);
            for (const model::Reading& reading : readings.values) {
                POLLUX_CHECK(reading.metric < (*reader)->addon().metrics.size());
                POLLUX_CHECK(reading.row < readings.rows.size());
            }
        }
    }
    return 0;
}
