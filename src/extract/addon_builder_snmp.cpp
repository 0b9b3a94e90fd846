// The snmp part of a manifest: single values and tables.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "extract/addon_builder.hpp"
#include "extract/manifest_keys.hpp"

namespace pollux::extract {

using base::quoted;
using document::Need;

namespace {

constexpr std::size_t kMaxGets = 512;
constexpr std::size_t kMaxTables = 32;
constexpr std::size_t kMaxColumns = 64;

}  // namespace

void AddonBuilder::read_snmp(Reader& reader) {
    const Node* node = reader.map("snmp", Need::kRequired);
    if (node == nullptr) return;
    SnmpPlan& snmp = plan_->snmp;
    Reader inner(*node, "snmp", out_, keys::kSnmp);
    snmp.version = inner
                       .choice<model::SnmpVersion>("version", {{"1", model::SnmpVersion::kV1},
                                                               {"2c", model::SnmpVersion::kV2c},
                                                               {"3", model::SnmpVersion::kV3}})
                       .value_or(model::SnmpVersion::kV2c);
    const auto small = [&](std::string_view key, std::int64_t most, std::uint32_t otherwise) {
        return static_cast<std::uint32_t>(inner.integer(key, 1, most).value_or(otherwise));
    };
    snmp.max_repetitions = small("max_repetitions", 1000, 25);
    snmp.max_varbinds = small("max_varbinds", 200, 24);
    snmp.max_rows = small("max_rows", 100'000, 10'000);
    snmp.resends = static_cast<std::uint32_t>(inner.integer("resends", 0, 5).value_or(1));
    if (plan_->port == 0) plan_->port = 161;
    each(inner, "gets", kMaxGets,
         [this](const Node& item, std::string path) { read_get(item, std::move(path)); });
    each(inner, "tables", kMaxTables,
         [this](const Node& item, std::string path) { read_table(item, std::move(path)); });
    inner.finish();
}

std::optional<model::Oid> AddonBuilder::read_oid(const Node& node, const std::string& path) {
    const auto oid = node.is_scalar() ? model::parse_oid(node.scalar()) : std::nullopt;
    if (!oid) {
        out_.error(node.mark(), path,
                   fmt::format("{} is no object identifier; write it in numbers, like "
                               "1.3.6.1.2.1.1.5.0",
                               quoted(node.scalar())));
    }
    return oid;
}

void AddonBuilder::read_get(const Node& node, std::string path) {
    Reader reader(node, std::move(path), out_, keys::kGet);
    SnmpGet get;
    get.name = reader.string("name", Need::kRequired).value_or("");
    check_name(reader, "name", get.name);
    auto& gets = plan_->snmp.gets;
    if (std::ranges::find(gets, get.name, &SnmpGet::name) != gets.end()) {
        reader.error("name", "is taken by a get above; choose another");
    }
    if (const Node* oid = reader.any("oid", Need::kRequired)) {
        get.oid = read_oid(*oid, reader.path_of("oid")).value_or(model::Oid{});
    }
    get.group = group_of(reader, get.name, false);
    reader.finish();
    if (plan_->groups.size() <= get.group) plan_->groups.resize(get.group + 1U);
    GroupPlan& group = plan_->groups[get.group];
    get.index = static_cast<std::uint16_t>(group.gets.size());
    group.gets.push_back(get.oid);
    gets.push_back(std::move(get));
}

std::uint16_t AddonBuilder::add_walk(std::uint16_t group, const model::Oid& oid) {
    if (plan_->groups.size() <= group) plan_->groups.resize(group + 1U);
    auto& walks = plan_->groups[group].walks;
    const auto found = std::ranges::find(walks, oid);
    const auto index = static_cast<std::uint16_t>(found - walks.begin());
    if (found == walks.end()) walks.push_back(oid);
    return index;
}

void AddonBuilder::read_columns(Reader& reader, RowSet& table) {
    const Node* columns = reader.map("columns", Need::kRequired);
    if (columns == nullptr) return;
    if (columns->entries().empty() || columns->entries().size() > kMaxColumns) {
        reader.error("columns", fmt::format("has {} entries; 1 to {} are possible",
                                            columns->entries().size(), kMaxColumns));
        return;
    }
    for (const document::MapEntry& entry : columns->entries()) {
        const std::string path = document::key_path(reader.path_of("columns"), entry.key);
        if (!is_identifier(entry.key)) {
            out_.error(entry.key_mark, path, "is no name for a column; write a-z, 0-9 and _");
        }
        const auto oid = read_oid(entry.value, path);
        if (!oid) continue;
        table.columns.push_back({entry.key, *oid, add_walk(table.group, *oid)});
    }
}

void AddonBuilder::read_table(const Node& node, std::string path) {
    Reader reader(node, std::move(path), out_, keys::kTable);
    RowSet table;
    table.name = reader.string("name", Need::kRequired).value_or("");
    check_name(reader, "name", table.name);
    if (std::ranges::find(plan_->row_sets, table.name, &RowSet::name) != plan_->row_sets.end()) {
        reader.error("name", "is taken by a table above; choose another");
    }
    table.group = group_of(reader, table.name, true);
    read_columns(reader, table);
    for (const std::string& name : reader.strings("row")) {
        if (name == "index") break;
        const auto found = std::ranges::find(table.columns, name, &SnmpColumn::name);
        if (found == table.columns.end()) {
            reader.error("row",
                         fmt::format("{} is no column of the table; name one, or write index",
                                     quoted(name)));
            continue;
        }
        table.naming = RowNaming::kField;
        table.name_columns.push_back(static_cast<std::uint16_t>(found - table.columns.begin()));
    }
    table.names = read_filter(reader);
    read_where(reader, table);
    reader.finish();
    plan_->row_sets.push_back(std::move(table));
}

}  // namespace pollux::extract
