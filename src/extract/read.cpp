#include <fmt/format.h>

#include "extract/addon_plan.hpp"
#include "extract/compiled_addon.hpp"
#include "extract/read_http.hpp"
#include "extract/read_snmp.hpp"
#include "extract/reading_writer.hpp"

namespace pollux::extract {

model::Readings CompiledAddon::read(std::size_t group, std::span<const model::Reply* const> replies,
                                    base::WallTime now, Trace* trace, Budget budget) const {
    model::Readings out;
    out.group = static_cast<std::uint16_t>(group);
    if (group >= plan_->groups.size()) return out;
    const GroupPlan& asked = plan_->groups[group];
    out.values.reserve(asked.rules.size());
    ReadingWriter writer(*plan_, group, out, budget, trace);
    if (plan_->addon.protocol != model::ProtocolKind::kSnmp) {
        read_http(*plan_, group, replies, now, writer);
        return out;
    }
    const model::Reply* reply = replies.empty() ? nullptr : replies.front();
    const auto* snmp = reply == nullptr ? nullptr : std::get_if<model::SnmpReply>(&reply->answer);
    if (snmp != nullptr) {
        read_snmp(*plan_, group, *snmp, writer);
        return out;
    }
    const auto* failure =
        reply == nullptr ? nullptr : std::get_if<model::PollFailure>(&reply->answer);
    writer.problem(failure == nullptr ? "there is no answer" : failure->message);
    return out;
}

}  // namespace pollux::extract
