// A pattern on the first line, a pattern of one's own called OWN on the second, a text after them:
// no crash, bounded expansion, and every field is a part of the text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "extract/grok.hpp"
#include "extract/json_document.hpp"
#include "extract/text_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux::extract;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto line = [&] {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view out = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        return out;
    };
    const std::string_view pattern = line();
    GrokOptions options;
    options.patterns["OWN"] = std::string(line());
    options.unknown_is_text = size % 2 == 0;
    auto grok = Grok::compile(pattern, options);
    if (!grok) {
        POLLUX_CHECK(!grok.error().message.empty());
        return 0;
    }
    POLLUX_CHECK(grok->expression().size() <= 16'384);
    if (const auto found = grok->match(text)) {
        for (const auto& [name, value] : *found) {
            POLLUX_CHECK(!name.empty());
            POLLUX_CHECK(value.data() >= text.data() &&
                         value.data() + value.size() <= text.data() + text.size());
        }
    }
    const GrokFormat format{std::move(*grok), false};
    POLLUX_CHECK(JsonDocument::parse(format.to_json(text, 1U << 20U)).has_value());
    TextTable table;
    table.separator = std::string(pattern.substr(0, 1));
    POLLUX_CHECK(JsonDocument::parse(table.to_json(text, 1U << 20U)).has_value());
    return 0;
}
