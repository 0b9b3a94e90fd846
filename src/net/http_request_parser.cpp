#include "net/http_request_parser.hpp"

#include <algorithm>
#include <cstring>

namespace pollux::net {
namespace {

constexpr std::size_t kChunkLineBytes = 256;  // a size and its extensions
constexpr std::size_t kBlankLinesBefore = 2;  // some old clients send one after a body

bool is_token_character(char c) {
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
    return c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

bool is_visible(char c) { return c > 0x20 && c < 0x7F; }

// Visible characters, blanks, tabs and bytes above ASCII.
bool is_field_character(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

}  // namespace

void RequestParser::fail(int status, std::string_view reason) {
    state_ = State::kFailed;
    status_ = status;
    reason_ = reason;
}

void RequestParser::start_over() {
    const RequestLimits limits = limits_;
    *this = RequestParser(limits);
}

std::size_t RequestParser::consume(std::string_view bytes) {
    std::size_t used = 0;
    if (!bytes.empty() && state_ == State::kHead) started_ = true;
    if (state_ == State::kHead) used = consume_head(bytes);
    if (state_ == State::kBody) used += consume_body(bytes.substr(used));
    return used;
}

std::size_t RequestParser::take_line(std::string_view bytes, bool& whole) {
    whole = false;
    const std::size_t newline = bytes.find('\n');
    const std::size_t count = newline == std::string_view::npos ? bytes.size() : newline + 1;
    line_.append(bytes.substr(0, count));
    if (newline == std::string_view::npos) return count;
    if (line_.size() < 2 || line_[line_.size() - 2] != '\r') {
        fail(400, "a line ends with LF alone; lines end with CR LF");
        return count;
    }
    line_.resize(line_.size() - 2);
    whole = true;
    return count;
}

std::size_t RequestParser::consume_head(std::string_view bytes) {
    std::size_t used = 0;
    while (state_ == State::kHead && used < bytes.size()) {
        bool whole = false;
        const std::size_t taken = take_line(bytes.substr(used), whole);
        used += taken;
        head_bytes_ += taken;
        if (state_ == State::kFailed) break;
        if (head_bytes_ > limits_.head_bytes) {
            if (has_request_line_) {
                fail(431, "the header fields are too long");
            } else {
                fail(414, "the request line is too long");
            }
        } else if (whole) {
            line_of_head();
            line_.clear();
        }
    }
    return used;
}

void RequestParser::line_of_head() {
    if (!has_request_line_) {
        if (!line_.empty()) return request_line(line_);
        if (++blank_lines_ > kBlankLinesBefore) fail(400, "blank lines instead of a request");
        return;
    }
    if (line_.empty()) return end_of_head();
    field_line(line_);
}

void RequestParser::request_line(std::string_view line) {
    has_request_line_ = true;
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || last == first) {
        return fail(400, "the request line is not: method, blank, target, blank, version");
    }
    const std::string_view method = line.substr(0, first);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    if (!is_token(method) || method.size() > 32) return fail(400, "the method is not a token");
    if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) ||
        version[6] != '.' || !is_digit(version[7])) {
        return fail(400, "the version is not HTTP/1.1");
    }
    if (version[5] != '1') return fail(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    request_.minor_version = version[7] == '0' ? 0 : 1;
    request_.method = method;
    if (target.size() > limits_.target_bytes) return fail(414, "the target is too long");
    if (!take_target(target)) return fail(400, "the target is not a path, an http URL or *");
}

bool RequestParser::take_target(std::string_view target) {
    const bool clean =
        std::all_of(target.begin(), target.end(), [](char c) { return is_visible(c) && c != '#'; });
    if (target.empty() || !clean) return false;
    request_.target = target;
    if (target == "*" && request_.method == "OPTIONS") {
        request_.path = target;
        return true;
    }
    std::string_view rest = target;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!equal_ignoring_case(rest.substr(0, scheme.size()), scheme)) continue;
        rest.remove_prefix(scheme.size());
        const std::size_t slash = std::min(rest.find_first_of("/?"), rest.size());
        if (slash == 0) return false;
        rest.remove_prefix(slash);
        request_.path = rest.starts_with('/') ? "" : "/";
        break;
    }
    if (request_.path.empty() && !rest.starts_with('/')) return false;
    const std::size_t question = std::min(rest.find('?'), rest.size());
    request_.path += rest.substr(0, question);
    request_.query = rest.substr(std::min(question + 1, rest.size()));
    return true;
}

bool RequestParser::check_field(std::string_view line, std::size_t& colon) {
    if (line.front() == ' ' || line.front() == '\t') {
        fail(400, "a header field is folded over two lines");
        return false;
    }
    colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
        fail(400, "a header field has no proper name before a colon");
        return false;
    }
    if (!std::all_of(line.begin(), line.end(), is_field_character)) {
        fail(400, "a header field holds a control character");
        return false;
    }
    return true;
}

void RequestParser::field_line(std::string_view line) {
    std::size_t colon = 0;
    if (!check_field(line, colon)) return;
    if (request_.headers.size() >= limits_.fields) return fail(431, "too many header fields");
    request_.headers.push_back(
        {std::string(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))});
}

void RequestParser::end_of_head() {
    const auto hosts =
        std::count_if(request_.headers.begin(), request_.headers.end(),
                      [](const HeaderField& f) { return equal_ignoring_case(f.name, "Host"); });
    if (hosts > 1) return fail(400, "more than one Host field");
    if (hosts == 0 && request_.minor_version == 1) return fail(400, "the Host field is missing");
    take_connection_fields();
    if (state_ != State::kFailed) take_body_framing();
}

void RequestParser::take_connection_fields() {
    request_.keep_alive = request_.minor_version == 1;
    bool close = false;
    for (const HeaderField& field : request_.headers) {
        if (equal_ignoring_case(field.name, "Connection")) {
            if (list_has(field.value, "close")) close = true;
            if (list_has(field.value, "keep-alive")) request_.keep_alive = true;
        }
        if (equal_ignoring_case(field.name, "Expect") && request_.minor_version == 1) {
            if (!equal_ignoring_case(field.value, "100-continue")) {
                return fail(417, "only 100-continue can be expected");
            }
            expects_continue_ = true;
        }
    }
    if (close) request_.keep_alive = false;
}

void RequestParser::take_body_framing() {
    const HeaderField* length = nullptr;
    const HeaderField* coding = nullptr;
    for (const HeaderField& field : request_.headers) {
        const bool is_length = equal_ignoring_case(field.name, "Content-Length");
        const bool is_coding = equal_ignoring_case(field.name, "Transfer-Encoding");
        if ((is_length && length != nullptr) || (is_coding && coding != nullptr)) {
            return fail(400, "the length of the body is given twice");
        }
        if (is_length) length = &field;
        if (is_coding) coding = &field;
    }
    if (length != nullptr && coding != nullptr) {
        return fail(400, "both Content-Length and Transfer-Encoding");
    }
    state_ = State::kBody;
    body_bytes_ = limits_.body_bytes;
    if (limits_.body_limit != nullptr && *limits_.body_limit &&
        (coding != nullptr || length != nullptr)) {
        body_bytes_ = (*limits_.body_limit)(request_);
    }
    if (coding != nullptr) {
        if (request_.minor_version == 0) return fail(400, "Transfer-Encoding in HTTP/1.0");
        if (!equal_ignoring_case(coding->value, "chunked")) {
            return fail(501, "only the transfer coding chunked is understood");
        }
        phase_ = BodyPhase::kChunkSize;
        return;
    }
    if (length != nullptr) return take_content_length(length->value);
    state_ = State::kComplete;
    expects_continue_ = false;
}

void RequestParser::take_content_length(std::string_view value) {
    if (value.empty() || value.size() > 18 || !std::all_of(value.begin(), value.end(), is_digit)) {
        return fail(400, "Content-Length is not a plain number");
    }
    for (const char digit : value) {
        remaining_ = remaining_ * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    if (remaining_ > body_bytes_) return fail(413, "the body is too large");
    phase_ = BodyPhase::kLength;
    if (remaining_ == 0) {
        state_ = State::kComplete;
        expects_continue_ = false;
    }
}

std::size_t RequestParser::take_counted(std::string_view bytes) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size()));
    request_.body.append(bytes.substr(0, count));
    remaining_ -= count;
    return count;
}

std::size_t RequestParser::consume_body(std::string_view bytes) {
    std::size_t used = 0;
    while (state_ == State::kBody && used < bytes.size()) {
        const std::string_view rest = bytes.substr(used);
        if (phase_ == BodyPhase::kLength || phase_ == BodyPhase::kChunkData) {
            used += take_counted(rest);
            if (remaining_ > 0) continue;
            if (phase_ == BodyPhase::kLength) state_ = State::kComplete;
            phase_ = BodyPhase::kChunkEnd;
        } else {
            used += take_chunk_line(rest);
        }
    }
    return used;
}

std::size_t RequestParser::take_chunk_line(std::string_view bytes) {
    bool whole = false;
    const std::size_t used = take_line(bytes, whole);
    if (state_ == State::kFailed) return used;
    switch (phase_) {
        case BodyPhase::kChunkSize:
            // Of a line that is not whole yet the last byte may be its CR.
            if (line_.size() > kChunkLineBytes + (whole ? 0 : 1)) {
                fail(400, "the line of a chunk size is too long");
            } else if (whole) {
                chunk_size_line(line_);
            }
            break;
        case BodyPhase::kChunkEnd:
            phase_ = whole ? BodyPhase::kChunkSize : BodyPhase::kChunkEnd;
            // Only a CR may wait for its LF; a CR in a whole line is one too many.
            if (!line_.empty() && (whole || line_ != "\r")) {
                fail(400, "a chunk is longer than its size says");
            }
            break;
        default: trailer(used, whole); break;
    }
    if (whole) line_.clear();
    return used;
}

void RequestParser::trailer(std::size_t used, bool whole) {
    head_bytes_ += used;
    if (head_bytes_ > limits_.head_bytes) return fail(431, "the trailers are too long");
    if (!whole) return;
    std::size_t colon = 0;
    if (line_.empty()) {
        state_ = State::kComplete;
    } else {
        check_field(line_, colon);
    }
}

void RequestParser::chunk_size_line(std::string_view line) {
    std::size_t digits = 0;
    std::uint64_t size = 0;
    for (; digits < line.size(); ++digits) {
        const char c = line[digits];
        const int value = is_digit(c)              ? c - '0'
                          : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                          : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                                   : -1;
        if (value < 0) break;
        if (digits >= 15) return fail(400, "a chunk size is too large");
        size = size * 16 + static_cast<std::uint64_t>(value);
    }
    const std::string_view extension = line.substr(digits);
    const bool clean = std::all_of(extension.begin(), extension.end(), is_field_character);
    if (digits == 0 || !clean || (!extension.empty() && extension.front() != ';')) {
        return fail(400, "a chunk size is not plain hexadecimal");
    }
    if (size > body_bytes_ - std::min(body_bytes_, request_.body.size())) {
        return fail(413, "the body is too large");
    }
    remaining_ = size;
    phase_ = size == 0 ? BodyPhase::kTrailers : BodyPhase::kChunkData;
}

}  // namespace pollux::net
