#include "net/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"
#include "net/http_message.hpp"

namespace pollux::net {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the 16 asks zlib for the gzip wrapper
constexpr int kMemoryLevel = 8;

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

std::string_view take_until(std::string_view& text, char separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return trimmed(part);
}

// The weight of ";q=0.5" in thousandths; 1000 if there is none, 0 if it cannot be read.
int weight(std::string_view parameters) {
    while (!parameters.empty()) {
        const std::string_view one = take_until(parameters, ';');
        if (one.size() < 2 || (one[0] != 'q' && one[0] != 'Q') || one[1] != '=') continue;
        const std::string_view number = one.substr(2);
        if (number.empty()) return 0;
        const std::string_view digits = number.substr(number.size() > 1 ? 2 : 1);
        const bool formed = (number[0] == '0' || number[0] == '1') &&
                            (number.size() == 1 || number[1] == '.') && digits.size() <= 3 &&
                            digits.find_first_not_of("0123456789") == std::string_view::npos;
        if (!formed) return 0;
        int value = number[0] - '0';
        for (std::size_t i = 0; i < 3; ++i) {
            value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
        }
        return std::min(value, 1000);
    }
    return 1000;
}

}  // namespace

GzipWriter::GzipWriter() : stream_(std::make_unique<z_stream_s>()) {
    POLLUX_CHECK(deflateInit2(stream_.get(), Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                              Z_DEFAULT_STRATEGY) == Z_OK);
}

GzipWriter::~GzipWriter() {
    if (stream_ != nullptr) deflateEnd(stream_.get());
}

GzipWriter::GzipWriter(GzipWriter&&) noexcept = default;

GzipWriter& GzipWriter::operator=(GzipWriter&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
}

void GzipWriter::write(std::string_view piece, bool last, std::string& out) {
    std::array<char, 16 * 1024> buffer;
    // zlib does not write to its input, though its type says otherwise.
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_->avail_in = static_cast<uInt>(piece.size());
    do {
        stream_->next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream_->avail_out = static_cast<uInt>(buffer.size());
        POLLUX_CHECK(deflate(stream_.get(), last ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR);
        out.append(buffer.data(), buffer.size() - stream_->avail_out);
    } while (stream_->avail_out == 0);
}

std::string gzip(std::string_view text) {
    std::string out;
    GzipWriter().write(text, true, out);
    return out;
}

int coding_quality(std::string_view accept_encoding, std::string_view coding) {
    int any = 0;
    while (!accept_encoding.empty()) {
        std::string_view one = take_until(accept_encoding, ',');
        const std::string_view name = take_until(one, ';');
        const bool old_name = coding == "gzip" && equal_ignoring_case(name, "x-gzip");
        if (old_name || equal_ignoring_case(name, coding)) return weight(one);
        if (name == "*") any = weight(one);
    }
    return any;
}

bool accepts_gzip(std::string_view accept_encoding) {
    return coding_quality(accept_encoding, "gzip") > 0;
}

}  // namespace pollux::net
