// Whether devices answer, asked anew: makes their tasks due, inside all budgets, and waits for the
// first answers after that. One answer proves that a device lives; it is down when every task that
// can be asked has failed since. A device that cannot be asked gets no verdict.
//
// Lives on one loop, where the verdicts come too. Bounded: at most kMostDevices at once, and a
// device is given up after kPatience.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "net/event_loop.hpp"
#include "runtime/core_loop.hpp"

namespace pollux::runtime {

// Keys of the tasks of each device.
using DeviceTasks = std::map<std::string, std::vector<std::string>, std::less<>>;

class DeviceVerifier {
  public:
    static constexpr std::size_t kMostDevices = 10'000;
    static constexpr base::Duration kLookEvery = std::chrono::milliseconds(200);
    static constexpr base::Duration kPatience = std::chrono::seconds(60);

    struct Verdict {
        std::string device;
        bool up = false;
        base::WallTime at;
    };
    using Done = std::function<void(std::vector<Verdict>)>;

    // Both outlive it; the loop is kept by what is asked of the core.
    DeviceVerifier(std::shared_ptr<net::EventLoop> loop, CoreLoop& core, Done done);
    ~DeviceVerifier();

    void set_tasks(std::shared_ptr<const DeviceTasks> tasks) { tasks_ = std::move(tasks); }
    void verify(const std::vector<std::string>& devices);
    std::size_t waiting() const { return waiting_.size(); }

  private:
    struct Life;  // tells an answer of the core whether there still is somebody to hear it
    struct Question {
        std::string device;
        base::BootTime asked;
        std::vector<std::string> tasks;
    };

    void look();
    void take(std::vector<Verdict> verdicts);

    std::shared_ptr<net::EventLoop> loop_;
    CoreLoop& core_;
    Done done_;
    std::shared_ptr<Life> life_;
    std::shared_ptr<const DeviceTasks> tasks_ = std::make_shared<const DeviceTasks>();
    std::map<std::string, Question, std::less<>> waiting_;
    bool asking_ = false;
    net::Timer timer_;
};

}  // namespace pollux::runtime
