// Compression of what is sent, as HTTP's content coding "gzip".
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace pollux::net {

// Piece by piece, so that a large page does not hold up a loop.
class GzipWriter {
  public:
    GzipWriter();
    ~GzipWriter();
    GzipWriter(GzipWriter&&) noexcept;
    GzipWriter& operator=(GzipWriter&&) noexcept;

    // Appends to `out` what is known of the compressed text by now; all of it with `last`.
    void write(std::string_view piece, bool last, std::string& out);

  private:
    std::unique_ptr<z_stream_s> stream_;
};

std::string gzip(std::string_view text);

// How much an Accept-Encoding field wishes for a coding, in thousandths: what it says of it, or of
// * otherwise, else 0. What is not well-formed counts as not wished.
int coding_quality(std::string_view accept_encoding, std::string_view coding);

// Whether an Accept-Encoding field takes gzip: named, or by *, and not with q=0.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace pollux::net
