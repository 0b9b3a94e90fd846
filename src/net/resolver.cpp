#include "net/resolver.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "net/dns_channel.hpp"

namespace pollux::net {
namespace {

constexpr std::size_t kLongestName = 253;
constexpr base::Duration kConfigurationCheck = std::chrono::seconds(10);
constexpr std::size_t kMaxRetired = 4;

std::string lower_case(std::string_view name) {
    std::string result(name);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

bool can_be_name(std::string_view name) {
    return !name.empty() && name.size() <= kLongestName + 1 &&
           std::ranges::all_of(name, [](char c) { return c > ' ' && c != '\x7F'; });
}

// RFC 6761: these names mean this machine, whatever a server says.
bool is_localhost(std::string_view name) {
    if (name.ends_with('.')) name.remove_suffix(1);
    return name == "localhost" || name.ends_with(".localhost");
}

// Zero if there is no such file.
std::int64_t stamp_of_configuration() {
    struct stat facts{};
    if (stat("/etc/resolv.conf", &facts) != 0) return 0;
    return facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

}  // namespace

Resolver::Resolver(EventLoop& loop, ResolverOptions options)
    : loop_(loop),
      options_(std::move(options)),
      cache_(options_.max_entries),
      deadline_timer_(loop, [this] { expire(); }),
      deliver_timer_(loop, [this] { deliver(); }) {}

Resolver::~Resolver() = default;

base::Result<std::unique_ptr<Resolver>> Resolver::create(EventLoop& loop, ResolverOptions options) {
    std::unique_ptr<Resolver> resolver(new Resolver(loop, std::move(options)));
    if (auto status = resolver->open_channel(); !status) return std::unexpected(status.error());
    return resolver;
}

base::Status Resolver::open_channel() {
    auto channel = DnsChannel::create(
        loop_, {.attempt_timeout = options_.attempt_timeout, .servers = options_.servers},
        [this](DnsAnswer answer) { take_answer(std::move(answer)); });
    if (!channel) return std::unexpected(channel.error());
    if (channel_ != nullptr && channel_->under_way() > 0) retired_.push_back(std::move(channel_));
    // Each of them ends by itself within the attempts of its questions; many reloads at once do
    // not wait for that.
    if (retired_.size() > kMaxRetired) retired_.erase(retired_.begin());
    channel_ = std::move(*channel);
    configuration_stamp_ = stamp_of_configuration();
    next_check_ = loop_.now() + kConfigurationCheck;
    return {};
}

void Resolver::reload() {
    cache_.clear();
    // A system that cannot set up a new channel keeps the old one.
    [[maybe_unused]] const auto status = open_channel();
}

void Resolver::reload_if_changed() {
    if (loop_.now() < next_check_ || !options_.servers.empty()) return;
    next_check_ = loop_.now() + kConfigurationCheck;
    if (stamp_of_configuration() != configuration_stamp_) reload();
}

SharedAddresses Resolver::find_now(std::string_view name) {
    if (const auto literal = IpAddress::parse(name)) {
        return std::make_shared<const Addresses>(Addresses{*literal});
    }
    const auto* known = cache_.find(lower_case(name), loop_.now());
    if (known == nullptr || !*known) return nullptr;
    ++counts_.cache_hits;
    return **known;
}

Resolver::Ticket Resolver::lookup(std::string_view name, Done done) {
    const Ticket ticket = next_ticket_++;
    const bool full = waiters_.size() >= options_.max_waiting;
    waiters_.emplace(ticket, std::move(done));
    if (full) {
        answer_later(ticket,
                     base::make_error(base::ErrorClass::kTransient, "dns.overloaded",
                                      fmt::format("looking up {} failed: {} lookups wait already; "
                                                  "check that the name servers answer",
                                                  base::quoted(name), options_.max_waiting)));
        return ticket;
    }
    if (auto found = find_now(name)) {
        answer_later(ticket, std::move(found));
        return ticket;
    }
    if (!can_be_name(name)) {
        answer_later(ticket, base::config_error("dns.bad_name",
                                                fmt::format("{} can be no name of a host; check "
                                                            "the address of the device",
                                                            base::quoted(name))));
        return ticket;
    }
    reload_if_changed();
    std::string key = lower_case(name);
    if (const auto* known = cache_.find(key, loop_.now())) {
        ++counts_.cache_hits;
        answer_later(ticket, *known);
        return ticket;
    }
    begin(std::move(key), ticket);
    return ticket;
}

void Resolver::cancel(Ticket ticket) { waiters_.erase(ticket); }

void Resolver::answer_later(Ticket ticket, base::Result<SharedAddresses> result) {
    ready_.push_back({ticket, std::move(result)});
    if (!deliver_timer_.armed()) deliver_timer_.arm(loop_.now());
}

void Resolver::begin(std::string name, Ticket ticket) {
    if (const auto found = by_name_.find(name); found != by_name_.end()) {
        lookups_[found->second].tickets.push_back(ticket);
        return;
    }
    const std::uint64_t id = next_lookup_++;
    by_name_.emplace(name, id);
    lookups_.emplace(id, Lookup{.name = std::move(name), .tickets = {ticket}});
    deadlines_.push_back({loop_.now() + options_.timeout, id});
    if (!deadline_timer_.armed()) deadline_timer_.arm(deadlines_.front().at);
    unasked_.push_back(id);
    ask_more();
}

void Resolver::ask_more() {
    while (!unasked_.empty() && channel_->under_way() < options_.max_under_way) {
        const std::uint64_t id = unasked_.front();
        unasked_.pop_front();
        const auto found = lookups_.find(id);
        if (found == lookups_.end()) continue;  // its time ended while it waited
        ++counts_.lookups;
        channel_->ask(id, found->second.name);
    }
}

// Called from inside c-ares: nothing here may ask or close it.
void Resolver::take_answer(DnsAnswer answer) {
    base::Result<SharedAddresses> result;
    if (answer.addresses) {
        result = std::make_shared<const Addresses>(std::move(*answer.addresses));
    } else if (is_localhost(answer.name)) {
        result = std::make_shared<const Addresses>(
            Addresses{*IpAddress::parse("127.0.0.1"), *IpAddress::parse("::1")});
    } else {
        ++counts_.failures;
        result = std::unexpected(answer.addresses.error());
    }
    keep(answer, result);
    finish(answer.question, result);
    if (!deliver_timer_.armed()) deliver_timer_.arm(loop_.now());  // also asks for the next ones
}

void Resolver::keep(const DnsAnswer& answer, const base::Result<SharedAddresses>& result) {
    if (result) {
        const base::Duration ttl =
            std::max(options_.shortest_ttl, std::min(answer.ttl, options_.longest_ttl));
        cache_.put(answer.name, result, loop_.now() + ttl);
    } else if (result.error().code == "dns.not_found" &&
               options_.negative_ttl > base::Duration::zero()) {
        cache_.put(answer.name, result, loop_.now() + options_.negative_ttl);
    }
}

void Resolver::finish(std::uint64_t lookup, const base::Result<SharedAddresses>& result) {
    const auto found = lookups_.find(lookup);
    if (found == lookups_.end()) return;  // its time ended before the answer came
    for (const Ticket ticket : found->second.tickets) answer_later(ticket, result);
    by_name_.erase(found->second.name);
    lookups_.erase(found);
}

void Resolver::expire() {
    while (!deadlines_.empty() && deadlines_.front().at <= loop_.now()) {
        const std::uint64_t id = deadlines_.front().lookup;
        deadlines_.pop_front();
        const auto found = lookups_.find(id);
        if (found == lookups_.end()) continue;
        ++counts_.failures;
        const base::Result<SharedAddresses> late = base::make_error(
            base::ErrorClass::kTransient, "dns.timeout",
            fmt::format("looking up {} failed: no answer within {}; check the name servers in "
                        "/etc/resolv.conf",
                        base::quoted(found->second.name), base::format_duration(options_.timeout)));
        finish(id, late);
    }
    if (!deadlines_.empty()) deadline_timer_.arm(deadlines_.front().at);
    ask_more();
}

void Resolver::deliver() {
    std::erase_if(retired_, [](const auto& channel) { return channel->under_way() == 0; });
    ask_more();
    std::vector<Ready> now = std::exchange(ready_, {});
    for (const Ready& ready : now) {
        const auto found = waiters_.find(ready.ticket);
        if (found == waiters_.end()) continue;  // cancelled
        Done done = std::move(found->second);
        waiters_.erase(found);
        done(ready.result);
    }
}

}  // namespace pollux::net
