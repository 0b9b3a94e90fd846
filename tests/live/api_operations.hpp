// The operations of an API as its OpenAPI document lists them: what tables of tests go through.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "document/node.hpp"

namespace pollux::live {

struct ApiOperation {
    std::string id;
    std::string method;      // "GET"
    std::string path;        // "/api/targets/{key}"
    std::string permission;  // read, operate, manage, audit, self; open: no login needed
    std::string area;
    std::string rate;
    bool everywhere = false;  // only for those who may do it to everything
    bool takes_if_match = false;
    bool needs_if_match = false;
    bool takes_json = false;
    std::size_t body_limit = 0;
    int status = 0;  // of a success
    document::Node request_schema;
    document::Node request_example;
    document::Node response_schema;
    document::Node response_example;
    std::vector<std::string> required_query;  // "from=1"

    bool open() const { return permission == "open"; }
    bool safe() const { return method == "GET"; }
    bool has_parameter() const { return path.find('{') != std::string::npos; }
    std::string name() const { return method + " " + path; }
    // The path with `key` for {key}, `name` for {name} and both for any other parameter, and with
    // the query parameters that are needed.
    std::string target(const std::string& key, const std::string& name) const;
};

std::vector<ApiOperation> api_operations(const document::Node& openapi);

// Whether keys that a schema does not tell of are a mistake: in our answers they are.
enum class Unknown : std::uint8_t { kTaken, kRefused };

// What is wrong with a value by a JSON schema, as far as ours use it; empty: nothing.
std::vector<std::string> schema_mistakes(const document::Node& schema, const document::Node& value,
                                         Unknown unknown = Unknown::kTaken,
                                         const std::string& place = "");

// Which lists of answers had something in them, so that their items were compared with the schema.
class ItemsSeen {
  public:
    void note(const std::string& name, const document::Node& schema, const document::Node& value);
    std::vector<std::string> filled() const;  // those that had something

  private:
    std::map<std::string, bool> seen_;  // "listJobs.items": whether
};

}  // namespace pollux::live
