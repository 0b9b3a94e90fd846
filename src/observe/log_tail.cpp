#include "observe/log_tail.hpp"

#include <utility>

namespace pollux::observe {

void LogTail::add(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    lines_.emplace_back(line.substr(0, max_bytes_));
    bytes_ += lines_.back().size();
    while (lines_.size() > max_lines_ || bytes_ > max_bytes_) {
        bytes_ -= lines_.front().size();
        lines_.pop_front();
    }
}

std::string LogTail::text() const {
    const std::scoped_lock lock(mutex_);
    std::string all;
    all.reserve(bytes_);
    for (const std::string& line : lines_) all += line;
    return all;
}

Log::Sink LogTail::before(Log::Sink next) {
    return [this, next = std::move(next)](std::string_view line) {
        add(line);
        next(line);
    };
}

}  // namespace pollux::observe
