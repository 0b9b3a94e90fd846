// What the desk of alerts shows to other threads at any moment, without being asked: immutable
// snapshots, replaced whole.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/time.hpp"
#include "store/alert_overlay.hpp"

namespace pollux::runtime {

// Flexible silences by id: when their time began.
using BegunSilences = std::map<std::string, base::WallTime, std::less<>>;

class AlertBoard {
  public:
    using Uncommitted = std::shared_ptr<const store::UncommittedAlerts>;

    // Null: everything that people may see is committed.
    void set_uncommitted(Uncommitted rows) {
        const std::scoped_lock lock(mutex_);
        uncommitted_ = std::move(rows);
    }
    Uncommitted uncommitted() const {
        const std::scoped_lock lock(mutex_);
        return uncommitted_;
    }
    void set_begun(BegunSilences begun) {
        auto made = std::make_shared<const BegunSilences>(std::move(begun));
        const std::scoped_lock lock(mutex_);
        begun_ = std::move(made);
    }
    std::shared_ptr<const BegunSilences> begun() const {  // never null
        const std::scoped_lock lock(mutex_);
        return begun_;
    }

  private:
    mutable std::mutex mutex_;
    Uncommitted uncommitted_;
    std::shared_ptr<const BegunSilences> begun_ = std::make_shared<const BegunSilences>();
};

}  // namespace pollux::runtime
