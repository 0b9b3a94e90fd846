// What is said in the clear before TLS begins: the STARTTLS of mail, FTP, LDAP and PostgreSQL.
// Knows no socket: text in, text out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/ask.hpp"

namespace pollux::protocol::tls {

class StartTlsTalk {
  public:
    explicit StartTlsTalk(model::StartTls kind);

    // What is to be sent now; empty: listen.
    std::string take_output() { return std::move(output_); }
    bool done() const { return done_; }

    // More from the server. The error says what it answered instead.
    base::Status hear(std::string_view bytes);

  private:
    base::Status hear_lines();
    base::Status hear_ldap();
    base::Status refuse(std::string_view said) const;

    model::StartTls kind_;
    std::string output_;
    std::string input_;
    int step_ = 0;
    bool done_ = false;
};

}  // namespace pollux::protocol::tls
