// An addon ready for use: compiled once from its manifest, immutable, shared by all its targets
// and by all threads. It makes the requests for a target and reads values from the replies.
//
//     const auto compiled = extract::compile(text, "addons/x/manifest.yaml");
//     const auto reader = extract::specialise(compiled.addon, binding.parameters);
//     const auto asks = (*reader)->asks(0, binding);             // once per target and group
//     const model::Readings readings = (*reader)->read(0, replies, now);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "document/diagnostic.hpp"
#include "extract/budget.hpp"
#include "model/addon.hpp"
#include "model/ask.hpp"
#include "model/inbound.hpp"
#include "model/reading.hpp"
#include "model/reply.hpp"
#include "model/signal.hpp"

namespace pollux::extract {

struct AddonPlan;

// Signal::rule of what the exchange itself says (a failure, a status) begins so, then comes the
// name of the endpoint.
inline constexpr std::string_view kEndpointRule = "endpoint ";

using Parameters = std::map<std::string, std::string, std::less<>>;

// What one target adds to its addon.
struct TargetBinding {
    std::string host;         // name or address; IPv6 with or without brackets
    std::uint16_t port = 0;   // 0: the addon's
    std::string device_name;  // for {device}
    Parameters parameters;
    std::shared_ptr<const model::Credentials> credentials;
    std::optional<base::Duration> timeout;
    std::optional<std::uint32_t> resends;
    std::optional<bool> tls_verify;
    std::optional<std::string> tls_ca_file;
    std::optional<std::string> tls_pin_sha256;
    std::optional<model::HttpAuth> auth;          // over what the addon says
    std::optional<model::HttpAuth> auth_if_none;  // where the addon says nothing
    std::string api_key_header;                   // empty: the addon's
    std::optional<model::SnmpVersion> snmp_version;
    model::SnmpFixed snmp_fixed;
};

// One parameter as people see it: `pollux addon ls`, documentation, checks of a fleet file.
struct ParameterInfo {
    std::string name;
    std::string type;
    bool required = false;
    std::optional<std::string> initial;
    std::string description;
};

// Whom the signals of a poll or a message are about, for their titles. May be empty: {device} and
// {host} then stay as they stand, and a message's sender is the host.
struct SignalContext {
    std::string device;
    std::string address;
};

// How often a push is expected, and how late it may be.
struct PushExpectation {
    base::Duration interval{};
    base::Duration grace{};
};

// One line per rule: what was looked for, where, what was found. No secrets: replies only.
using Trace = std::vector<std::string>;

class CompiledAddon {
  public:
    explicit CompiledAddon(std::shared_ptr<const AddonPlan> plan) : plan_(std::move(plan)) {}

    const model::Addon& addon() const;
    std::vector<ParameterInfo> parameters() const;
    std::string_view file() const;

    // Wrong, unknown or missing parameters: addon.parameter, with the right ones named.
    base::Status check(const Parameters& parameters) const;

    // The requests of one group in the order they are asked, complete. Every reply goes to read()
    // at the same place.
    base::Result<std::vector<std::shared_ptr<const model::Ask>>> asks(
        std::size_t group, const TargetBinding& binding) const;

    // Whether the poll goes on without this request.
    bool is_optional(std::size_t group, std::size_t ask) const;

    // The request that comes after these replies (null: was not asked; those between are not
    // asked either). nullopt: the poll is complete, or goes no further.
    std::optional<std::size_t> next_ask(std::size_t group,
                                        std::span<const model::Reply* const> replies) const;

    // The failure that fails the whole poll: of the first request that is not optional, for which
    // no other was asked instead, and whose status is no signal by itself. Null: none.
    const model::PollFailure* failure(std::size_t group,
                                      std::span<const model::Reply* const> replies) const;

    // Never fails: what cannot be read is counted and told in `problems`. A null reply was not
    // asked. `now` is for what depends on the date (certificates).
    model::Readings read(std::size_t group, std::span<const model::Reply* const> replies,
                         base::WallTime now, Trace* trace = nullptr, Budget budget = {}) const;

    // Signals of a poll, failed or not, with what it decided. Never fails; bounded.
    model::PollSignals signals(std::size_t group, std::span<const model::Reply* const> replies,
                               base::WallTime now, const SignalContext& context = {},
                               Budget budget = {}) const;
    bool has_signals(std::size_t group) const;  // false: signals() has nothing to say

    // Signals and readings of a message. Never fails; a message of another kind than the addon's
    // gives none.
    std::vector<model::Signal> signals(const model::InboundMessage& message,
                                       const SignalContext& context = {}, Budget budget = {}) const;
    model::Readings read(const model::InboundMessage& message, Trace* trace = nullptr,
                         Budget budget = {}) const;

    // The signal that a poll raises when its device does not answer, as far as it is known before:
    // type, severity, title. nullopt: the manifest names none.
    std::optional<model::Signal> failure_signal(const SignalContext& context) const;
    // It was written for another system, whose fingerprints of alerts it keeps.
    bool imported() const;

    // How well the addon fits a trap: arcs of the longest enterprise prefix that the trap or its
    // enterprise begins with, 0 for `*`. nullopt: it is not for this addon.
    std::optional<std::size_t> trap_fit(const model::TrapMessage& trap) const;
    std::optional<PushExpectation> push() const;  // protocol: push

    // Whether both came from the same text and the same parameters: they ask and read alike.
    bool same_as(const CompiledAddon& other) const;

    // What it was compiled from, as one number; the same in every process.
    std::uint64_t fingerprint() const;
    // The SNMP objects that it asks for, with the names that its manifest gives them.
    std::vector<std::pair<model::Oid, std::string>> object_names() const;

    const AddonPlan& plan() const { return *plan_; }  // for this folder

  private:
    std::shared_ptr<const AddonPlan> plan_;
};

struct CompileResult {
    std::shared_ptr<const CompiledAddon> addon;  // null if there are errors
    document::Diagnostics diagnostics;
};

// Compiles a manifest in YAML or JSON; `file` only names it in messages.
CompileResult compile(std::string_view text, std::string file);

// The addon for one target's parameters: itself, unless what is read depends on them.
base::Result<std::shared_ptr<const CompiledAddon>> specialise(
    const std::shared_ptr<const CompiledAddon>& addon, const Parameters& parameters);

}  // namespace pollux::extract
