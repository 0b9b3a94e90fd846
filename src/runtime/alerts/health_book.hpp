// Which targets do not answer, from the transitions of their tasks: a target is as bad as the worst
// of its tasks. Keeps only those that fail. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alert/input.hpp"
#include "base/time.hpp"
#include "runtime/event_feed.hpp"
#include "runtime/task_rows.hpp"

namespace pollux::runtime {

// `addon::device#group` belongs to the target `addon::device`.
std::string_view target_of(std::string_view task_key);

// The failure of a row has gone through all its confirmations.
bool is_confirmed(const TaskRow& row);

class HealthBook {
  public:
    // A transition. Nothing: the health of the target did not change by it.
    std::optional<alert::TargetHealth> take(const TaskNews& news);
    // How a failing task stands now; a task that does not fail is up.
    std::optional<alert::TargetHealth> take(const TaskRow& row);
    // The task is gone, or nobody polls it any more: it says nothing.
    std::optional<alert::TargetHealth> drop(std::string_view task_key);

    // Tasks that failed and are not confirmed yet.
    std::vector<std::string> suspects() const;
    // Confirmed tasks of which it is known otherwise than `answering` (sorted) says whether their
    // failure is an answer: that may change without a transition.
    std::vector<std::string> changed_answers(const std::vector<std::string>& answering) const;
    bool fails(std::string_view target) const { return of(target).health != alert::Health::kUp; }
    std::size_t size() const { return tasks_.size(); }

  private:
    struct Failing {
        bool confirmed = false;
        bool permanent = false;
        bool answered = false;
        std::uint32_t failures = 0;
        std::string code;
        std::string message;
        base::WallTime at;
    };

    std::optional<alert::TargetHealth> set(std::string_view task_key, std::optional<Failing> state);
    alert::TargetHealth of(std::string_view target) const;

    std::map<std::string, Failing, std::less<>> tasks_;
};

}  // namespace pollux::runtime
