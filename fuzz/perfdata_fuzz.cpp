// Whatever a plugin prints: no crash, bounded, and what comes out is valid text and finite numbers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "base/text.hpp"
#include "extract/json_document.hpp"
#include "extract/perfdata.hpp"
#include "extract/reply_document.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const extract::PluginOutput output = extract::parse_plugin_output(text);
    POLLUX_CHECK(output.values.size() <= extract::kMaxPerfValues);
    POLLUX_CHECK(base::is_valid_utf8(output.text) && base::is_valid_utf8(output.long_text));
    for (const extract::PerfValue& value : output.values) {
        POLLUX_CHECK(!value.label.empty() && base::is_valid_utf8(value.label));
        POLLUX_CHECK(!value.value || std::isfinite(*value.value));
    }
    model::CommandReply reply;
    reply.out = std::string(text);
    POLLUX_CHECK(extract::JsonDocument::parse(extract::plugin_document(reply)).has_value());
    return 0;
}
