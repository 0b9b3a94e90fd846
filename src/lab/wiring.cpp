#include "lab/wiring.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "lab/interface_model.hpp"

namespace pollux::lab {
namespace {

using Arcs = std::initializer_list<std::uint32_t>;

constexpr std::uint32_t kUplink = 1;  // the port of an access switch towards its core
constexpr std::uint32_t kFirstHostPort = 2;
constexpr std::uint32_t kFirstCorePort = 1001;  // of the first core, towards the others

bool is_core(const Device& device) { return device.number() % kAccessPerCore == 0; }

std::uint32_t core_number(const Device& device) {
    return device.number() / kAccessPerCore * kAccessPerCore;
}

// Access switches of the whole fleet, counted without the cores.
std::uint32_t access_count(const Fleet& fleet) {
    const auto all = static_cast<std::uint32_t>(fleet.snmp().size());
    return all - (all + kAccessPerCore - 1) / kAccessPerCore;
}
std::uint32_t access_index(const Device& device) {
    return device.number() - device.number() / kAccessPerCore - 1;
}
class Rows {
  public:
    void add(Arcs base, const std::vector<std::uint32_t>& index, model::SnmpValue value) {
        WiredRow row{.name = {.arcs = base}, .value = std::move(value)};
        row.name.arcs.insert(row.name.arcs.end(), index.begin(), index.end());
        rows_.push_back(std::move(row));
    }
    void integer(Arcs base, const std::vector<std::uint32_t>& index, std::int64_t number) {
        model::SnmpValue value;
        value.type = model::SnmpType::kInteger;
        value.integer = number;
        add(base, index, std::move(value));
    }
    void text(Arcs base, const std::vector<std::uint32_t>& index, std::string bytes) {
        model::SnmpValue value;
        value.type = model::SnmpType::kOctetString;
        value.bytes = std::move(bytes);
        add(base, index, std::move(value));
    }

    void own_chassis(const Device& device) {
        integer({1, 0, 8802, 1, 1, 2, 1, 3, 1}, {0}, 4);
        text({1, 0, 8802, 1, 1, 2, 1, 3, 2}, {0}, hardware_address_of(device, 1));
        text({1, 0, 8802, 1, 1, 2, 1, 3, 3}, {0}, std::string(device.name()));
    }
    void lldp(std::uint32_t port, const Device& other) {
        const std::vector<std::uint32_t> index = {0, port, 1};
        integer({1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 4}, index, 4);
        text({1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 5}, index, hardware_address_of(other, 1));
        text({1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, 9}, index, std::string(other.name()));
        std::vector<std::uint32_t> with_address = index;
        with_address.insert(with_address.end(), {1, 4});
        for (const char byte : bytes_of(other)) {
            with_address.push_back(static_cast<unsigned char>(byte));
        }
        integer({1, 0, 8802, 1, 1, 2, 1, 4, 2, 1, 3}, with_address, 2);
    }
    void cdp(std::uint32_t port, const Device& other) {
        text({1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 4}, {port, 1}, bytes_of(other));
        text({1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 2, 1, 1, 6}, {port, 1}, std::string(other.name()));
    }
    void arp(const Device& other) {
        std::vector<std::uint32_t> index = {1};
        for (const char byte : bytes_of(other)) index.push_back(static_cast<unsigned char>(byte));
        text({1, 3, 6, 1, 2, 1, 4, 22, 1, 2}, index, hardware_address_of(other, 1));
    }
    void learned(std::uint32_t port, const Device& other) {
        std::vector<std::uint32_t> index;
        for (const char byte : hardware_address_of(other, 1)) {
            index.push_back(static_cast<unsigned char>(byte));
        }
        integer({1, 3, 6, 1, 2, 1, 17, 4, 3, 1, 2}, index, port);
        if (std::ranges::find(ports_, port) == ports_.end()) {
            ports_.push_back(port);
            integer({1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2}, {port}, port);
        }
    }

    std::vector<WiredRow> take() {
        std::ranges::sort(rows_, {}, &WiredRow::name);
        return std::move(rows_);
    }

  private:
    static std::string bytes_of(const Device& device) {
        std::string bytes;
        for (const std::uint32_t shift : {24U, 16U, 8U, 0U}) {
            bytes.push_back(static_cast<char>(device.address() >> shift & 0xFFU));
        }
        return bytes;
    }

    std::vector<WiredRow> rows_;
    std::vector<std::uint32_t> ports_;
};

// HTTP devices on one access switch, in the order of its ports.
template <class Visit>
void each_host(const Fleet& fleet, const Device& access, Visit visit) {
    const std::uint32_t step = access_count(fleet);
    std::uint32_t port = kFirstHostPort;
    for (std::size_t i = access_index(access); i < fleet.http().size(); i += step) {
        visit(port++, fleet.http()[i]);
    }
}

void add_core(Rows& rows, const Fleet& fleet, const Device& core) {
    const auto all = static_cast<std::uint32_t>(fleet.snmp().size());
    const std::uint32_t end = std::min(core.number() + kAccessPerCore, all);
    for (std::uint32_t number = core.number() + 1; number < end; ++number) {
        const std::uint32_t port = number - core.number();
        const Device& access = fleet.snmp()[number];
        rows.lldp(port, access);
        rows.learned(port, access);
        each_host(fleet, access, [&](std::uint32_t, const Device& host) {
            rows.arp(host);
            rows.learned(port, host);
        });
    }
    if (core.number() > 0) {
        rows.cdp(kFirstCorePort, fleet.snmp().front());
    } else {
        for (std::uint32_t number = kAccessPerCore; number < all; number += kAccessPerCore) {
            rows.cdp(kFirstCorePort + number / kAccessPerCore, fleet.snmp()[number]);
        }
    }
    if (access_count(fleet) == 0) {
        std::uint32_t port = kFirstHostPort;
        for (const Device& host : fleet.http()) {
            rows.arp(host);
            rows.learned(port++, host);
        }
    }
}

void add_access(Rows& rows, const Fleet& fleet, const Device& access) {
    const Device& core = fleet.snmp()[core_number(access)];
    rows.lldp(kUplink, core);
    rows.learned(kUplink, core);
    each_host(fleet, access,
              [&](std::uint32_t port, const Device& host) { rows.learned(port, host); });
}

}  // namespace

std::span<const WiredRow> Wiring::rows(const Device& device) {
    if (device.kind() != DeviceKind::kSnmp) return {};
    const auto found = kept_.find(device.number());
    if (found != kept_.end()) return found->second;
    if (kept_.size() >= kMostKept) kept_.clear();
    Rows rows;
    rows.own_chassis(device);
    is_core(device) ? add_core(rows, fleet_, device) : add_access(rows, fleet_, device);
    return kept_.emplace(device.number(), rows.take()).first->second;
}

}  // namespace pollux::lab
