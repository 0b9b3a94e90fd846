#include "app/addon_new.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "app/addon_case.hpp"
#include "app/addon_files.hpp"
#include "app/addon_sketch.hpp"
#include "base/text.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kMaxCapturedBytes = 16U << 20U;

base::Result<std::string> read_captured(const std::string& from) {
    if (from != "-") return read_text_file(from, kMaxCapturedBytes);
    std::string text;
    for (std::istreambuf_iterator<char> at(std::cin), end; at != end; ++at) {
        text += *at;
        if (text.size() > kMaxCapturedBytes) {
            return base::config_error("sketch.too_large",
                                      fmt::format("more than {} bytes", kMaxCapturedBytes));
        }
    }
    return text;
}

base::Status write_new(const std::filesystem::path& path, const std::string& text) {
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        return base::config_error("sketch.write", fmt::format("cannot write {}", path.string()));
    }
    return {};
}

int complain(std::string_view message) {
    fmt::print(stderr, "pollux: {}\n", message);
    return 1;
}

}  // namespace

int make_new_addon(const NewAddon& wish) {
    const std::filesystem::path folder = std::filesystem::path(wish.folder) / wish.name;
    if (std::filesystem::exists(folder)) {
        return complain(fmt::format("{} is there already; choose another name", folder.string()));
    }
    const auto captured = read_captured(wish.from);
    if (!captured) return complain(captured.error().message);
    const auto sketch = sketch_addon(wish.name, *captured);
    if (!sketch) return complain(sketch.error().message);
    const std::filesystem::path manifest = folder / "manifest.yaml";
    const auto compiled = extract::compile(sketch->manifest, manifest.string());
    if (compiled.addon == nullptr) return complain(compiled.diagnostics.text());
    for (const auto& [file, text] :
         {std::pair{manifest, sketch->manifest},
          std::pair{folder / "cases" / "captured.yaml", sketch->test_case},
          std::pair{folder / "cases" / sketch->captured_name, *captured}}) {
        if (const auto written = write_new(file, text); !written) {
            return complain(written.error().message);
        }
        fmt::print("wrote {}\n", file.string());
    }
    for (const std::string& remark : sketch->remarks) fmt::print("note: {}\n", remark);
    const CaseTotals totals = run_addon_cases(folder.string());
    fmt::print(
        "{} metrics. Now give them names, units and help, drop what nobody needs, add conditions; "
        "then:\n  pollux addon test {}\n",
        compiled.addon->addon().metrics.size(), folder.string());
    return totals.failed == 0 ? 0 : 1;
}

}  // namespace pollux::app
