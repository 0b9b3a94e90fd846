#include "runtime/signal_news.hpp"

#include <algorithm>

namespace pollux::runtime {

SignalNews present_of(const derive::SignalKeeper& keeper) {
    SignalNews news;
    for (const auto& [name, raised] : keeper.raised()) {
        news.changes.push_back({derive::SignalStep::kRaised, raised.signal, raised.occurrences});
        news.at = std::max(news.at, raised.last);
    }
    return news;
}

}  // namespace pollux::runtime
