#include "api/static_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/gzip.hpp"

namespace pollux::api {
namespace {

// Scripts, styles and data come from here only, and no other site may frame the page.
constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";
constexpr std::string_view kNoDevices =
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
    "magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), usb=()";

constexpr StaticFile kNoDashboard{
    .path = "/",
    .type = "text/html; charset=utf-8",
    .tag = "no-dashboard-1",
    .plain =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Pollux</title>"
        "<p>This build of Pollux has no dashboard; its API is described at "
        "<a href=\"api/docs\">api/docs</a>.</p></html>\n"};
constexpr StaticFile kRobots{.path = "/robots.txt",
                             .type = "text/plain; charset=utf-8",
                             .tag = "robots-1",
                             .plain = "User-agent: *\nDisallow: /\n"};

struct Coding {
    std::string_view name;
    std::string_view body;
};

// By the client's preference, then by ours: brotli, gzip, plain. A client that refuses everything
// gets the plain bytes: they are what it can use, if anything.
Coding best_coding(const StaticFile& file, std::string_view accept_encoding) {
    Coding best{"", file.plain};
    int quality = 0;
    for (const Coding& one : {Coding{"br", file.brotli}, Coding{"gzip", file.gzip}}) {
        const int wish = one.body.empty() ? 0 : net::coding_quality(accept_encoding, one.name);
        if (wish <= quality) continue;
        best = one;
        quality = wish;
    }
    const int plain = net::coding_quality(accept_encoding, "identity");
    return plain > quality ? Coding{"", file.plain} : best;
}

}  // namespace

StaticFiles::StaticFiles(std::span<const PackedWebFile> packed, std::string_view blob) {
    const auto part = [&](const PackedPart& one) { return blob.substr(one.offset, one.length); };
    for (const PackedWebFile& one : packed) {
        files_.push_back(
            {one.path, one.type, one.tag, part(one.plain), part(one.gzip), part(one.brotli)});
    }
    if (packed.empty()) files_.push_back(kNoDashboard);
    const bool robots =
        std::ranges::any_of(files_, [](const StaticFile& one) { return one.path == kRobots.path; });
    if (!robots) files_.push_back(kRobots);
    std::ranges::sort(files_, {}, &StaticFile::path);
}

const StaticFile* StaticFiles::find(std::string_view path) const {
    const auto found = std::ranges::lower_bound(files_, path, {}, &StaticFile::path);
    return found != files_.end() && found->path == path ? &*found : nullptr;
}

net::Response static_response(const StaticFile& file, std::string_view accept_encoding) {
    const Coding coding = best_coding(file, accept_encoding);
    net::Response response{.status = 200, .headers = {}, .body = std::string(coding.body)};
    response.with("Content-Type", std::string(file.type));
    // Another coding is another representation, so it needs another strong tag.
    response.with("ETag",
                  fmt::format("\"{}{}{}\"", file.tag, coding.name.empty() ? "" : "-", coding.name));
    response.with("Cache-Control",
                  file.hashed() ? "public, max-age=31536000, immutable" : "no-cache");
    if (!coding.name.empty()) response.with("Content-Encoding", std::string(coding.name));
    if (!file.gzip.empty() || !file.brotli.empty()) response.with("Vary", "Accept-Encoding");
    response.with("Content-Security-Policy", std::string(kPagePolicy));
    response.with("Permissions-Policy", std::string(kNoDevices));
    response.with("Cross-Origin-Opener-Policy", "same-origin");
    response.with("Cross-Origin-Resource-Policy", "same-origin");
    return response;
}

}  // namespace pollux::api
