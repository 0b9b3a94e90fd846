#include "api/profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "document/node.hpp"
#include "document/write.hpp"

namespace pollux::api {
namespace {

using document::Node;
using protocol::snmp::Climb;

// Names of the fleet, or what is known instead.
std::string name_of(const runtime::ProfileRow& row) {
    return row.devices.empty() ? row.host : fmt::format("{}", fmt::join(row.devices, ","));
}

bool is_wanted(const runtime::ProfileRow& row, std::string_view device) {
    return device.empty() || row.host == device ||
           std::ranges::find(row.devices, device) != row.devices.end() ||
           to_string(row.endpoint) == device;
}

// What is in use, what fails, and whether a person decided it.
Node size_node(const Climb& climb, std::uint32_t fixed) {
    Node node = Node::map();
    if (fixed != 0) {
        node.set("now", Node::unsigned_integer(fixed));
        node.set("fixed", Node::boolean(true));
        return node;
    }
    if (climb.now != 0) node.set("now", Node::unsigned_integer(climb.now));
    if (climb.ceiling != 0) node.set("ceiling", Node::unsigned_integer(climb.ceiling));
    return node;
}

Node row_node(const runtime::ProfileRow& row, std::string name) {
    const protocol::snmp::DeviceProfile& profile = row.profile;
    Node node = Node::map();
    node.set("device", Node::text(std::move(name)));
    node.set("address", Node::text(to_string(row.endpoint)));
    node.set("varbinds", size_node(profile.varbinds, row.fixed.max_varbinds));
    node.set("repetitions", size_node(profile.repetitions, row.fixed.max_repetitions));
    node.set("answer_bytes", size_node(profile.answer_bytes, 0));
    node.set("parallel", size_node(profile.parallel, row.fixed.parallel));
    node.set("bulk", Node::text(std::string(to_string(profile.bulk))));
    if (row.fixed.bulk) node.set("bulk_fixed", Node::boolean(*row.fixed.bulk));
    node.set("lies", Node::boolean(profile.bulk == protocol::snmp::Bulk::kLies));
    node.set("largest_answer", Node::unsigned_integer(profile.largest_answer));
    node.set("steps_back", Node::unsigned_integer(profile.steps_back));
    node.set("too_big", Node::unsigned_integer(profile.too_big));
    node.set("silences", Node::unsigned_integer(profile.silences));
    node.set("cuts", Node::unsigned_integer(profile.cuts));
    node.set("relearned", Node::unsigned_integer(profile.relearned));
    node.set("identity",
             Node::text(fmt::format("{:016x}", profile.description ^ (profile.object_id << 1U))));
    node.set("learned_at", Node::text(base::format_utc(profile.learned_at)));
    node.set("checked_at", Node::text(base::format_utc(profile.checked_at)));
    return node;
}

std::string page_of(Node list) {
    Node page = Node::map();
    page.set("profiles", std::move(list));
    return document::to_json(page);
}

}  // namespace

std::string profile_page(const std::vector<runtime::ProfileRow>& rows, std::string_view device) {
    std::vector<const runtime::ProfileRow*> wanted;
    for (const runtime::ProfileRow& row : rows) {
        if (is_wanted(row, device)) wanted.push_back(&row);
    }
    const auto order = [](const runtime::ProfileRow* row) {
        return std::make_pair(name_of(*row), to_string(row->endpoint));
    };
    std::ranges::sort(wanted, {}, order);
    Node list = Node::sequence();
    for (const runtime::ProfileRow* row : wanted) list.push(row_node(*row, name_of(*row)));
    return page_of(std::move(list));
}

std::string device_profile_page(const std::vector<runtime::ProfileRow>& rows,
                                std::string_view device) {
    std::vector<const runtime::ProfileRow*> wanted;
    for (const runtime::ProfileRow& row : rows) {
        if (std::ranges::find(row.devices, device) != row.devices.end()) wanted.push_back(&row);
    }
    std::ranges::sort(wanted, {},
                      [](const runtime::ProfileRow* row) { return to_string(row->endpoint); });
    Node list = Node::sequence();
    for (const runtime::ProfileRow* row : wanted) list.push(row_node(*row, std::string(device)));
    return page_of(std::move(list));
}

}  // namespace pollux::api
