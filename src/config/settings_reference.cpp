// The page docs/settings-reference.md, written from the table.
#include <fmt/format.h>

#include "config/settings_registry.hpp"

namespace pollux::config {

std::string settings_reference_markdown() {
    std::string text =
        "# Settings\n\n"
        "Written by `pollux settings reference`; edit `src/config/settings_registry.cpp` "
        "instead.\n\n"
        "A value comes from the environment, else from the stored settings (mirrored in\n"
        "`system.json` in the data folder), else from its default. `pollux settings show` tells\n"
        "which one it was. Durations are written `90s`, `1m30s`, `2h`; in `system.json` a number "
        "is\n"
        "seconds, and 0 keeps the default where marked. In the environment `0`, `false`, `no` and\n"
        "`off` are false and anything else is true. A variable that is not understood is ignored "
        "with a\n"
        "warning. What lies outside of its range is refused (the server does not start, an edit "
        "is\n"
        "not taken), clamped, or ignored, as the table says; keys of `system.json` that are not "
        "listed\n"
        "here are kept for the tools they belong to.\n\n";
    const Settings defaults;
    for (const SettingDef& row : setting_definitions()) {
        const std::string value = format_value(row, defaults);
        text += fmt::format("## {}\n\n{}\n\n", row.key, row.help);
        text +=
            "| environment | system.json | value | default | outside of its range | applies |\n"
            "|---|---|---|---|---|---|\n";
        constexpr std::string_view kRules[] = {"refused", "clamped", "ignored"};
        const bool ranged = row.high > row.low;
        text += fmt::format("| `{}`{} | {}{} | {} | {} | {} | {} |\n\n", row.environment,
                            row.alias.empty() ? "" : fmt::format(", `{}`", row.alias),
                            row.json.empty() ? "–" : fmt::format("`{}`", row.json),
                            row.zero_is_unset ? " (0: default)" : "", describe_type(row),
                            value.empty() ? "–" : fmt::format("`{}`", value),
                            ranged ? kRules[static_cast<std::size_t>(row.out_of_range)] : "–",
                            to_string(row.applies));
    }
    text.pop_back();
    return text;
}

}  // namespace pollux::config
