// Makes signals from the values of one record: the target itself, one of its rows, or a message.
// Private to this folder.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extract/addon_plan.hpp"
#include "extract/compiled_addon.hpp"
#include "model/reply.hpp"
#include "model/signal.hpp"
#include "model/value.hpp"

namespace pollux::extract {

class SignalWriter {
  public:
    static constexpr std::size_t kMaxSignals = 1000;  // of one poll or message

    SignalWriter(const AddonPlan& plan, std::size_t group, const SignalContext& context,
                 model::PollSignals& out);

    // The trap whose values come; rules of other traps are silent.
    void set_trap(const model::Oid& trap) { trap_ = &trap; }

    // Values by number: raw, then the rules. `set` is the number of the rows, none: the target.
    void record(std::optional<std::size_t> set, std::string_view row,
                std::span<const model::Value> values);

    void rows_read(std::size_t set, bool complete);  // not called: they were not read
    void unreadable(std::size_t endpoint);           // did not answer, or not with what it should

    // What the exchange itself says: failures and their end.
    void exchange(const EndpointPlan& endpoint, const model::Reply& reply);

    // What could be decided. Call once, at the end.
    void finish();

  private:
    struct Record {
        std::string_view row;
        std::span<const model::Value> values;
    };

    void apply(const SignalRule& rule, const Record& record);
    std::string type_of(const SignalRule& rule, const Record& record) const;
    std::string subject_of(const SignalRule& rule, const Record& record) const;
    const SignalType* known_type(std::string_view type) const;
    void emit(model::Signal signal);
    void emit_failure(const EndpointPlan& endpoint, const std::string& type,
                      const model::PollFailure& failure);
    model::Signal dressed(const std::string& type, const SignalRule* rule, const Record& record);
    std::string fill(const Template& text, const model::Signal& signal, const SignalRule* rule,
                     const Record& record) const;
    std::string shown(std::uint16_t rule, const Record& record) const;
    bool decided(const SignalRule& rule) const;

    const AddonPlan& plan_;
    std::size_t group_;
    const SignalContext& context_;
    model::PollSignals& out_;
    const model::Oid* trap_ = nullptr;
    std::set<std::size_t> complete_rows_;
    std::set<std::size_t> unreadable_;
};

}  // namespace pollux::extract
