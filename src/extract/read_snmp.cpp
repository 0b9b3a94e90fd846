// SNMP replies go straight from varbinds to readings: no text, no JSON in between.
#include "extract/read_snmp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/text.hpp"
#include "extract/value_math.hpp"

namespace pollux::extract {
namespace {

using model::SnmpRow;
using model::SnmpType;
using model::SnmpValue;
using model::Value;

bool is_readable(std::string_view bytes) {
    bool ascii = true;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') return false;
        if (byte == 0x7f) return false;
        ascii = ascii && byte < 0x80;
    }
    return ascii || (base::is_valid_utf8(bytes) && !base::has_control(bytes));
}

std::string hexadecimal(std::string_view bytes) {
    constexpr std::size_t kMost = 256;
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    out.reserve(std::min(bytes.size(), kMost) * 3);
    for (const char c : bytes.substr(0, kMost)) {
        const auto byte = static_cast<unsigned char>(c);
        if (!out.empty()) out.push_back(':');
        out.push_back(kDigits[byte >> 4U]);
        out.push_back(kDigits[byte & 0x0FU]);
    }
    return out;
}

std::string octets(std::string_view bytes) {
    // Some agents count the C string's end.
    if (bytes.ends_with('\0')) bytes.remove_suffix(1);
    return is_readable(bytes) ? std::string(bytes) : hexadecimal(bytes);
}

// Net-SNMP writes floats as opaque: 9f 78 04 and four bytes, 9f 79 08 and eight.
Value opaque(std::string_view bytes) {
    const auto bits = [&](std::size_t count) {
        std::uint64_t out = 0;
        for (const char c : bytes.substr(3, count)) out = out << 8U | static_cast<unsigned char>(c);
        return out;
    };
    if (bytes.size() == 7 && bytes.starts_with("\x9f\x78\x04")) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits(4))));
    }
    if (bytes.size() == 11 && bytes.starts_with("\x9f\x79\x08")) {
        return std::bit_cast<double>(bits(8));
    }
    return hexadecimal(bytes);
}

std::string index_text(const model::Oid& index) {
    std::string out;
    for (const std::uint32_t arc : index.arcs) {
        if (!out.empty()) out.push_back('.');
        out += fmt::format_int(arc).c_str();
    }
    return out;
}

// Walks the columns of one table side by side, row by row in the order of the index.
class TableReader {
  public:
    TableReader(const AddonPlan& plan, const RowSet& table, const model::SnmpReply& reply,
                ReadingWriter& writer)
        : plan_(plan), table_(table), writer_(writer) {
        for (const SnmpColumn& column : table.columns) {
            const bool there = column.walk < reply.walks.size();
            cells_.push_back(there ? &reply.walks[column.walk] : &kNoCells);
            at_.push_back(0);
        }
        found_.resize(table.rules.size());
        current_.resize(table.columns.size());
    }

    void read() {
        std::set<std::string, std::less<>> names;
        std::size_t rows = 0;
        std::size_t left_out = 0;
        bool complete = true;
        while (next()) {
            if (++rows > writer_.budget().rows || !writer_.budget().spend(cells_.size())) {
                writer_.problem(fmt::format("{}: more than {} rows; the rest is not read",
                                            table_.name, rows - 1));
                complete = false;
                break;
            }
            std::string name = row_name();
            if (!table_.names.admits(name) || !fields_admit()) {
                ++left_out;
                continue;
            }
            // Two rows of one name are told apart by their index.
            if (!names.insert(name).second) {
                name += "#" + index_text(*index_);
                if (!names.insert(name).second) continue;
            }
            writer_.trace_rows(names.size() <= 3);
            const std::uint32_t row = writer_.add_row(std::move(name));
            read_row(row);
            if (SignalWriter* signals = writer_.signals()) {
                signals->record(number(), writer_.readings().rows[row], writer_.values());
            }
        }
        writer_.trace_rows(true);
        // An empty table says nothing about what was in it.
        if (SignalWriter* signals = writer_.signals()) {
            signals->rows_read(number(), complete && rows > 0);
        }
        if (writer_.traces()) {
            writer_.trace(
                fmt::format("{}: {} rows, {} left out by filters", table_.name, rows, left_out));
        }
        report_missing(rows);
    }

  private:
    static inline const std::vector<SnmpRow> kNoCells;

    std::size_t number() const { return static_cast<std::size_t>(&table_ - plan_.row_sets.data()); }

    // The smallest index that is still ahead of any column.
    bool next() {
        index_ = nullptr;
        for (std::size_t c = 0; c < cells_.size(); ++c) {
            if (at_[c] >= cells_[c]->size()) continue;
            const model::Oid& index = (*cells_[c])[at_[c]].index;
            if (index_ == nullptr || index < *index_) index_ = &index;
        }
        if (index_ == nullptr) return false;
        for (std::size_t c = 0; c < cells_.size(); ++c) {
            current_[c] = nullptr;
            if (at_[c] >= cells_[c]->size()) continue;
            const SnmpRow& cell = (*cells_[c])[at_[c]];
            if (cell.index != *index_) continue;
            ++at_[c];
            if (cell.value.exists()) current_[c] = &cell.value;
        }
        return true;
    }

    std::string row_name() const {
        for (const std::uint16_t column : table_.name_columns) {
            if (current_[column] == nullptr) continue;
            std::string text = to_text(snmp_value(*current_[column]));
            if (text.size() > 200) text.resize(200);
            if (!text.empty() && base::is_valid_utf8(text) && !base::has_control(text)) return text;
        }
        return index_text(*index_);
    }

    bool fields_admit() const {
        return std::ranges::all_of(table_.where, [&](const FieldFilter& filter) {
            const SnmpValue* value = current_[filter.column];
            return filter.filter.admits(value == nullptr ? "" : to_text(snmp_value(*value)));
        });
    }

    void read_row(std::uint32_t row) {
        writer_.forget(table_.rules);
        for (std::size_t i = 0; i < table_.rules.size(); ++i) {
            const Rule& rule = plan_.rules[table_.rules[i]];
            const SnmpValue* value = nullptr;
            std::uint16_t used = rule.from.empty() ? std::uint16_t{0} : rule.from.front();
            for (const std::uint16_t column : rule.from) {
                if (current_[column] == nullptr) continue;
                value = current_[column];
                used = column;
                break;
            }
            if (value == nullptr && rule.source == SourceKind::kColumn) continue;
            Value raw = value == nullptr ? Value() : snmp_value(*value);
            if (rule.pattern && !capture(rule, raw)) continue;
            const auto where = [&] {
                return rule.source == SourceKind::kColumn
                           ? fmt::format("column {} ({})", table_.columns[used].name,
                                         model::to_string(table_.columns[used].oid))
                           : fmt::format("value {}", rule.value ? rule.value->text() : "");
            };
            found_[i] = writer_.take(rule, row, std::move(raw), where) || found_[i];
        }
    }

    static bool capture(const Rule& rule, Value& raw) {
        const std::string text = to_text(raw);
        if (rule.matches) {
            raw = rule.pattern->matches(text);
            return true;
        }
        const auto found = rule.pattern->capture(text);
        if (!found) return false;
        raw = std::string(*found);
        return true;
    }

    // A column that no row has is missing; single holes are how tables are.
    void report_missing(std::size_t rows) {
        if (rows == 0) {
            const bool wanted = std::ranges::any_of(
                table_.rules, [&](std::uint16_t rule) { return !plan_.rules[rule].optional; });
            if (wanted) {
                ++writer_.readings().missing;
                writer_.problem(fmt::format("{}: the table is empty ({})", table_.name,
                                            model::to_string(table_.columns.front().oid)));
            }
            return;
        }
        if (writer_.readings().rows.size() == 1) return;
        for (std::size_t i = 0; i < table_.rules.size(); ++i) {
            const Rule& rule = plan_.rules[table_.rules[i]];
            if (found_[i] || rule.source != SourceKind::kColumn) continue;
            const SnmpColumn& column = table_.columns[rule.from.front()];
            writer_.miss(rule,
                         fmt::format("column {} ({})", column.name, model::to_string(column.oid)),
                         "no row has it");
        }
    }

    const AddonPlan& plan_;
    const RowSet& table_;
    ReadingWriter& writer_;
    std::vector<const std::vector<SnmpRow>*> cells_;
    std::vector<std::size_t> at_;
    std::vector<const SnmpValue*> current_;
    std::vector<char> found_;
    const model::Oid* index_ = nullptr;
};

void read_get(const AddonPlan& plan, const GroupPlan& group, const Rule& rule,
              const model::SnmpReply& reply, ReadingWriter& writer) {
    const auto where = [&] {
        return rule.source == SourceKind::kGet
                   ? fmt::format("OID {}", model::to_string(group.gets[rule.from.front()]))
                   : fmt::format("value {}", rule.value ? rule.value->text() : "");
    };
    Value raw;
    for (const std::uint16_t get : rule.from) {
        if (get >= reply.gets.size() || !reply.gets[get].exists()) continue;
        raw = snmp_value(reply.gets[get]);
        break;
    }
    if (rule.pattern && !is_null(raw)) {
        const std::string text = to_text(raw);
        if (rule.matches) {
            raw = rule.pattern->matches(text);
        } else if (const auto found = rule.pattern->capture(text)) {
            raw = std::string(*found);
        } else {
            raw = std::monostate();
        }
    }
    (void)plan;
    writer.take(rule, 0, std::move(raw), where);
}

}  // namespace

Value snmp_value(const SnmpValue& value) {
    switch (value.type) {
        case SnmpType::kInteger: return value.integer;
        case SnmpType::kCounter32:
        case SnmpType::kGauge32:
        case SnmpType::kTimeTicks:
        case SnmpType::kCounter64: return value.unsigned_value;
        case SnmpType::kOctetString: return octets(value.bytes);
        case SnmpType::kObjectId: return model::to_string(value.oid);
        case SnmpType::kIpAddress: {
            if (value.bytes.size() != 4) return hexadecimal(value.bytes);
            const auto byte = [&](std::size_t i) {
                return static_cast<unsigned>(static_cast<unsigned char>(value.bytes[i]));
            };
            return fmt::format("{}.{}.{}.{}", byte(0), byte(1), byte(2), byte(3));
        }
        case SnmpType::kOpaque: return opaque(value.bytes);
        case SnmpType::kNull:
        case SnmpType::kNoSuchObject:
        case SnmpType::kNoSuchInstance:
        case SnmpType::kEndOfMibView: break;
    }
    return {};
}

void read_snmp(const AddonPlan& plan, std::size_t group_index, const model::SnmpReply& reply,
               ReadingWriter& writer) {
    const GroupPlan& group = plan.groups[group_index];
    if (group.uptime && *group.uptime < reply.gets.size()) {
        const SnmpValue& uptime = reply.gets[*group.uptime];
        if (uptime.type == SnmpType::kTimeTicks) {
            writer.readings().uptime_ticks = uptime.unsigned_value;
        }
    }
    for (const std::uint16_t rule : group.rules) {
        read_get(plan, group, plan.rules[rule], reply, writer);
    }
    for (const std::uint16_t table : group.row_sets) {
        TableReader(plan, plan.row_sets[table], reply, writer).read();
    }
    if (SignalWriter* signals = writer.signals()) {
        signals->record(std::nullopt, "", writer.values());
        signals->finish();
    }
}

}  // namespace pollux::extract
