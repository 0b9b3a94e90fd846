#include "derive/signal_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace pollux::derive {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kMaxText = 8192;
constexpr std::uint64_t kMaxFields = 256;

void write_signal(base::ByteWriter& out, const model::Signal& signal) {
    for (const std::string* text :
         {&signal.type, &signal.subject, &signal.severity, &signal.category, &signal.title,
          &signal.message, &signal.device_address, &signal.device_name, &signal.rule}) {
        out.string(*text);
    }
    out.boolean(signal.at.has_value());
    if (signal.at) out.zigzag(signal.at->us);
    out.varint(signal.fields.size());
    for (const auto& [name, value] : signal.fields) {
        out.string(name);
        out.string(value);
    }
}

model::Signal read_signal(base::ByteReader& in) {
    model::Signal signal;
    for (std::string* text :
         {&signal.type, &signal.subject, &signal.severity, &signal.category, &signal.title,
          &signal.message, &signal.device_address, &signal.device_name, &signal.rule}) {
        *text = std::string(in.string(kMaxText));
    }
    if (in.boolean()) signal.at = base::WallTime{in.zigzag()};
    const std::uint64_t fields = in.varint();
    if (fields > kMaxFields) in.fail();
    for (std::uint64_t i = 0; i < fields && in.ok(); ++i) {
        std::string name(in.string(kMaxText));
        std::string value(in.string(kMaxText));
        signal.fields.emplace_back(std::move(name), std::move(value));
    }
    return signal;
}

bool looks_alike(const model::Signal& a, const model::Signal& b) {
    return a.severity == b.severity && a.title == b.title && a.message == b.message;
}

}  // namespace

void SignalKeeper::take(const model::Signal& signal, base::WallTime now, bool each,
                        std::vector<SignalChange>& out) {
    const auto found = raised_.find({signal.type, signal.subject});
    if (signal.clear) {
        if (found == raised_.end()) return;
        SignalChange change{SignalStep::kCleared, signal, found->second.occurrences};
        if (change.signal.message.empty()) change.signal.message = found->second.signal.message;
        out.push_back(std::move(change));
        raised_.erase(found);
        return;
    }
    if (found == raised_.end()) {
        if (raised_.size() >= max_raised_) {
            ++dropped_;
            return;
        }
        Raised& fresh =
            raised_.emplace(Key{signal.type, signal.subject}, Raised{signal, now, now, 1})
                .first->second;
        fresh.signal.repeated = false;
        out.push_back({SignalStep::kRaised, fresh.signal, 1});
        return;
    }
    Raised& known = found->second;
    known.last = now;
    ++known.occurrences;
    const bool same_rule =
        known.signal.severity == signal.severity && known.signal.rule == signal.rule;
    if (signal.repeated && same_rule) return;
    const bool tell = each || !looks_alike(known.signal, signal);
    known.signal = signal;
    known.signal.repeated = false;
    if (tell) out.push_back({SignalStep::kUpdated, known.signal, known.occurrences});
}

template <class Over>
void SignalKeeper::clear_where(const Over& over, std::vector<SignalChange>& out) {
    for (auto it = raised_.begin(); it != raised_.end();) {
        if (!over(it->first, it->second)) {
            ++it;
            continue;
        }
        SignalChange change{SignalStep::kCleared, std::move(it->second.signal),
                            it->second.occurrences};
        change.signal.clear = true;
        change.signal.at.reset();
        out.push_back(std::move(change));
        it = raised_.erase(it);
    }
}

std::vector<SignalChange> SignalKeeper::apply(const model::PollSignals& poll, base::WallTime now) {
    std::vector<SignalChange> out;
    std::set<Key> stays;
    for (const auto& open : poll.open) stays.insert(open);
    for (const model::Signal& signal : poll.signals) {
        take(signal, now, false, out);
        if (!signal.clear) stays.insert({signal.type, signal.subject});
    }
    const std::set<std::string, std::less<>> settled(poll.settled.begin(), poll.settled.end());
    const std::set<std::string, std::less<>> types(poll.settled_types.begin(),
                                                   poll.settled_types.end());
    clear_where(
        [&](const Key& key, const Raised& raised) {
            return (settled.contains(raised.signal.rule) || types.contains(key.first)) &&
                   !stays.contains(key);
        },
        out);
    return out;
}

std::vector<SignalChange> SignalKeeper::apply(std::span<const model::Signal> message,
                                              base::WallTime now) {
    std::vector<SignalChange> out;
    for (const model::Signal& signal : message) take(signal, now, true, out);
    return out;
}

std::vector<SignalChange> SignalKeeper::keep_rules(std::span<const std::string> rules) {
    std::vector<SignalChange> out;
    clear_where(
        [&](const Key&, const Raised& raised) {
            return std::ranges::find(rules, raised.signal.rule) == rules.end();
        },
        out);
    return out;
}

std::vector<SignalChange> SignalKeeper::clear_all() {
    std::vector<SignalChange> out;
    clear_where([](const Key&, const Raised&) { return true; }, out);
    return out;
}

void SignalKeeper::encode(base::ByteWriter& out) const {
    out.u8(kVersion);
    out.varint(raised_.size());
    for (const auto& [key, raised] : raised_) {
        write_signal(out, raised.signal);
        out.zigzag(raised.since.us);
        out.zigzag(raised.last.us);
        out.varint(raised.occurrences);
    }
}

base::Result<SignalKeeper> SignalKeeper::decode(std::string_view bytes, std::size_t max_raised) {
    const auto refuse = [](std::string_view why) {
        return base::internal_error(
            "derive.signals", fmt::format("the signals of a target are {}; they start anew", why));
    };
    base::ByteReader in(bytes);
    if (const auto version = in.u8(); in.ok() && version != kVersion) {
        return refuse(fmt::format("of the unknown version {}", version));
    }
    SignalKeeper keeper(max_raised);
    const std::uint64_t count = in.varint();
    if (!in.ok() || count > max_raised) return refuse("damaged or too many");
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        Raised raised;
        raised.signal = read_signal(in);
        raised.since.us = in.zigzag();
        raised.last.us = in.zigzag();
        raised.occurrences = in.varint();
        Key key{raised.signal.type, raised.signal.subject};
        if (!keeper.raised_.emplace(std::move(key), std::move(raised)).second) {
            return refuse("damaged");
        }
    }
    if (!in.ok() || !in.at_end()) return refuse("damaged");
    return keeper;
}

}  // namespace pollux::derive
