#include "protocol/snmp/snmp_driver.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "protocol/snmp/failures.hpp"
#include "protocol/snmp/message.hpp"

namespace pollux::protocol::snmp {
namespace {

using model::FailureKind;
using model::PollFailure;

constexpr std::uint16_t kSnmpPort = 161;
// With the longest community and the frame this stays below kRequestBytes.
constexpr std::size_t kMostMessageBytes = 1700;

// Ids are unpredictable, but have 31 bits only; the index takes all 32.
std::uint64_t request_hash(std::int32_t id) { return static_cast<std::uint64_t>(id) << 1U; }

}  // namespace

SnmpDriver::SnmpDriver(net::EventLoop& loop, SnmpSeams seams, SnmpOptions options,
                       Randomness random)
    : loop_(loop),
      seams_(std::move(seams)),
      options_(options),
      key_(random.key),
      profiles_(options.max_profiles, random.key),
      v3_(random.key, random.salt, options.max_engines),
      wheel_(loop.now()),
      wheel_timer_(loop, [this] { on_timer(); }),
      ended_timer_(loop, [this] { tell_ended(); }) {}

base::Result<std::unique_ptr<SnmpDriver>> SnmpDriver::create(net::EventLoop& loop, SnmpSeams seams,
                                                             SnmpOptions options) {
    options.limits.message_bytes = std::min(options.limits.message_bytes, kMostMessageBytes);
    Randomness random;
    if (getrandom(&random, sizeof random, 0) != sizeof random) {
        return base::internal_error("snmp.random", "the kernel gave no random bytes");
    }
    std::unique_ptr<SnmpDriver> driver(new SnmpDriver(loop, std::move(seams), options, random));
    auto transport = Transport::create(loop, *driver, options.transport);
    if (!transport) return std::unexpected(transport.error());
    driver->transport_ = std::move(*transport);
    return driver;
}

SnmpDriver::~SnmpDriver() { *alive_ = false; }

const model::SnmpAsk& SnmpDriver::snmp_ask(const Poll& poll) const {
    return std::get<model::SnmpAsk>(poll.ask->request);
}

SnmpDriver::Poll* SnmpDriver::find(std::uint64_t ticket) {
    const std::uint32_t slot = slot_of(ticket);
    if (!polls_.is_live(slot) || polls_[slot].ticket != ticket) return nullptr;
    return &polls_[slot];
}

// --- from the order to the first request ---------------------------------------------------------

void SnmpDriver::start(Order order, Done done) {
    const std::uint32_t slot = polls_.allocate();
    Poll& poll = polls_[slot];
    poll.ticket = std::uint64_t{++next_ticket_} << 32U | slot;
    poll.order_id = order.id;
    poll.ask = std::move(order.ask);
    poll.done = std::move(done);
    poll.started = net::boot_now();
    poll.deadline = order.deadline;
    poll.tracing = order.trace;
    poll.fresh_login = order.fresh_login;
    by_order_.insert(base::siphash24(key_, order.id), slot);
    if (PollFailure problem = check_ask(poll.ask.get()); problem.kind != FailureKind::kNone) {
        return end_later(poll.ticket, std::move(problem));
    }
    // For the first request, roughly; what it waits for follows.
    arm(poll, std::min(poll.deadline, poll.started + request_timeout(poll)));
    locate_device(poll.ticket);
}

void SnmpDriver::locate_device(std::uint64_t ticket) {
    Poll& poll = *find(ticket);
    const std::string& host = poll.ask->host;
    if (const std::optional<Endpoint> literal = parse_literal(host, 0)) {
        sockaddr_storage address{};
        to_sockaddr(*literal, address);
        const base::Status usable = use_first_allowed(poll, {&address, 1});
        if (!usable) {
            return end_later(ticket, failure_of(FailureKind::kConfiguration, usable.error().code,
                                                usable.error().message));
        }
        return begin(ticket);
    }
    arm(poll, poll.deadline);
    if (!seams_.resolve) {
        return end_later(ticket, failure_of(FailureKind::kConfiguration, "snmp.dns",
                                            fmt::format("{} is a name, and nothing resolves "
                                                        "names here; use an address",
                                                        host)));
    }
    trace(poll, fmt::format("looking up {}", host));
    seams_.resolve(host, [this, ticket, alive = std::weak_ptr<bool>(alive_)](
                             base::Result<std::vector<sockaddr_storage>> found) {
        const std::shared_ptr<bool> lives = alive.lock();
        if (lives != nullptr && *lives) on_resolved(ticket, std::move(found));
    });
}

void SnmpDriver::on_resolved(std::uint64_t ticket,
                             base::Result<std::vector<sockaddr_storage>> found) {
    Poll* poll = find(ticket);
    if (poll == nullptr) return;
    poll->phases.dns = net::boot_now() - poll->started;
    if (!found) {
        return end_later(ticket, failure_of(FailureKind::kDns, "snmp.dns",
                                            fmt::format("{} has no address: {}", poll->ask->host,
                                                        found.error().message)));
    }
    const base::Status usable = use_first_allowed(*poll, *found);
    if (!usable) {
        return end_later(ticket, failure_of(FailureKind::kConfiguration, usable.error().code,
                                            usable.error().message));
    }
    begin(ticket);
}

base::Status SnmpDriver::use_first_allowed(Poll& poll,
                                           std::span<const sockaddr_storage> addresses) {
    base::Status refused;
    for (const sockaddr_storage& address : addresses) {
        const std::optional<Endpoint> endpoint = from_sockaddr(address);
        if (!endpoint || !transport_->supports(endpoint->family)) continue;
        if (seams_.allow) {
            if (base::Status allowed = seams_.allow(address); !allowed) {
                refused = std::move(allowed);
                continue;
            }
        }
        poll.peer = *endpoint;
        poll.peer.port = poll.ask->port == 0 ? kSnmpPort : poll.ask->port;
        return {};
    }
    if (!refused) return refused;
    return base::config_error("snmp.unreachable",
                              fmt::format("{} has no address that can be used here: no IPv4, or "
                                          "IPv6 is off on this machine",
                                          poll.ask->host));
}

void SnmpDriver::begin(std::uint64_t ticket) {
    Poll& poll = *find(ticket);
    find_profile(poll);
    if (poll.fresh_login && is_v3(poll)) v3_.forget(poll.peer);
    if (poll.exchange.begin(snmp_ask(poll), profiles_.at(poll.place).profile, options_.limits) ==
        Exchange::Step::kFailed) {
        return end_later(ticket, std::move(poll.exchange.failure()));
    }
    ask_next(poll);
}

// Puts the exchange's next request in line, under an id of its own; or waits for its turn.
void SnmpDriver::ask_next(Poll& poll) {
    if (!take_slot(poll)) return arm(poll, poll.deadline);
    take_id(poll);
    poll.under_way = true;
    poll.resends_left = poll.ask->resends;
    poll.resent = false;
    poll.crowd = 0;
    arm(poll, poll.deadline);
    get_in_line(poll);
}

void SnmpDriver::take_id(Poll& poll) {
    const auto is_taken = [this](std::int32_t id) {
        return by_request_.find(request_hash(id), [&](std::uint32_t slot) {
            return polls_[slot].request_id == id;
        }) != base::FlatIndex::kNone;
    };
    // Never more than a fraction of 2^31 ids are in use, so this ends soon.
    do {
        poll.request_id =
            static_cast<std::int32_t>(base::siphash24(key_, ++next_request_) & 0x7FFFFFFFU);
    } while (poll.request_id == 0 || is_taken(poll.request_id));
    by_request_.insert(request_hash(poll.request_id), slot_of(poll.ticket));
}

void SnmpDriver::forget_id(Poll& poll) {
    const std::uint32_t slot = slot_of(poll.ticket);
    by_request_.erase(request_hash(poll.request_id),
                      [&](std::uint32_t found) { return found == slot; });
}

void SnmpDriver::get_in_line(Poll& poll) {
    if (std::exchange(poll.in_line, true)) return;
    transport_->enqueue(poll.ticket, poll.peer.family);
}

void SnmpDriver::drop_request(Poll& poll) {
    if (poll.window_number != 0) transport_->settle(std::exchange(poll.window_number, 0));
    if (!std::exchange(poll.under_way, false)) return;
    forget_id(poll);
    give_slot_back(poll);
}

// --- sending -------------------------------------------------------------------------------------

TransportClient::Outgoing SnmpDriver::prepare(std::uint64_t ticket,
                                              std::span<std::uint8_t> buffer) {
    Poll* poll = find(ticket);
    if (poll == nullptr) return {};
    if (!poll->under_way) {
        poll->in_line = false;
        return {};
    }
    BerWriter writer(buffer);
    if (is_v3(*poll)) {
        put_v3_request(*poll, writer);
    } else {
        put_pdu_of(*poll, writer);
        put_community_wrapper(writer, 0, snmp_ask(*poll).version, community_of(*poll->ask));
    }
    if (!writer.ok()) {
        drop_request(*poll);
        end_later(ticket, failure_of(FailureKind::kConfiguration, "snmp.long_oid",
                                     "an object identifier is too long for a request"));
        return {};
    }
    return {.to = &poll->peer, .bytes = writer.bytes()};
}

void SnmpDriver::on_sent(std::uint64_t ticket, std::size_t bytes, std::uint64_t number) {
    Poll* found = find(ticket);
    if (found == nullptr) return;
    Poll& poll = *found;
    poll.in_line = false;
    ++counters_.sent;
    ++poll.sends;
    poll.bytes_out += bytes;
    poll.window_number = number;
    poll.sent_at = loop_.now();
    arm(poll, std::min(poll.deadline, loop_.now() + request_timeout(poll)));
    if (poll.tracing) {
        trace(poll, fmt::format("sent {} to {}, request {}, {} bytes",
                                poll.discovering ? "a question for its engine"
                                                 : poll.exchange.describe_request(),
                                to_string(poll.peer), poll.request_id, bytes));
    }
}

void SnmpDriver::on_send_failed(std::uint64_t ticket, int error_number) {
    if (Poll* poll = find(ticket); poll != nullptr) fail(*poll, unreachable(error_number));
}

base::Duration SnmpDriver::request_timeout(const Poll& poll) {
    return poll.ask->timeout / (static_cast<std::int64_t>(poll.ask->resends) + 1);
}

// --- time ----------------------------------------------------------------------------------------

void SnmpDriver::arm(Poll& poll, base::BootTime due) {
    poll.due = due;
    // An entry that fires too early is armed again then: most polls are over before, and need one
    // entry only.
    if (poll.timed && poll.entry_due <= due) return;
    if (poll.timed) wheel_.note_stale();
    poll.entry_due = due;
    poll.timer_tick = wheel_.arm(slot_of(poll.ticket), due);
    poll.timed = true;
    if (!wheel_timer_.armed() || due < wheel_timer_.at()) wheel_timer_.arm(due);
}

void SnmpDriver::on_timer() {
    wheel_.advance(loop_.now(),
                   [this](std::uint32_t slot, std::uint32_t tick) { return on_due(slot, tick); });
    if (wheel_.wants_compaction()) {
        wheel_.compact([this](std::uint32_t slot, std::uint32_t tick) {
            return polls_.is_live(slot) && polls_[slot].timed && polls_[slot].timer_tick == tick;
        });
    }
    if (!wheel_.empty()) wheel_timer_.arm(wheel_.next_event());
}

// Whether the entry was still waited for.
bool SnmpDriver::on_due(std::uint32_t slot, std::uint32_t tick) {
    if (!polls_.is_live(slot)) return false;
    Poll& poll = polls_[slot];
    if (!poll.timed || poll.timer_tick != tick) return false;
    poll.timed = false;
    if (loop_.now() < poll.due) {
        arm(poll, poll.due);
    } else if (loop_.now() < poll.deadline && poll.resends_left > 0) {
        resend(poll);
    } else {
        fail(poll, timed_out({.waited = net::boot_now() - poll.started,
                              .sends = poll.sends,
                              .was_answered = poll.was_answered,
                              .was_located = poll.peer.family != AF_UNSPEC,
                              .behind_others = poll.waited && poll.sends == 0,
                              .version = snmp_ask(poll).version,
                              .discovering = poll.discovering,
                              .encrypted =
                                  poll.ask->credentials != nullptr &&
                                  level_of(*poll.ask->credentials) == SecurityLevel::kAuthPrivacy,
                              .untrusted = poll.untrusted}));
    }
    return true;
}

// Under the same id where the shape stays: a late answer to the first copy is as good.
void SnmpDriver::resend(Poll& poll) {
    --poll.resends_left;
    ++counters_.resent;
    if (poll.window_number != 0) transport_->settle(std::exchange(poll.window_number, 0));
    trace(poll, "no answer in time");
    const std::uint32_t under_way = profiles_.at(poll.place).under_way;
    poll.resent = true;
    if (under_way > 1) poll.crowd = std::max(poll.crowd, under_way);
    const bool last = poll.resends_left == 0;
    if (poll.check == nullptr && !poll.discovering &&
        poll.exchange.before_resend(last, poll.crowd == 0)) {
        forget_id(poll);
        take_id(poll);
    }
    arm(poll, poll.deadline);
    get_in_line(poll);
}

// --- receiving -----------------------------------------------------------------------------------

SnmpDriver::Poll* SnmpDriver::find_request(std::int32_t request_id, const Endpoint& peer) {
    const std::uint32_t slot = by_request_.find(
        request_hash(request_id),
        [&](std::uint32_t candidate) { return polls_[candidate].request_id == request_id; });
    if (slot == base::FlatIndex::kNone) {
        ++counters_.unmatched;
        return nullptr;
    }
    if (polls_[slot].peer != peer) {
        ++counters_.wrong_source;
        return nullptr;
    }
    return &polls_[slot];
}

void SnmpDriver::on_datagram(const Endpoint& from, Bytes bytes) {
    ++counters_.received;
    const Parsed<MessageView> message = parse_message(bytes);
    if (!message) {
        if (claims_v3(bytes)) return on_v3_datagram(from, bytes);
        return take_damaged(from, bytes, message.error());
    }
    const Parsed<PduView> pdu = parse_pdu(message->pdu);
    if (!pdu) return take_damaged(from, bytes, pdu.error());
    if (pdu->type != PduType::kResponse) {
        ++counters_.unmatched;
        return;
    }
    Poll* poll = find_request(pdu->request_id, from);
    if (poll == nullptr) return;
    // Who asks by v3 takes nothing that proves nothing.
    if (is_v3(*poll)) {
        ++counters_.untrusted;
        return;
    }
    take_response(*poll, *pdu, bytes.size());
}

void SnmpDriver::take_response(Poll& poll, const PduView& pdu, std::size_t bytes) {
    poll.bytes_in += bytes;
    if (!std::exchange(poll.was_answered, true)) {
        poll.phases.first_byte = net::boot_now() - poll.started;
    }
    if (poll.tracing) {
        trace(poll, fmt::format("received the answer to request {}: {}, {} bytes", pdu.request_id,
                                error_status_text(pdu.error_status), bytes));
    }
    const bool quick = !poll.resent && loop_.now() - poll.sent_at < request_timeout(poll) / 2;
    note_answer(poll, quick);
    drop_request(poll);
    if (poll.check != nullptr) return take_checked(poll, pdu);
    switch (poll.exchange.take_response(pdu, {.bytes = bytes, .quick = quick})) {
        case Exchange::Step::kAsk: return ask_next(poll);
        case Exchange::Step::kDone: return succeed(poll);
        case Exchange::Step::kFailed: return fail(poll, std::move(poll.exchange.failure()));
    }
}

// A packet that is no SNMP answer still ends its request, if it says which one that was: waiting
// for the timeout would blame the network.
void SnmpDriver::take_damaged(const Endpoint& from, Bytes bytes, Problem problem) {
    ++counters_.malformed;
    const Parsed<std::int32_t> request_id = peek_request_id(bytes);
    if (!request_id) return;
    Poll* poll = find_request(*request_id, from);
    if (poll == nullptr || is_v3(*poll)) return;
    poll->bytes_in += bytes.size();
    fail(*poll, failure_of(FailureKind::kApi, "snmp.malformed",
                           fmt::format("the answer has {}; the device or something between "
                                       "breaks SNMP",
                                       problem)));
}

void SnmpDriver::on_icmp_error(const IcmpError& error) {
    ++counters_.icmp_errors;
    const Parsed<std::int32_t> request_id = peek_request_id(error.quoted);
    if (!request_id) return;
    Poll* poll = find_request(*request_id, error.to);
    if (poll != nullptr) fail(*poll, unreachable(error.error_number));
}

// --- ends ----------------------------------------------------------------------------------------

void SnmpDriver::succeed(Poll& poll) {
    const std::uint64_t ticket = poll.ticket;
    model::Reply reply;
    model::SnmpReply answer = poll.exchange.take_reply();
    answer.pdus = poll.sends;
    learn(poll);
    take_identity(poll, answer);
    std::unique_ptr<NarrowCheck> check = due_check(poll, answer);
    if (check == nullptr) {
        reply.answer = std::move(answer);
        return finish(poll, std::move(reply));
    }
    const std::shared_ptr<const model::Ask> ask = poll.ask;
    const Endpoint peer = poll.peer;
    reply.answer = std::move(answer);
    // Nobody waits for the check. It takes a slot of its own, which may move the poll.
    start_check(ask, peer, std::move(check));
    finish(*find(ticket), std::move(reply));
}

void SnmpDriver::fail(Poll& poll, PollFailure failure) {
    failure.message = fmt::format("SNMP with {}: {}", place_of(poll), failure.message);
    trace(poll, fmt::format("failed with {}", failure.code));
    learn(poll);
    model::Reply reply;
    reply.answer = std::move(failure);
    finish(poll, std::move(reply));
}

void SnmpDriver::finish(Poll& poll, model::Reply reply) {
    drop_request(poll);
    if (poll.timed) wheel_.note_stale();
    reply.phases = poll.phases;
    reply.phases.total = net::boot_now() - poll.started;
    reply.bytes_in = poll.bytes_in;
    reply.bytes_out = poll.bytes_out;
    reply.trace = std::move(poll.trace);
    Done done = std::move(poll.done);
    const std::uint32_t slot = slot_of(poll.ticket);
    by_order_.erase(base::siphash24(key_, poll.order_id),
                    [&](std::uint32_t found) { return found == slot; });
    polls_.release(slot);
    done(std::move(reply));
}

void SnmpDriver::cancel(std::uint64_t id) {
    const std::uint32_t slot = by_order_.find(base::siphash24(key_, id), [&](std::uint32_t found) {
        return polls_[found].order_id == id;
    });
    if (slot == base::FlatIndex::kNone) return;
    Poll& poll = polls_[slot];
    drop_request(poll);
    end_later(poll.ticket, failure_of(FailureKind::kCancelled, "snmp.cancelled", "cancelled"));
}

void SnmpDriver::end_later(std::uint64_t ticket, PollFailure failure) {
    ended_.push_back({.ticket = ticket, .failure = std::move(failure)});
    if (!ended_timer_.armed()) ended_timer_.arm(loop_.now());
}

void SnmpDriver::tell_ended() {
    // Whoever is told may start and cancel more; that is for the next turn.
    std::vector<Ended> ended = std::exchange(ended_, {});
    for (Ended& one : ended) {
        if (Poll* poll = find(one.ticket); poll != nullptr) fail(*poll, std::move(one.failure));
    }
}

std::string SnmpDriver::place_of(const Poll& poll) const {
    if (poll.ask == nullptr) return "nobody";
    if (poll.peer.family == AF_UNSPEC) return poll.ask->host;
    const std::string address = to_string(poll.peer);
    if (parse_literal(poll.ask->host, 0)) return address;
    return fmt::format("{} ({})", poll.ask->host, address);
}

void SnmpDriver::trace(Poll& poll, std::string line) {
    if (!poll.tracing || poll.trace.size() > options_.max_trace_lines) return;
    if (poll.trace.size() == options_.max_trace_lines) line = "more steps are not shown";
    poll.trace.push_back(fmt::format(
        "{}: {}", base::format_duration(net::boot_now() - poll.started), std::move(line)));
}

}  // namespace pollux::protocol::snmp
