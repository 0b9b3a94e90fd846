#include "app/addon_archive.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "app/addon_files.hpp"
#include "base/text.hpp"

namespace pollux::app {
namespace {

constexpr std::string_view kManifest = "manifest.json";
constexpr std::size_t kMostBeside = 20;

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using OpenFile = std::unique_ptr<zip_file_t, Discard>;

std::unexpected<base::Error> refuse(const std::string& file, std::string_view why) {
    return base::config_error("addon.archive", fmt::format("{}: {}", file, why));
}

base::Result<Archive> open(std::string_view bytes, const std::string& file) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    zip_t* archive = source == nullptr
                         ? nullptr
                         : zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (archive == nullptr) {
        if (source != nullptr) zip_source_free(source);
        return refuse(file, "is no ZIP file that can be read: " + why);
    }
    return Archive(archive);
}

// Absolute, or leading out of where it is unpacked.
bool leads_out(std::string_view name) {
    if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos ||
        (name.size() > 1 && name[1] == ':')) {
        return true;
    }
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find('/', at), name.size());
        if (name.substr(at, end - at) == "..") return true;
        at = end + 1;
    }
    return false;
}

bool is_link(zip_t* archive, zip_uint64_t index) {
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    return zip_file_get_external_attributes(archive, index, 0, &system, &attributes) == 0 &&
           system == ZIP_OPSYS_UNIX && S_ISLNK(attributes >> 16U);
}

// Of several, the one at the top.
base::Result<zip_uint64_t> find_manifest(zip_t* archive, const std::string& file,
                                         ArchivedManifest& found) {
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    if (count < 0 || static_cast<std::size_t>(count) > kMaxArchiveFiles) {
        return refuse(
            file, fmt::format("holds {} files, at most {} are looked at", count, kMaxArchiveFiles));
    }
    std::vector<std::pair<std::string, zip_uint64_t>> manifests;
    for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(count); ++i) {
        const char* raw = zip_get_name(archive, i, ZIP_FL_ENC_GUESS);
        const std::string name = raw == nullptr ? "" : raw;
        if (leads_out(name)) {
            return refuse(file, fmt::format("holds {}, a name that leads out of the archive: look "
                                            "at where it comes from",
                                            base::quoted(name)));
        }
        if (name.ends_with('/')) continue;
        const std::size_t slash = name.rfind('/');
        const std::string_view base = slash == std::string::npos
                                          ? std::string_view(name)
                                          : std::string_view(name).substr(slash + 1);
        if (base == kManifest && std::ranges::count(name, '/') <= 1) {
            manifests.emplace_back(name, i);
        } else if (found.beside.size() < kMostBeside && !name.starts_with("__MACOSX/")) {
            found.beside.push_back(base::plain_text(name));
        }
    }
    std::ranges::sort(manifests, {}, [](const auto& one) {
        return std::pair(std::ranges::count(one.first, '/'), one.first);
    });
    if (manifests.empty()) {
        return refuse(file, "holds no manifest.json, at the top or in a folder");
    }
    const bool top = manifests.front().first == kManifest;
    if (!top && manifests.size() > 1) {
        return refuse(file, fmt::format("holds {} manifests ({}, {}, ...): unpack it and import "
                                        "one after the other",
                                        manifests.size(), base::quoted(manifests[0].first),
                                        base::quoted(manifests[1].first)));
    }
    found.name = file + "/" + base::plain_text(manifests.front().first);
    return manifests.front().second;
}

}  // namespace

bool is_archive(std::string_view bytes) {
    // With files in it, and without.
    return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

base::Result<ArchivedManifest> read_archive(std::string_view bytes, const std::string& file) {
    auto archive = open(bytes, file);
    if (!archive) return std::unexpected(archive.error());
    ArchivedManifest found;
    const auto index = find_manifest(archive->get(), file, found);
    if (!index) return std::unexpected(index.error());
    zip_stat_t facts;
    zip_stat_init(&facts);
    if (zip_stat_index(archive->get(), *index, 0, &facts) != 0) {
        return refuse(found.name, zip_strerror(archive->get()));
    }
    if (is_link(archive->get(), *index)) return refuse(found.name, "is a link, not a manifest");
    if (facts.encryption_method != ZIP_EM_NONE) {
        return refuse(found.name, "is encrypted: unpack it and import the manifest");
    }
    const OpenFile manifest(zip_fopen_index(archive->get(), *index, 0));
    if (manifest == nullptr) return refuse(found.name, zip_strerror(archive->get()));
    // What it says of its size is not believed.
    found.text.resize(kMaxManifestBytes + 1);
    std::size_t got = 0;
    while (got < found.text.size()) {
        const zip_int64_t count =
            zip_fread(manifest.get(), found.text.data() + got, found.text.size() - got);
        if (count < 0) {
            return refuse(found.name,
                          fmt::format("is damaged: {}", zip_file_strerror(manifest.get())));
        }
        if (count == 0) break;
        got += static_cast<std::size_t>(count);
    }
    if (got > kMaxManifestBytes) {
        return refuse(found.name, fmt::format("is larger than {} bytes", kMaxManifestBytes));
    }
    found.text.resize(got);
    return found;
}

}  // namespace pollux::app
