#include "runtime/shard_drivers.hpp"

#include <fmt/format.h>

#include "net/resolver.hpp"
#include "protocol/dns/dns_driver.hpp"
#include "protocol/exec/exec_driver.hpp"
#include "protocol/http/http_driver.hpp"
#include "protocol/icmp/icmp_driver.hpp"
#include "protocol/snmp/snmp_driver.hpp"
#include "protocol/ssh/ssh_driver.hpp"
#include "protocol/tcp/tcp_driver.hpp"
#include "protocol/tls/tls_driver.hpp"

namespace pollux::runtime {
namespace {

void log_news(observe::Log& log, const protocol::snmp::ProfileNews& news) {
    using Kind = protocol::snmp::ProfileNews::Kind;
    switch (news.kind) {
        case Kind::kFirmwareChanged:
            log.info("the device is something else than before: its SNMP profile is learned again",
                     {{"host", news.host}, {"address", news.address}});
            return;
        case Kind::kBulkOff:
            log.warn("GETBULK does not work with the device: it is asked row by row",
                     {{"host", news.host}, {"address", news.address}, {"bulk", news.detail}});
            return;
        case Kind::kLies:
            log.warn("the device lies: GETBULK and GETNEXT differ; it is asked row by row",
                     {{"host", news.host}, {"address", news.address}, {"seen", news.detail}});
            return;
    }
}

using Prove = std::function<void(const std::string&, const protocol::snmp::EngineClock&)>;

class RealDrivers final : public Drivers {
  public:
    RealDrivers(net::EventLoop& loop, std::shared_ptr<const net::EgressPolicy> egress,
                const CommandRules& rules, observe::Log* log, Prove prove)
        : log_(log),
          prove_(std::move(prove)),
          resolver_(net::Resolver::create(loop, {}).value()),
          egress_(std::move(egress)),
          http_(loop, *resolver_, egress_),
          snmp_(protocol::snmp::SnmpDriver::create(loop, seams()).value()),
          exec_(loop, rules.exec, egress_),
          ssh_(loop, *resolver_, egress_, rules.ssh),
          tcp_(loop, *resolver_, egress_),
          tls_(loop, *resolver_, egress_),
          icmp_(loop, *resolver_, egress_),
          dns_(loop, *resolver_, egress_) {}

    protocol::Driver& of(const model::Ask& ask) override {
        if (std::holds_alternative<model::HttpAsk>(ask.request)) return http_;
        if (std::holds_alternative<model::ExecAsk>(ask.request)) return exec_;
        if (std::holds_alternative<model::SshAsk>(ask.request)) return ssh_;
        if (std::holds_alternative<model::TcpAsk>(ask.request)) return tcp_;
        if (std::holds_alternative<model::TlsAsk>(ask.request)) return tls_;
        if (std::holds_alternative<model::IcmpAsk>(ask.request)) return icmp_;
        if (std::holds_alternative<model::DnsAsk>(ask.request)) return dns_;
        return *snmp_;
    }

    void set_rules(CommandRules rules) override {
        exec_.set_rules(std::move(rules.exec));
        ssh_.set_rules(std::move(rules.ssh));
    }

    void set_egress(std::shared_ptr<const net::EgressPolicy> egress) override {
        egress_ = std::move(egress);
        http_.client().set_egress(egress_);
        exec_.set_egress(egress_);
        ssh_.set_egress(egress_);
        tcp_.set_egress(egress_);
        tls_.set_egress(egress_);
        icmp_.set_egress(egress_);
        dns_.set_egress(egress_);
    }

    std::string learned() override {
        if (snmp_->learned_revision() == kept_revision_) return {};
        kept_revision_ = snmp_->learned_revision();
        return all_learned();
    }

    std::string all_learned() const override {
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
        counts.snmp_profiles = {.known = snmp_->profiles().size(),
                                .liars = snmp_->profiles().liars(),
                                .steps_back = snmp.steps_back,
                                .relearned = snmp.relearned,
                                .narrow_checks = snmp.narrow_checks};
        counts.ssh_handshakes = ssh_.handshakes();
        counts.ssh_connections = ssh_.connections();
    }

    std::vector<ProfileRow> profiles() const override {
        std::vector<ProfileRow> rows;
        snmp_->profiles().visit([&](const protocol::snmp::ProfileTable::Entry& entry) {
            ProfileRow& row = rows.emplace_back();
            row.endpoint = entry.device;
            row.host = entry.host;
            row.profile = entry.profile;
        });
        return rows;
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
        if (log_ != nullptr) {
            seams.tell = [log = log_](const protocol::snmp::ProfileNews& news) {
                log_news(*log, news);
            };
        }
        if (prove_) {
            seams.prove = [this](const protocol::snmp::ClockProof& proof) {
                prove_(proof.engine_id, proof.clock);
            };
        }
        return seams;
    }

    observe::Log* log_;
    Prove prove_;
    std::unique_ptr<net::Resolver> resolver_;
    std::shared_ptr<const net::EgressPolicy> egress_;
    protocol::HttpDriver http_;
    std::unique_ptr<protocol::snmp::SnmpDriver> snmp_;
    std::uint64_t kept_revision_ = 0;
    protocol::ExecDriver exec_;
    protocol::SshDriver ssh_;
    protocol::TcpDriver tcp_;
    protocol::TlsDriver tls_;
    protocol::IcmpDriver icmp_;
    protocol::DnsDriver dns_;
};

}  // namespace

MakeDrivers real_drivers(std::shared_ptr<const net::EgressPolicy> egress, CommandRules rules,
                         observe::Log* log, Prove prove) {
    return [egress = std::move(egress), rules = std::move(rules), log,
            prove = std::move(prove)](net::EventLoop& loop) -> std::unique_ptr<Drivers> {
        return std::make_unique<RealDrivers>(loop, egress, rules, log, prove);
    };
}

CommandRules make_command_rules(const config::Settings& settings,
                                std::shared_ptr<protocol::ssh::HostKeys> host_keys) {
    return {.exec = {settings.plugin_folders, settings.exec_allow},
            .ssh = {std::move(host_keys), settings.ssh_strict_host_keys}};
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
