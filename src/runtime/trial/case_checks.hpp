// Captured replies of commands, queries and checks in the cases of addons, and how a case writes
// what must be asked.
#pragma once

#include <string>

#include "base/time.hpp"
#include "document/diagnostic.hpp"
#include "document/node.hpp"
#include "model/ask.hpp"
#include "model/reply.hpp"
#include "runtime/trial/case_files.hpp"

namespace pollux::runtime {

inline constexpr std::string_view kCheckReplies[] = {"command", "tcp", "tls", "icmp", "dns"};

// Reads the one of kCheckReplies that `step` has; false: it has none.
bool read_check_reply(const document::Node& step, const std::string& path, const CaseFiles& files,
                      base::WallTime now, document::Diagnostics& out, model::Reply& reply);

// {subject, issuer, sha256, days, age_days}: it ends in so many days, and began so many ago.
model::CertificateFacts read_certificate(const document::Node& node, const std::string& path,
                                         base::WallTime now, document::Diagnostics& out);

// "https://…", "ssh://host:22 uptime", "exec check_ping -H 192.0.2.1", "dns://host:53 A example."
std::string describe_ask(const model::Ask& ask);

}  // namespace pollux::runtime
