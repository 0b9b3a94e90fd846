// Messages of the DNS (RFC 1035, 6891, 3597): a question in, an answer out. Reads anything without
// a crash or a loop; what is malformed is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/reply.hpp"

namespace pollux::protocol::dns {

// "A", "aaaa", "TYPE257"; nothing: no type.
std::optional<std::uint16_t> type_number(std::string_view name);
std::string type_name(std::uint16_t number);  // "TYPE65280" for those without a name

struct Question {
    std::uint16_t id = 0;
    std::string name;  // with or without the dot at the end; \. and \DDD as in zone files
    std::uint16_t type = 1;
    bool recursion = true;
    bool edns = true;  // says that we take 1232 bytes over UDP
};

// Error dns.bad_name.
base::Result<std::string> encode(const Question& question);

struct Message {
    std::uint16_t id = 0;
    bool is_response = false;
    bool authoritative = false;
    bool truncated = false;
    std::uint16_t code = 0;  // with the upper bits of EDNS
    std::string question;    // lower case, with the dot at the end; empty: none
    std::uint16_t question_type = 0;
    std::vector<model::DnsRecord> answers;
};

// Error dns.malformed.
base::Result<Message> decode(std::string_view bytes);

std::string code_name(std::uint16_t code);  // "NXDOMAIN"

// Lower case, with the dot at the end: how names are compared.
std::string canonical(std::string_view name);

}  // namespace pollux::protocol::dns
