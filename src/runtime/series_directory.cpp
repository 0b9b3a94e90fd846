#include "runtime/series_directory.hpp"

#include <algorithm>
#include <tuple>

namespace pollux::runtime {

base::Status SeriesDirectory::load(store::History& history) {
    auto status = history.load_series([this](store::SeriesDefinition&& series) {
        by_target_[series.target_id].push_back(
            {std::move(series.metric), std::move(series.row), series.id});
        ++size_;
    });
    for (auto& [target, entries] : by_target_) {
        std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
            return std::tie(a.metric, a.row) < std::tie(b.metric, b.row);
        });
        entries.shrink_to_fit();
    }
    return status;
}

std::int64_t SeriesDirectory::find(std::string_view target_id, std::string_view metric,
                                   std::string_view row) const {
    const auto target = by_target_.find(target_id);
    if (target == by_target_.end()) return 0;
    const auto wanted = std::make_pair(metric, row);
    const auto name = [](const Entry& entry) {
        return std::make_pair(std::string_view(entry.metric), std::string_view(entry.row));
    };
    const auto found = std::ranges::lower_bound(target->second, wanted, {}, name);
    if (found == target->second.end() || name(*found) != wanted) return 0;
    return found->id;
}

}  // namespace pollux::runtime
