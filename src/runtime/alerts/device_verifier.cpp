#include "runtime/alerts/device_verifier.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace pollux::runtime {
namespace {

std::uint32_t polls_begun(const CoreLoop::View& view, const std::string& key) {
    const auto& core = view.engine.core();
    const model::TaskHandle task = core.find(key);
    return core.is_live(task) ? core.slot(task).attempt : 0;
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

// Nothing: nobody knows yet.
std::optional<bool> DeviceVerifier::verdict(const CoreLoop::View& view, const Question& question) {
    const auto& core = view.engine.core();
    bool all_silent = false;
    bool waits = false;
    for (std::size_t i = 0; i < question.tasks.size(); ++i) {
        const model::TaskHandle task = core.find(question.tasks[i]);
        if (!core.is_live(task)) continue;
        const schedule::TaskSlot& slot = core.slot(task);
        if (!slot.has(schedule::kFlagEnabled)) continue;
        // A poll that was under way when it was asked does not count.
        const std::uint32_t under_way = slot.place == schedule::Place::kRunning ? 1 : 0;
        const bool ended = slot.attempt - under_way > question.begun[i];
        if (!ended || slot.last_answer() < question.asked) {
            waits = true;
            continue;
        }
        if (slot.last_success >= slot.last_error) return true;
        const auto failure = view.failures.find(task.index);
        const Heard heard =
            failure == view.failures.end() ? Heard::kSilence : failure->second.heard;
        if (heard == Heard::kAnswer) return true;
        if (heard == Heard::kSilence) all_silent = true;
    }
    return all_silent && !waits ? std::optional(false) : std::nullopt;
}

void DeviceVerifier::verify(const std::vector<std::string>& devices) {
    const base::BootTime now = net::boot_now();
    std::vector<std::string> poked;
    std::vector<std::string> asked;
    for (const std::string& device : devices) {
        const auto tasks = tasks_->find(device);
        if (tasks == tasks_->end() || waiting_.size() >= kMostDevices) continue;
        waiting_[device] = {device, now, ++questions_, tasks->second, {}};
        asked.push_back(device);
        poked.insert(poked.end(), tasks->second.begin(), tasks->second.end());
    }
    if (poked.empty()) return;
    note_begun(asked);
    core_.poke(std::move(poked), schedule::PokeReason::kVerify);
    if (!timer_.armed()) timer_.arm_in(kLookEvery);
}

// The core answers this before it sees the pokes that follow.
void DeviceVerifier::note_begun(const std::vector<std::string>& devices) {
    std::vector<Question> questions;
    for (const std::string& device : devices) questions.push_back(waiting_[device]);
    core_.ask([loop = loop_, life = life_,
               questions = std::move(questions)](const CoreLoop::View& view) mutable {
        for (Question& question : questions) {
            for (const std::string& key : question.tasks) {
                question.begun.push_back(polls_begun(view, key));
            }
        }
        loop->post([life, questions = std::move(questions)]() mutable {
            if (life->verifier == nullptr) return;
            auto& waiting = life->verifier->waiting_;
            for (Question& question : questions) {
                const auto found = waiting.find(question.device);
                if (found == waiting.end() || found->second.number != question.number) continue;
                found->second.begun = std::move(question.begun);
            }
        });
    });
}

void DeviceVerifier::look() {
    const base::BootTime now = net::boot_now();
    std::erase_if(waiting_,
                  [&](const auto& entry) { return now - entry.second.asked > kPatience; });
    if (waiting_.empty()) return;
    timer_.arm_in(kLookEvery);
    if (std::exchange(asking_, true)) return;  // the core has not answered yet
    std::vector<Question> questions;
    for (const auto& [device, question] : waiting_) {
        if (question.begun.size() == question.tasks.size()) questions.push_back(question);
    }
    core_.ask(
        [loop = loop_, life = life_, questions = std::move(questions)](const CoreLoop::View& view) {
            std::vector<Verdict> verdicts;
            for (const Question& question : questions) {
                const auto up = verdict(view, question);
                if (up) {
                    verdicts.push_back({question.device, *up, view.now.wall, question.number});
                }
            }
            loop->post([life, verdicts = std::move(verdicts)]() mutable {
                if (life->verifier != nullptr) life->verifier->take(std::move(verdicts));
            });
        });
}

void DeviceVerifier::take(std::vector<Verdict> verdicts) {
    asking_ = false;
    // What was asked once more meanwhile waits for its own answer.
    std::erase_if(verdicts, [&](const Verdict& one) {
        const auto waiting = waiting_.find(one.device);
        return waiting == waiting_.end() || waiting->second.number != one.question;
    });
    for (const Verdict& one : verdicts) waiting_.erase(one.device);
    if (!verdicts.empty()) done_(std::move(verdicts));
}

}  // namespace pollux::runtime
