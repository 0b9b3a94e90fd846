#include "app/support_bundle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "app/control_client.hpp"
#include "document/write.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kTarBlock = 512;

std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        const std::size_t have = std::min<std::size_t>(3, bytes.size() - at);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto byte = i < have ? static_cast<unsigned char>(bytes[at + i]) : 0U;
            group = group << 8U | byte;
        }
        for (std::size_t i = 0; i <= have; ++i) out += kDigits[group >> (18 - 6 * i) & 63U];
    }
    return out;  // without padding: what follows it does not matter for a search
}

void put_octal(std::string& header, std::size_t at, std::size_t width, std::uint64_t value) {
    const std::string digits = fmt::format("{:0{}o}", value, width - 1);
    header.replace(at, width - 1, digits, 0, width - 1);
}

std::string tar_header(const std::string& name, std::size_t size, std::int64_t seconds) {
    std::string header(kTarBlock, '\0');
    header.replace(0, std::min<std::size_t>(name.size(), 99), name, 0, 99);
    put_octal(header, 100, 8, 0600);
    put_octal(header, 108, 8, 0);
    put_octal(header, 116, 8, 0);
    put_octal(header, 124, 12, size);
    put_octal(header, 136, 12, static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 0)));
    header.replace(148, 8, 8, ' ');
    header[156] = '0';
    header.replace(257, 8, std::string("ustar\00000", 8));
    std::uint64_t sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    return header;
}

base::Result<std::string> gzip(const std::string& bytes) {
    z_stream stream{};
    // 16 more: with the header of gzip.
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        return base::internal_error("bundle.write", "cannot compress");
    }
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    std::string in = bytes;  // zlib takes no const
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int ended = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (ended != Z_STREAM_END) return base::internal_error("bundle.write", "cannot compress");
    return out;
}

base::Status write_file(int fd, const std::string& bytes) {
    std::size_t written = 0;
    while (written < bytes.size()) {
        const ssize_t step = ::write(fd, bytes.data() + written, bytes.size() - written);
        if (step < 0 && errno == EINTR) continue;
        if (step <= 0) return base::internal_error("bundle.write", std::strerror(errno));
        written += static_cast<std::size_t>(step);
    }
    if (fsync(fd) != 0) return base::internal_error("bundle.write", std::strerror(errno));
    return {};
}

}  // namespace

std::string tar_archive(const std::vector<std::pair<std::string, std::string>>& files,
                        std::int64_t seconds) {
    std::string archive;
    for (const auto& [name, text] : files) {
        archive += tar_header(name, text.size(), seconds);
        archive += text;
        archive.append((kTarBlock - text.size() % kTarBlock) % kTarBlock, '\0');
    }
    archive.append(2 * kTarBlock, '\0');
    return archive;
}

void SupportBundle::hide(const base::Secret& secret) {
    const std::string& plain = secret.reveal();
    if (plain.size() < kShortestSecret) return;
    const std::string quoted = document::json_string(plain);
    const std::string encoded = base64(plain);
    for (const std::string& form :
         {plain, quoted.substr(1, quoted.size() - 2), ControlClient::escaped(plain), encoded}) {
        if (std::ranges::find(secrets_, form) == secrets_.end()) secrets_.push_back(form);
    }
    // A secret that is part of a longer one must not leave the rest of it standing.
    std::ranges::sort(secrets_, std::greater(), &std::string::size);
}

std::string SupportBundle::scrubbed(std::string text) {
    for (const std::string& secret : secrets_) {
        for (std::size_t at = text.find(secret); at != std::string::npos;
             at = text.find(secret, at)) {
            text.replace(at, secret.size(), "(secret)");
            at += std::strlen("(secret)");
            ++hidden_;
        }
    }
    return text;
}

void SupportBundle::add(std::string name, std::string text) {
    files_.emplace_back(std::move(name), scrubbed(std::move(text)));
}

base::Status SupportBundle::write(const std::string& path) const {
    const auto bytes = gzip(tar_archive(files_, std::time(nullptr)));
    if (!bytes) return std::unexpected(bytes.error());
    const std::string unfinished = path + ".unfinished";
    const int fd = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const auto refuse = [&](std::string_view why) {
        return base::config_error("bundle.write", fmt::format("cannot write {}: {}", path, why));
    };
    if (fd < 0) return refuse(std::strerror(errno));
    base::Status written = write_file(fd, *bytes);
    close(fd);
    if (written && rename(unfinished.c_str(), path.c_str()) != 0) {
        written = base::internal_error("bundle.write", std::strerror(errno));
    }
    if (!written) {
        unlink(unfinished.c_str());
        return refuse(written.error().message);
    }
    return {};
}

}  // namespace pollux::app
