// What is wrong with a document, told so that its writer can mend it: place, field, what is wrong
// and what would be right. Readers go on after a mistake and collect all of them, up to a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "document/node.hpp"

namespace pollux::document {

enum class Severity : std::uint8_t { kWarning, kError };

struct Diagnostic {
    Severity severity = Severity::kError;
    std::string file;
    std::uint32_t line = 0;  // from 1; 0: no place in a file
    std::uint32_t column = 0;
    std::string field;    // "metrics[2].path"; empty: the document
    std::string message;  // what is wrong; what would be right
    bool operator==(const Diagnostic&) const = default;
};

// "file:line: field: message"; a warning says so in front of its message.
std::string to_string(const Diagnostic& diagnostic);

class Diagnostics {
  public:
    static constexpr std::size_t kDefaultLimit = 50;

    explicit Diagnostics(std::size_t limit = kDefaultLimit) : limit_(limit) {}

    void add(Diagnostic diagnostic);
    void error(const Mark& mark, std::string field, std::string message);
    void warning(const Mark& mark, std::string field, std::string message);

    bool ok() const { return errors_ == 0; }
    std::size_t errors() const { return errors_; }  // past the bound too
    std::size_t warnings() const { return warnings_; }
    const std::vector<Diagnostic>& items() const { return items_; }

    // In order of file, line and column. The order of finding otherwise.
    void sort();

    // One per line, and how many more there were.
    std::string text() const;

    // The first error with the number of further ones, as a value to hand up.
    base::Error as_error(std::string code) const;

  private:
    std::vector<Diagnostic> items_;
    std::size_t limit_;
    std::size_t errors_ = 0;
    std::size_t warnings_ = 0;
};

}  // namespace pollux::document
