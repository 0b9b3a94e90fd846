#include "model/alert.hpp"

#include <array>

namespace pollux::model {
namespace {

constexpr std::array<std::string_view, 5> kSeverities = {"info", "warning", "minor", "major",
                                                         "critical"};
constexpr std::array<std::string_view, 5> kStates = {"pending", "active", "acknowledged",
                                                     "suppressed", "resolved"};
constexpr std::array<std::string_view, 4> kSuppressors = {"", "parent", "observer", "flapping"};
constexpr std::array<std::string_view, 6> kResolvers = {"",           "clear",    "recovery",
                                                        "reconciled", "operator", "expired"};
constexpr std::array<std::string_view, 5> kSources = {"poll", "message", "health", "self",
                                                      "external"};
constexpr std::array<std::string_view, 3> kCauses = {"alert", "device", "observer"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& words, std::string_view word) {
    for (std::size_t i = 0; i < N; ++i) {
        if (words[i] == word) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

template <class Enum, std::size_t N>
std::string_view word(const std::array<std::string_view, N>& words, Enum value) {
    const auto index = static_cast<std::size_t>(value);
    return index < N ? words[index] : std::string_view("unknown");
}

}  // namespace

std::string_view to_string(Severity severity) { return word(kSeverities, severity); }
std::string_view to_string(AlertState state) { return word(kStates, state); }
std::string_view to_string(SuppressedBy reason) { return word(kSuppressors, reason); }
std::string_view to_string(ResolvedBy source) { return word(kResolvers, source); }
std::string_view to_string(AlertSource source) { return word(kSources, source); }
std::string_view to_string(CauseKind kind) { return word(kCauses, kind); }

std::optional<Severity> severity_of(std::string_view word) {
    if (word == "error") return Severity::kMajor;
    if (word == "page") return Severity::kCritical;
    if (word == "none") return Severity::kInfo;
    return find<Severity>(kSeverities, word);
}

std::optional<AlertState> alert_state_of(std::string_view word) {
    return find<AlertState>(kStates, word);
}

}  // namespace pollux::model
