// Pages about tasks: why one is not running, what runs next, which ones fail. Facts are taken on
// the core's thread (functions that take a View), pages are written on another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "document/json_writer.hpp"
#include "runtime/core_loop.hpp"
#include "runtime/task_rows.hpp"
#include "schedule/explain.hpp"
#include "store/store_types.hpp"

namespace pollux::api {

struct ExplainFacts {
    schedule::Explanation story;
    runtime::TaskRow row;
    base::WallTime next_due;
    base::WallTime wakes_at;                  // zero: an event wakes it
    std::vector<base::WallTime> gates_until;  // by gate; zero: until an event
};

// Nothing: there is no such task.
std::optional<ExplainFacts> explain_facts(const runtime::CoreLoop::View& view,
                                          std::string_view key);
std::string explain_page(const ExplainFacts& facts);

// The order of the next runs: by time, then tier, then key.
std::vector<runtime::TaskRow> plan_rows(const runtime::CoreLoop::View& view, std::size_t limit);
std::string plan_page(const std::vector<runtime::TaskRow>& rows, base::WallTime now, bool shadow);

// One task as other pages show it; the object is opened and closed here.
void write_task(document::JsonWriter& json, const runtime::TaskRow& row);

// One breaker or dead letter with its newest transitions, the newest first.
void write_breaker(document::JsonWriter& json, const runtime::TaskRow& row,
                   const std::vector<store::StoredChange>& history);
void write_dead_letter(document::JsonWriter& json, const runtime::TaskRow& row,
                       const std::vector<store::StoredChange>& history);

}  // namespace pollux::api
