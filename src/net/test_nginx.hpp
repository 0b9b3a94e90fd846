// A real nginx for tests, and the certificates it shows.
#pragma once

#include <string>
#include <utility>

#include "net/test_process.hpp"

namespace pollux::net::test {

// A certificate and its key in a folder, made with openssl: <name>.pem and <name>.key.
struct TestCertificate {
    std::string certificate;
    std::string key;
};

// Self-signed, for localhost, 127.0.0.1 and ::1; valid for so many days from now.
inline TestCertificate make_self_signed(const TempDir& folder, const std::string& name, int days) {
    const TestCertificate made{folder.file(name + ".pem"), folder.file(name + ".key")};
    run_tool({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
              "-nodes", "-subj", "/CN=" + name, "-addext",
              "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1", "-days", std::to_string(days),
              "-keyout", made.key, "-out", made.certificate},
             folder);
    return made;
}

// Signed by `authority`, whose certificate and key are in the folder; dates as openssl ca takes
// them, such as 20200101000000Z.
inline TestCertificate make_signed(const TempDir& folder, const std::string& name,
                                   const TestCertificate& authority, const std::string& from,
                                   const std::string& until, const std::string& alternatives) {
    const TestCertificate made{folder.file(name + ".pem"), folder.file(name + ".key")};
    const std::string request = folder.file(name + ".csr");
    const std::string base = name + ".ca/";
    folder.write(base + "index", "");
    folder.write(base + "serial", "1000\n");
    const std::string configuration = folder.write(
        base + "openssl.cnf",
        "[ca]\ndefault_ca=own\n[own]\ndatabase=" + folder.file(base + "index") +
            "\nserial=" + folder.file(base + "serial") + "\nnew_certs_dir=" + folder.file(base) +
            "\ndefault_md=sha256\npolicy=any\nx509_extensions=leaf\n[any]\ncommonName=supplied\n"
            "[leaf]\nsubjectAltName=" +
            alternatives + "\nbasicConstraints=CA:FALSE\n");
    run_tool({"openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
              "-nodes", "-subj", "/CN=" + name, "-keyout", made.key, "-out", request},
             folder);
    run_tool({"openssl", "ca", "-batch", "-config", configuration, "-cert", authority.certificate,
              "-keyfile", authority.key, "-in", request, "-out", made.certificate, "-startdate",
              from, "-enddate", until, "-notext"},
             folder);
    return made;
}

// The SHA-256 of a certificate as openssl prints it: "AB:CD:…".
inline std::string fingerprint_of(const TempDir& folder, const TestCertificate& certificate) {
    const std::string line = run_tool(
        {"openssl", "x509", "-in", certificate.certificate, "-noout", "-fingerprint", "-sha256"},
        folder);
    const auto equals = line.find('=');
    return line.substr(equals + 1, line.find('\n') - equals - 1);
}

// nginx with the given server blocks, in the foreground, all its files in the folder.
class Nginx {
  public:
    // `port` is one of those that the servers listen on: the one that is waited for.
    Nginx(const TempDir& folder, const std::string& servers, std::uint16_t port)
        : process_({"/usr/sbin/nginx", "-p", folder.path(), "-c",
                    folder.write("nginx.conf", configuration(folder, servers))},
                   folder) {
        // It opens its sockets one by one, and writes its pid when all of them are open.
        const bool up = process_.wait_for_tcp("127.0.0.1", port) &&
                        Process::wait_until(kPatience, [&] { return !folder.read("pid").empty(); });
        if (!up) std::fprintf(stderr, "%s\n", process_.output().c_str());
        POLLUX_CHECK_MSG(up, "nginx did not start");
    }

    Process& process() { return process_; }

  private:
    static std::string configuration(const TempDir& folder, const std::string& servers) {
        std::string temporary;
        for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
            temporary += std::string(kind) + "_temp_path " + folder.file(kind) + ";\n";
        }
        return "daemon off;\nmaster_process off;\nworker_processes 1;\npid " + folder.file("pid") +
               ";\nerror_log stderr warn;\nevents { worker_connections 1024; }\nhttp {\n"
               "access_log " +
               folder.file("access.log") +
               ";\nkeepalive_requests 100000;\n"
               "default_type text/plain;\n" +
               temporary + servers + "}\n";
    }

    Process process_;
};

}  // namespace pollux::net::test
