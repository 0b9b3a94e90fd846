#include "runtime/inbound/trap_desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "protocol/snmp/message.hpp"
#include "protocol/snmp/notification.hpp"
#include "protocol/snmp/v3_message.hpp"

namespace pollux::runtime {
namespace {

namespace snmp = protocol::snmp;

net::IpAddress address_of(const snmp::Endpoint& endpoint) {
    sockaddr_storage storage{};
    const socklen_t length = snmp::to_sockaddr(endpoint, storage);
    const auto address =
        net::IpAddress::from_sockaddr(reinterpret_cast<const sockaddr*>(&storage), length);
    return address ? address->unwrapped() : net::IpAddress();
}

InboundKind kind_of(const model::TrapMessage& trap) {
    return trap.inform ? InboundKind::kInform : InboundKind::kTrap;
}

// More than can change between two calls.
constexpr std::size_t kMostUnsaved = 8192;

std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

// Nothing: these are no whole bytes in hexadecimal digits. A 0x in front is understood.
std::optional<std::string> bytes_of_hex(std::string_view hex) {
    if (hex.starts_with("0x")) hex.remove_prefix(2);
    if (hex.empty() || hex.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        unsigned value = 0;
        const char* end = hex.data() + i + 2;
        const auto read = std::from_chars(hex.data() + i, end, value, 16);
        if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
        bytes += static_cast<char>(value);
    }
    return bytes;
}

// Why a message of v3 was not taken, for people.
std::string reason_of(const snmp::TrapSecurity::Taken& taken) {
    std::string text =
        fmt::format("SNMPv3, {}: {}", to_string(taken.verdict), describe(taken.verdict));
    if (!taken.engine_id.empty()) {
        text += fmt::format(
            "; if it is the latter, poll it by SNMPv3, which proves its clock, or: pollux inbound "
            "forget {}",
            hex_of(taken.engine_id));
    }
    return text;
}

}  // namespace

TrapDesk::TrapDesk(net::EventLoop& loop, TrapListener& listener, Intake& intake,
                   SourceLimiter& limiter, InboundCounts& counts, snmp::OwnEngine engine,
                   base::SipKey key)
    : loop_(loop),
      listener_(listener),
      intake_(intake),
      limiter_(limiter),
      counts_(counts),
      security_(std::move(engine), key, base::siphash24(key, "salt")),
      buffer_(snmp::kMaxMessageBytes) {}

void TrapDesk::set_image(const InboundImage& image) {
    router_.set_targets(image);
    std::vector<snmp::TrapUser> users;
    for (const InboundTargetPtr& target : image.targets) {
        if (target->kind != model::ProtocolKind::kTrap || !target->hears()) continue;
        if (!target->credentials || target->credentials->username.empty()) continue;
        const auto same = [&](const snmp::TrapUser& user) {
            return user.credentials == target->credentials;
        };
        if (std::ranges::none_of(users, same)) users.push_back({target->credentials, ""});
    }
    security_.set_users(std::move(users));
}

void TrapDesk::on_datagram(const Datagram& datagram) {
    // Before anything is read: a flood costs no more than this.
    if (!limiter_.admit(address_of(datagram.from), loop_.now())) {
        counts_.add(InboundKind::kTrap, InboundResult::kLimited);
        return;
    }
    Read read;
    const bool good =
        snmp::claims_v3(datagram.bytes) ? read_v3(datagram, read) : read_community(datagram, read);
    if (good) hand_on(datagram, std::move(read));
}

bool TrapDesk::read_community(const Datagram& datagram, Read& read) {
    auto received = snmp::parse_notification(datagram.bytes);
    if (!received) {
        counts_.add(InboundKind::kTrap, InboundResult::kMalformed);
        return false;
    }
    read.community = received->community;
    read.request_id = received->request_id;
    if (received->trap.inform) {
        const snmp::Bytes answer = snmp::answer_inform(*received, buffer_);
        read.answer.assign(answer.begin(), answer.end());
    }
    read.trap = std::move(received->trap);
    return true;
}

bool TrapDesk::read_v3(const Datagram& datagram, Read& read) {
    auto taken = security_.take(datagram.bytes, loop_.now(), buffer_);
    if (taken.verdict != snmp::TrapVerdict::kAccepted) {
        // Reports: a sender of informs asks for our engine and our clock first.
        if (!taken.answer.empty()) listener_.answer(datagram, taken.answer);
        if (taken.verdict == snmp::TrapVerdict::kDiscovery) return false;
        const bool broken = taken.verdict == snmp::TrapVerdict::kMalformed ||
                            taken.verdict == snmp::TrapVerdict::kNotForUs;
        counts_.add(InboundKind::kTrap,
                    broken ? InboundResult::kMalformed : InboundResult::kRefused);
        if (!broken) {
            unknown_.add(address_of(datagram.from), net::wall_now(), reason_of(taken), "");
        }
        return false;
    }
    read.user = std::move(taken.user);
    read.request_id = taken.request_id;
    read.answer.assign(taken.answer.begin(), taken.answer.end());
    read.trap = std::move(taken.trap);
    return true;
}

void TrapDesk::miss(const Datagram& datagram, const Read& read, TrapMiss why) {
    counts_.add(kind_of(read.trap), why == TrapMiss::kUnauthorised ? InboundResult::kRefused
                                                                   : InboundResult::kUnknownSender);
    unknown_.add(address_of(datagram.from), net::wall_now(), std::string(describe(why)),
                 to_string(read.trap.trap));
}

void TrapDesk::hand_on(const Datagram& datagram, Read read) {
    const InboundKind kind = kind_of(read.trap);
    const net::IpAddress sender = address_of(datagram.from);
    const TrapRoute route = router_.route(read.trap, {sender, read.community, read.user});
    if (!route.target) return miss(datagram, read, route.miss);
    unknown_.forget(sender);
    if (read.trap.inform) {
        const auto known = informs_.meet(datagram.from, read.request_id, loop_.now());
        if (known != InformMemory::Known::kNew) {
            counts_.add(kind, InboundResult::kDuplicate);
            // One that is not stored yet is answered when it is.
            if (known == InformMemory::Known::kStored) listener_.answer(datagram, read.answer);
            return;
        }
    }
    Incoming incoming;
    incoming.kind = kind;
    incoming.keep = !read.trap.inform;
    incoming.at = loop_.now();
    if (read.trap.inform) incoming.answer = answer_for(datagram, read);
    HeardMessage& heard = incoming.heard;
    heard.target = route.target;
    heard.message.source = sender.to_string();
    heard.message.received = net::wall_now();
    heard.message.content = std::move(read.trap);
    heard.signals = heard.target->addon->signals(
        heard.message, {.device = heard.target->device, .address = route.device.to_string()});
    if (intake_.take(std::move(incoming))) return;
    counts_.add(kind, InboundResult::kQueueFull);
    if (kind == InboundKind::kInform) informs_.lost(datagram.from, read.request_id);
}

std::move_only_function<void(Delivery, std::uint64_t)> TrapDesk::answer_for(
    const Datagram& datagram, Read& read) {
    Datagram back = datagram;
    back.bytes = {};
    return [this, back, request = read.request_id, answer = std::move(read.answer)](
               Delivery delivery, std::uint64_t /*id*/) {
        if (delivery == Delivery::kStored) {
            informs_.stored(back.from, request);
            listener_.answer(back, answer);
        } else if (delivery == Delivery::kFailed) {
            informs_.lost(back.from, request);
        }
    };
}

// --- what is remembered over a restart ----------------------------------------------------------

base::Status TrapDesk::recall(std::vector<std::pair<std::string, std::string>>& memories) {
    base::Status first;
    const base::BootTime now = loop_.now();
    const base::WallTime wall = net::wall_now();
    std::erase_if(memories, [&](const auto& memory) {
        const std::string_view key = memory.first;
        if (!key.starts_with(kMemoryPrefix)) return false;
        const auto engine = bytes_of_hex(key.substr(kMemoryPrefix.size()));
        auto status = security_.clocks().recall(engine.value_or(""), memory.second, now, wall);
        if (!status && first) first = std::move(status);
        return true;
    });
    return first;
}

store::MemoryBatch TrapDesk::unsaved() {
    store::MemoryBatch batch;
    for (auto& row : security_.clocks().unsaved(kMostUnsaved, loop_.now(), net::wall_now())) {
        std::string key = std::string(kMemoryPrefix) + hex_of(row.engine_id);
        if (row.bytes.empty()) {
            batch.removed.push_back(std::move(key));
        } else {
            batch.rows.push_back({std::move(key), std::move(row.bytes)});
        }
    }
    return batch;
}

void TrapDesk::not_saved(const std::vector<std::string>& keys) {
    std::vector<std::string> engines;
    for (const std::string& key : keys) {
        engines.push_back(
            bytes_of_hex(std::string_view(key).substr(kMemoryPrefix.size())).value_or(""));
    }
    security_.clocks().not_saved(engines);
}

base::Status TrapDesk::forget_sender(const std::string& engine) {
    const auto id = bytes_of_hex(engine);
    if (!id) {
        return base::config_error("inbound.engine",
                                  fmt::format("{} is no engine id: write it in hexadecimal digits, "
                                              "as `pollux inbound` shows it",
                                              engine));
    }
    if (!security_.clocks().forget(*id)) {
        return base::config_error(
            "inbound.engine",
            fmt::format("no clock of the engine {} is known: it is believed anyway", engine));
    }
    return {};
}

}  // namespace pollux::runtime
