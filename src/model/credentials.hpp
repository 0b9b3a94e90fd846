// What proves to a device who we are, ready for use. Lives in memory only; at rest it is sealed.
#pragma once

#include <string>

#include "base/secret.hpp"

namespace pollux::model {

struct Credentials {
    std::string username;
    base::Secret password;
    base::Secret token;              // bearer token, or the value of an API-key header
    base::Secret community;          // SNMP v1 and v2c; empty: "public"
    std::string client_certificate;  // path of a PEM file
    std::string client_key;          // path of a PEM file
    base::Secret client_key_password;
    bool operator==(const Credentials&) const = default;
};

}  // namespace pollux::model
