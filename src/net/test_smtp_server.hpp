// A real mail server for tests: aiosmtpd (Debian's python3-aiosmtpd) with STARTTLS, TLS from the
// beginning, and AUTH. What it takes is one line of JSON each in a file:
// {"from", "to", "data", "tls", "user"}.
//
// Recipients whose address begins with "refused" are answered with 550, with "later" with 451.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/test_nginx.hpp"
#include "net/test_process.hpp"

namespace pollux::net::test {

struct SmtpServerOptions {
    bool starttls = true;
    bool implicit_tls = false;
    std::string user = {};  // empty: nobody has to log in
    std::string password = {};
    int fail_first = 0;  // so many mails are answered with 451 before one is taken
};

class SmtpServer {
  public:
    SmtpServer(const TempDir& folder, SmtpServerOptions options)
        : folder_(folder),
          port_(free_port()),
          certificate_(make_self_signed(folder, "smtp", 30)),
          process_({"/usr/bin/python3", folder.write("smtp_server.py", kProgram),
                    std::to_string(port_), certificate_.certificate, certificate_.key,
                    folder.file("mails"), options.starttls ? "starttls" : "plain",
                    options.implicit_tls ? "implicit" : "explicit", options.user, options.password,
                    std::to_string(options.fail_first)},
                   folder) {
        const bool up = process_.wait_for_tcp("127.0.0.1", port_);
        if (!up) std::fprintf(stderr, "%s\n", process_.output().c_str());
        POLLUX_CHECK_MSG(up, "the mail server of the test did not start");
    }

    std::uint16_t port() const { return port_; }
    const std::string& certificate() const { return certificate_.certificate; }
    Process& process() { return process_; }

    // One line of JSON for each mail it took.
    std::vector<std::string> mails() const {
        std::vector<std::string> out;
        const std::string text = folder_.read("mails");
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            if (end == std::string::npos) break;  // not whole yet
            out.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return out;
    }

  private:
    static constexpr std::string_view kProgram = R"(
import asyncio, json, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

port, certificate, key, mails, starttls, implicit, user, password, failing = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
failing = int(failing)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused"):
            return "550 5.1.1 no such user"
        if address.startswith("later"):
            return "451 4.3.0 come back later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        global failing
        if failing > 0:
            failing -= 1
            return "451 4.3.2 not now"
        mail = {"from": envelope.mail_from, "to": envelope.rcpt_tos, "data": envelope.content.decode(),
                "tls": session.ssl is not None or implicit == "implicit",
                "user": session.auth_data.decode() if session.auth_data else ""}
        with open(mails, "a", encoding="utf-8") as out:
            out.write(json.dumps(mail) + "\n")
        return "250 2.0.0 taken"


def check(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.login == user.encode() and data.password == password.encode()
    return AuthResult(success=good, handled=False, auth_data=data.login if good else None)


def protocol():
    return SMTP(Handler(), tls_context=context if starttls == "starttls" else None, hostname="mail.test",
                authenticator=check if user else None, auth_required=bool(user),
                auth_require_tls=starttls == "starttls")


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", int(port),
                                      ssl=context if implicit == "implicit" else None)
    async with server:
        await server.serve_forever()

asyncio.run(main())
)";

    const TempDir& folder_;
    std::uint16_t port_;
    TestCertificate certificate_;
    Process process_;
};

}  // namespace pollux::net::test
