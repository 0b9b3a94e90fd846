// What every backend does with alerts in the same way: which rows a question means, where a page
// ends, what a notification tells of its channel.
#pragma once

#include <algorithm>
#include <utility>

#include "store/alert_types.hpp"

namespace pollux::store {

// Refuses what no store could keep: a row without id or number.
base::Status check(const AlertBatch& batch);

// A number that another row has.
base::Error number_conflict(std::string_view kind, std::string_view id, std::uint64_t number);

// Everything but the numbers.
bool matches(const AlertQuery& query, const model::Alert& alert);
bool matches(const IncidentQuery& query, const model::Incident& incident);
bool matches(const AlertEventQuery& query, const model::AlertEvent& event);
bool matches(const NotificationQuery& query, const model::Notification& notification);

// Whether a search looks at the row at all: what an index leaves out does not count as looked at.
bool is_searched(const IncidentQuery& query, const model::Incident& incident);
template <class Query, class Row>
bool is_searched(const Query&, const Row&) {
    return true;
}

// Takes in the last attempt of a notification of this channel. False: it tells nothing new.
bool note(ChannelHealth& health, const model::Notification& notification);

// Raises the numbers to those of the batch.
void raise(AlertNumbers& numbers, const AlertBatch& batch);

std::uint64_t rows_in(const AlertBatch& batch);

// When nothing more happens to it: what retention counts from.
inline base::WallTime over_at(const model::Notification& one) {
    return std::max(one.made, one.last_attempt);
}

// Gathers one page from rows that come in the order of the question.
template <class Row>
class PageFiller {
  public:
    explicit PageFiller(std::size_t limit)
        : limit_(std::clamp<std::size_t>(limit, 1, kMostAlertsPerQuery)) {}

    // False: the page is full and ended before this row; no more need come.
    template <class Query>
    bool offer(const Query& query, Row row) {
        if (!room()) return false;
        last_ = row.number;
        ++scanned_;
        if (matches(query, row)) page_.rows.push_back(std::move(row));
        return true;
    }
    // A row that cannot be read: looked at and left out.
    bool skip(std::uint64_t number) {
        if (!room()) return false;
        last_ = number;
        ++scanned_;
        return true;
    }
    Page<Row> take() { return std::move(page_); }

  private:
    bool room() {
        const bool full = page_.rows.size() >= limit_ || scanned_ >= kMostAlertsScanned;
        if (full) page_.next = last_;
        return !full;
    }

    std::size_t limit_;
    std::size_t scanned_ = 0;
    std::uint64_t last_ = 0;
    Page<Row> page_;
};

}  // namespace pollux::store
