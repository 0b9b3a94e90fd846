#include "extract/request_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace pollux::extract {
namespace {

using base::quoted;
using Request = decltype(model::Ask::request);

constexpr std::array<std::pair<std::string_view, model::StartTls>, 8> kStartTls = {
    {{"", model::StartTls::kNone},
     {"none", model::StartTls::kNone},
     {"smtp", model::StartTls::kSmtp},
     {"imap", model::StartTls::kImap},
     {"pop3", model::StartTls::kPop3},
     {"ftp", model::StartTls::kFtp},
     {"ldap", model::StartTls::kLdap},
     {"postgres", model::StartTls::kPostgres}}};

// A NUL ends a C string: what follows it would silently be lost on its way to a program.
bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

base::Result<Request> make(const SshRequestPlan& plan, const PlaceholderValues& values) {
    model::SshAsk ask;
    ask.command = plan.command.fill([&](std::string_view name) -> std::optional<std::string> {
        auto text = values(name);
        return text ? std::optional(shell_quoted(*text)) : std::nullopt;
    });
    if (has_nul(ask.command)) {
        return base::config_error("addon.command", "the command holds a NUL character");
    }
    ask.max_output_bytes = plan.max_output_bytes;
    ask.good_exit = plan.good_exit;
    return ask;
}

base::Result<Request> make(const ExecRequestPlan& plan, const PlaceholderValues& values) {
    model::ExecAsk ask;
    for (const ExecRequestPlan::Part& part : plan.command) {
        bool empty = false;
        std::vector<std::string> arguments;
        for (const Template& argument : part) {
            arguments.push_back(
                argument.fill([&](std::string_view name) -> std::optional<std::string> {
                    auto text = values(name);
                    empty = empty || (text && text->empty());
                    return text;
                }));
        }
        if (empty) continue;
        for (std::string& argument : arguments) {
            if (has_nul(argument)) {
                return base::config_error("addon.command", "an argument holds a NUL character");
            }
            ask.argv.push_back(std::move(argument));
        }
    }
    if (ask.argv.empty() || ask.argv.front().empty()) {
        return base::config_error("addon.command",
                                  "the command is empty; the parameter that names it has no value");
    }
    for (const auto& [name, text] : plan.environment) {
        ask.environment.emplace_back(name, text.fill(values));
    }
    ask.max_output_bytes = plan.max_output_bytes;
    ask.good_exit = plan.good_exit;
    return ask;
}

base::Result<Request> make(const TcpRequestPlan& plan, const PlaceholderValues& values) {
    return model::TcpAsk{plan.send.fill(values), plan.expect.fill(values), plan.max_bytes};
}

base::Result<Request> make(const TlsRequestPlan& plan, const PlaceholderValues& values) {
    model::TlsAsk ask;
    const std::string word = plan.start_tls.fill(values);
    const auto* const found =
        std::ranges::find(kStartTls, word, &std::pair<std::string_view, model::StartTls>::first);
    if (found == kStartTls.end()) {
        return base::config_error("addon.starttls",
                                  fmt::format("{} is no protocol with STARTTLS; write smtp, imap, "
                                              "pop3, ftp, ldap, postgres or none",
                                              quoted(word)));
    }
    ask.start_tls = found->second;
    ask.server_name = plan.server_name.fill(values);
    ask.tls.ca_file = plan.ca_file;
    ask.require_valid = plan.require_valid;
    return ask;
}

base::Result<Request> make(const IcmpRequestPlan& plan, const PlaceholderValues&) {
    return plan.ask;
}

base::Result<Request> make(const DnsRequestPlan& plan, const PlaceholderValues& values) {
    model::DnsAsk ask;
    ask.name = plan.name.fill(values);
    ask.type = plan.type.fill(values);
    ask.recursion = plan.recursion;
    std::ranges::transform(ask.type, ask.type.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return ask;
}

base::Result<Request> make(const std::monostate&, const PlaceholderValues&) {
    return base::internal_error("addon.request", "the request is one of HTTP");
}

}  // namespace

base::Result<Request> make_request(const RequestPlan& plan, const PlaceholderValues& values) {
    return std::visit([&](const auto& request) { return make(request, values); }, plan);
}

std::string shell_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out.push_back(c);
        }
    }
    return out + "'";
}

}  // namespace pollux::extract
