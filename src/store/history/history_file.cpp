// HistoryFile: what is written.
#include "store/history/history_file.hpp"

#include <fmt/format.h>

#include "store/history/history_schema.hpp"

namespace pollux::store {

namespace {

// NORMAL: a killed process loses nothing, a power failure what was not folded back yet.
constexpr const char* kPragmas =
    "PRAGMA page_size = 8192;"
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA cache_size = -16384;"
    "PRAGMA wal_autocheckpoint = 4000;"
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA trusted_schema = 0;";

}  // namespace

base::Result<std::unique_ptr<HistoryFile>> HistoryFile::open(const std::string& path,
                                                             const std::string& vfs) {
    auto database = Database::open(path, {true, false, vfs, ""});
    if (!database) return std::unexpected(std::move(database.error()));
    if (auto status = check_shape(**database, history_schema()); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = (*database)->execute(kPragmas); !status) {
        return std::unexpected(std::move(status.error()));
    }
    if (auto status = migrate_up(**database, history_schema()); !status) {
        return std::unexpected(std::move(status.error()));
    }
    std::unique_ptr<HistoryFile> file(new HistoryFile(std::move(*database)));
    if (auto status = file->load_usage(); !status) {
        return std::unexpected(std::move(status.error()));
    }
    return file;
}

base::Status HistoryFile::commit(const HistoryTurn& turn) {
    auto transaction = Transaction::begin(*database_);
    if (!transaction) return std::unexpected(std::move(transaction.error()));
    Usage usage = usage_;
    if (auto status = write_definitions(turn); !status) return status;
    if (auto status = write_journal(turn); !status) return status;
    if (auto status = write_chunks(turn, usage); !status) return status;
    if (auto status = write_usage(usage); !status) return status;
    if (auto status = transaction->commit(); !status) return status;
    usage_ = usage;
    return {};
}

base::Status HistoryFile::write_definitions(const HistoryTurn& turn) {
    if (turn.definitions.empty() && turn.removed.empty()) return {};
    auto insert =
        database_->prepare("INSERT OR REPLACE INTO series VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
    if (!insert) return std::unexpected(std::move(insert.error()));
    for (const auto& series : turn.definitions) {
        insert->bind(1, series.id);
        insert->bind(2, std::string_view(series.target_id));
        insert->bind(3, std::string_view(series.target_key));
        insert->bind(4, std::string_view(series.metric));
        insert->bind(5, std::string_view(series.row));
        insert->bind(6, std::string_view(series.unit));
        insert->bind(7, static_cast<int>(series.type));
        insert->bind(8, int{series.retention});
        if (auto status = insert->run(); !status) return status;
    }
    auto remove = database_->prepare("DELETE FROM series WHERE id = ?1");
    if (!remove) return std::unexpected(std::move(remove.error()));
    for (const std::int64_t id : turn.removed) {
        remove->bind(1, id);
        if (auto status = remove->run(); !status) return status;
    }
    return set_meta("next_series", turn.next_series);
}

base::Status HistoryFile::write_journal(const HistoryTurn& turn) {
    auto insert = database_->prepare("INSERT OR REPLACE INTO journal VALUES (?1, ?2)");
    if (!insert) return std::unexpected(std::move(insert.error()));
    for (const auto& row : turn.journal) {
        insert->bind(1, row.number);
        insert->bind_blob(2, row.bytes);
        if (auto status = insert->run(); !status) return status;
    }
    if (turn.trim_up_to == 0) return {};
    auto trim = database_->prepare("DELETE FROM journal WHERE number <= ?1");
    if (!trim) return std::unexpected(std::move(trim.error()));
    trim->bind(1, turn.trim_up_to);
    return trim->run();
}

base::Status HistoryFile::write_chunks(const HistoryTurn& turn, Usage& usage) {
    for (const auto& write : turn.chunks) {
        for (const auto& [key, bytes] : write.blocks) {
            if (auto status = write_block(key, bytes, usage); !status) return status;
        }
        auto insert = database_->prepare("INSERT OR REPLACE INTO open_chunk VALUES (?1, ?2, ?3)");
        if (!insert) return std::unexpected(std::move(insert.error()));
        insert->bind(1, static_cast<std::int64_t>(write.chunk));
        insert->bind(2, turn.covered);
        insert->bind_blob(3, write.open);
        if (auto status = insert->run(); !status) return status;
    }
    return {};
}

base::Status HistoryFile::write_block(BlockKey key, std::string_view bytes, Usage& usage) {
    key.part = 0;
    const std::int64_t first = key.number();
    std::int64_t number = first;
    {
        auto newest =
            database_->prepare("SELECT max(number) FROM block WHERE number >= ?1 AND number < ?2");
        if (!newest) return std::unexpected(std::move(newest.error()));
        newest->bind(1, first);
        newest->bind(2, first + kMostParts);
        auto row = newest->step();
        if (!row) return std::unexpected(std::move(row.error()));
        if (*row && !newest->null(0)) number = newest->integer(0) + 1;
    }
    if (number >= first + kMostParts) {
        ++blocks_refused_;
        return {};
    }
    auto insert = database_->prepare("INSERT INTO block VALUES (?1, ?2)");
    if (!insert) return std::unexpected(std::move(insert.error()));
    insert->bind(1, number);
    insert->bind_blob(2, bytes);
    if (auto status = insert->run(); !status) return status;
    auto& used = usage[key.retention][static_cast<std::size_t>(key.tier)];
    used.bytes += static_cast<std::int64_t>(bytes.size());
    used.blocks += 1;
    return {};
}

base::Status HistoryFile::write_usage(const Usage& usage) {
    for (std::size_t retention = 0; retention < kRetentionClasses; ++retention) {
        for (std::size_t tier = 0; tier < kHistoryTiers; ++tier) {
            const TierUsage& now = usage[retention][tier];
            const TierUsage& before = usage_[retention][tier];
            if (now.bytes == before.bytes && now.blocks == before.blocks) continue;
            auto insert =
                database_->prepare("INSERT OR REPLACE INTO usage VALUES (?1, ?2, ?3, ?4)");
            if (!insert) return std::unexpected(std::move(insert.error()));
            insert->bind(1, static_cast<std::int64_t>(retention));
            insert->bind(2, static_cast<std::int64_t>(tier));
            insert->bind(3, now.bytes);
            insert->bind(4, now.blocks);
            if (auto status = insert->run(); !status) return status;
        }
    }
    return {};
}

base::Status HistoryFile::set_meta(std::string_view name, std::int64_t value) {
    auto insert = database_->prepare("INSERT OR REPLACE INTO meta VALUES (?1, ?2)");
    if (!insert) return std::unexpected(std::move(insert.error()));
    insert->bind(1, name);
    insert->bind(2, value);
    return insert->run();
}

base::Result<std::int64_t> HistoryFile::expire(std::uint8_t retention, HistoryTier tier,
                                               std::uint32_t before_window, std::int64_t limit) {
    const std::int64_t first = BlockKey{retention, tier, 0, 0, 0}.number();
    const std::int64_t end = BlockKey{retention, tier, before_window, 0, 0}.number();
    std::int64_t last = 0;
    std::int64_t bytes = 0;
    std::int64_t count = 0;
    {
        auto oldest = database_->prepare(
            "SELECT max(number), sum(size), count(*) FROM (SELECT number, length(data) AS size "
            "FROM block WHERE number >= ?1 AND number < ?2 ORDER BY number LIMIT ?3)");
        if (!oldest) return std::unexpected(std::move(oldest.error()));
        oldest->bind(1, first);
        oldest->bind(2, end);
        oldest->bind(3, limit);
        auto row = oldest->step();
        if (!row) return std::unexpected(std::move(row.error()));
        last = oldest->integer(0);
        bytes = oldest->integer(1);
        count = oldest->integer(2);
    }
    if (count == 0) return 0;
    auto transaction = Transaction::begin(*database_);
    if (!transaction) return std::unexpected(std::move(transaction.error()));
    auto remove = database_->prepare("DELETE FROM block WHERE number >= ?1 AND number <= ?2");
    if (!remove) return std::unexpected(std::move(remove.error()));
    remove->bind(1, first);
    remove->bind(2, last);
    auto status = remove->run();
    Usage usage = usage_;
    auto& used = usage[retention][static_cast<std::size_t>(tier)];
    used.bytes -= bytes;
    used.blocks -= count;
    if (status) status = write_usage(usage);
    if (status) status = transaction->commit();
    if (!status) return std::unexpected(std::move(status.error()));
    usage_ = usage;
    return count;
}

base::Status HistoryFile::commit_rollups(const std::vector<Rollup>& rollups,
                                         std::int64_t rolled_day, std::int64_t cursor) {
    auto transaction = Transaction::begin(*database_);
    if (!transaction) return std::unexpected(std::move(transaction.error()));
    Usage usage = usage_;
    for (const auto& rollup : rollups) {
        if (auto status = write_block(rollup.key, rollup.bytes, usage); !status) return status;
    }
    if (auto status = write_usage(usage); !status) return status;
    if (auto status = set_meta("rolled_day", rolled_day); !status) return status;
    if (auto status = set_meta("roll_cursor", cursor); !status) return status;
    if (auto status = transaction->commit(); !status) return status;
    usage_ = usage;
    return {};
}

base::Result<std::int64_t> HistoryFile::next_raw_window(std::uint8_t retention,
                                                        std::uint32_t window) {
    auto first = database_->prepare(
        "SELECT number FROM block WHERE number >= ?1 AND number < ?2 ORDER BY number LIMIT 1");
    if (!first) return std::unexpected(std::move(first.error()));
    constexpr auto kLast = static_cast<std::uint32_t>(kMostWindows - 1);
    first->bind(1, BlockKey{retention, HistoryTier::kRaw, window, 0, 0}.number());
    first->bind(2, BlockKey::window_end(retention, HistoryTier::kRaw, kLast));
    auto row = first->step();
    if (!row) return std::unexpected(std::move(row.error()));
    if (!*row) return -1;
    return BlockKey::of(first->integer(0)).window;
}

}  // namespace pollux::store
