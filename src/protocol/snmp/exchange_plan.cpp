#include "protocol/snmp/exchange_plan.hpp"

#include <algorithm>

namespace pollux::protocol::snmp {
namespace {

std::uint32_t capped(std::uint32_t value, std::uint32_t cap) {
    return std::max(cap == 0 ? value : std::min(value, cap), 1U);
}

}  // namespace

void ExchangePlan::begin(const model::SnmpAsk& ask, const DeviceProfile& profile) {
    ask_ = &ask;
    profile_ = profile;
}

std::uint32_t ExchangePlan::varbinds() const {
    const std::uint32_t learned =
        profile_.varbinds.now == 0 ? ask_->max_varbinds : profile_.varbinds.now;
    return capped(learns_varbinds() ? learned : ask_->fixed.max_varbinds, varbinds_cap_);
}

bool ExchangePlan::bulk() const {
    if (ask_->version == model::SnmpVersion::kV1 || no_bulk_) return false;
    return ask_->fixed.bulk.value_or(profile_.uses_bulk());
}

std::uint32_t ExchangePlan::most_rows() const {
    if (!learns_rows()) return ask_->fixed.max_repetitions;
    return profile_.repetitions.now == 0 ? std::max(ask_->max_repetitions, 1U)
                                         : profile_.repetitions.now;
}

std::uint32_t ExchangePlan::rows(std::uint32_t row_bytes) const {
    std::uint32_t count = most_rows();
    if (learns_rows()) {
        count = std::min(count, profile_.answer_bytes.now / std::max(row_bytes, 1U));
    }
    return capped(count, rows_cap_);
}

bool ExchangePlan::bound_by_bytes(const AskedSize& asked) const { return asked.rows < most_rows(); }

void ExchangePlan::note_answer(std::size_t bytes) {
    if (bytes <= profile_.largest_answer) return;
    profile_.largest_answer = static_cast<std::uint32_t>(bytes);
    changed_ = true;
}

void ExchangePlan::count_step(std::uint32_t DeviceProfile::* kind) {
    ++(profile_.*kind);
    ++profile_.steps_back;
    changed_ = true;
}

// --- good news -----------------------------------------------------------------------------------

void ExchangePlan::whole(const AskedSize& asked, bool quick) {
    if (!asked.bulk) {
        if (!learns_varbinds() || varbinds_cap_ != 0) return;
        const bool full = asked.varbinds >= varbinds();
        // Within one ask the size stays: it grows when all of it came.
        if (full && quick) varbinds_whole_ = true;
        changed_ |= profile_.varbinds.came_whole(asked.varbinds, false, kMostVarbinds);
        return;
    }
    bulk_came_ = true;
    if (!learns_rows() || rows_cap_ != 0) return;
    const bool by_bytes = bound_by_bytes(asked);
    if (!by_bytes && quick) rows_whole_ = true;
    changed_ |= profile_.repetitions.came_whole(asked.rows, false, kMostRepetitions);
    // A table is long: the answers grow while it is read.
    Climb& bytes = profile_.answer_bytes;
    const bool grows = by_bytes && quick;
    changed_ |= bytes.came_whole(grows ? std::max(bytes.now, asked.bytes()) : asked.bytes(), grows,
                                 kMostAnswerBytes);
}

void ExchangePlan::settle() {
    if (varbinds_whole_ && varbinds_cap_ == 0) {
        changed_ |= profile_.varbinds.came_whole(varbinds(), true, kMostVarbinds);
    }
    if (rows_whole_ && rows_cap_ == 0) {
        changed_ |= profile_.repetitions.came_whole(most_rows(), true, kMostRepetitions);
    }
    if (troubled_ != 0 && learns_varbinds()) {
        profile_.varbinds.refused(troubled_);
        count_step(&DeviceProfile::too_big);
    }
    if (bulk_broken_) {
        profile_.bulk = Bulk::kBroken;
        changed_ = true;
    } else if (bulk_troubled_) {
        doubt_bulk(profile_);
        changed_ = true;
    } else if (bulk_came_ && profile_.bulk_doubts != 0) {
        profile_.bulk_doubts = 0;
        changed_ = true;
    }
}

// --- bad news ------------------------------------------------------------------------------------

void ExchangePlan::cut(const AskedSize& asked, std::uint32_t answered) {
    bool learned = false;
    if (!asked.bulk) {
        varbinds_cap_ = std::max(answered, 1U);
        learned = learns_varbinds() && profile_.varbinds.cut(answered);
    } else {
        bulk_came_ = true;
        if (!learns_rows() || rows_cap_ != 0) return;
        // What is asked for is not changed, since it costs nothing; it only stops growing.
        learned = bound_by_bytes(asked) ? profile_.answer_bytes.cut(profile_.answer_bytes.now)
                                        : profile_.repetitions.cut(asked.rows);
    }
    if (!learned) return;
    ++profile_.cuts;
    changed_ = true;
}

// Makes this ask's requests smaller.
bool ExchangePlan::lower(const AskedSize& asked, std::uint32_t divisor) {
    if (asked.bulk && asked.rows > 1) {
        rows_cap_ = std::max(asked.rows / divisor, 1U);
        return true;
    }
    if (asked.varbinds <= 1) return false;
    varbinds_cap_ = std::max(asked.varbinds / divisor, 1U);
    return true;
}

bool ExchangePlan::ask_for_less(const AskedSize& asked) {
    if (!lower(asked, 2)) return false;
    if (asked.bulk && asked.rows > 1) {
        if (!learns_rows()) return true;
        // What is larger than a packet fails as such; what is smaller has too many rows.
        if (asked.bytes() > kFirstAnswerBytes) {
            profile_.answer_bytes.refused(asked.bytes());
        } else {
            profile_.repetitions.refused(asked.rows);
        }
    } else {
        if (!learns_varbinds()) return true;
        profile_.varbinds.refused(asked.varbinds);
    }
    count_step(&DeviceProfile::too_big);
    return true;
}

bool ExchangePlan::try_less(const AskedSize& asked) {
    if (asked.bulk) {
        if (ask_->fixed.bulk == true) return lower(asked, 2);
        no_bulk_ = true;
        bulk_troubled_ = true;
        return true;
    }
    if (!lower(asked, 2)) return false;
    if (troubled_ == 0 || asked.varbinds < troubled_) troubled_ = asked.varbinds;
    return true;
}

void ExchangePlan::silent(const AskedSize& asked, bool blame) {
    const bool again = silences_ > 0;
    if (silences_ < 255) ++silences_;
    lower(asked, 4);
    if (asked.bulk && again && ask_->fixed.bulk != true) {
        no_bulk_ = true;
        varbinds_cap_ = 0;
    }
    if (!blame) return;
    ++profile_.silences;
    changed_ = true;
    bool stepped = false;
    if (!asked.bulk) {
        stepped = learns_varbinds() && profile_.varbinds.silent(asked.varbinds);
    } else {
        if (!bulk_came_ && !again) doubt_bulk(profile_);
        if (learns_rows() && asked.rows > 1) {
            stepped = asked.bytes() > kFirstAnswerBytes
                          ? profile_.answer_bytes.silent(asked.bytes())
                          : profile_.repetitions.silent(asked.rows);
        }
    }
    if (stepped) ++profile_.steps_back;
}

bool ExchangePlan::give_up_bulk() {
    if (!bulk() || ask_->fixed.bulk == true) return false;
    no_bulk_ = true;
    bulk_broken_ = true;
    return true;
}

}  // namespace pollux::protocol::snmp
