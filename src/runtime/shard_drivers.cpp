#include "runtime/shard_drivers.hpp"

#include <fmt/format.h>

#include "net/resolver.hpp"
#include "protocol/http/http_driver.hpp"
#include "protocol/snmp/snmp_driver.hpp"

namespace pollux::runtime {
namespace {

class RealDrivers final : public Drivers {
  public:
    RealDrivers(net::EventLoop& loop, std::shared_ptr<const net::EgressPolicy> egress)
        : resolver_(net::Resolver::create(loop, {}).value()),
          egress_(std::move(egress)),
          http_(loop, *resolver_, egress_),
          snmp_(protocol::snmp::SnmpDriver::create(loop, seams()).value()) {}

    protocol::Driver& of(const model::Ask& ask) override {
        if (std::holds_alternative<model::HttpAsk>(ask.request)) return http_;
        return *snmp_;
    }

    void set_egress(std::shared_ptr<const net::EgressPolicy> egress) override {
        egress_ = std::move(egress);
        http_.client().set_egress(egress_);
    }

    std::string learned() override {
        if (snmp_->learned_revision() == kept_revision_) return {};
        kept_revision_ = snmp_->learned_revision();
        base::ByteWriter bytes;
        snmp_->learned(bytes);
        return bytes.take();
    }

    void recall(std::string_view learned) override {
        base::ByteReader reader(learned);
        // What is no good is discovered again.
        [[maybe_unused]] const base::Status status = snmp_->recall(reader);
        kept_revision_ = snmp_->learned_revision();
    }

    void count(ShardCounts& counts) const override {
        const protocol::snmp::SnmpCounters& snmp = snmp_->counters();
        for (std::size_t i = 0; i < snmp.reports.size(); ++i) {
            const auto kind = static_cast<protocol::snmp::ReportKind>(i);
            counts.snmp_reports[std::string(to_string(kind))] = snmp.reports[i];
        }
        counts.snmp_discoveries = snmp.discoveries;
        counts.snmp_resyncs = snmp.resyncs;
        counts.snmp_untrusted = snmp.untrusted;
    }

  private:
    protocol::snmp::SnmpSeams seams() {
        protocol::snmp::SnmpSeams seams;
        seams.allow = [this](const sockaddr_storage& to) -> base::Status {
            const auto address =
                net::IpAddress::from_sockaddr(reinterpret_cast<const sockaddr*>(&to), sizeof to);
            if (!address) return base::internal_error("egress.address", "no IP address");
            return egress_->check_target(*address);
        };
        seams.resolve = [this](const std::string& host, protocol::snmp::Resolved resolved) {
            resolver_->lookup(host, [resolved = std::move(resolved)](
                                        const base::Result<net::SharedAddresses>& found) mutable {
                if (!found) {
                    resolved(std::unexpected(found.error()));
                    return;
                }
                std::vector<sockaddr_storage> addresses;
                for (const net::IpAddress& address : **found) {
                    addresses.emplace_back();
                    address.to_sockaddr(0, addresses.back());
                }
                resolved(std::move(addresses));
            });
        };
        return seams;
    }

    std::unique_ptr<net::Resolver> resolver_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    protocol::HttpDriver http_;
    std::unique_ptr<protocol::snmp::SnmpDriver> snmp_;
    std::uint64_t kept_revision_ = 0;
};

}  // namespace

MakeDrivers real_drivers(std::shared_ptr<const net::EgressPolicy> egress) {
    return [egress = std::move(egress)](net::EventLoop& loop) -> std::unique_ptr<Drivers> {
        return std::make_unique<RealDrivers>(loop, egress);
    };
}

base::Result<std::shared_ptr<const net::EgressPolicy>> make_egress(
    const config::Settings& settings) {
    net::EgressSettings egress;
    egress.redirect_same_class = settings.egress_redirect_same_class;
    struct Row {
        const char* setting;
        const std::vector<std::string>& texts;
        std::vector<net::IpRange>& into;
    };
    const Row rows[] = {
        {"egress_allow", settings.egress_allow, egress.target.allow},
        {"egress_deny", settings.egress_deny, egress.target.deny},
        {"egress_redirect_allow", settings.egress_redirect_allow, egress.redirect.allow},
        {"egress_redirect_deny", settings.egress_redirect_deny, egress.redirect.deny},
        {"egress_loopback", settings.egress_loopback, egress.loopback},
        {"egress_link_local", settings.egress_link_local, egress.link_local},
        {"egress_private", settings.egress_private, egress.private_ranges},
    };
    for (const Row& row : rows) {
        for (const std::string& text : row.texts) {
            auto range = net::IpRange::parse(text);
            if (!range) {
                return base::config_error(
                    "settings.egress", fmt::format("{}: {}", row.setting, range.error().message));
            }
            row.into.push_back(*range);
        }
    }
    return std::make_shared<const net::EgressPolicy>(std::move(egress));
}

}  // namespace pollux::runtime
