#include "runtime/alerts/device_verifier.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace pollux::runtime {
namespace {

// Nothing: nobody knows yet.
std::optional<bool> verdict(const CoreLoop::View& view, const std::vector<std::string>& tasks,
                            base::BootTime asked) {
    const auto& core = view.engine.core();
    bool all_failed = false;
    for (const std::string& key : tasks) {
        const model::TaskHandle task = core.find(key);
        if (!core.is_live(task)) continue;
        const schedule::TaskSlot& slot = core.slot(task);
        if (!slot.has(schedule::kFlagEnabled)) continue;
        if (slot.last_success >= asked) return true;
        if (slot.last_error < asked) return std::nullopt;
        all_failed = true;
    }
    return all_failed ? std::optional(false) : std::nullopt;
}

}  // namespace

struct DeviceVerifier::Life {
    DeviceVerifier* verifier = nullptr;
};

DeviceVerifier::DeviceVerifier(std::shared_ptr<net::EventLoop> loop, CoreLoop& core, Done done)
    : loop_(std::move(loop)),
      core_(core),
      done_(std::move(done)),
      life_(std::make_shared<Life>(this)),
      timer_(*loop_, [this] { look(); }) {}

DeviceVerifier::~DeviceVerifier() { life_->verifier = nullptr; }

void DeviceVerifier::verify(const std::vector<std::string>& devices) {
    const base::BootTime now = net::boot_now();
    std::vector<std::string> poked;
    for (const std::string& device : devices) {
        const auto tasks = tasks_->find(device);
        if (tasks == tasks_->end() || waiting_.size() >= kMostDevices) continue;
        waiting_[device] = {device, now, tasks->second};
        poked.insert(poked.end(), tasks->second.begin(), tasks->second.end());
    }
    if (poked.empty()) return;
    core_.poke(std::move(poked), schedule::PokeReason::kVerify);
    if (!timer_.armed()) timer_.arm_in(kLookEvery);
}

void DeviceVerifier::look() {
    const base::BootTime now = net::boot_now();
    std::erase_if(waiting_,
                  [&](const auto& entry) { return now - entry.second.asked > kPatience; });
    if (waiting_.empty()) return;
    timer_.arm_in(kLookEvery);
    if (std::exchange(asking_, true)) return;  // the core has not answered yet
    std::vector<Question> questions;
    for (const auto& [device, question] : waiting_) questions.push_back(question);
    core_.ask(
        [loop = loop_, life = life_, questions = std::move(questions)](const CoreLoop::View& view) {
            std::vector<Verdict> verdicts;
            for (const Question& question : questions) {
                const auto up = verdict(view, question.tasks, question.asked);
                if (up) verdicts.push_back({question.device, *up, view.now.wall});
            }
            loop->post([life, verdicts = std::move(verdicts)]() mutable {
                if (life->verifier != nullptr) life->verifier->take(std::move(verdicts));
            });
        });
}

void DeviceVerifier::take(std::vector<Verdict> verdicts) {
    asking_ = false;
    for (const Verdict& one : verdicts) waiting_.erase(one.device);
    if (!verdicts.empty()) done_(std::move(verdicts));
}

}  // namespace pollux::runtime
