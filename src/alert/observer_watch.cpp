#include "alert/observer_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pollux::alert {
namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::size_t kFewestTops = 3;
constexpr std::size_t kMaxSample = 256;
constexpr std::size_t kMaxText = 4096;

std::size_t threshold(const ObserverSettings& settings, std::size_t of) {
    const auto share = static_cast<std::size_t>(settings.share * static_cast<double>(of));
    return std::max<std::size_t>(settings.least, share);
}

}  // namespace

ObserverWatch::Reason ObserverWatch::reason_of(std::uint32_t device, base::BootTime since,
                                               const FleetMap& fleet) const {
    if (findings_.size() < fleet.device_count()) findings_.resize(fleet.device_count());
    Finding& known = findings_[device];
    const std::uint32_t revision = fleet.device(device).revision;
    if (known.explanations == fleet.explanations() && known.revision == revision) {
        return known.reason;
    }
    known.explanations = fleet.explanations();
    known.revision = revision;
    if (fleet.root_of(device)) {
        known.reason = Reason::kExplained;
    } else {
        const bool asked = std::ranges::all_of(fleet.ancestors(device), [&](std::uint32_t other) {
            return fleet.known_since(other, since);
        });
        known.reason = asked ? Reason::kUnrelated : Reason::kOpen;
    }
    return known.reason;
}

ObserverWatch::Counts ObserverWatch::count(base::BootTime now, const FleetMap& fleet,
                                           const ObserverSettings& settings) const {
    Counts out;
    const auto& failing = fleet.failing();
    for (auto it = failing.rbegin(); it != failing.rend(); ++it) {
        const auto [since, device] = *it;
        if (now - since > settings.window) break;
        ++out.failing;
        switch (reason_of(device, since, fleet)) {
            case Reason::kExplained: break;
            case Reason::kUnrelated: ++out.unrelated; break;
            case Reason::kOpen: out.open.push_back(device); break;
        }
    }
    return out;
}

ObserverWatch::Verdict ObserverWatch::judge(base::BootTime now, FleetMap& fleet,
                                            const AlertSettings& settings,
                                            std::vector<Verify>& ask) {
    if (impaired()) return Verdict::kImpaired;
    const Counts counts = count(now, fleet, settings.observer);
    const bool many = counts.unrelated >= threshold(settings.observer, fleet.tops().size()) &&
                      counts.failing >= threshold(settings.observer, fleet.monitored());
    const auto suspect_many = [&] {
        suspect(now, fleet, settings,
                fmt::format("{} of {} devices began to fail within {} without a common cause",
                            counts.failing, fleet.monitored(),
                            base::format_duration(settings.observer.window)));
        return Verdict::kImpaired;
    };
    if (sampling() && now - sample_until_ > settings.observer.sample_wait) {
        sample_.clear();  // nobody was waiting for it any more
        changed_ = true;
    }
    if (sampling()) {
        if (!sample_ready(now, fleet)) return wait(now);
        const std::size_t asked = sample_.size();
        const SampleResult result = take_sample(fleet);
        // Where that many fail, silence is no answer either.
        if (many && result.down + result.silent > 0 && result.down + result.silent >= result.up) {
            return suspect_many();
        }
        if (result.down >= kFewestTops && result.down >= result.up) {
            suspect(now, fleet, settings,
                    fmt::format("most of {} devices that were well do not answer either", asked));
            return Verdict::kImpaired;
        }
        clear_until_ = now + settings.observer.sample_wait;
        return Verdict::kClear;
    }
    if (!many && counts.unrelated + counts.open.size() < settings.observer.suspect_from) {
        return Verdict::kClear;
    }
    if (now < clear_until_) return Verdict::kClear;
    begin_sample(now, fleet, settings, counts.open, true, ask);
    if (sampling()) return wait(now);
    return many ? suspect_many() : Verdict::kClear;  // nobody is left who could be asked
}

ObserverWatch::Verdict ObserverWatch::wait(base::BootTime now) {
    waiting_since_ = now;
    changed_ = true;
    return Verdict::kWait;
}

void ObserverWatch::begin_sample(base::BootTime now, FleetMap& fleet, const AlertSettings& settings,
                                 const std::vector<std::uint32_t>& first, bool skip_failing,
                                 std::vector<Verify>& ask) {
    std::vector<std::uint32_t> chosen;
    const std::size_t most = std::min<std::size_t>(settings.observer.sample, kMaxSample);
    const auto take = [&](std::uint32_t device) {
        if (std::ranges::find(chosen, device) == chosen.end()) chosen.push_back(device);
    };
    // What stands above those that fail says most, then those that have nothing in common.
    for (const std::uint32_t device : first) {
        const auto above = fleet.ancestors(device);
        if (!above.empty() && chosen.size() < most / 2) take(above.back());
    }
    const std::size_t above = chosen.size();
    const bool enough = fleet.tops().size() >= kFewestTops;
    const std::size_t all = enough ? fleet.tops().size() : fleet.device_count();
    const std::size_t stride = std::max<std::size_t>(1, all / std::max<std::size_t>(1, most));
    for (std::size_t i = 0; i < all && chosen.size() < most; ++i) {
        const std::size_t place = (samples_ + i * stride + i * stride / all) % all;
        const std::uint32_t device =
            enough ? fleet.tops()[place] : static_cast<std::uint32_t>(place);
        if (!fleet.device(device).monitored) continue;
        if (skip_failing && fleet.device(device).failing_since != base::BootTime::max()) continue;
        take(device);
    }
    // Only those above, and too few to conclude anything: their own verification is enough.
    if (chosen.size() < kFewestTops && chosen.size() == above) return;
    ++samples_;
    changed_ = true;
    sample_since_ = now;
    sample_until_ = now + settings.observer.sample_wait;
    for (const std::uint32_t device : chosen) {
        sample_.push_back(fleet.device(device).name);
        if (fleet.ask(device, now, settings.verify_timeout)) ask.push_back({sample_.back()});
    }
}

bool ObserverWatch::sample_ready(base::BootTime now, const FleetMap& fleet) const {
    if (!sampling()) return false;
    if (now >= sample_until_) return true;
    return std::ranges::all_of(sample_, [&](const std::string& name) {
        const std::uint32_t device = fleet.device_by_name(name);
        return device == FleetMap::kNone || fleet.device(device).answered_at >= sample_since_;
    });
}

ObserverWatch::SampleResult ObserverWatch::take_sample(const FleetMap& fleet) {
    SampleResult out;
    for (const std::string& name : sample_) {
        const std::uint32_t device = fleet.device_by_name(name);
        if (device == FleetMap::kNone) continue;
        if (fleet.device(device).answered_at < sample_since_) {
            ++out.silent;
        } else if (!fleet.device(device).down) {
            ++out.up;
        } else if (!fleet.root_of(device)) {
            ++out.down;
        }
    }
    sample_.clear();
    changed_ = true;
    return out;
}

void ObserverWatch::suspect(base::BootTime now, const FleetMap& fleet,
                            const AlertSettings& settings, std::string why) {
    suspected_ = true;
    why_ = std::move(why);
    peak_ = fleet.failing().size();
    recheck_at_ = now + settings.observer.recheck;
    sample_.clear();
    changed_ = true;
}

void ObserverWatch::ask_again(base::BootTime now, FleetMap& fleet, const AlertSettings& settings,
                              std::vector<Verify>& ask) {
    if (!sampling()) return;
    sample_until_ = now + settings.observer.sample_wait;
    changed_ = true;
    for (const std::string& name : sample_) {
        const std::uint32_t device = fleet.device_by_name(name);
        if (device == FleetMap::kNone || fleet.device(device).answered_at >= sample_since_) {
            continue;
        }
        if (fleet.ask_again(device, now)) ask.push_back({name});
    }
}

void ObserverWatch::report(bool bad, std::string_view why) {
    if (bad == reported_ && (!bad || why == why_)) return;
    reported_ = bad;
    if (bad) why_ = std::string(why.substr(0, kMaxText));
    changed_ = true;
}

bool ObserverWatch::ends(base::BootTime now, FleetMap& fleet, const AlertSettings& settings,
                         std::vector<Verify>& ask) {
    if (!suspected_) return false;
    const std::size_t failing = fleet.failing().size();
    if (failing > peak_) {
        peak_ = failing;
        changed_ = true;
    }
    bool over = failing * 2 <= peak_;
    if (!over && sampling() && sample_ready(now, fleet)) {
        const SampleResult result = take_sample(fleet);
        const Counts counts = count(now, fleet, settings.observer);
        over = result.up > result.down &&
               counts.unrelated < threshold(settings.observer, fleet.tops().size());
        recheck_at_ = now + settings.observer.recheck;
    } else if (!over && !sampling() && now >= recheck_at_) {
        begin_sample(now, fleet, settings, {}, true, ask);
        recheck_at_ = now + settings.observer.recheck;
        changed_ = true;
    }
    if (!over) return false;
    suspected_ = false;
    sample_.clear();
    recheck_at_ = base::BootTime::max();
    clear_until_ = now;
    changed_ = true;
    return !reported_;
}

base::BootTime ObserverWatch::wake_at() const {
    if (!suspected_) return base::BootTime::max();
    return sampling() ? std::min(sample_until_, recheck_at_) : recheck_at_;
}

std::string ObserverWatch::encode(const TimeCodec& times) const {
    base::ByteWriter out;
    out.u8(kVersion);
    out.boolean(reported_);
    out.boolean(suspected_);
    out.string(why_);
    out.varint(peak_);
    for (const base::BootTime time :
         {recheck_at_, sample_since_, sample_until_, clear_until_, waiting_since_}) {
        times.write(out, time);
    }
    out.varint(samples_);
    out.varint(sample_.size());
    for (const std::string& name : sample_) out.string(name);
    return out.take();
}

void ObserverWatch::write_change(const TimeCodec& times, std::vector<MemoryRow>& out) {
    if (!std::exchange(changed_, false)) return;
    out.push_back({std::string(kKey), encode(times)});
}

void ObserverWatch::write_all(const TimeCodec& times, std::vector<MemoryRow>& out) const {
    out.push_back({std::string(kKey), encode(times)});
}

bool ObserverWatch::restore(std::string_view bytes, const TimeCodec& times) {
    base::ByteReader in(bytes);
    ObserverWatch read;
    if (in.u8() != kVersion) in.fail();
    read.reported_ = in.boolean();
    read.suspected_ = in.boolean();
    read.why_ = in.string(kMaxText);
    read.peak_ = in.varint();
    for (base::BootTime* time : {&read.recheck_at_, &read.sample_since_, &read.sample_until_,
                                 &read.clear_until_, &read.waiting_since_}) {
        *time = times.read(in);
    }
    read.samples_ = in.varint();
    const std::uint64_t count = in.varint();
    if (count > kMaxSample) in.fail();
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        read.sample_.emplace_back(in.string(kMaxText));
    }
    if (!in.ok() || !in.at_end()) return false;
    *this = std::move(read);
    return true;
}

}  // namespace pollux::alert
