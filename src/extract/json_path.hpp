// JSONPath, a subset of RFC 9535: $, .name, ['name'], [n] (negative from the end), [*], .*,
// ..name, ..*, ..[...], slices [a:b:c], unions [0,2,'x'], and filters [?@.a == 'x' && @.b > 3]
// with comparisons, existence, &&, ||, ! and parentheses. No function extensions.
//
// Compiled once and immutable; may be used by several threads at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "extract/budget.hpp"
#include "extract/json_document.hpp"

namespace pollux::extract {

struct PathProgram;

class JsonPath {
  public:
    // Error json_path.invalid: what is wrong, at which character, what would be right. A path may
    // begin with @ instead of $: it is then relative to a row.
    static base::Result<JsonPath> compile(std::string_view text);

    // The nodes found, in the order of the document. Every node visited is paid from the budget;
    // false when it ran out, with what was found until then.
    bool select(const JsonNode& root, std::vector<const JsonNode*>& out, Budget& budget) const;

    // The only node a path of names and indices can find, without any allocation; null: nothing
    // there. For other paths the first node.
    const JsonNode* first(const JsonNode& root, Budget& budget) const;

    // Whether at most one node can be found.
    bool is_singular() const;

    const std::string& text() const { return text_; }

  private:
    JsonPath(std::string text, std::shared_ptr<const PathProgram> program)
        : text_(std::move(text)), program_(std::move(program)) {}

    std::string text_;
    std::shared_ptr<const PathProgram> program_;
};

}  // namespace pollux::extract
