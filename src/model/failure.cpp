#include "model/failure.hpp"

#include <algorithm>
#include <array>

namespace pollux::model {
namespace {

using base::ErrorClass;

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kRequestTimeout = 408;
constexpr int kTooManyRequests = 429;

constexpr std::array<std::string_view, 4> kAuthPhrases = {
    "authentication error", "authentication failed", "unauthorized", "forbidden"};
constexpr std::array<std::string_view, 2> kAuthCodes = {"401", "403"};

constexpr bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20U || byte == 0x7FU;
}

constexpr bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

constexpr bool is_utf8_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// ASCII only: the phrases are ASCII, and no locale may change what a message means.
constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// How many bytes at `at` are blank: a space or an ASCII control is one, a C1 control (U+0080 to
// U+009F, which terminals obey and some readers take for a line end) is two.
std::size_t blank_length(std::string_view text, std::size_t at) {
    if (text[at] == ' ' || is_control(text[at])) return 1;
    if (text[at] != '\xC2' || at + 1 == text.size()) return 0;
    const auto next = static_cast<unsigned char>(text[at + 1]);
    return next >= 0x80U && next <= 0x9FU ? 2 : 0;
}

// Every run of spaces and control characters becomes one space, so that a phrase that a peer broke
// over two lines is still one phrase.
std::string squeezed(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t blank = blank_length(text, at);
        if (blank == 0) {
            result.push_back(text[at]);
        } else if (result.empty() || result.back() != ' ') {
            result.push_back(' ');
        }
        at += std::max<std::size_t>(blank, 1);
    }
    return result;
}

// The first `limit` bytes, less where that would split a UTF-8 character.
std::string_view cut(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text;
    std::size_t end = limit;
    while (end > 0 && is_utf8_continuation(text[end])) --end;
    return text.substr(0, end);
}

bool has_standalone(std::string_view text, std::string_view code) {
    for (auto at = text.find(code); at != std::string_view::npos; at = text.find(code, at + 1)) {
        const std::size_t after = at + code.size();
        const bool joined_before = at > 0 && is_alphanumeric(text[at - 1]);
        const bool joined_after = after < text.size() && is_alphanumeric(text[after]);
        if (!joined_before && !joined_after) return true;
    }
    return false;
}

ErrorClass class_of_status(int status) {
    if (status == kUnauthorized || status == kForbidden) return ErrorClass::kAuth;
    if (status >= 500 || status == kTooManyRequests || status == kRequestTimeout) {
        return ErrorClass::kTransient;
    }
    return ErrorClass::kPermanent;
}

}  // namespace

ErrorClass classify(const FailureFacts& facts) {
    if (facts.http_status >= 400) return class_of_status(facts.http_status);
    switch (facts.kind) {
        case FailureKind::kNone:
        case FailureKind::kConnection:
        case FailureKind::kTimeout:
        case FailureKind::kDns:       // resolvers fail in bursts, and names come back by themselves
        case FailureKind::kInternal:  // our own fault says nothing about the device
        case FailureKind::kCancelled: return ErrorClass::kTransient;
        case FailureKind::kAuth: return ErrorClass::kAuth;
        case FailureKind::kConfiguration: return ErrorClass::kConfig;
        case FailureKind::kCertificate:  // a certificate does not mend itself between two polls
        case FailureKind::kValidation:
        case FailureKind::kNotFound: return ErrorClass::kPermanent;
        case FailureKind::kApi:
        case FailureKind::kUnknown: break;
    }
    return is_auth_error_text(facts.message) ? ErrorClass::kAuth : ErrorClass::kTransient;
}

bool is_retryable(ErrorClass error_class) {
    return error_class == ErrorClass::kTransient || error_class == ErrorClass::kInternal;
}

bool is_auth_error_text(std::string_view text) {
    std::string_view head = text.substr(0, kAuthTextLimit);
    if (text.size() > kAuthTextLimit && is_alphanumeric(text[kAuthTextLimit])) {
        // The limit cuts a word: its rest could make a "401" of a "4015".
        while (!head.empty() && is_alphanumeric(head.back())) head.remove_suffix(1);
    }
    std::string folded = squeezed(head);
    std::ranges::transform(folded, folded.begin(), to_lower);
    const auto has_phrase = [&](std::string_view phrase) {
        return folded.find(phrase) != std::string::npos;
    };
    const auto has_code = [&](std::string_view code) { return has_standalone(folded, code); };
    return std::ranges::any_of(kAuthPhrases, has_phrase) ||
           std::ranges::any_of(kAuthCodes, has_code);
}

std::string_view to_string(FailureKind kind) {
    switch (kind) {
        case FailureKind::kNone: return "none";
        case FailureKind::kConnection: return "connection";
        case FailureKind::kTimeout: return "timeout";
        case FailureKind::kDns: return "dns";
        case FailureKind::kAuth: return "auth";
        case FailureKind::kCertificate: return "certificate";
        case FailureKind::kValidation: return "validation";
        case FailureKind::kNotFound: return "not_found";
        case FailureKind::kConfiguration: return "configuration";
        case FailureKind::kApi: return "api";
        case FailureKind::kInternal: return "internal";
        case FailureKind::kCancelled: return "cancelled";
        case FailureKind::kUnknown: break;
    }
    return "unknown";
}

std::string bounded_error_text(std::string_view op, std::string_view instance,
                               std::string_view node, std::string_view message) {
    // Cut before squeezing as well: the cost must not depend on what a peer sends.
    const auto part = [](std::string_view text, std::size_t limit) {
        return squeezed(cut(text, limit));
    };
    std::string result = part(op, kErrorContextLimit);
    result += " failed on ";
    result += part(instance, kErrorContextLimit);
    if (!node.empty()) {
        result += '/';
        result += part(node, kErrorContextLimit);
    }
    result += ": ";
    result += part(message, kErrorMessageLimit);
    return result;
}

}  // namespace pollux::model
