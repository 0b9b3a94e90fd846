// A path on the first line, XML after it: no crash, within bounds; what is accepted is JSON, and a
// path that is accepted is a JSONPath.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "extract/json_path.hpp"
#include "extract/xml_document.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux::extract;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t line = std::min(text.find('\n'), text.size());
    const auto path = xml_path_to_json_path(text.substr(0, line), size % 2 == 0);
    if (!path) POLLUX_CHECK(!path.error().message.empty());
    const auto json = xml_to_json(text.substr(std::min(line + 1, text.size())));
    if (!json) POLLUX_CHECK(!json.error().message.empty());
    if (path) POLLUX_CHECK(JsonPath::compile(*path).has_value());
    if (!json) return 0;
    JsonLimits limits;
    limits.max_depth = 256;
    const auto tree = JsonDocument::parse(*json, limits);
    POLLUX_CHECK(tree.has_value());
    if (!path) return 0;
    Budget budget;
    std::vector<const JsonNode*> found;
    JsonPath::compile(*path)->select(tree->root(), found, budget);
    return 0;
}
