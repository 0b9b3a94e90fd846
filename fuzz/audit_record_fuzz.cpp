// A record of the audit trail from arbitrary bytes: no crash, within bounds, one form.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "engine/audit_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pollux;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto read = engine::decode_audit(bytes);
    if (!read) {
        POLLUX_CHECK(!read.error().message.empty());
        return 0;
    }
    POLLUX_CHECK(read->entry.reason.size() <= model::kAuditLimits.reason);
    POLLUX_CHECK(read->entry.after.size() <= model::kAuditLimits.after);
    POLLUX_CHECK_MSG(engine::encode_audit(read->number, read->entry) == bytes,
                     "one record, one form");
    return 0;
}
