// A path on the first line, a document after it: no crash, and never more nodes than the budget.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "extract/json_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux::extract;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t line = text.find('\n');
    const auto path = JsonPath::compile(text.substr(0, line));
    if (!path) POLLUX_CHECK(!path.error().message.empty());
    const auto document = JsonDocument::parse(
        line == std::string_view::npos ? std::string_view("{}") : text.substr(line + 1),
        {.max_depth = 64, .max_memory = 1U << 20U});
    if (!path || !document) return 0;
    constexpr std::uint64_t kNodes = 5000;
    Budget budget;
    budget.nodes = kNodes;
    std::vector<const JsonNode*> found;
    path->select(document->root(), found, budget);
    POLLUX_CHECK(found.size() <= kNodes + 1);
    if (path->is_singular()) POLLUX_CHECK(found.size() <= 1);
    Budget again;
    const JsonNode* first = path->first(document->root(), again);
    if (path->is_singular()) POLLUX_CHECK((first != nullptr) == !found.empty());
    return 0;
}
