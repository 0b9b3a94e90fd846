// Results of polls for a follower that takes them together, once a second: a tenth of the bytes of
// one message for each. A page that shows thousands of targets asks for this.
//
//   {"type":"poll_results","seq":N,"data":{"snmp-system":[["sw-1",AT,DURATION,NEXT,LAG],...]}}
//
// AT in ms since 1970, DURATION and LAG in ms, NEXT in ms after AT or 0. A row goes on with
// outcome, failures in a row and code unless the outcome is `ok` and nothing failed before.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "api/event_ring.hpp"
#include "runtime/event_feed.hpp"

namespace pollux::api {

// The row of one result; the addon is not in it.
std::string brief_of(const runtime::PollNews& news);

class EventDigest {
  public:
    // As many bytes of rows go into one message, and a row more.
    static constexpr std::size_t kEnough = 24 * 1024;

    // Whether the event can be told together with others.
    static bool takes(const Event& event) { return !event.brief.empty(); }
    void add(const Event& event);
    bool empty() const { return rows_.empty(); }
    bool full() const { return bytes_ >= kEnough; }
    // The message, and begins anew.
    std::string take();

  private:
    std::map<std::string, std::string, std::less<>> rows_;  // by addon, with commas between
    std::size_t bytes_ = 0;
    std::uint64_t newest_ = 0;
};

}  // namespace pollux::api
