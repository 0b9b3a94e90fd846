#include "runtime/inbound/inbound_memory.hpp"

#include "base/bytes.hpp"

namespace pollux::runtime {
namespace {

constexpr std::uint8_t kVersion = 1;

}  // namespace

std::string InboundMemory::encode(std::string_view target_id) const {
    base::ByteWriter out;
    out.u8(kVersion);
    out.string(target_id);
    runtime::encode(out, push);
    base::ByteWriter keeper;
    signals.encode(keeper);
    out.string(keeper.view());
    return out.take();
}

base::Result<InboundMemory> InboundMemory::decode(std::string_view bytes,
                                                  std::string_view target_id) {
    base::ByteReader in(bytes);
    const bool known = in.u8() == kVersion && in.string(bytes.size()) == target_id && in.ok();
    InboundMemory memory;
    if (known) memory.push = decode_push_record(in);
    const std::string_view keeper = known ? in.string(bytes.size()) : std::string_view();
    if (!known || !in.ok() || !in.at_end()) {
        return base::internal_error("inbound.memory",
                                    "the stored state is damaged or of another target: it is "
                                    "learned anew");
    }
    auto signals = derive::SignalKeeper::decode(keeper);
    if (!signals) return std::unexpected(signals.error());
    memory.signals = std::move(*signals);
    return memory;
}

}  // namespace pollux::runtime
