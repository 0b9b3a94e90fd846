// The server's side of what is heard and not asked: starts the desk, and answers about it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/random_bits.hpp"
#include "runtime/server.hpp"
#include "runtime/tls_files.hpp"

namespace pollux::runtime {
namespace {

constexpr std::string_view kKeyName = "inbound-key";

std::optional<base::SipKey> parse_key(const std::string& text) {
    base::SipKey key{};
    if (text.size() != 32) return std::nullopt;
    const char* begin = text.data();
    const auto first = std::from_chars(begin, begin + 16, key.k0, 16);
    const auto second = std::from_chars(begin + 16, begin + 32, key.k1, 16);
    const bool whole = first.ptr == begin + 16 && second.ptr == begin + 32;
    return whole ? std::optional(key) : std::nullopt;
}

base::SipKey random_key() {
    const auto [high, low] = random_bits();
    return {high, low};
}

// RFC 3411: bytes of our own choice, behind a number of no enterprise.
std::string engine_id(base::SipKey key) {
    std::string id("\x80\x00\x00\x00\x05", 5);
    const std::uint64_t own = base::siphash24(key, "snmp-engine");
    for (int shift = 56; shift >= 0; shift -= 8) id += static_cast<char>(own >> shift);
    return id;
}

}  // namespace

// Made at the first need, kept sealed: addresses that were given away must stay good.
base::Result<base::SipKey> Server::inbound_key() {
    if (inbound_key_) return *inbound_key_;
    if (!secrets_) return *(inbound_key_ = random_key());
    const auto names = secrets_->names();
    if (!names) return std::unexpected(names.error());
    if (std::ranges::find(*names, kKeyName) != names->end()) {
        const auto secret = secrets_->get(kKeyName);
        if (!secret) return std::unexpected(secret.error());
        const auto key = parse_key(secret->reveal());
        if (!key) {
            return base::config_error("inbound.key",
                                      fmt::format("the secret {} is not one that pollux made: "
                                                  "remove it, and give senders their new addresses",
                                                  kKeyName));
        }
        return *(inbound_key_ = *key);
    }
    const base::SipKey key = random_key();
    const base::Secret text(fmt::format("{:016x}{:016x}", key.k0, key.k1));
    if (auto status = secrets_->set(kKeyName, text); !status) {
        return std::unexpected(status.error());
    }
    return *(inbound_key_ = key);
}

std::function<void(const std::string&, const protocol::snmp::EngineClock&)> Server::clock_proofs() {
    if (!hears_traps_) return nullptr;
    return [this](const std::string& engine_id, const protocol::snmp::EngineClock& clock) {
        later([this, engine_id, clock] {
            if (!stopped_ && desk_) desk_->prove(engine_id, clock);
        });
    };
}

base::Status Server::start_desk(std::vector<std::pair<std::string, std::string>> memories) {
    auto limits = inbound_limits(settings_);
    if (!limits) return std::unexpected(limits.error());
    journal_->set_limits(limits->keep, limits->keep_for);
    InboundOptions options;
    options.trap_listen = settings_.trap_listen.items;
    options.http_listen = settings_.inbound_listen.items;
    auto tls = read_tls_identity(inbound_tls_files(settings_));
    if (!tls) return std::unexpected(tls.error());
    options.tls = std::move(*tls);
    options.body_bytes = static_cast<std::size_t>(settings_.inbound_body_kilobytes) << 10U;
    options.limits = std::move(*limits);
    options.random = random_key();
    const auto variable = [&](const char* name) {
        const auto found = options_.environment.find(name);
        return found == options_.environment.end() ? std::string() : found->second;
    };
    options.passed_sockets = passed_sockets(variable("LISTEN_PID"), variable("LISTEN_FDS"));
    options.engine.boots = loaded_.epoch;
    options.engine.started = net::boot_now();
    options.engine.id = engine_id(options.random);
    if (hears_traps_) {
        const auto key = inbound_key();
        if (!key) return std::unexpected(key.error());
        options.engine.id = engine_id(*key);
    }
    InboundWiring wiring;
    wiring.confirm = [this](std::vector<std::string> tasks, model::ProtocolKind by) {
        core_->poke(std::move(tasks), by == model::ProtocolKind::kTrap
                                          ? schedule::PokeReason::kTrap
                                          : schedule::PokeReason::kWebhook);
    };
    wiring.signals = [this](std::vector<SignalNews> news) {
        if (AlertDesk* alerts = this->alerts()) alerts->observed(std::move(news));
    };
    auto desk = InboundDesk::start(*store_, log_, std::move(options), std::move(wiring),
                                   std::move(memories), image_->inbound);
    if (!desk) return std::unexpected(desk.error());
    desk_ = std::move(*desk);
    for (const auto& [what, addresses] : {std::pair("traps", desk_->trap_addresses()),
                                          std::pair("http", desk_->http_addresses())}) {
        for (const std::string& address : addresses) {
            log_.info("listening", {{"key", address}, {"for", what}});
        }
    }
    return {};
}

bool Server::explain_inbound(const std::string& key,
                             std::move_only_function<void(std::string)> done) {
    if (!desk_ || !image_->inbound->find(key)) return false;
    desk_->explain(key, [this, done = std::move(done)](std::string text) mutable {
        later(
            [text = std::move(text), done = std::move(done)]() mutable { done(std::move(text)); });
    });
    return true;
}

void Server::inbound_page(std::move_only_function<void(std::string)> done) {
    desk_->page([this, done = std::move(done)](std::string text) mutable {
        later(
            [text = std::move(text), done = std::move(done)]() mutable { done(std::move(text)); });
    });
}

void Server::forget_sender(std::string engine, std::move_only_function<void(base::Status)> done) {
    desk_->forget_sender(std::move(engine),
                         [this, done = std::move(done)](base::Status status) mutable {
                             later([status = std::move(status), done = std::move(done)]() mutable {
                                 done(std::move(status));
                             });
                         });
}

void Server::push_rows(std::move_only_function<void(std::vector<PushRow>)> done) {
    if (desk_) {
        desk_->push_rows(std::move(done));
    } else {
        done({});
    }
}

base::Result<base::Secret> Server::inbound_url(const std::string& key,
                                               model::ProtocolKind kind) const {
    const InboundTargetPtr target = image_->inbound->find(key);
    if (!target || target->kind == model::ProtocolKind::kTrap) {
        return base::config_error(
            "inbound.no_url",
            fmt::format("{} is no target of a webhook or push addon: `pollux inbound` lists them",
                        key));
    }
    if (target->kind != kind) {
        return base::config_error(
            "inbound.other_kind",
            fmt::format("{0} is a target of a {1} addon: `pollux {2} url {0}` prints its address",
                        key, to_string(target->kind),
                        target->kind == model::ProtocolKind::kPush ? "push" : "hook"));
    }
    if (!target->problem.empty()) {
        return base::config_error("inbound.deaf", fmt::format("{}: {}", key, target->problem));
    }
    std::string base = settings_.inbound_url.text;
    if (base.empty() && desk_ && !desk_->http_addresses().empty()) {
        const bool tls = !settings_.inbound_tls_certificate.text.empty();
        base = (tls ? "https://" : "http://") + desk_->http_addresses().front();
    }
    const bool push = target->kind == model::ProtocolKind::kPush;
    return base::Secret(
        fmt::format("{}/{}/{}", base, push ? "push" : "hooks", target->token.reveal()));
}

}  // namespace pollux::runtime
