// How often messages may let a device be polled at once: a storm of traps is one reason to look,
// not many. Bounded. Not thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "base/time.hpp"
#include "base/token_bucket.hpp"

namespace pollux::runtime {

class ConfirmGate {
  public:
    static constexpr std::size_t kMostDevices = 10'000;

    ConfirmGate(double per_second, base::Duration pause)
        : rate_(base::TokenBucket::with_default_burst(per_second)), pause_(pause) {}

    void set(base::BootTime now, double per_second, base::Duration pause) {
        rate_.set_rate(now, per_second, std::max(1.0, 0.5 * per_second));
        pause_ = pause;
    }

    bool admit(const std::string& device, base::BootTime now) {
        const auto found = last_.find(device);
        if (found != last_.end() && now - found->second < pause_) return false;
        if (!rate_.open(now)) return false;
        if (found == last_.end() && last_.size() >= kMostDevices) {
            std::erase_if(last_, [&](const auto& one) { return now - one.second >= pause_; });
            if (last_.size() >= kMostDevices) return false;
        }
        rate_.take(now);
        last_[device] = now;
        return true;
    }

  private:
    base::TokenBucket rate_;
    base::Duration pause_;
    std::map<std::string, base::BootTime, std::less<>> last_;
};

}  // namespace pollux::runtime
