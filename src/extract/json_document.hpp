// A JSON body, parsed into one arena that goes away with it. The tree is Boost.JSON's; only this
// folder looks inside. Single-threaded.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"

namespace boost::json {
class value;
}

namespace pollux::extract {

using JsonNode = boost::json::value;

struct JsonLimits {
    std::size_t max_depth = 64;
    std::size_t max_memory = 32U << 20U;  // of the tree, not of the text
};

class JsonDocument {
  public:
    // Error json.invalid: not JSON, with where and what was seen; json.too_large: past the limits.
    static base::Result<JsonDocument> parse(std::string_view text, const JsonLimits& limits = {});

    JsonDocument(JsonDocument&&) noexcept;
    JsonDocument& operator=(JsonDocument&&) noexcept;
    ~JsonDocument();

    const JsonNode& root() const;

  private:
    struct Impl;
    explicit JsonDocument(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// A scalar as a value; null is monostate. False: an object or array.
bool to_value(const JsonNode& node, model::Value& out);

// Short text of any node, for traces and messages: at most about `max` characters.
std::string preview(const JsonNode& node, std::size_t max = 60);

}  // namespace pollux::extract
