// HistoryFile: what is read at the opening.
#include <algorithm>

#include "store/history/history_file.hpp"
#include "store/history/journal_codec.hpp"

namespace pollux::store {

namespace {

template <class Take>
base::Status each_row(Database& database, std::string_view sql, Take take) {
    auto statement = database.prepare(sql);
    if (!statement) return std::unexpected(std::move(statement.error()));
    for (;;) {
        auto row = statement->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row) return {};
        take(*statement);
    }
}

}  // namespace

base::Status HistoryFile::load_usage() {
    return each_row(*database_, "SELECT class, tier, bytes, blocks FROM usage",
                    [&](const Statement& row) {
                        const auto retention = static_cast<std::size_t>(row.integer(0));
                        const auto tier = static_cast<std::size_t>(row.integer(1));
                        if (retention >= kRetentionClasses || tier >= kHistoryTiers) return;
                        usage_[retention][tier] = {row.integer(2), row.integer(3)};
                    });
}

base::Result<HistoryState> HistoryFile::load() {
    HistoryState state;
    auto status = load_definitions(state);
    if (status) status = load_chunks(state);
    if (status) status = replay(state);
    if (!status) return std::unexpected(std::move(status.error()));
    return state;
}

base::Status HistoryFile::load_definitions(HistoryState& state) {
    auto status =
        each_row(*database_, "SELECT id, type, retention FROM series", [&](const Statement& row) {
            const std::int64_t id = row.integer(0);
            if (id < 0 || id >= kMostSeries) {
                ++state.damaged;
                return;
            }
            const auto type = static_cast<SeriesType>(row.integer(1));
            const auto retention =
                static_cast<std::uint8_t>(row.unsigned_integer(2) % kRetentionClasses);
            state.blocks.define(id, type, retention);
            state.next_series = std::max(state.next_series, id + 1);
        });
    if (!status) return status;
    state.covered.resize(state.blocks.chunks(), 0);
    return each_row(*database_, "SELECT name, value FROM meta", [&](const Statement& row) {
        const std::string_view name = row.text(0);
        if (name == "next_series") state.next_series = std::max(state.next_series, row.integer(1));
        if (name == "rolled_day") state.rolled_day = row.integer(1);
        if (name == "roll_cursor") state.roll_cursor = row.integer(1);
    });
}

base::Status HistoryFile::load_chunks(HistoryState& state) {
    return each_row(*database_, "SELECT chunk, covered, data FROM open_chunk",
                    [&](const Statement& row) {
                        const auto chunk = static_cast<std::size_t>(row.integer(0));
                        const std::int64_t covered = row.integer(1);
                        // Numbers go on above every one that was used, also when the rows are gone.
                        state.newest_journal = std::max(state.newest_journal, covered);
                        if (chunk >= state.covered.size()) return;
                        state.covered[chunk] = covered;
                        if (!state.blocks.restore(chunk, row.blob(2))) ++state.damaged;
                    });
}

base::Status HistoryFile::replay(HistoryState& state) {
    return each_row(
        *database_, "SELECT number, data FROM journal ORDER BY number", [&](const Statement& row) {
            const std::int64_t number = row.integer(0);
            state.newest_journal = std::max(state.newest_journal, number);
            const auto samples = decode_journal(row.blob(1));
            if (!samples) {
                ++state.damaged;
                return;
            }
            for (const auto& sample : *samples) {
                if (!state.blocks.defined(sample.series)) continue;  // removed meanwhile
                const auto chunk = static_cast<std::size_t>(sample.series) / kSeriesPerChunk;
                if (number <= state.covered[chunk]) continue;
                static_cast<void>(state.blocks.append(sample.series, sample.at_ms, sample.value));
            }
        });
}

}  // namespace pollux::store
