#include "feed/email_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/check.hpp"
#include "base/text.hpp"
#include "document/parse.hpp"
#include "feed/channel_definition.hpp"
#include "feed/escape.hpp"

namespace pollux::feed {
namespace {

constexpr std::string_view kSubject =
    R"({% if kind == "recovery" or incident.resolved_at %}[RECOVERED]{% elif kind == "test" %}[TEST]{% else %}[{{ incident.severity | upper }}]{% endif %} {{ incident.title | truncate:180 }})";

constexpr std::string_view kText = R"({% if kind == "recovery" or incident.resolved_at %}
Recovered: {{ incident.title }}
{% else %}
{{ incident.severity | upper }}: {{ incident.title }}
{% endif %}

{% for alert in alerts %}
{{ alert.device }}: {{ alert.title }}
  {{ alert.message }}
  state {{ alert.state }}, severity {{ alert.severity }}, since {{ alert.first_seen | date }}{% if alert.resolved_at %}, until {{ alert.resolved_at | date }}{% endif %}

{% endfor %}
{% if more %}
... and {{ more }} more.
{% endif %}
{% if incident.affected %}
{{ incident.affected }} further alerts have the same cause.
{% endif %}
{% if provisional %}
This was sent while nothing could be stored: it may come again.
{% endif %}
{% if incident.url %}
{{ incident.url }}
{% endif %}
--
Pollux, receiver {{ receiver }}{% if route %}, route {{ route }}{% endif %}

)";

constexpr std::string_view kHtml = R"(<!doctype html>
<html><body style="font-family:sans-serif;color:#222">
<h2 style="color:{% if kind == "recovery" or incident.resolved_at %}#2b8a3e{% else %}{{ incident.severity | map:"critical=#c92a2a,major=#d9480f,minor=#e67700,warning=#e67700,*=#495057" }}{% endif %}">{% if kind == "recovery" or incident.resolved_at %}Recovered{% else %}{{ incident.severity | upper }}{% endif %}: {{ incident.title }}</h2>
<table cellpadding="6" style="border-collapse:collapse">
{% for alert in alerts %}
<tr style="border-top:1px solid #ddd;vertical-align:top"><td><b>{{ alert.device }}</b></td>
<td><b>{{ alert.title }}</b><br><span style="white-space:pre-wrap">{{ alert.message | lines }}</span><br>
<small>{{ alert.state }}, {{ alert.severity }}, since {{ alert.first_seen | date }}{% if alert.resolved_at %}, until {{ alert.resolved_at | date }}{% endif %}</small></td></tr>
{% endfor %}
</table>
{% if more %}
<p>… and {{ more }} more.</p>
{% endif %}
{% if incident.affected %}
<p>{{ incident.affected }} further alerts have the same cause.</p>
{% endif %}
{% if provisional %}
<p>This was sent while nothing could be stored: it may come again.</p>
{% endif %}
{% if incident.url %}
<p><a href="{{ incident.url }}">{{ incident.url }}</a></p>
{% endif %}
<p><small>Pollux, receiver {{ receiver }}{% if route %}, route {{ route }}{% endif %}</small></p>
</body></html>
)";

Template compiled(std::string_view text, Format format) {
    auto made = Template::compile(text, format, template_names());
    POLLUX_CHECK_MSG(made.has_value(), "a template of the mail is wrong");
    return std::move(*made);
}

struct MailTemplates {
    Template subject = compiled(kSubject, Format::kHeader);
    Template text = compiled(kText, Format::kText);
    Template html = compiled(kHtml, Format::kHtml);
};

const MailTemplates& templates() {
    static const MailTemplates all;
    return all;
}

std::string mail_date(base::WallTime time) {
    using namespace std::chrono;
    constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const sys_seconds moment{floor<seconds>(microseconds(time.us))};
    const sys_days day = floor<days>(moment);
    const year_month_day date(day);
    const hh_mm_ss clock(moment - day);
    return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} +0000",
                       kDays[weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                       kMonths[static_cast<unsigned>(date.month()) - 1],
                       static_cast<int>(date.year()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count());
}

// Lines of 76 characters, as mail wants them.
void append_part(std::string& out, std::string_view boundary, std::string_view type,
                 const std::string& content) {
    out += fmt::format(
        "--{}\r\nContent-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n",
        boundary, type);
    const std::string encoded = base64(content);
    for (std::size_t at = 0; at < encoded.size(); at += 76) {
        out.append(encoded, at, 76);
        out += "\r\n";
    }
}

std::string shown(const MailAddress& address) {
    if (address.name.empty()) return "<" + address.address + ">";
    std::string name = encode_mail_header(address.name);
    if (name == address.name) {
        // A name that needs no encoding is quoted: it may hold a comma.
        std::erase_if(name, [](char c) { return c == '"' || c == '\\'; });
        name = "\"" + name + "\"";
    }
    return name + " <" + address.address + ">";
}

std::unexpected<base::Error> bad_address(std::string_view what, std::string_view text) {
    return base::config_error("feed.bad_address",
                              fmt::format("{} {} is no address of mail; write name@example.org or "
                                          "Name <name@example.org>, in ASCII",
                                          what, base::quoted(text)));
}

std::string header_of(const model::Notification& notification, const MailAddress& from,
                      const std::vector<MailAddress>& to, std::string_view subject,
                      std::string_view boundary) {
    const std::string domain = from.address.substr(from.address.find('@') + 1);
    std::string recipients;
    for (const MailAddress& one : to)
        recipients += (recipients.empty() ? "" : ",\r\n ") + shown(one);
    std::string out;
    out += "From: " + shown(from) + "\r\n";
    out += "To: " + recipients + "\r\n";
    out += "Subject: " + encode_mail_header(subject) + "\r\n";
    out += "Date: " + mail_date(notification.made) + "\r\n";
    out += fmt::format("Message-ID: <{}@{}>\r\n", notification.id, domain);
    if (!notification.incident.empty()) {
        const std::string root = fmt::format("<incident.{}@{}>", notification.incident, domain);
        out += "In-Reply-To: " + root + "\r\nReferences: " + root + "\r\n";
    }
    out += "Auto-Submitted: auto-generated\r\nX-Pollux-Delivery: " + notification.id + "\r\n";
    out += fmt::format(
        "MIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=\"{}\"\r\n\r\n",
        boundary);
    return out;
}

// Ids are ours, but what goes into a header is looked at.
bool is_plain_id(std::string_view id) {
    return std::ranges::all_of(id, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '-';
    });
}

}  // namespace

std::optional<MailAddress> parse_mail_address(std::string_view text) {
    MailAddress out;
    std::string_view address = text;
    const std::size_t open = text.find('<');
    if (open != std::string_view::npos) {
        if (!text.ends_with('>')) return std::nullopt;
        address = text.substr(open + 1, text.size() - open - 2);
        std::string_view name = text.substr(0, open);
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (base::has_control(name) || !base::is_valid_utf8(name)) return std::nullopt;
        out.name = name;
    }
    const std::size_t at = address.find('@');
    const bool good =
        at != std::string_view::npos && at > 0 && at + 1 < address.size() &&
        address.size() <= 254 && address.find('@', at + 1) == std::string_view::npos &&
        std::ranges::all_of(address, [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte > 0x20U && byte < 0x7FU &&
                   std::string_view("<>()[],;:\\\"").find(c) == std::string_view::npos;
        });
    if (!good) return std::nullopt;
    out.address = address;
    return out;
}

base::Result<Mail> make_mail(const model::Notification& notification, std::string_view from,
                             const std::vector<std::string>& to) {
    const auto sender = parse_mail_address(from);
    if (!sender) return bad_address("the sender", from);
    if (to.empty() || to.size() > kMostRecipients) {
        return base::config_error(
            "feed.bad_address",
            fmt::format("a mail has 1 to {} recipients, this one {}", kMostRecipients, to.size()));
    }
    std::vector<MailAddress> recipients;
    for (const std::string& one : to) {
        auto parsed = parse_mail_address(one);
        if (!parsed) return bad_address("the recipient", one);
        recipients.push_back(std::move(*parsed));
    }
    if (!is_plain_id(notification.id) || !is_plain_id(notification.incident)) {
        return base::internal_error("feed.bad_body",
                                    "the id of the notification or incident is no id");
    }
    document::Diagnostics diagnostics;
    const document::Parsed body =
        document::parse_json(notification.body, "notification", diagnostics);
    if (!body.ok) return std::unexpected(diagnostics.as_error("feed.bad_body"));
    TemplateNames names;
    for (const auto& [key, mark, value] : body.root.entries()) names.emplace_back(key, &value);
    auto subject = templates().subject.render(names);
    auto text = templates().text.render(names);
    auto html = templates().html.render(names);
    for (const auto* part : {&subject, &text, &html}) {
        if (!*part) return std::unexpected(part->error());
    }
    const std::string boundary = "pollux-" + notification.id;
    Mail mail{.from = sender->address, .to = {}, .message = {}};
    for (const MailAddress& one : recipients) mail.to.push_back(one.address);
    mail.message = header_of(notification, *sender, recipients, *subject, boundary);
    append_part(mail.message, boundary, "text/plain", *text);
    append_part(mail.message, boundary, "text/html", *html);
    mail.message += "--" + boundary + "--\r\n";
    return mail;
}

}  // namespace pollux::feed
