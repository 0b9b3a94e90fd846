// Traps and informs from arbitrary bytes: no crash; what is accepted has a name, stays within its
// bounds, and an inform's answer can be read. By v3 nobody gets in without a key.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "protocol/snmp/trap_security.hpp"

namespace {

using namespace pollux;
using namespace pollux::protocol::snmp;

constexpr base::BootTime kNow{1'000'000'000'000};

std::shared_ptr<const model::Credentials> make_user(std::string name, model::SnmpAuth auth) {
    auto user = std::make_shared<model::Credentials>();
    user->username = std::move(name);
    user->snmp_auth = auth;
    user->snmp_auth_password = base::Secret("auth-password");
    return user;
}

TrapSecurity& security() {
    static TrapSecurity made({.id = "fuzz-engine", .boots = 3, .started = kNow}, {.k0 = 1, .k1 = 2},
                             5, {.max_engines = 64});
    static const bool filled = [] {
        made.set_users({{.credentials = make_user("trapper", model::SnmpAuth::kNone)},
                        {.credentials = make_user("signer", model::SnmpAuth::kSha256)}});
        return true;
    }();
    POLLUX_CHECK(filled);
    return made;
}

void check_trap(const model::TrapMessage& trap) {
    POLLUX_CHECK(trap.trap.arcs.size() >= 2 && trap.trap.arcs.size() <= model::kMaxOidArcs);
    POLLUX_CHECK(trap.varbinds.size() <= kMaxTrapVarbinds);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes(data, size);
    static std::vector<std::uint8_t> buffer(2 * kMaxMessageBytes);
    if (const Parsed<ReceivedNotification> received = parse_notification(bytes)) {
        check_trap(received->trap);
        if (received->trap.inform) {
            const Bytes answer = answer_inform(*received, buffer);
            POLLUX_CHECK(!answer.empty() && parse_message(answer).has_value());
        }
    }
    const TrapSecurity::Taken taken = security().take(bytes, kNow, buffer);
    if (taken.verdict == TrapVerdict::kAccepted) {
        check_trap(taken.trap);
        POLLUX_CHECK_MSG(taken.user == "trapper", "in without a key");
    }
    if (!taken.answer.empty()) POLLUX_CHECK(parse_v3(taken.answer).has_value());
    POLLUX_CHECK(security().engines() <= 64);
    return 0;
}
