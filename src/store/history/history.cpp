#include "store/history/history.hpp"

#include "store/history/history_reader.hpp"
#include "store/history/history_writer.hpp"

namespace pollux::store {

History::History() = default;

History::~History() { static_cast<void>(close()); }

base::Result<std::unique_ptr<History>> History::open(std::shared_ptr<const DataDirectory> directory,
                                                     HistoryOptions options) {
    std::unique_ptr<History> history(new History);
    const std::string path = directory->file(kHistoryFile);
    const std::string vfs = options.vfs;
    auto writer = HistoryWriter::open(std::move(directory), std::move(options));
    if (!writer) return std::unexpected(std::move(writer.error()));
    history->writer_ = std::move(*writer);
    auto reader = HistoryReader::open(path, vfs);
    if (!reader) return std::unexpected(std::move(reader.error()));
    history->reader_ = std::move(*reader);
    return history;
}

base::Status History::load_series(const std::function<void(SeriesDefinition&&)>& visitor) {
    return reader_->load_series(visitor);
}

base::Result<std::int64_t> History::allocate_series(std::int64_t count) {
    return writer_->allocate_series(count);
}

base::Status History::append(SampleBatch batch) { return writer_->append(std::move(batch)); }

base::Result<HistoryAnswer> History::query(const HistoryQuery& query) {
    // First memory, then disk: what moves between the two meanwhile is seen twice, not never.
    const auto view = writer_->view(query.series);
    if (!view) return HistoryAnswer{};
    return reader_->query(query, *view, writer_->options().retention[view->retention]);
}

base::Result<std::vector<SeriesDefinition>> History::series_of(const std::string& target_id) {
    return reader_->series_of(target_id);
}

void History::flush() { writer_->flush(); }

base::Status History::close() {
    if (reader_) reader_->close();  // so that the writer is last and folds the log back
    return writer_ ? writer_->close() : base::Status{};
}

HistoryStats History::stats() const {
    HistoryStats stats = writer_->stats();
    stats.damaged_blocks += reader_->damaged_blocks();
    return stats;
}

}  // namespace pollux::store
