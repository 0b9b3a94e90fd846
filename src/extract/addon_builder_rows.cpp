// Which rows count: filters on their names and on their fields.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"

namespace pollux::extract {

using base::quoted;

bool TextFilter::admits(std::string_view text) const {
    const auto matches = [&](const Pattern& pattern) { return pattern.matches(text); };
    if (!include.empty() && std::ranges::none_of(include, matches)) return false;
    return std::ranges::none_of(exclude, matches);
}

std::vector<Pattern> AddonBuilder::read_patterns(Reader& reader, std::string_view key) {
    std::vector<Pattern> out;
    for (const std::string& text : reader.strings(key)) {
        bool disabled = false;
        const auto filled = substituted(text, disabled);
        if (!filled || filled->empty()) continue;
        auto pattern = Pattern::compile(*filled);
        if (!pattern) {
            reader.error(key, pattern.error().message);
            continue;
        }
        out.push_back(std::move(*pattern));
    }
    return out;
}

TextFilter AddonBuilder::read_filter(Reader& reader) {
    TextFilter filter;
    filter.include = read_patterns(reader, "include");
    filter.exclude = read_patterns(reader, "exclude");
    return filter;
}

void AddonBuilder::read_where(Reader& reader, RowSet& rows) {
    const Node* where = reader.map("where");
    if (where == nullptr) return;
    const std::string path = reader.path_of("where");
    for (const document::MapEntry& entry : where->entries()) {
        const std::string field = document::key_path(path, entry.key);
        FieldFilter filter;
        if (rows.columns.empty()) {
            auto compiled = compile_path(rows.endpoint, entry.key, true);
            if (!compiled) {
                out_.error(entry.key_mark, field, compiled.error().message);
                continue;
            }
            filter.path = std::move(*compiled);
        } else {
            const auto found = std::ranges::find(rows.columns, entry.key, &SnmpColumn::name);
            if (found == rows.columns.end()) {
                std::vector<std::string_view> names;
                for (const SnmpColumn& column : rows.columns) names.push_back(column.name);
                out_.error(entry.key_mark, field,
                           fmt::format("{} is no column of the table; there are {}",
                                       quoted(entry.key), document::word_list(names)));
                continue;
            }
            filter.column = static_cast<std::uint16_t>(found - rows.columns.begin());
        }
        Reader inner(entry.value, field, out_, keys::kFilter);
        filter.filter = read_filter(inner);
        inner.finish();
        if (!filter.filter.empty()) rows.where.push_back(std::move(filter));
    }
}

}  // namespace pollux::extract
