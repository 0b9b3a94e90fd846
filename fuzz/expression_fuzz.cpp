// Expressions from arbitrary text over values of every kind: no crash, bounded, never infinite.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "extract/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto resolve = [](std::string_view name) -> std::optional<std::uint16_t> {
        if (name.size() != 1 || name[0] < 'a' || name[0] > 'h') return std::nullopt;
        return static_cast<std::uint16_t>(name[0] - 'a');
    };
    const auto expression = extract::Expression::compile(text, resolve);
    if (!expression) {
        POLLUX_CHECK(!expression.error().message.empty());
        return 0;
    }
    POLLUX_CHECK(expression->nodes() <= extract::Expression::kMaxNodes);
    const std::vector<model::Value> values = {
        std::int64_t{-7}, std::numeric_limits<std::uint64_t>::max(), 1.5, std::string("text"), true,
        std::monostate(), std::numeric_limits<std::int64_t>::min()};
    const model::Value result = expression->evaluate(values);
    const auto* number = std::get_if<double>(&result);
    POLLUX_CHECK(number == nullptr || std::isfinite(*number));
    return 0;
}
