#include "app/addon_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.hpp"
#include "extract/shipped_addons.hpp"

namespace pollux::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxAddons = 1000;
constexpr std::array<std::string_view, 3> kEndings = {".yaml", ".yml", ".json"};

bool is_manifest_name(const fs::path& path) {
    // The schema of manifests lies beside them.
    if (path.string().ends_with(".schema.json")) return false;
    return std::ranges::find(kEndings, path.extension().string()) != kEndings.end();
}

std::string manifest_in(const fs::path& folder) {
    for (const std::string_view ending : kEndings) {
        const fs::path file = folder / (std::string("manifest") + std::string(ending));
        std::error_code ignored;
        if (fs::is_regular_file(file, ignored)) return file.string();
    }
    return {};
}

auto read_error(const std::string& path, std::string_view why) {
    return base::config_error("file.read", fmt::format("{}: {}", path, why));
}

}  // namespace

base::Result<std::vector<std::string>> find_manifests(const std::string& path) {
    std::vector<std::string> out;
    std::error_code error;
    if (fs::is_regular_file(path, error)) return std::vector{path};
    if (!fs::is_directory(path, error)) return read_error(path, "is no file and no folder");
    if (std::string own = manifest_in(path); !own.empty()) return std::vector{std::move(own)};
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
        std::error_code ignored;
        if (entry.is_directory(ignored)) {
            if (std::string file = manifest_in(entry.path()); !file.empty()) {
                out.push_back(std::move(file));
            }
        } else if (is_manifest_name(entry.path())) {
            out.push_back(entry.path().string());
        }
        if (out.size() > kMaxAddons) return read_error(path, "holds more than 1000 addons");
    }
    if (error) return read_error(path, error.message());
    std::ranges::sort(out);
    return out;
}

base::Result<std::vector<LoadedAddon>> load_addons(const std::string& folder) {
    std::vector<LoadedAddon> out;
    for (const extract::ShippedAddon& shipped : extract::shipped_addons()) {
        auto compiled = extract::compile(shipped.manifest, std::string(shipped.file));
        out.push_back({std::move(compiled.addon), "shipped", std::move(compiled.diagnostics)});
    }
    if (folder.empty()) return out;
    const auto files = find_manifests(folder);
    if (!files) return std::unexpected(files.error());
    for (const std::string& file : *files) {
        const auto text = read_text_file(file, kMaxManifestBytes);
        if (!text) return std::unexpected(text.error());
        auto compiled = extract::compile(*text, file);
        if (compiled.addon != nullptr) {
            std::erase_if(out, [&](const LoadedAddon& other) {
                return other.origin == "shipped" && other.addon != nullptr &&
                       other.addon->addon().name == compiled.addon->addon().name;
            });
        }
        out.push_back({std::move(compiled.addon), file, std::move(compiled.diagnostics)});
    }
    std::ranges::stable_sort(out, [](const LoadedAddon& a, const LoadedAddon& b) {
        if ((a.addon == nullptr) != (b.addon == nullptr)) return b.addon == nullptr;
        return a.addon != nullptr && a.addon->addon().name < b.addon->addon().name;
    });
    return out;
}

}  // namespace pollux::app
