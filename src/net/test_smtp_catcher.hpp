// A real SMTP server for tests: Python's aiosmtpd with STARTTLS, TLS from the start, and AUTH, on
// free loopback ports. It keeps every message that it took, and refuses when it is told to.
#pragma once

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "net/test_nginx.hpp"
#include "net/test_process.hpp"

namespace pollux::net::test {

inline constexpr std::string_view kSmtpCatcherScript = R"python(
import asyncio, os, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult

box, certificate, key, port, tls_port, need_tls = sys.argv[1:]
user = os.environ.get('SMTP_USER', '')
password = os.environ.get('SMTP_PASSWORD', '')
count = 0

def authenticate(server, session, envelope, mechanism, data):
    known = data.login.decode() == user and data.password.decode() == password
    return AuthResult(success=known, handled=known, auth_data=data.login.decode())

# The oldest of the answers that the test has put there; each is used once.
def told():
    waiting = sorted(os.listdir(box + '/answers'))
    if not waiting:
        return None
    path = box + '/answers/' + waiting[0]
    with open(path) as file:
        answer = file.read()
    os.remove(path)
    return answer

class Handler:
    async def handle_DATA(self, server, session, envelope):
        global count
        answer = told()
        if answer:
            return answer
        tls = session.ssl is not None or server.transport.get_extra_info('sslcontext') is not None
        count += 1
        name = '%s/mails/%06d' % (box, count)
        with open(name + '.part', 'wb') as file:
            lines = ['from ' + envelope.mail_from, 'user ' + (session.auth_data or ''),
                     'tls ' + ('1' if tls else '0')] + ['to ' + one for one in envelope.rcpt_tos]
            file.write('\n'.join(lines).encode() + b'\n\n' + envelope.content)
        os.rename(name + '.part', name)
        return '250 2.0.0 taken'

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)

def session(implicit):
    return SMTP(Handler(), hostname='localhost', enable_SMTPUTF8=True,
                tls_context=None if implicit else context,
                require_starttls=need_tls == '1' and not implicit,
                authenticator=authenticate, auth_required=user != '',
                auth_require_tls=need_tls == '1' and not implicit)

async def serve():
    loop = asyncio.get_running_loop()
    await loop.create_server(lambda: session(False), '127.0.0.1', int(port))
    await loop.create_server(lambda: session(True), '127.0.0.1', int(tls_port), ssl=context)
    await asyncio.Event().wait()

asyncio.run(serve())
)python";

struct SmtpOptions {
    bool need_tls = true;   // nothing but STARTTLS is taken on the plain port
    std::string user = {};  // empty: nobody has to log in
    std::string password = {};
};

class SmtpCatcher {
  public:
    struct Mail {
        std::string from;
        std::vector<std::string> to;
        std::string user;  // who logged in
        bool tls = false;
        std::string text;  // as it came, with its header
    };

    explicit SmtpCatcher(const SmtpOptions& options = {})
        : certificate_(make_self_signed(folder_, "smtp", 10)) {
        folder_.write("box/mails/.keep", "");
        std::filesystem::create_directories(folder_.file("box/answers"));
        // Debian's own: its packages are not those of another python3 in the path.
        process_.emplace(
            std::vector<std::string>{
                "/usr/bin/python3", folder_.write("smtp.py", kSmtpCatcherScript),
                folder_.file("box"), certificate_.certificate, certificate_.key,
                std::to_string(port_), std::to_string(tls_port_), options.need_tls ? "1" : "0"},
            folder_,
            std::vector<std::pair<std::string, std::string>>{{"SMTP_USER", options.user},
                                                             {"SMTP_PASSWORD", options.password}});
        const bool up = process_->wait_for_tcp("127.0.0.1", port_) &&
                        process_->wait_for_tcp("127.0.0.1", tls_port_);
        if (!up) std::fprintf(stderr, "%s\n", process_->output().c_str());
        POLLUX_CHECK_MSG(up, "the SMTP server did not start");
    }

    std::uint16_t port() const { return port_; }          // plain, with STARTTLS
    std::uint16_t tls_port() const { return tls_port_; }  // TLS from the start
    const std::string& certificate() const { return certificate_.certificate; }
    Process& process() { return *process_; }

    // Answers to the next messages, such as "451 4.3.0 try later"; then they are taken again.
    void script(const std::vector<std::string>& answers) {
        for (const std::string& answer : answers) {
            char name[16];
            std::snprintf(name, sizeof name, "%06d", scripted_++);
            const std::string made = folder_.write("box/new", answer);
            std::filesystem::rename(made, folder_.file("box/answers/" + std::string(name)));
        }
    }

    // Everything that was taken, in order.
    std::vector<Mail> mails() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.file("box/mails"))) {
            const std::string name = entry.path().filename().string();
            if (name.find('.') == std::string::npos) names.push_back(name);
        }
        std::ranges::sort(names);
        std::vector<Mail> all;
        for (const std::string& name : names) all.push_back(read("box/mails/" + name));
        return all;
    }
    // Whether so many were taken in time.
    bool wait_for(std::size_t count, std::chrono::milliseconds patience = kPatience) const {
        return Process::wait_until(patience, [&] { return mails().size() >= count; });
    }

  private:
    Mail read(const std::string& name) const {
        const std::string content = folder_.read(name);
        const std::size_t end = content.find("\n\n");
        Mail mail;
        mail.text = content.substr(end + 2);
        std::istringstream lines(content.substr(0, end));
        for (std::string line; std::getline(lines, line);) {
            const std::size_t blank = line.find(' ');
            const std::string word = line.substr(0, blank);
            const std::string value = line.substr(blank + 1);
            if (word == "from") mail.from = value;
            if (word == "to") mail.to.push_back(value);
            if (word == "user") mail.user = value;
            if (word == "tls") mail.tls = value == "1";
        }
        return mail;
    }

    TempDir folder_;
    TestCertificate certificate_;
    std::uint16_t port_ = free_port();
    std::uint16_t tls_port_ = free_port();
    int scripted_ = 0;
    std::optional<Process> process_;
};

}  // namespace pollux::net::test
