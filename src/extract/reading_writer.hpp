// Turns what a rule found into a reading: computed, mapped, scaled, of the metric's kind, and
// within its valid range. Keeps count of what is missing. Private to this folder.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "extract/addon_plan.hpp"
#include "extract/compiled_addon.hpp"
#include "extract/signal_writer.hpp"

namespace pollux::extract {

class ReadingWriter {
  public:
    ReadingWriter(const AddonPlan& plan, std::size_t group, model::Readings& out, Budget& budget,
                  Trace* trace);

    // What the rule's source found, null for nothing. True if a value came of it. `where` says
    // where it was looked for; only asked for problems and traces.
    template <class Where>
    bool take(const Rule& rule, std::uint32_t row, model::Value raw, const Where& where) {
        return take_value(
            rule, row, std::move(raw),
            [](const void* at) { return (*static_cast<const Where*>(at))(); }, &where);
    }

    // A value the rule wants is nowhere.
    void miss(const Rule& rule, std::string_view where, std::string_view found);
    void problem(std::string text);
    void trace(std::string text) {
        if (trace_ != nullptr) trace_->push_back(std::move(text));
    }
    bool traces() const { return trace_ != nullptr; }
    // Row values are told for the first rows only.
    void trace_rows(bool on) { trace_rows_ = on; }

    // Values of a row do not stay for the next one.
    void forget(const std::vector<std::uint16_t>& rules);

    // What is read also makes signals, if there is somebody to write them.
    void set_signals(SignalWriter* signals) { signals_ = signals; }
    SignalWriter* signals() { return signals_; }
    std::span<const model::Value> values() const { return values_; }

    std::uint32_t add_row(std::string name);
    model::Readings& readings() { return out_; }
    Budget& budget() { return budget_; }

  private:
    using WhereFunction = std::string (*)(const void*);

    bool take_value(const Rule& rule, std::uint32_t row, model::Value raw, WhereFunction where,
                    const void* at);
    bool shape(const Rule& rule, model::Value& value, std::string& why) const;
    bool shape_number(const Rule& rule, model::Value& value, std::string& why) const;
    void shape_state(const Rule& rule, model::Value& value) const;
    void trace_value(const Rule& rule, std::uint32_t row, const std::string& where,
                     const model::Value& raw, const model::Value* value, std::string_view why);

    const AddonPlan& plan_;
    model::Readings& out_;
    Budget& budget_;
    Trace* trace_;
    SignalWriter* signals_ = nullptr;
    bool trace_rows_ = true;
    bool keeps_values_;
    std::vector<model::Value> values_;  // by name: raw, then the rules
};

}  // namespace pollux::extract
