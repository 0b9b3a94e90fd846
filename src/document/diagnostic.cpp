#include "document/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace pollux::document {

std::string to_string(const Diagnostic& diagnostic) {
    std::string out = diagnostic.file;
    if (diagnostic.line > 0) out += fmt::format(":{}", diagnostic.line);
    if (!out.empty()) out += ": ";
    if (!diagnostic.field.empty()) out += diagnostic.field + ": ";
    if (diagnostic.severity == Severity::kWarning) out += "warning: ";
    return out + diagnostic.message;
}

void Diagnostics::add(Diagnostic diagnostic) {
    const bool is_error = diagnostic.severity == Severity::kError;
    ++(is_error ? errors_ : warnings_);
    if (items_.size() < limit_) {
        items_.push_back(std::move(diagnostic));
        return;
    }
    // An error is worth more than a warning that took the last place.
    if (!is_error) return;
    const auto last = std::ranges::find(items_, Severity::kWarning, &Diagnostic::severity);
    if (last != items_.end()) *last = std::move(diagnostic);
}

void Diagnostics::error(const Mark& mark, std::string field, std::string message) {
    add({Severity::kError, mark.file ? *mark.file : std::string(), mark.line, mark.column,
         std::move(field), std::move(message)});
}

void Diagnostics::warning(const Mark& mark, std::string field, std::string message) {
    add({Severity::kWarning, mark.file ? *mark.file : std::string(), mark.line, mark.column,
         std::move(field), std::move(message)});
}

void Diagnostics::sort() {
    std::ranges::stable_sort(items_, [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
    });
}

std::string Diagnostics::text() const {
    std::string out;
    for (const Diagnostic& item : items_) out += to_string(item) + "\n";
    const std::size_t more = errors_ + warnings_ - items_.size();
    if (more > 0) out += fmt::format("... and {} more\n", more);
    return out;
}

base::Error Diagnostics::as_error(std::string code) const {
    std::string message = "no error";
    const auto first = std::ranges::find(items_, Severity::kError, &Diagnostic::severity);
    if (first != items_.end()) message = to_string(*first);
    if (errors_ > 1) message += fmt::format(" (and {} more)", errors_ - 1);
    return {std::move(code), base::ErrorClass::kConfig, std::move(message)};
}

}  // namespace pollux::document
