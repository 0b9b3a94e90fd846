#include "app/addon_import.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "app/addon_archive.hpp"
#include "app/addon_files.hpp"
#include "document/parse.hpp"
#include "document/write.hpp"
#include "extract/compiled_addon.hpp"
#include "extract/dialect/dialect.hpp"

namespace pollux::app {
namespace {

namespace fs = std::filesystem;

auto refuse(const std::string& path, std::string_view why) {
    return base::config_error("addon.import", fmt::format("{}: {}", path, why));
}

base::Result<ArchivedManifest> read_manifest(const std::string& file) {
    auto text = read_text_file(file, kMaxArchiveBytes);
    if (!text) return std::unexpected(text.error());
    if (is_archive(*text)) return read_archive(*text, file);
    if (text->size() > kMaxManifestBytes) {
        return refuse(file, fmt::format("has {} bytes, a manifest at most {}", text->size(),
                                        kMaxManifestBytes));
    }
    return ArchivedManifest{std::move(*text), file, {}};
}

}  // namespace

ImportedAddon import_addon(const std::string& text, const std::string& file) {
    ImportedAddon out;
    const document::Parsed parsed = document::parse(text, file, out.notes);
    if (!parsed.ok) return out;
    if (!extract::is_imported(parsed.root)) {
        out.notes.error(parsed.root.mark(), "",
                        "is no manifest to import: it has no id and method, or it has a schema and "
                        "is one of ours already");
        return out;
    }
    const document::Node tree = extract::translate(parsed.root, out.notes);
    // Mistakes are told at the lines of the original; what is written is read once more, because
    // that is what will be loaded.
    const extract::CompileResult original = extract::compile(text, file);
    if (original.addon == nullptr) {
        out.notes = original.diagnostics;
        return out;
    }
    out.notes.sort();
    out.name = original.addon->addon().name;
    out.manifest = fmt::format("# Imported from {}.\n{}", fs::path(file).filename().string(),
                               document::to_yaml(tree));
    const extract::CompileResult written = extract::compile(out.manifest, out.name);
    if (written.addon == nullptr) out.notes = written.diagnostics;
    out.good = written.addon != nullptr;
    return out;
}

base::Result<std::string> write_addon(const ImportedAddon& addon, const std::string& folder,
                                      bool replace) {
    const fs::path path = fs::path(folder) / addon.name / "manifest.yaml";
    std::error_code error;
    if (fs::exists(path, error) && !replace) {
        const auto there = read_text_file(path.string(), kMaxManifestBytes);
        if (there && *there == addon.manifest) return path.string();
        return refuse(path.string(), "is there already and says something else; use --replace");
    }
    fs::create_directories(path.parent_path(), error);
    if (error) return refuse(path.parent_path().string(), error.message());
    // It may hold the password that a device is delivered with.
    const fs::path fresh = path.string() + ".new";
    {
        std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
        fs::permissions(fresh, fs::perms::owner_read | fs::perms::owner_write, error);
        out << addon.manifest;
        out.flush();
        if (!out) return refuse(fresh.string(), "cannot be written");
    }
    fs::rename(fresh, path, error);
    if (error) return refuse(path.string(), error.message());
    return path.string();
}

int run_import(const std::string& file, const std::string& folder, bool replace) {
    const auto manifest = read_manifest(file);
    if (!manifest) {
        fmt::print(stderr, "pollux addon import: {}\n", manifest.error().message);
        return 1;
    }
    for (const std::string& beside : manifest->beside) {
        fmt::print("{}: {} is not taken over: only the manifest is\n", file, beside);
    }
    const ImportedAddon addon = import_addon(manifest->text, manifest->name);
    fmt::print("{}", addon.notes.text());
    if (!addon.good) {
        const std::size_t errors = addon.notes.errors();
        fmt::print("{}: not imported, {} error{}\n", file, errors, errors == 1 ? "" : "s");
        return 1;
    }
    const std::size_t notes = addon.notes.warnings();
    fmt::print("{}: {} can be imported; {}\n", file, addon.name,
               notes == 1 ? "1 line changes in meaning or is ignored"
                          : fmt::format("{} lines change in meaning or are ignored", notes));
    if (folder.empty()) {
        fmt::print("nothing was written; --out FOLDER writes it into your folder of addons\n");
        return 0;
    }
    const auto written = write_addon(addon, folder, replace);
    if (!written) {
        fmt::print(stderr, "pollux addon import: {}\n", written.error().message);
        return 1;
    }
    fmt::print("wrote {}\n", *written);
    return 0;
}

}  // namespace pollux::app
