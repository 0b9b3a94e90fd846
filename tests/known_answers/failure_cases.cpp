// Cases of what a failure means: error_retryable and auth_error_text.
#include <array>
#include <optional>

#include "model/failure.hpp"
#include "tests/known_answers/categories.hpp"

namespace pollux::known_answers {
namespace {

using model::FailureKind;

std::optional<FailureKind> kind_of(std::string_view name) {
    for (auto i = std::uint8_t{0}; i <= static_cast<std::uint8_t>(FailureKind::kUnknown); ++i) {
        const auto kind = static_cast<FailureKind>(i);
        if (model::to_string(kind) == name) return kind;
    }
    return std::nullopt;
}

void run_retryable(CaseRun& run) {
    Fields& fields = run.inputs();
    const std::string type = fields.text("type");
    const std::optional<FailureKind> kind = kind_of(type);
    if (!kind) fields.problem("type", "no failure is called \"" + type + "\"");
    const std::int64_t status = fields.integer("status");
    if (status < 0 || status > 999)
        fields.problem("status", "must be an HTTP status, or 0 for none");
    const std::string message = fields.has("message") ? fields.text("message") : std::string();
    const model::FailureFacts facts{.kind = kind.value_or(FailureKind::kUnknown),
                                    .http_status = static_cast<int>(status),
                                    .message = message};
    run.check_boolean("retryable", model::is_retryable(classify(facts)));
}

void run_auth_text(CaseRun& run) {
    run.check_boolean("is_auth", model::is_auth_error_text(run.inputs().text("message")));
}

constexpr std::array<Category, 2> kCategories = {{
    {"error_retryable", run_retryable},
    {"auth_error_text", run_auth_text},
}};

}  // namespace

std::span<const Category> failure_categories() { return kCategories; }

}  // namespace pollux::known_answers
