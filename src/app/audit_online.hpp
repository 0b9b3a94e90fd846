// `pollux audit` of a running server, through the API. The same arguments as for a data folder.
#pragma once

#include <cstdint>
#include <string>

#include "app/api_client.hpp"

namespace pollux::app {

struct AuditArguments {
    ApiOptions connection;
    std::string data = "data";
    std::string checkpoints;
    std::string principal;
    std::string action;
    std::string object;
    std::string result;
    std::string from;
    std::string to;
    std::uint64_t before = INT64_MAX;
    std::size_t limit = 50;
    std::string output = "table";
    std::string format = "jsonl";
};

int list_audit_online(const AuditArguments& arguments);
int export_audit_online(const AuditArguments& arguments);
int verify_audit_online(const AuditArguments& arguments);

}  // namespace pollux::app
