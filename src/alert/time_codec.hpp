// Moments in durable bytes: boot times mean nothing after a reboot, so they are kept as wall times.
#pragma once

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace pollux::alert {

class TimeCodec {
  public:
    explicit TimeCodec(base::Instant now) : now_(now) {}

    void write(base::ByteWriter& out, base::BootTime time) const {
        if (time == base::BootTime::max() || time == base::BootTime::min()) {
            out.u8(time == base::BootTime::max() ? kNever : kAlways);
            return;
        }
        out.u8(kMoment);
        out.zigzag((now_.wall + (time - now_.boot)).us);
    }

    base::BootTime read(base::ByteReader& in) const {
        switch (in.u8()) {
            case kNever: return base::BootTime::max();
            case kAlways: return base::BootTime::min();
            case kMoment: return boot_of(base::WallTime{in.zigzag()});
            default: in.fail(); return base::BootTime::min();
        }
    }

    base::BootTime boot_of(base::WallTime wall) const { return now_.boot + (wall - now_.wall); }

  private:
    static constexpr std::uint8_t kNever = 0;
    static constexpr std::uint8_t kAlways = 1;
    static constexpr std::uint8_t kMoment = 2;

    base::Instant now_;
};

}  // namespace pollux::alert
