// One line of a file of OpenSSH's form known_hosts: what it says, and which hosts it means.
//
//     db1,192.0.2.1 ssh-ed25519 AAAA…     names; *, ? and !name as ssh takes them
//     |1|salt|hash ssh-rsa AAAA…          a name as HMAC-SHA1, so that the file tells no names
//     @revoked * ssh-rsa AAAA…            a key that nobody may show
//     @cert-authority *.lab ssh-rsa AAAA… a key that signs others: not used here
//
// Pure functions; nothing here reads files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pollux::protocol::ssh {

struct KnownHost {
    enum class Mark : std::uint8_t { kNone, kRevoked, kAuthority };
    Mark mark = Mark::kNone;
    std::string names;  // as they stand in the line
    std::string type;   // "ssh-ed25519"
    std::string key;    // base64
};

// Nothing for comments, empty lines, and what is none of the above.
std::optional<KnownHost> parse_known_host(std::string_view line);

// In small letters: names of hosts know no others.
std::string small_letters(std::string_view text);

// The names of a line one by one; none if it has a hash or patterns, which match() is for.
std::vector<std::string> plain_names(std::string_view names);

// Whether the line means the host ("db1" or "[db1]:2222", in small letters).
bool match(std::string_view names, std::string_view host);

// Whether this is a whole public key in base64, of whatever type.
bool is_whole_key(std::string_view base64);

}  // namespace pollux::protocol::ssh
