// What changed in the answers of GET /api/fleet: who has one of them asks for the rest only.
//
// Each answer has a version. Of every row hashes are kept of what it told last, and the version at
// which that became another; with 56 bytes a row the difference to any version is known, whoever
// asked for it. What a result of a poll moves (times, duration, lag) is no change of the row, for
// events tell it; only of targets with exactly one task, though: of others events do not tell all.
//
// Those who may see the same share it: versions of others mean nothing, and are answered with all.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/fleet_snapshot.hpp"

namespace pollux::api {

class FleetMarks {
  public:
    // `start` is of this run of the server, `generations` of all marks together: a version is never
    // given out twice.
    FleetMarks(std::uint32_t start, std::shared_ptr<std::atomic<std::uint64_t>> generations);

    struct Told {
        std::string version;
        // Places in `shown`, rising; nothing: `since` is not known or other targets than then are
        // seen, so all is told.
        std::optional<std::vector<std::uint32_t>> changed;
    };
    // Takes note of what is told now. `values`: a row with another headline has changed too.
    // From any thread.
    Told note(const FleetSnapshot& fleet, std::string_view since, bool values);

  private:
    struct Mark {
        std::uint64_t row = 0;     // hash of what was told, but for times and values
        std::uint64_t values = 0;  // of the headline
        std::uint64_t run = 0;     // of how the last run went
        base::WallTime success;    // as they were told
        base::WallTime due;
        base::WallTime since;
        std::uint32_t row_at = 0;  // versions
        std::uint32_t values_at = 0;
    };
    static Mark mark_of(const FleetSnapshot& fleet, std::size_t place, std::string& bytes);
    static bool moved(Mark& now, const Mark& before, bool told_by_events);
    std::optional<std::uint32_t> known(std::string_view version) const;
    std::string version() const;

    std::mutex mutex_;  // guards what follows
    std::uint32_t start_;
    std::shared_ptr<std::atomic<std::uint64_t>> generations_;
    std::uint64_t generation_ = 0;  // another one when other targets are seen
    std::uint64_t keys_ = 0;        // hash of the keys that are seen
    std::uint32_t newest_ = 0;
    std::vector<Mark> marks_;  // as many as rows are seen
};

// The marks of everybody; at most `most` sights, those that were asked for lately. API's thread.
class FleetChanges {
  public:
    explicit FleetChanges(std::uint32_t start, std::size_t most = 16)
        : start_(start), most_(most) {}

    // `sight` is EventSight::signature().
    std::shared_ptr<FleetMarks> of(const std::string& sight);

  private:
    struct One {
        std::string sight;
        std::shared_ptr<FleetMarks> marks;
    };
    std::uint32_t start_;
    std::size_t most_;
    std::shared_ptr<std::atomic<std::uint64_t>> generations_ =
        std::make_shared<std::atomic<std::uint64_t>>(0);
    std::list<One> all_;  // the one asked for last in front
};

// The same moment with fewer rows: those at these places in `shown`.
FleetSnapshot narrowed(FleetSnapshot fleet, const std::vector<std::uint32_t>& places);

}  // namespace pollux::api
