// The public status page as JSON, and its badges. Whoever reads it has no login: it says how groups
// do, and what people wrote for everybody; never a device, an address, an error or an author.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "runtime/uptime/uptime_book.hpp"

namespace pollux::api {

struct PublicNote {
    base::WallTime at;
    std::string text;
};

struct PublicIncident {
    base::WallTime started;
    base::WallTime ended;  // zero: open
    std::vector<std::string> groups;
    std::vector<PublicNote> notes;
};

struct StatusFacts {
    std::string title;
    std::vector<std::string> wanted;           // names of groups; empty: all
    std::vector<runtime::GroupUptime> groups;  // as UptimeBook::groups() gives them
    std::vector<PublicIncident> incidents;
    base::WallTime now;
};

// How a group does, or all of it.
struct GroupStatus {
    std::string name;
    std::string_view state;  // up, degraded, down, unknown
    std::optional<double> uptime;
};

class StatusPage {
  public:
    explicit StatusPage(StatusFacts facts);
    StatusPage(const StatusPage&) = delete;  // it points into itself
    StatusPage& operator=(const StatusPage&) = delete;

    std::string json() const;
    // Of a group that is shown; "all" is the whole unless a group has this name. Nothing: there is
    // none.
    std::optional<GroupStatus> find(std::string_view group) const;
    // Whether the page may speak of it.
    bool shows(std::string_view group) const;

  private:
    GroupStatus whole() const;

    StatusFacts facts_;
    std::vector<const runtime::GroupUptime*> shown_;
    const runtime::GroupUptime* all_ = nullptr;
};

// "berlin | up 99.98 %" as a picture. The label is text of people: it is escaped.
std::string status_badge(std::string_view label, const GroupStatus& status);

// Rounded down, so that nothing is called whole that was not: 0.999999.
double rounded_share(double share);

// [{"day":"2026-01-31","uptime":1,"down_seconds":0}, …], the oldest first.
void write_days(std::string& out, const std::vector<runtime::UptimeDay>& days);

}  // namespace pollux::api
