// How large the requests of one ask are: what the device is known to take, what a person fixed, and
// what this ask met so far. Without I/O; one per exchange, which tells it what came of each
// request.
//
// What is found out is in profile(), also if the ask fails later. Numbers that a person fixed are
// not learned; where they prove too large they are made smaller for this ask only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/ask.hpp"
#include "protocol/snmp/device_profile.hpp"

namespace pollux::protocol::snmp {

struct ExchangeLimits {
    std::uint32_t max_requests = 20'000;  // of one ask, resends not counted
    // Of a request, and of the expected answer to a GET: below the MTU of Ethernet, so that nothing
    // is fragmented. Answers with long texts can still be larger.
    std::size_t message_bytes = 1400;
};

// A request as it was sent.
struct AskedSize {
    bool bulk = false;
    std::uint32_t varbinds = 0;
    std::uint32_t rows = 1;       // of a GETBULK
    std::uint32_t row_bytes = 0;  // of a GETBULK: what one row is expected to take

    std::uint32_t bytes() const { return rows * row_bytes; }
};

class ExchangePlan {
  public:
    void begin(const model::SnmpAsk& ask, const DeviceProfile& profile);

    std::uint32_t varbinds() const;
    bool bulk() const;
    std::uint32_t rows(std::uint32_t row_bytes) const;

    // The request was answered, and nothing was left out. `quick`: well within its time.
    void whole(const AskedSize& asked, bool quick);
    // Something was left out; `answered` variables (GET) or rows came.
    void cut(const AskedSize& asked, std::uint32_t answered);
    // The device says that it is too big. False: it is as small as it gets.
    bool ask_for_less(const AskedSize& asked);
    // The device has some other trouble: smaller for now; learned only if that helps. False: as
    // above.
    bool try_less(const AskedSize& asked);
    // Nobody answered, and then somebody did a smaller request. `blame`: the size, in the profile.
    void silent(const AskedSize& asked, bool blame);
    // An answer to GETBULK broke the protocol. False: it is not in use, or a person wants it so.
    bool give_up_bulk();
    // The ask got everything.
    void settle();

    void note_answer(std::size_t bytes);
    const DeviceProfile& profile() const { return profile_; }
    bool changed() const { return changed_; }

  private:
    bool learns_varbinds() const { return ask_->fixed.max_varbinds == 0; }
    bool learns_rows() const { return ask_->fixed.max_repetitions == 0; }
    std::uint32_t most_rows() const;
    bool bound_by_bytes(const AskedSize& asked) const;
    void count_step(std::uint32_t DeviceProfile::* kind);
    bool lower(const AskedSize& asked, std::uint32_t divisor);

    const model::SnmpAsk* ask_ = nullptr;
    DeviceProfile profile_;
    // For this ask only; 0: none.
    std::uint32_t varbinds_cap_ = 0;
    std::uint32_t rows_cap_ = 0;
    std::uint32_t troubled_ = 0;  // variables of the first request with some other trouble
    std::uint8_t silences_ = 0;
    bool no_bulk_ = false;
    bool bulk_broken_ = false;
    bool bulk_troubled_ = false;
    bool bulk_came_ = false;
    bool varbinds_whole_ = false;  // at the limit
    bool rows_whole_ = false;
    bool changed_ = false;
};

}  // namespace pollux::protocol::snmp
