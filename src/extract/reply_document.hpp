// A reply that is no JSON, written as JSON, so that paths and rows read it like any other tree:
//
//     a plugin  {"state": 0, "text": "PING OK", "long_text": "",
//                "values": [{"label": "rta", "value": 0.8, "unit": "ms", "base_value": 0.0008,
//                            "base_unit": "seconds", "warning": "100", "critical": "500",
//                            "min": 0, "max": null}]}
//     dns       {"status": "NOERROR", "answers": [{"name", "type", "ttl", "data"}], ...}
//     tls       {"certificates": [{"subject", "issuer", "sha256", "days"}], "names": [...], ...}
//
// Private to this folder.
#pragma once

#include <string>

#include "base/time.hpp"
#include "model/reply.hpp"

namespace pollux::extract {

std::string plugin_document(const model::CommandReply& reply);
std::string reply_document(const model::Reply& reply, base::WallTime now);

}  // namespace pollux::extract
