// Users, tokens and sessions as the API shows them: never a hash.
#pragma once

#include <string>

#include "access/principal.hpp"
#include "api/account_records.hpp"
#include "document/json_writer.hpp"

namespace pollux::api {

void write_grants(document::JsonWriter& json, const std::vector<access::Grant>& grants);
void write_user(document::JsonWriter& json, const User& user);
void write_token(document::JsonWriter& json, const Token& token, base::WallTime now);
void write_session(document::JsonWriter& json, const Session& session, base::WallTime ends,
                   bool current);
void write_principal(document::JsonWriter& json, const access::Principal& principal);

std::string user_page(const User& user);

}  // namespace pollux::api
