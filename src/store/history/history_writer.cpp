#include "store/history/history_writer.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/check.hpp"

namespace pollux::store {

namespace {

constexpr std::size_t kGatherSamples = 50'000;  // this many do not wait for the second to end
constexpr std::size_t kApplyAtOnce = 2'000;     // readers get in between
constexpr std::size_t kWaitingPerChunk = 128;   // so many waiting blocks make a chunk due
constexpr std::size_t kChunksPerTurn = 64;      // 16,384 series
constexpr std::size_t kUnwrittenBytes = 32U << 20U;

std::size_t chunk_of(std::int64_t series) {
    return static_cast<std::size_t>(series) / kSeriesPerChunk;
}

}  // namespace

base::Result<std::unique_ptr<HistoryWriter>> HistoryWriter::open(
    std::shared_ptr<const DataDirectory> directory, HistoryOptions options) {
    auto file = HistoryFile::open(directory->file(kHistoryFile), options.vfs);
    if (!file) return std::unexpected(std::move(file.error()));
    auto state = (*file)->load();
    if (!state) return std::unexpected(std::move(state.error()));
    return std::unique_ptr<HistoryWriter>(new HistoryWriter(
        std::move(directory), std::move(options), std::move(*file), std::move(*state)));
}

HistoryWriter::HistoryWriter(std::shared_ptr<const DataDirectory> directory, HistoryOptions options,
                             std::unique_ptr<HistoryFile> file, HistoryState state)
    : directory_(std::move(directory)),
      options_(std::move(options)),
      file_(std::move(file)),
      path_(directory_->file(kHistoryFile)),
      blocks_(std::move(state.blocks)),
      rolled_day_(state.rolled_day),
      next_series_(state.next_series),
      covered_(std::move(state.covered)),
      touched_(covered_.size(), true),
      newest_journal_(state.newest_journal),
      roll_cursor_(state.roll_cursor) {
    stats_.damaged_blocks = state.damaged;
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "pollux-history");
        run();
    });
}

HistoryWriter::~HistoryWriter() { static_cast<void>(close()); }

base::WallTime HistoryWriter::now() const {
    if (options_.clock) return options_.clock();
    return base::WallTime{std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count()};
}

base::Result<std::int64_t> HistoryWriter::allocate_series(std::int64_t count) {
    std::int64_t first = next_series_;
    do {
        if (count < 1 || count > kMostSeries - first) {
            return base::make_error(base::ErrorClass::kPermanent, "history.series_full",
                                    fmt::format("history: no room for {} more series after {}: "
                                                "start with a new history.db",
                                                count, first));
        }
    } while (!next_series_.compare_exchange_weak(first, first + count));
    return first;
}

base::Status HistoryWriter::append(SampleBatch batch) {
    const std::size_t count = batch.samples.size();
    bool wake = false;
    {
        const std::scoped_lock lock(queue_mutex_);
        if (closing_) {
            return base::make_error(base::ErrorClass::kPermanent, "history.closed",
                                    "history: samples came after it was closed");
        }
        if (queued_samples_ + count > options_.queue_samples) {
            stats_.samples_dropped += count;
            return base::make_error(
                base::ErrorClass::kTransient, "history.queue_full",
                fmt::format("history: {} samples wait to be written and {} more do not fit: they "
                            "were dropped; the disk or the machine is too slow",
                            queued_samples_, count));
        }
        queued_samples_ += count;
        stats_.samples_accepted += count;
        ++accepted_batches_;
        queue_.push_back(std::move(batch));
        wake = queued_samples_ >= kGatherSamples;
    }
    if (wake) arrived_.notify_one();
    return {};
}

void HistoryWriter::flush() {
    std::unique_lock lock(queue_mutex_);
    const std::uint64_t until = accepted_batches_;
    ++flushing_;
    arrived_.notify_one();
    done_.wait(lock, [&] { return finished_batches_ >= until; });
    --flushing_;
}

base::Status HistoryWriter::close() {
    const std::scoped_lock one_closes(close_mutex_);
    if (!thread_.joinable()) return {};
    {
        const std::scoped_lock lock(queue_mutex_);
        closing_ = true;
    }
    arrived_.notify_one();
    thread_.join();
    file_.reset();
    const std::scoped_lock lock(queue_mutex_);
    if (!stats_.failing) return {};
    return base::make_error(base::ErrorClass::kTransient, "history.unwritten",
                            "history: the last samples could not be written: " + stats_.last_error);
}

bool HistoryWriter::wait_for_work(std::deque<SampleBatch>& taken) {
    std::unique_lock lock(queue_mutex_);
    const bool goes_on = !closing_;
    arrived_.wait_for(lock, options_.gather, [this] {
        return closing_ || (flushing_ > 0 && finished_batches_ < accepted_batches_) ||
               queued_samples_ >= kGatherSamples;
    });
    taken.swap(queue_);
    queued_samples_ = 0;
    return goes_on || !taken.empty();
}

void HistoryWriter::run() {
    std::deque<SampleBatch> taken;
    while (wait_for_work(taken)) {
        turn(taken);
        taken.clear();
    }
    save_all_ = true;  // so that the next start has nothing to replay
    commit();
}

void HistoryWriter::turn(std::deque<SampleBatch>& taken) {
    const auto start = std::chrono::steady_clock::now();
    const double elapsed = std::chrono::duration<double>(start - last_turn_).count();
    last_turn_ = start;
    save_credit_ += static_cast<double>(covered_.size()) * elapsed /
                    std::max(base::to_seconds(options_.save_every), 1e-6);
    const std::size_t batches = taken.size();
    apply(taken);
    commit();
    give_up_what_is_too_much();
    {
        const std::scoped_lock lock(queue_mutex_);
        finished_batches_ += batches;
    }
    done_.notify_all();
    upkeep();
}

void HistoryWriter::apply(std::deque<SampleBatch>& taken) {
    std::vector<JournalSample> accepted;
    std::uint64_t refused = 0;
    for (auto& batch : taken) {
        apply_definitions(batch);
        for (std::size_t first = 0; first < batch.samples.size(); first += kApplyAtOnce) {
            const std::size_t end = std::min(first + kApplyAtOnce, batch.samples.size());
            const std::scoped_lock lock(blocks_mutex_);
            for (std::size_t i = first; i < end; ++i) {
                const auto& sample = batch.samples[i];
                const std::int64_t at_ms = base::detail::floor_div(sample.wall_us, 1000);
                if (!blocks_.append(sample.series, at_ms, sample.value)) {
                    ++refused;
                    continue;
                }
                touched_[chunk_of(sample.series)] = true;
                accepted.push_back({sample.series, at_ms, sample.value});
            }
        }
        const std::scoped_lock lock(blocks_mutex_);
        for (const std::int64_t series : batch.removed) {
            blocks_.remove(series);
            unwritten_.removed.push_back(series);
        }
    }
    if (refused > 0) {
        const std::scoped_lock lock(queue_mutex_);
        stats_.samples_refused += refused;
    }
    if (accepted.empty()) return;
    unwritten_.journal.push_back({++newest_journal_, encode_journal(accepted)});
    unwritten_bytes_ += unwritten_.journal.back().bytes.size();
}

void HistoryWriter::apply_definitions(SampleBatch& batch) {
    if (batch.definitions.empty()) return;
    const std::scoped_lock lock(blocks_mutex_);
    for (auto& series : batch.definitions) {
        const bool known = series.id >= 0 && series.id < next_series_;
        if (!known || series.retention >= kRetentionClasses) continue;  // its samples are refused
        blocks_.define(series.id, series.type, series.retention);
        series.retention = blocks_.retention(series.id);
        unwritten_.definitions.push_back(std::move(series));
    }
    // A new chunk has nothing in the rows so far.
    covered_.resize(blocks_.chunks(), newest_journal_);
    touched_.resize(blocks_.chunks(), false);
}

std::vector<std::size_t> HistoryWriter::chunks_to_save() {
    std::vector<std::size_t> due;
    const std::size_t chunks = covered_.size();
    const std::scoped_lock lock(blocks_mutex_);
    if (save_all_) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) due.push_back(chunk);
    } else {
        for (std::size_t chunk = 0; chunk < chunks && due.size() < kChunksPerTurn; ++chunk) {
            if (blocks_.waiting(chunk).size() >= kWaitingPerChunk) due.push_back(chunk);
        }
        // And the next ones of the round, as many as the time since the last turn is worth.
        save_credit_ =
            std::min(save_credit_, static_cast<double>(std::min(chunks, kChunksPerTurn)));
        for (; save_credit_ >= 1 && chunks > 0; save_credit_ -= 1) {
            due.push_back(save_cursor_++ % chunks);
        }
        std::ranges::sort(due);
        const auto twice = std::ranges::unique(due);
        due.erase(twice.begin(), twice.end());
    }
    // A series that fell silent must not keep its last block open for ever.
    const std::int64_t window = now().us / 1000 / kWindowMs;
    for (const std::size_t chunk : due) {
        if (window <= 0) break;
        const std::size_t before = blocks_.waiting(chunk).size();
        blocks_.close_before(chunk, static_cast<std::uint32_t>(std::min(window, kMostWindows)));
        if (blocks_.waiting(chunk).size() != before) touched_[chunk] = true;
    }
    // What nothing came for is as good as saved.
    std::erase_if(due, [&](std::size_t chunk) {
        const bool idle = !touched_[chunk] && blocks_.waiting(chunk).empty();
        if (idle) covered_[chunk] = newest_journal_;
        return idle;
    });
    return due;
}

ChunkWrite HistoryWriter::write_of(std::size_t chunk) {
    ChunkWrite write;
    write.chunk = chunk;
    const std::scoped_lock lock(blocks_mutex_);
    for (const auto& block : blocks_.waiting(chunk)) {
        write.blocks.emplace_back(BlockKey{blocks_.retention(block.series), HistoryTier::kRaw,
                                           block.window, block.series, 0},
                                  block.bytes);
    }
    write.open = blocks_.save(chunk);
    return write;
}

void HistoryWriter::commit() {
    HistoryTurn turn = std::move(unwritten_);
    unwritten_ = {};
    turn.covered = newest_journal_;
    turn.next_series = next_series_;
    std::vector<std::size_t> blocks_written;
    for (const std::size_t chunk : chunks_to_save()) {
        turn.chunks.push_back(write_of(chunk));
        blocks_written.push_back(turn.chunks.back().blocks.size());
    }
    // Rows that every chunk holds after this commit; those being written hold all of them.
    std::int64_t needed = newest_journal_;
    for (std::size_t chunk = 0, next = 0; chunk < covered_.size(); ++chunk) {
        const bool written = next < turn.chunks.size() && turn.chunks[next].chunk == chunk;
        if (written) {
            ++next;
        } else {
            needed = std::min(needed, covered_[chunk]);
        }
    }
    if (needed > trimmed_) turn.trim_up_to = needed;
    const bool nothing = turn.definitions.empty() && turn.removed.empty() && turn.journal.empty() &&
                         turn.chunks.empty();
    if (nothing) return;
    const auto status = file_->commit(turn);
    if (status) {
        after_commit(turn, blocks_written);
        return;
    }
    note_failure(status.error());
    unwritten_.definitions = std::move(turn.definitions);
    unwritten_.removed = std::move(turn.removed);
    unwritten_.journal = std::move(turn.journal);
}

void HistoryWriter::after_commit(const HistoryTurn& turn,
                                 const std::vector<std::size_t>& blocks_written) {
    unwritten_bytes_ = 0;
    trimmed_ = std::max(trimmed_, turn.trim_up_to);
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t samples = 0;
    {
        const std::scoped_lock lock(blocks_mutex_);
        for (std::size_t i = 0; i < turn.chunks.size(); ++i) {
            const std::size_t chunk = turn.chunks[i].chunk;
            covered_[chunk] = turn.covered;
            touched_[chunk] = false;
            const auto& waiting = blocks_.waiting(chunk);
            for (std::size_t k = 0; k < blocks_written[i]; ++k) {
                ++blocks;
                bytes += waiting[k].bytes.size();
                samples += waiting[k].count;
            }
            if (blocks_written[i] > 0) blocks_.drop_waiting(chunk, blocks_written[i]);
        }
    }
    const std::scoped_lock lock(queue_mutex_);
    ++stats_.commits;
    stats_.failing = false;
    stats_.blocks_written += blocks;
    stats_.block_bytes_written += bytes;
    stats_.samples_in_blocks += samples;
    stats_.blocks_refused = file_->blocks_refused();
}

void HistoryWriter::note_failure(const base::Error& error) {
    const std::scoped_lock lock(queue_mutex_);
    ++stats_.failures;
    stats_.failing = true;
    stats_.last_error = error.message;
}

// While the disk refuses for long: first the journal (its samples are still in the blocks), then
// the oldest full blocks of the fullest chunks.
void HistoryWriter::give_up_what_is_too_much() {
    if (unwritten_bytes_ > kUnwrittenBytes) {
        unwritten_.journal.clear();
        unwritten_bytes_ = 0;
    }
    std::uint64_t lost = 0;
    {
        const std::scoped_lock lock(blocks_mutex_);
        for (std::size_t chunk = 0;
             chunk < blocks_.chunks() && blocks_.waiting_bytes() > options_.waiting_limit_bytes;
             ++chunk) {
            const std::size_t half = (blocks_.waiting(chunk).size() + 1) / 2;
            for (std::size_t i = 0; i < half; ++i) lost += blocks_.waiting(chunk)[i].count;
            if (half > 0) blocks_.drop_waiting(chunk, half);
        }
    }
    if (lost == 0) return;
    const std::scoped_lock lock(queue_mutex_);
    stats_.samples_lost += lost;
}

std::optional<SeriesView> HistoryWriter::view(std::int64_t series) const {
    SeriesView view;
    view.rolled_day = rolled_day_;
    view.now = now();
    const std::scoped_lock lock(blocks_mutex_);
    if (!blocks_.defined(series)) return std::nullopt;
    view.retention = blocks_.retention(series);
    view.blocks = blocks_.blocks_of(series);
    return view;
}

HistoryStats HistoryWriter::stats() const {
    HistoryStats copy;
    {
        const std::scoped_lock lock(queue_mutex_);
        copy = stats_;
        copy.queue_samples = queued_samples_;
    }
    {
        const std::scoped_lock lock(blocks_mutex_);
        copy.series = blocks_.series();
        copy.memory_bytes = blocks_.memory_bytes();
    }
    copy.bytes_on_disk = bytes_on_disk(path_);
    return copy;
}

}  // namespace pollux::store
