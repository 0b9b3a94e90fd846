// Is it the fleet, or is it us? Judges from what fails together. Single-threaded.
//
// Invariants
// 1. Only devices whose failure no other explains count: every device on the way to them is known
//    to be well since they began to fail.
// 2. We are impaired when others say so (ObserverReport), or when such devices are some or many at
//    once and of those that were well not more answer than do not. Where many fail, who has not
//    answered within the time of the sample counts as failed, and so does it when nobody is left
//    who could be asked.
// 3. It is over when the report is taken back, when half of those that failed answer again, or when
//    a new sample answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "alert/alert_settings.hpp"
#include "alert/fleet_map.hpp"
#include "alert/output.hpp"
#include "alert/time_codec.hpp"
#include "base/time.hpp"

namespace pollux::alert {

class ObserverWatch {
  public:
    static constexpr std::string_view kKey = "observer";

    // kWait: ask again at sample_until(), or when sample_ready().
    enum class Verdict : std::uint8_t { kClear, kWait, kImpaired };

    // May a device that does not answer be told about now? What must be asked is appended.
    Verdict judge(base::BootTime now, FleetMap& fleet, const AlertSettings& settings,
                  std::vector<Verify>& ask);

    // Who was asked by an earlier process: the sample has its time from now on.
    void ask_again(base::BootTime now, FleetMap& fleet, const AlertSettings& settings,
                   std::vector<Verify>& ask);

    void report(bool bad, std::string_view why);

    // To be called in each step. Whether the impairment is over by it.
    bool ends(base::BootTime now, FleetMap& fleet, const AlertSettings& settings,
              std::vector<Verify>& ask);

    bool impaired() const { return reported_ || suspected_; }
    const std::string& why() const { return why_; }
    bool sampling() const { return !sample_.empty(); }
    bool sample_ready(base::BootTime now, const FleetMap& fleet) const;
    base::BootTime sample_until() const { return sample_until_; }
    // What was ready then has been told to wait.
    base::BootTime waiting_since() const { return waiting_since_; }
    base::BootTime wake_at() const;

    // Whether it changed since the last call; then it is written.
    void write_change(const TimeCodec& times, std::vector<MemoryRow>& out);
    void write_all(const TimeCodec& times, std::vector<MemoryRow>& out) const;
    bool restore(std::string_view bytes, const TimeCodec& times);

  private:
    struct Counts {
        std::size_t failing = 0;          // in the window, explained or not
        std::size_t unrelated = 0;        // nothing explains them
        std::vector<std::uint32_t> open;  // it is not yet known whether something does
    };
    Verdict wait(base::BootTime now);
    Counts count(base::BootTime now, const FleetMap& fleet, const ObserverSettings& settings) const;
    // Why a device fails, as far as it is known. Asked for all that fail with each of them that
    // fails, so what was found out is kept while it holds.
    enum class Reason : std::uint8_t { kExplained, kUnrelated, kOpen };
    struct Finding {
        std::uint64_t explanations = 0;  // of FleetMap, when it was found
        std::uint32_t revision = 0;      // of the device
        Reason reason = Reason::kOpen;
    };
    Reason reason_of(std::uint32_t device, base::BootTime since, const FleetMap& fleet) const;
    void begin_sample(base::BootTime now, FleetMap& fleet, const AlertSettings& settings,
                      const std::vector<std::uint32_t>& first, bool skip_failing,
                      std::vector<Verify>& ask);
    struct SampleResult {
        std::size_t up = 0;
        std::size_t down = 0;    // and nothing above explains it
        std::size_t silent = 0;  // nobody knows yet
    };
    // The sample is over.
    SampleResult take_sample(const FleetMap& fleet);
    void suspect(base::BootTime now, const FleetMap& fleet, const AlertSettings& settings,
                 std::string why);
    std::string encode(const TimeCodec& times) const;

    bool reported_ = false;
    bool suspected_ = false;
    std::string why_;
    std::uint64_t peak_ = 0;  // devices failing at once while suspected
    base::BootTime recheck_at_ = base::BootTime::max();
    std::vector<std::string> sample_;  // devices
    base::BootTime sample_since_ = base::BootTime::min();
    base::BootTime sample_until_ = base::BootTime::min();
    base::BootTime clear_until_ = base::BootTime::min();
    base::BootTime waiting_since_ = base::BootTime::min();
    std::uint64_t samples_ = 0;
    bool changed_ = false;
    mutable std::vector<Finding> findings_;  // by device; no state: found out again at any time
};

}  // namespace pollux::alert
