#include "feed/smtp_transfer.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.hpp"
#include "base/text.hpp"

namespace pollux::feed {
namespace {

constexpr std::size_t kMostRefusals = 5;
constexpr std::size_t kLongestAnswer = 512;

std::unexpected<base::Error> bad_url(std::string_view advice) {
    return base::config_error("feed.bad_smtp_url",
                              fmt::format("the mail server is not understood: {}; write "
                                          "smtp://host[:587] or smtps://host[:465]",
                                          advice));
}

std::string part_of(CURLU* url, CURLUPart part) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
    std::string out(text);
    curl_free(text);
    return out;
}

const std::string* param(const model::Channel& channel, std::string_view name) {
    const auto found = channel.params.find(name);
    return found == channel.params.end() ? nullptr : &found->second;
}

// The second also bounds the wait for the answer to QUIT, which the first does not.
void set_bounds(CURL* easy, base::Duration at_most) {
    constexpr std::int64_t kLongestSilence = 20;
    const std::int64_t milliseconds = std::max<std::int64_t>(1, base::ceil_ms(at_most));
    const std::int64_t seconds = std::clamp<std::int64_t>(milliseconds / 1000, 1, kLongestSilence);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(milliseconds));
    curl_easy_setopt(easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, static_cast<long>(seconds));
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

base::Result<SmtpTls> tls_of(const model::Channel& channel, bool with_credentials) {
    const std::string* word = param(channel, "tls");
    if (word == nullptr || *word == "required") return SmtpTls::kRequired;
    if (*word == "none") return SmtpTls::kNone;
    if (*word != "optional") return bad_url("tls is required, optional or none");
    return with_credentials ? SmtpTls::kRequired : SmtpTls::kOptional;
}

}  // namespace

base::Result<SmtpServer> smtp_server_of(const std::string& url, const model::Channel& channel,
                                        bool with_credentials) {
    if (url.empty()) return bad_url("neither the channel nor the settings name one");
    const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
    if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
        return bad_url("it is no URL");
    }
    const std::string scheme = part_of(parsed.get(), CURLUPART_SCHEME);
    if (scheme != "smtp" && scheme != "smtps") return bad_url("another protocol is named");
    if (!part_of(parsed.get(), CURLUPART_USER).empty() ||
        !part_of(parsed.get(), CURLUPART_PASSWORD).empty()) {
        return bad_url("user and password belong into a credential");
    }
    SmtpServer server;
    server.host = part_of(parsed.get(), CURLUPART_HOST);
    if (server.host.starts_with('[')) server.host = server.host.substr(1, server.host.size() - 2);
    if (server.host.empty()) return bad_url("it has no host");
    server.port = static_cast<std::uint16_t>(std::stoul(part_of(parsed.get(), CURLUPART_PORT)));
    char* explicit_port = nullptr;
    if (scheme == "smtp" &&
        curl_url_get(parsed.get(), CURLUPART_PORT, &explicit_port, 0) != CURLUE_OK) {
        server.port = 587;  // submission: libcurl would take 25
    }
    curl_free(explicit_port);
    if (scheme == "smtps") {
        server.tls = SmtpTls::kImplicit;
    } else {
        const auto tls = tls_of(channel, with_credentials);
        if (!tls) return std::unexpected(tls.error());
        server.tls = *tls;
    }
    if (const std::string* verify = param(channel, "verify"))
        server.verify = *verify != "no" && *verify != "false";
    if (const std::string* file = param(channel, "ca_file")) server.ca_file = *file;
    return server;
}

// What libcurl calls.
struct SmtpCallbacks {
    static std::size_t on_read(char* into, std::size_t size, std::size_t count, void* data) {
        SmtpTransfer& transfer = *static_cast<SmtpTransfer*>(data);
        const std::string& message = transfer.mail_.message;
        const std::size_t take = std::min(size * count, message.size() - transfer.sent_);
        std::memcpy(into, message.data() + transfer.sent_, take);
        transfer.sent_ += take;
        return take;
    }

    // The answers of the server, line by line.
    static std::size_t on_answer(char* bytes, std::size_t size, std::size_t count, void* data) {
        SmtpTransfer& transfer = *static_cast<SmtpTransfer*>(data);
        std::string_view line(bytes, size * count);
        while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
        transfer.last_answer_ = line.substr(0, kLongestAnswer);
        const bool refused = line.starts_with('5') || line.starts_with('4');
        if (refused && transfer.refusals_.size() < kMostRefusals) {
            transfer.refusals_.push_back(transfer.last_answer_);
        }
        return size * count;
    }

    static curl_socket_t on_open(void* data, curlsocktype, curl_sockaddr* address) {
        SmtpTransfer& transfer = *static_cast<SmtpTransfer*>(data);
        const auto target = net::IpAddress::from_sockaddr(&address->addr, address->addrlen);
        if (!target) return CURL_SOCKET_BAD;
        if (const auto allowed = transfer.egress_->check_target(*target); !allowed) {
            transfer.denied_ = allowed.error().message;
            return CURL_SOCKET_BAD;
        }
        const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                              address->protocol);
        return fd < 0 ? CURL_SOCKET_BAD : fd;
    }

    static int on_progress(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        return static_cast<SmtpTransfer*>(data)->aborted_.load(std::memory_order_relaxed) ? 1 : 0;
    }

    // libcurl is about to resolve a name that we did not tell it.
    static int on_resolve(void*, void*, void* data) {
        const std::string& host = static_cast<SmtpTransfer*>(data)->server_.host;
        return net::IpAddress::parse(host) ? 0 : 1;
    }
};

SmtpTransfer::SmtpTransfer(SmtpServer server, Mail mail,
                           std::shared_ptr<const model::Credentials> credentials,
                           std::shared_ptr<const net::EgressPolicy> egress)
    : server_(std::move(server)),
      mail_(std::move(mail)),
      credentials_(std::move(credentials)),
      egress_(std::move(egress)),
      easy_(curl_easy_init()) {
    POLLUX_CHECK_MSG(easy_ != nullptr, "out of memory");
}

SmtpTransfer::~SmtpTransfer() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(recipients_);
    curl_slist_free_all(addresses_);
}

AttemptOutcome SmtpTransfer::run() { return outcome(curl_easy_perform(easy_)); }

void SmtpTransfer::set_up(const std::vector<net::IpAddress>& addresses, const std::string& hello,
                          base::Duration at_most) {
    const bool v6 = server_.host.find(':') != std::string::npos;
    const std::string url =
        fmt::format("{}://{}{}{}:{}/{}", server_.tls == SmtpTls::kImplicit ? "smtps" : "smtp",
                    v6 ? "[" : "", server_.host, v6 ? "]" : "", server_.port, hello);
    curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");  // also not the one of the environment
    curl_easy_setopt(easy_, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
    if (!net::IpAddress::parse(server_.host)) {
        std::vector<std::string> texts;
        for (const net::IpAddress& address : addresses) texts.push_back(address.to_string());
        const std::string line =
            fmt::format("{}:{}:{}", server_.host, server_.port, fmt::join(texts, ","));
        addresses_ = curl_slist_append(addresses_, line.c_str());
        curl_easy_setopt(easy_, CURLOPT_RESOLVE, addresses_);
    }
    curl_easy_setopt(easy_, CURLOPT_RESOLVER_START_FUNCTION, &SmtpCallbacks::on_resolve);
    curl_easy_setopt(easy_, CURLOPT_RESOLVER_START_DATA, this);
    curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, &SmtpCallbacks::on_open);
    curl_easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, this);
    set_bounds(easy_, at_most);
    curl_easy_setopt(easy_, CURLOPT_XFERINFOFUNCTION, &SmtpCallbacks::on_progress);
    curl_easy_setopt(easy_, CURLOPT_XFERINFODATA, this);
    const long use_tls = server_.tls == SmtpTls::kNone       ? static_cast<long>(CURLUSESSL_NONE)
                         : server_.tls == SmtpTls::kOptional ? static_cast<long>(CURLUSESSL_TRY)
                                                             : static_cast<long>(CURLUSESSL_ALL);
    curl_easy_setopt(easy_, CURLOPT_USE_SSL, use_tls);
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, server_.verify ? 1L : 0L);
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, server_.verify ? 2L : 0L);
    if (!server_.ca_file.empty()) curl_easy_setopt(easy_, CURLOPT_CAINFO, server_.ca_file.c_str());
    if (credentials_ != nullptr) {
        curl_easy_setopt(easy_, CURLOPT_USERNAME, credentials_->username.c_str());
        curl_easy_setopt(easy_, CURLOPT_PASSWORD, credentials_->password.reveal().c_str());
    }
    curl_easy_setopt(easy_, CURLOPT_MAIL_FROM, fmt::format("<{}>", mail_.from).c_str());
    for (const std::string& one : mail_.to) {
        recipients_ = curl_slist_append(recipients_, fmt::format("<{}>", one).c_str());
    }
    curl_easy_setopt(easy_, CURLOPT_MAIL_RCPT, recipients_);
    curl_easy_setopt(easy_, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
    curl_easy_setopt(easy_, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy_, CURLOPT_READFUNCTION, &SmtpCallbacks::on_read);
    curl_easy_setopt(easy_, CURLOPT_READDATA, this);
    curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &SmtpCallbacks::on_answer);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &SmtpCallbacks::on_answer);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
}

AttemptOutcome SmtpTransfer::outcome(int code) const {
    const std::string where = fmt::format("{}:{}", server_.host, server_.port);
    const auto words = [&](std::string text) {
        return redacted(std::move(text), credentials_.get());
    };
    if (code == CURLE_OK) {
        AttemptOutcome delivered{.result = AttemptResult::kDelivered, .code = {}, .message = {}};
        if (!refusals_.empty()) {
            delivered.code = "smtp.some_refused";
            delivered.message = words(
                fmt::format("{} refused some recipients: {}", where,
                            base::quoted(fmt::format("{}", fmt::join(refusals_, "; ")), 400)));
        }
        return delivered;
    }
    if (!denied_.empty())
        return {.result = AttemptResult::kTransient, .code = "egress.denied", .message = denied_};
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 400 && status < 600) {
        return {.result = status >= 500 ? AttemptResult::kPermanent : AttemptResult::kTransient,
                .code = code == CURLE_LOGIN_DENIED ? "smtp.auth" : "smtp.refused",
                .message = words(fmt::format(
                    "{} refused the mail: {}", where,
                    base::quoted(refusals_.empty() ? last_answer_ : refusals_.back(), 300)))};
    }
    if (code == CURLE_USE_SSL_FAILED) {
        return {.result = AttemptResult::kTransient,
                .code = "smtp.no_tls",
                .message = fmt::format(
                    "{} offers no STARTTLS; without it no password is sent. Set the parameter "
                    "tls to none only if you trust the network",
                    where)};
    }
    if (code == CURLE_LOGIN_DENIED) {
        return {.result = AttemptResult::kPermanent,
                .code = "smtp.auth",
                .message = fmt::format("{} takes none of our ways to log in", where)};
    }
    // Whose clock is first, ours or curl's, makes no difference to people.
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return {.result = AttemptResult::kTransient,
                .code = "smtp.timeout",
                .message = fmt::format("{} did not take the mail in time", where)};
    }
    return {.result = AttemptResult::kTransient,
            .code = "smtp.failed",
            .message = words(
                fmt::format("{}: {}", where, curl_easy_strerror(static_cast<CURLcode>(code))))};
}

}  // namespace pollux::feed
