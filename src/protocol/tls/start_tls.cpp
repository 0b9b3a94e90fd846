#include "protocol/tls/start_tls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"

namespace pollux::protocol::tls {
namespace {

using model::StartTls;

constexpr std::size_t kMaxInput = 16U << 10U;

struct Step {
    std::string_view expect;  // a line that begins so; lines before it are passed over
    std::string_view say;     // then
};

// The last step's line is the permission.
constexpr std::array<Step, 3> kSmtp = {
    {{"220 ", "EHLO pollux\r\n"}, {"250 ", "STARTTLS\r\n"}, {"220 ", ""}}};
constexpr std::array<Step, 2> kImap = {{{"* OK", "a1 STARTTLS\r\n"}, {"a1 OK", ""}}};
constexpr std::array<Step, 2> kPop3 = {{{"+OK", "STLS\r\n"}, {"+OK", ""}}};
constexpr std::array<Step, 2> kFtp = {{{"220 ", "AUTH TLS\r\n"}, {"234 ", ""}}};

std::span<const Step> steps_of(StartTls kind) {
    switch (kind) {
        case StartTls::kSmtp: return kSmtp;
        case StartTls::kImap: return kImap;
        case StartTls::kPop3: return kPop3;
        case StartTls::kFtp: return kFtp;
        default: return {};
    }
}

// A line that only goes before the one that counts: "250-SIZE", "* CAPABILITY", "220-welcome".
bool is_more(std::string_view line, std::string_view expect) {
    if (expect.size() == 4 && expect[3] == ' ') {
        return line.size() < 4 || (line.starts_with(expect.substr(0, 3)) && line[3] == '-') ||
               line[0] == ' ';
    }
    return expect.starts_with("a1") && line.starts_with("*");
}

// ExtendedRequest with the name 1.3.6.1.4.1.1466.20037, message 1.
constexpr std::string_view kLdapRequest(
    "\x30\x1d\x02\x01\x01\x77\x18\x80\x16"
    "1.3.6.1.4.1.1466.20037",
    31);
constexpr std::string_view kPostgresRequest("\x00\x00\x00\x08\x04\xd2\x16\x2f", 8);

}  // namespace

StartTlsTalk::StartTlsTalk(StartTls kind) : kind_(kind), done_(kind == StartTls::kNone) {
    if (kind == StartTls::kLdap) output_ = kLdapRequest;
    if (kind == StartTls::kPostgres) output_ = kPostgresRequest;
}

base::Status StartTlsTalk::refuse(std::string_view said) const {
    return base::make_error(
        base::ErrorClass::kTransient, "tls.starttls",
        fmt::format("the server does not begin TLS: it said {}", base::quoted(said, 100)));
}

base::Status StartTlsTalk::hear(std::string_view bytes) {
    input_ += bytes;
    if (input_.size() > kMaxInput) return refuse(input_);
    if (kind_ == StartTls::kPostgres) {
        if (input_.empty()) return {};
        done_ = input_ == "S";
        return done_ ? base::Status() : refuse(input_);
    }
    return kind_ == StartTls::kLdap ? hear_ldap() : hear_lines();
}

base::Status StartTlsTalk::hear_lines() {
    const auto steps = steps_of(kind_);
    for (std::size_t end = input_.find('\n'); end != std::string::npos && !done_;
         end = input_.find('\n')) {
        std::string line = input_.substr(0, end);
        input_.erase(0, end + 1);
        if (line.ends_with('\r')) line.pop_back();
        const Step& step = steps[static_cast<std::size_t>(step_)];
        if (line.starts_with(step.expect)) {
            output_ += step.say;
            ++step_;
            done_ = static_cast<std::size_t>(step_) == steps.size();
        } else if (!is_more(line, step.expect)) {
            return refuse(line);
        }
    }
    return {};
}

// LDAPMessage { messageID 1, ExtendedResponse { resultCode success … } }, lengths in one byte or in
// the long form.
base::Status StartTlsTalk::hear_ldap() {
    if (input_.size() < 2) return {};
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(input_[at]); };
    std::size_t header = 2;
    std::size_t length = byte(1);
    if (length > 0x80) {
        const std::size_t count = length & 0x7FU;
        if (count > 4 || byte(0) != 0x30) return refuse(input_);
        if (input_.size() < 2 + count) return {};
        length = 0;
        for (std::size_t i = 0; i < count; ++i) length = length << 8U | byte(2 + i);
        header += count;
    }
    if (byte(0) != 0x30 || length > kMaxInput) return refuse(input_);
    if (input_.size() < header + length) return {};
    const std::string_view body = std::string_view(input_).substr(header, length);
    // messageID 1, then the response 0x78 in which the code comes first.
    const std::size_t code = body.find("\x0a\x01");
    done_ = body.starts_with("\x02\x01\x01\x78") && code != std::string_view::npos &&
            code + 2 < body.size() && body[code + 2] == 0;
    return done_ ? base::Status() : refuse(input_);
}

}  // namespace pollux::protocol::tls
