#include "runtime/jobs/discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/text.hpp"
#include "config/job_reader.hpp"
#include "document/scalar.hpp"
#include "net/event_loop.hpp"
#include "runtime/shard_drivers.hpp"

namespace pollux::runtime {
namespace {

using base::quoted;
using document::Node;
using model::ArgumentKind;
using namespace std::chrono_literals;

constexpr base::Duration kTurn = 20ms;
constexpr std::uint64_t kPageBytes = 64U << 10U;
constexpr std::size_t kMostFreeBits = 16;
static_assert(kMostSwept == 1U << kMostFreeBits);

struct SweepOptions {
    std::vector<std::string> methods;
    std::int64_t rate = 50;         // addresses per second
    std::int64_t concurrency = 32;  // at once
    base::Duration timeout = 2s;    // of one probe
    std::uint16_t ssh_port = 22;
    std::uint16_t http_port = 80;
    std::uint16_t https_port = 443;
    std::uint16_t snmp_port = 161;
    // By name; the name of the community "public" is empty.
    std::vector<std::pair<std::string, std::shared_ptr<const model::Credentials>>> snmp;

    bool wants(std::string_view method) const {
        return std::ranges::find(methods, method) != methods.end();
    }
};

std::string title_of(std::string_view body) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    std::string small(body);
    std::ranges::transform(small, small.begin(), lower);
    std::size_t begin = small.find("<title");
    begin = begin == std::string::npos ? begin : small.find('>', begin);
    if (begin == std::string::npos) return {};
    const std::size_t end = small.find('<', begin + 1);
    if (end == std::string::npos) return {};
    return base::plain_text(body.substr(begin + 1, end - begin - 1));
}

class Sweep {
  public:
    Sweep(SweepOptions options, const JobSurroundings& around, JobControl& control)
        : options_(std::move(options)),
          around_(around),
          control_(control),
          loop_(net::EventLoop::create().value()),
          drivers_(real_drivers(around.egress, around.rules)(*loop_)) {}

    std::vector<Fingerprint> run(const std::vector<net::IpAddress>& addresses) {
        const base::BootTime begin = net::boot_now();
        std::size_t next = 0;
        while (ended_ < addresses.size() && !control_.cancelled()) {
            const double allowed =
                1 + base::to_seconds(net::boot_now() - begin) * static_cast<double>(options_.rate);
            while (next < addresses.size() && static_cast<double>(next) < allowed &&
                   open_.size() < static_cast<std::size_t>(options_.concurrency)) {
                start(addresses[next++]);
            }
            control_.progress(ended_, addresses.size(), fmt::format("{} found", found_.size()));
            loop_->run_once(kTurn);
        }
        control_.progress(ended_, addresses.size(), fmt::format("{} found", found_.size()));
        std::ranges::sort(found_, {}, &Fingerprint::address);
        return std::move(found_);
    }

    std::size_t denied() const { return denied_; }
    std::size_t ended() const { return ended_; }

  private:
    struct Open {
        Fingerprint print;
        std::size_t probes = 0;
        std::size_t snmp_tries = 0;
    };

    void start(const net::IpAddress& address) {
        if (!around_.egress->check_target(address)) {
            ++denied_;
            ++ended_;
            return;
        }
        const std::string host = address.to_string();
        Open& open = open_[host];
        open.print.address = host;
        if (options_.wants("icmp")) ask(host, 0, model::IcmpAsk{.count = 1}, &Sweep::pinged);
        if (options_.wants("ssh")) {
            model::TcpAsk banner;
            banner.expect = "SSH-";
            ask(host, options_.ssh_port, banner, &Sweep::greeted);
        }
        if (options_.wants("http")) get(host, "http", options_.http_port);
        if (options_.wants("https")) get(host, "https", options_.https_port);
        if (options_.wants("snmp")) try_snmp(host);
        if (open.probes == 0) finish(host);
    }

    using Take = void (Sweep::*)(Open&, model::Reply&);

    void ask(const std::string& host, std::uint16_t port, decltype(model::Ask::request) request,
             Take take, std::shared_ptr<const model::Credentials> credentials = {}) {
        auto ask = std::make_shared<model::Ask>();
        ask->host = host;
        ask->port = port;
        ask->timeout = options_.timeout;
        ask->request = std::move(request);
        ask->credentials = std::move(credentials);
        ++open_.at(host).probes;
        drivers_->of(*ask).start({.id = ++last_id_,
                                  .ask = ask,
                                  .deadline = net::boot_now() + options_.timeout,
                                  .fresh_login = false,
                                  .trace = false},
                                 [this, host, take](model::Reply&& reply) {
                                     Open& open = open_.at(host);
                                     (this->*take)(open, reply);
                                     if (--open.probes == 0) finish(host);
                                 });
    }

    void get(const std::string& host, const std::string& scheme, std::uint16_t port) {
        model::HttpAsk page;
        const bool brackets = host.find(':') != std::string::npos;
        page.url = fmt::format("{}://{}{}{}:{}/", scheme, brackets ? "[" : "", host,
                               brackets ? "]" : "", port);
        page.good_status = {{100, 599}};
        page.max_body_bytes = kPageBytes;
        page.tls.verify = false;
        page.keep_alive = false;
        ask(host, port, page, scheme == "http" ? &Sweep::loaded : &Sweep::loaded_safely);
    }

    void try_snmp(const std::string& host) {
        Open& open = open_.at(host);
        if (open.snmp_tries == options_.snmp.size()) return;
        const auto& [name, credentials] = options_.snmp[open.snmp_tries];
        model::SnmpAsk snmp;
        const bool secure = credentials && !credentials->username.empty();
        snmp.version = secure ? model::SnmpVersion::kV3 : model::SnmpVersion::kV2c;
        snmp.gets = {*model::parse_oid("1.3.6.1.2.1.1.1.0"),
                     *model::parse_oid("1.3.6.1.2.1.1.5.0")};
        ask(host, options_.snmp_port, snmp, &Sweep::told, credentials);
    }

    void pinged(Open& open, model::Reply& reply) {
        const auto* icmp = std::get_if<model::IcmpReply>(&reply.answer);
        open.print.ping = icmp != nullptr && icmp->received > 0;
    }
    void greeted(Open& open, model::Reply& reply) {
        const auto* tcp = std::get_if<model::TcpReply>(&reply.answer);
        if (tcp == nullptr) return;
        open.print.ssh = base::plain_text(tcp->received.substr(0, tcp->received.find('\n')));
    }
    void loaded(Open& open, model::Reply& reply) {
        const auto* page = std::get_if<model::HttpReply>(&reply.answer);
        if (page == nullptr) return;
        open.print.http = page->status;
        open.print.title = title_of(page->body);
    }
    void loaded_safely(Open& open, model::Reply& reply) {
        const auto* page = std::get_if<model::HttpReply>(&reply.answer);
        if (page == nullptr) return;
        open.print.https = page->status;
        if (open.print.title.empty()) open.print.title = title_of(page->body);
    }
    void told(Open& open, model::Reply& reply) {
        const auto* snmp = std::get_if<model::SnmpReply>(&reply.answer);
        const std::string credentials = options_.snmp[open.snmp_tries++].first;
        if (snmp == nullptr) {
            try_snmp(open.print.address);  // the next credentials
            return;
        }
        open.print.snmp = true;
        open.print.snmp_credentials = credentials;
        if (!snmp->gets.empty()) open.print.description = base::plain_text(snmp->gets[0].bytes);
        if (snmp->gets.size() > 1) open.print.system_name = base::plain_text(snmp->gets[1].bytes);
    }

    void finish(const std::string& host) {
        const auto open = open_.find(host);
        if (open->second.print.answered()) {
            control_.log(fmt::format("{} answers", host));
            found_.push_back(std::move(open->second.print));
        }
        open_.erase(open);
        ++ended_;
    }

    SweepOptions options_;
    const JobSurroundings& around_;
    JobControl& control_;
    std::unique_ptr<net::EventLoop> loop_;
    std::unique_ptr<Drivers> drivers_;
    std::map<std::string, Open> open_;  // by address
    std::vector<Fingerprint> found_;
    std::size_t ended_ = 0;
    std::size_t denied_ = 0;
    std::uint64_t last_id_ = 0;
};

base::Result<SweepOptions> options_of(const Node& arguments, const JobSurroundings& around) {
    SweepOptions options;
    const auto number = [&](const char* key, std::int64_t usual) {
        const Node* node = arguments.find(key);
        return node == nullptr ? usual : document::parse_integer(node->scalar()).value_or(usual);
    };
    const auto port = [&](const char* key, std::int64_t usual) {
        return static_cast<std::uint16_t>(number(key, usual));
    };
    if (const Node* methods = arguments.find("methods")) {
        for (const Node& item : methods->items()) options.methods.push_back(item.scalar());
    } else {
        options.methods = {"icmp", "snmp", "ssh", "http", "https"};
    }
    options.rate = number("rate", options.rate);
    options.concurrency = number("concurrency", options.concurrency);
    if (const Node* timeout = arguments.find("probe_timeout")) {
        options.timeout = document::parse_duration(timeout->scalar()).value_or(options.timeout);
    }
    options.ssh_port = port("ssh_port", options.ssh_port);
    options.http_port = port("http_port", options.http_port);
    options.https_port = port("https_port", options.https_port);
    options.snmp_port = port("snmp_port", options.snmp_port);
    const Node* credentials = arguments.find("credentials");
    if (credentials == nullptr) {
        options.snmp.emplace_back("", nullptr);
        return options;
    }
    for (const Node& item : credentials->items()) {
        const auto known = around.fleet.credentials.find(item.scalar());
        if (known == around.fleet.credentials.end()) {
            return base::config_error(
                "job.credentials", fmt::format("there is no credential {}", quoted(item.scalar())));
        }
        auto resolved = config::resolve(item.scalar(), known->second, around.secrets);
        if (!resolved) return std::unexpected(resolved.error());
        options.snmp.emplace_back(item.scalar(),
                                  std::make_shared<const model::Credentials>(std::move(*resolved)));
    }
    return options;
}

struct Network {
    net::IpAddress first;
    std::size_t free = 0;  // bits that differ
};

base::Result<Network> network_of(const std::string& text) {
    const auto range = net::IpRange::parse(text);
    if (!range) return std::unexpected(range.error());
    const std::size_t slash = text.find('/');
    const auto first = net::IpAddress::parse(text.substr(0, slash));
    if (!first) {
        return base::config_error("job.network", fmt::format("{} is no network", quoted(text)));
    }
    const std::size_t bits = first->is_v4() ? 32 : 128;
    const auto prefix = slash == std::string::npos
                            ? std::optional<std::int64_t>(static_cast<std::int64_t>(bits))
                            : document::parse_integer(text.substr(slash + 1));
    const std::size_t free = bits - static_cast<std::size_t>(prefix.value_or(0));
    if (free > kMostFreeBits) {
        return base::config_error("job.network",
                                  fmt::format("{} has more than {} addresses: sweep it in parts",
                                              quoted(text), kMostSwept));
    }
    return Network{*first, free};
}

// A network that cannot be swept is refused before anything is stored.
std::optional<config::ArgumentFault> check_network(const model::JobSpec& job) {
    const Node arguments = config::arguments_of(job);
    const Node* text = arguments.find("network");
    if (text == nullptr) return std::nullopt;  // the reader has said so
    const auto network = network_of(text->scalar());
    if (network) return std::nullopt;
    return config::ArgumentFault{"network", network.error().message};
}

JobResult discover(const model::JobSpec& job, const JobSurroundings& around, JobControl& control) {
    const Node arguments = config::arguments_of(job);
    const auto addresses = addresses_of(arguments.find("network")->scalar());
    if (!addresses) return JobResult::failed(addresses.error());
    auto options = options_of(arguments, around);
    if (!options) return JobResult::failed(options.error());
    Sweep sweep(std::move(*options), around, control);
    const std::vector<Fingerprint> found = sweep.run(*addresses);
    if (sweep.denied() > 0) {
        control.log(fmt::format("{} addresses are denied by the egress policy", sweep.denied()));
    }
    const Proposal proposal = propose(found, around.fleet, job.id);
    control.log(fmt::format(
        "{} of {} addresses answer, {} are known, {} are proposed, {} did not "
        "fit",
        found.size(), addresses->size(), proposal.known, proposal.devices, proposal.left_out));
    JobResult result;
    result.output = proposal.yaml;
    if (sweep.ended() < addresses->size()) {
        result.outcome = model::Outcome::kTransient;
        result.code = "job.timeout";
        result.message = fmt::format(
            "only {} of {} addresses were asked in time: allow more time "
            "or a higher rate",
            sweep.ended(), addresses->size());
    }
    return result;
}

}  // namespace

base::Result<std::vector<net::IpAddress>> addresses_of(const std::string& text) {
    const auto network = network_of(text);
    if (!network) return std::unexpected(network.error());
    const net::IpAddress& first = network->first;
    const std::size_t free = network->free;
    std::vector<net::IpAddress> all;
    const std::uint32_t count = 1U << free;
    const std::uint32_t ends = first.is_v4() && free >= 2 ? 1 : 0;
    for (std::uint32_t i = ends; i < count - ends; ++i) {
        // At most the last two bytes differ, and those of the network are zero there.
        if (first.is_v4()) {
            std::array<std::uint8_t, 4> bytes{};
            std::ranges::copy(first.bytes(), bytes.begin());
            bytes[2] = static_cast<std::uint8_t>(bytes[2] | (i >> 8U));
            bytes[3] = static_cast<std::uint8_t>(bytes[3] | (i & 0xFFU));
            all.push_back(net::IpAddress::v4(bytes));
        } else {
            std::array<std::uint8_t, 16> bytes{};
            std::ranges::copy(first.bytes(), bytes.begin());
            bytes[14] = static_cast<std::uint8_t>(bytes[14] | (i >> 8U));
            bytes[15] = static_cast<std::uint8_t>(bytes[15] | (i & 0xFFU));
            all.push_back(net::IpAddress::v6(bytes, first.scope()));
        }
    }
    return all;
}

void add_discovery_type(JobTypes& types) {
    JobType type;
    type.def.name = "discovery";
    type.def.help = "Sweeps a network and proposes devices; nothing is applied.";
    type.def.slots = 1;
    type.def.tier = model::Tier::kLow;
    type.def.timeout = 1h;
    type.def.longest_timeout = 24h - 1min;
    const auto port = [](const char* name) {
        return model::ArgumentDef{
            .name = name, .kind = ArgumentKind::kInteger, .low = 1, .high = 65'535};
    };
    type.def.arguments = {
        {.name = "network", .required = true, .help = "CIDR of at most 65536 addresses"},
        {.name = "methods",
         .kind = ArgumentKind::kTexts,
         .words = {"icmp", "snmp", "ssh", "http", "https"},
         .help = "all of them if not given"},
        {.name = "credentials",
         .kind = ArgumentKind::kTexts,
         .help = "for SNMP v2c and v3, tried in turn; not given: the community public"},
        {.name = "rate",
         .kind = ArgumentKind::kInteger,
         .low = 1,
         .high = 1000,
         .help = "addresses per second; 50"},
        {.name = "concurrency",
         .kind = ArgumentKind::kInteger,
         .low = 1,
         .high = 256,
         .help = "addresses at once; 32"},
        {.name = "probe_timeout",
         .kind = ArgumentKind::kDuration,
         .low = 0.1,
         .high = 30,
         .help = "2s"},
        port("ssh_port"),
        port("http_port"),
        port("https_port"),
        port("snmp_port")};
    type.host = JobHost::kWorker;
    type.check = check_network;
    type.run = discover;
    types.add(std::move(type));
}

}  // namespace pollux::runtime
