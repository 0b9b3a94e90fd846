#include "runtime/inbound/inbound_image.hpp"

#include <fmt/format.h>

#include "runtime/inbound/token_table.hpp"

namespace pollux::runtime {
namespace {

using model::ProtocolKind;

class Maker {
  public:
    Maker(const InboundInputs& inputs, document::Diagnostics& diagnostics)
        : in_(inputs), diagnostics_(diagnostics) {}

    std::shared_ptr<const InboundImage> make() {
        for (const config::TargetPlanInput& task : in_.expansion.targets) {
            polled_[task.device].push_back(task.key);
        }
        auto image = std::make_shared<InboundImage>();
        for (const config::InboundInput& input : in_.expansion.inbound) {
            const auto addon = in_.addons.find(input.addon);
            if (addon == in_.addons.end()) continue;  // told by expand()
            auto special = extract::specialise(addon->second, input.params);
            if (!special) {
                diagnostics_.error(in_.places.find("device/" + input.device), input.key,
                                   special.error().message);
                continue;
            }
            image->targets.push_back(target_of(input, *special));
        }
        return image;
    }

  private:
    InboundTargetPtr target_of(const config::InboundInput& input,
                               std::shared_ptr<const extract::CompiledAddon> addon) {
        auto target = std::make_shared<InboundTarget>();
        target->key = input.key;
        target->id = input.target_id;
        target->device = input.device;
        target->kind = addon->addon().protocol;
        target->enabled = input.enabled;
        target->addresses = input.addresses;
        target->alerts = input.alerts;
        if (const auto push = addon->push()) {
            target->interval =
                input.interval.value_or(addon->addon().interval.value_or(push->interval));
            target->grace = input.grace.value_or(push->grace);
        }
        target->addon = std::move(addon);
        if (input.confirm) {
            const auto polled = polled_.find(input.device);
            if (polled != polled_.end()) target->confirmed_by = polled->second;
        }
        auto status = target->kind == ProtocolKind::kTrap ? add_sender(*target, input)
                                                          : add_token(*target, input);
        if (status) status = check_listener(target->kind);
        if (!status) {
            target->problem = status.error().message;
            diagnostics_.warning(in_.places.find("device/" + input.device), input.key,
                                 target->problem);
        }
        return target;
    }

    base::Status check_listener(ProtocolKind kind) const {
        const bool trap = kind == ProtocolKind::kTrap;
        if (trap ? in_.hears_traps : in_.hears_http) return {};
        return base::config_error(
            "inbound.deaf",
            trap ? "nothing listens for traps: set POLLUX_TRAP_LISTEN, say to 127.0.0.1:1162, and "
                   "start the server again"
                 : "nothing listens for it: set POLLUX_INBOUND_LISTEN, say to 127.0.0.1:7656, and "
                   "start the server again");
    }

    base::Result<std::shared_ptr<const model::Credentials>> credentials_of(
        const config::InboundInput& input) {
        if (input.credentials.empty()) return nullptr;
        const auto known = resolved_.find(input.credentials);
        if (known != resolved_.end()) return known->second;
        const auto credential = in_.fleet.credentials.find(input.credentials);
        if (credential == in_.fleet.credentials.end()) return nullptr;
        auto resolved = config::resolve(input.credentials, credential->second, in_.secrets);
        if (!resolved) return std::unexpected(resolved.error());
        auto shared = std::make_shared<const model::Credentials>(std::move(*resolved));
        resolved_[input.credentials] = shared;
        return shared;
    }

    base::Status add_sender(InboundTarget& target, const config::InboundInput& input) {
        auto credentials = credentials_of(input);
        if (!credentials) return std::unexpected(credentials.error());
        target.credentials = *credentials;
        if (!input.community) return {};
        auto community = input.community->kind == config::SecretKind::kLiteral
                             ? base::Result<base::Secret>(input.community->literal)
                             : in_.secrets(*input.community);
        if (!community) return std::unexpected(community.error());
        auto both = target.credentials ? std::make_shared<model::Credentials>(*target.credentials)
                                       : std::make_shared<model::Credentials>();
        both->community = std::move(*community);
        target.credentials = std::move(both);
        return {};
    }

    base::Status add_token(InboundTarget& target, const config::InboundInput& input) {
        auto credentials = credentials_of(input);
        if (!credentials) return std::unexpected(credentials.error());
        if (*credentials != nullptr && !(*credentials)->token.empty()) {
            target.token = (*credentials)->token;
            if (!is_usable_token(target.token.reveal())) {
                return base::config_error(
                    "inbound.token",
                    fmt::format("the token of credential {} cannot be used: it must have {} to {} "
                                "letters, digits, '-', '.', '_' or '~'; or leave it out, then it "
                                "gets one of its own",
                                input.credentials, kLeastTokenBytes, kMostTokenBytes));
            }
        } else {
            // Without an id it is not stored yet: this image is only looked at.
            if (target.id.empty()) return {};
            auto key = in_.key();
            if (!key) return std::unexpected(key.error());
            target.token = derived_token(*key, target.id);
        }
        const std::string own =
            fmt::format("{}/{}", static_cast<int>(target.kind), target.token.reveal());
        const auto [holder, first] = tokens_.emplace(own, target.key);
        if (first) return {};
        return base::config_error("inbound.token",
                                  fmt::format("{} has the same token: give each target one of its "
                                              "own, or leave it out",
                                              holder->second));
    }

    const InboundInputs& in_;
    document::Diagnostics& diagnostics_;
    std::map<std::string, std::vector<std::string>, std::less<>> polled_;  // device -> tasks
    std::map<std::string, std::shared_ptr<const model::Credentials>, std::less<>> resolved_;
    std::map<std::string, std::string, std::less<>> tokens_;  // kind and token -> key
};

}  // namespace

std::shared_ptr<const InboundImage> make_inbound_image(const InboundInputs& inputs,
                                                       document::Diagnostics& diagnostics) {
    return Maker(inputs, diagnostics).make();
}

}  // namespace pollux::runtime
