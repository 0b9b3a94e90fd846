// Whether devices answer, asked anew: makes their tasks due, inside all budgets, by a fresh
// connection, and waits for the ends of polls that began after that. One answer proves that a
// device lives, also an error (HTTP 503, a wrong password); it is down when every task that can be
// asked has ended without any. A device that cannot be asked gets no verdict.
//
// Lives on one loop, where the verdicts come too. Bounded: at most kMostDevices at once, and a
// device is given up after kPatience.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
        std::uint64_t question = 0;
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
        std::uint64_t number = 0;
        std::vector<std::string> tasks;
        // Of each task, how many polls had begun when it was asked; empty: the core has not said.
        std::vector<std::uint32_t> begun;
    };
    static std::optional<bool> verdict(const CoreLoop::View& view, const Question& question);

    void note_begun(const std::vector<std::string>& devices);
    void look();
    void take(std::vector<Verdict> verdicts);

    std::shared_ptr<net::EventLoop> loop_;
    CoreLoop& core_;
    Done done_;
    std::shared_ptr<Life> life_;
    std::shared_ptr<const DeviceTasks> tasks_ = std::make_shared<const DeviceTasks>();
    std::map<std::string, Question, std::less<>> waiting_;
    std::uint64_t questions_ = 0;
    bool asking_ = false;
    net::Timer timer_;
};

}  // namespace pollux::runtime
