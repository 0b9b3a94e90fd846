// The silence of push targets: when the next heartbeat must have come. Without I/O: time is handed
// in. Not thread-safe.
//
// A heartbeat may be as late as its interval and the grace together. What was heard before a
// restart counts on: if the next heartbeat cannot have come while nobody listened, its time stays
// exactly what it was. If it can have, nobody knows, and a full interval of listening decides.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace pollux::runtime {

enum class PushState : std::uint8_t { kUnknown, kUp, kDown };
std::string_view to_string(PushState state);

// What is known of a push target. Durable.
struct PushRecord {
    PushState state = PushState::kUnknown;
    base::WallTime last;   // heartbeat; 0: never
    base::WallTime since;  // of the state; 0: since the start
    std::string message;   // what the last heartbeat said, or why it counts as down
    std::optional<double> value;
    bool silent = false;  // down because nothing came
    bool operator==(const PushRecord&) const = default;
};

void encode(base::ByteWriter& out, const PushRecord& record);
PushRecord decode_push_record(base::ByteReader& in);  // in.ok() says whether it is one

struct PushTiming {
    base::Duration interval{};
    base::Duration grace{};
    base::Duration patience() const { return interval + grace; }
    bool operator==(const PushTiming&) const = default;
};

// What a start makes of what was stored: state and the time by which a heartbeat must come.
struct PushStart {
    PushState state = PushState::kUnknown;
    base::BootTime deadline = base::BootTime::max();  // never: it is down until it is heard
};
PushStart start_of(const PushRecord& stored, const PushTiming& timing, base::Instant now);

class PushWatch {
  public:
    // A heartbeat came, or is awaited from now on.
    void expect(const std::string& key, base::BootTime deadline);
    void forget(const std::string& key);
    base::BootTime deadline(const std::string& key) const;  // max(): none
    base::BootTime next() const {
        return order_.empty() ? base::BootTime::max() : order_.begin()->first;
    }
    // Those whose time is over; they are not awaited any more.
    std::vector<std::string> take_late(base::BootTime now);

  private:
    std::map<std::string, base::BootTime, std::less<>> deadlines_;
    std::set<std::pair<base::BootTime, std::string>> order_;
};

}  // namespace pollux::runtime
