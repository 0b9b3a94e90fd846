// Manifests of the system people come from, from arbitrary JSON: no crash; every refusal has words;
// what loads also loads after it was written down in our own dialect, and asks the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"
#include "extract/compiled_addon.hpp"
#include "extract/dialect/dialect.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    document::Diagnostics diagnostics;
    const document::Parsed parsed = document::parse(text, "fuzz.json", diagnostics);
    if (!parsed.ok || !extract::is_imported(parsed.root)) return 0;
    const extract::CompileResult result = extract::compile(text, "fuzz.json");
    for (const auto& item : result.diagnostics.items()) POLLUX_CHECK(!item.message.empty());
    if (result.addon == nullptr) {
        POLLUX_CHECK(!result.diagnostics.ok());
        return 0;
    }
    const document::Node tree = extract::translate(parsed.root, diagnostics);
    const extract::CompileResult again = extract::compile(document::to_yaml(tree), "again.yaml");
    POLLUX_CHECK(again.addon != nullptr);
    POLLUX_CHECK(again.addon->addon() == result.addon->addon());
    return 0;
}
