#include "runtime/jobs/topology_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/jobs/neighbour_tables.hpp"

namespace pollux::runtime {
namespace {

using config::NeighbourFacts;
using config::Sighting;
using model::SnmpReply;
using model::SnmpType;
using model::SnmpValue;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

SnmpValue number(std::int64_t value) {
    SnmpValue result;
    result.type = SnmpType::kInteger;
    result.integer = value;
    return result;
}
SnmpValue text(std::string bytes) {
    SnmpValue result;
    result.type = SnmpType::kOctetString;
    result.bytes = std::move(bytes);
    return result;
}
const std::string kOne("\x02\x00\x00\x00\x00\x01", 6);
const std::string kTwo("\x02\x00\x00\x00\x00\x02", 6);

// An agent's tables as rows by name; answers what is asked for as a real one would.
class Tables {
  public:
    void put(const std::string& oid, SnmpValue value) {
        rows_[*model::parse_oid(oid)] = std::move(value);
    }
    NeighbourFacts facts() const {
        NeighbourFacts facts;
        for (std::size_t i = 0; i < kNeighbourTables; ++i) {
            const auto table = static_cast<NeighbourTable>(i);
            model::SnmpAsk ask;
            set_neighbour_request(table, ask);
            read_neighbour_reply(table, answer(ask), facts);
        }
        return facts;
    }

  private:
    SnmpReply answer(const model::SnmpAsk& ask) const {
        SnmpReply reply;
        for (const model::Oid& oid : ask.gets) {
            const auto found = rows_.find(oid);
            SnmpValue missing;
            missing.type = SnmpType::kNoSuchObject;
            reply.gets.push_back(found == rows_.end() ? missing : found->second);
        }
        for (const model::Oid& column : ask.walks) {
            auto& walk = reply.walks.emplace_back();
            for (const auto& [oid, value] : rows_) {
                if (!oid.starts_with(column)) continue;
                const auto length = static_cast<std::ptrdiff_t>(column.arcs.size());
                walk.push_back({{{oid.arcs.begin() + length, oid.arcs.end()}}, value});
            }
        }
        return reply;
    }
    std::map<model::Oid, SnmpValue> rows_;
};

TEST(NeighbourTables, LldpNamesChassisNameAddressesAndPort) {
    Tables tables;
    tables.put("1.3.6.1.2.1.1.5.0", text("sw1.example.org"));
    tables.put("1.0.8802.1.1.2.1.3.1.0", number(4));
    tables.put("1.0.8802.1.1.2.1.3.2.0", text(kOne));
    tables.put("1.3.6.1.2.1.2.2.1.6.10", text(kOne));
    tables.put("1.3.6.1.2.1.2.2.1.6.11", text(""));                    // a loopback
    tables.put("1.3.6.1.2.1.2.2.1.6.12", text(std::string(6, '\0')));  // a tunnel
    tables.put("1.3.6.1.2.1.31.1.1.1.1.10", text("Gi1/0/1"));
    tables.put("1.0.8802.1.1.2.1.3.7.1.2.3", number(5));
    tables.put("1.0.8802.1.1.2.1.3.7.1.3.3", text("Gi1/0/1"));
    tables.put("1.0.8802.1.1.2.1.4.1.1.4.0.3.1", number(4));
    tables.put("1.0.8802.1.1.2.1.4.1.1.5.0.3.1", text(kTwo));
    tables.put("1.0.8802.1.1.2.1.4.1.1.9.0.3.1", text("core\x1b[31m"));
    tables.put("1.0.8802.1.1.2.1.4.2.1.3.0.3.1.1.4.192.0.2.1", number(2));
    tables.put("1.0.8802.1.1.2.1.4.2.1.3.0.3.1.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.1",
               number(2));
    tables.put("1.0.8802.1.1.2.1.4.2.1.3.0.3.1.1.9.1", number(2));  // nonsense
    const NeighbourFacts facts = tables.facts();
    EXPECT_EQ(facts.name, "sw1.example.org");
    EXPECT_THAT(facts.hardware, ElementsAre("02:00:00:00:00:01", "02:00:00:00:00:01"));
    ASSERT_EQ(facts.neighbours.size(), 1U);
    const config::Neighbour& one = facts.neighbours[0];
    EXPECT_EQ(one.by, Sighting::kLldp);
    EXPECT_EQ(one.port, 10U) << "the interface, and not LLDP's own count";
    EXPECT_EQ(one.hardware, "02:00:00:00:00:02");
    EXPECT_EQ(one.name, "core");
    EXPECT_THAT(one.addresses, ElementsAre("192.0.2.1", "2001:db8::1"));
}

TEST(NeighbourTables, PortsOfLldpAreFoundByWhatTheyAreCalled) {
    struct Case {
        std::int64_t type;
        std::string id;
        std::uint32_t interface;
    };
    const Case cases[] = {{5, "eth7", 7}, {3, kTwo, 8}, {7, "7", 7}, {7, "99", 8}, {1, "x", 8}};
    for (const Case& one : cases) {
        Tables tables;
        tables.put("1.3.6.1.2.1.2.2.1.6.7", text(kOne));
        tables.put("1.3.6.1.2.1.2.2.1.6.8", text(kTwo));
        tables.put("1.3.6.1.2.1.31.1.1.1.1.7", text("eth7"));
        tables.put("1.0.8802.1.1.2.1.3.7.1.2.8", number(one.type));
        tables.put("1.0.8802.1.1.2.1.3.7.1.3.8", text(one.id));
        tables.put("1.0.8802.1.1.2.1.4.1.1.9.0.8.1", text("other"));
        EXPECT_EQ(tables.facts().neighbours.at(0).port, one.interface) << one.type << one.id;
    }
}

TEST(NeighbourTables, AChassisMayBeNamedByItsAddress) {
    Tables tables;
    tables.put("1.0.8802.1.1.2.1.4.1.1.4.0.1.1", number(5));
    tables.put("1.0.8802.1.1.2.1.4.1.1.5.0.1.1", text(std::string("\x01\xc0\x00\x02\x05", 5)));
    EXPECT_THAT(tables.facts().neighbours.at(0).addresses, ElementsAre("192.0.2.5"));
    EXPECT_EQ(tables.facts().neighbours.at(0).hardware, "");
}

TEST(NeighbourTables, CdpNamesAddressAndDevice) {
    Tables tables;
    tables.put("1.3.6.1.4.1.9.9.23.1.2.1.1.4.12.1", text(std::string("\xc0\x00\x02\x07", 4)));
    tables.put("1.3.6.1.4.1.9.9.23.1.2.1.1.6.12.1", text("CORE(FOC1)"));
    const NeighbourFacts facts = tables.facts();
    ASSERT_EQ(facts.neighbours.size(), 1U);
    EXPECT_EQ(facts.neighbours[0].by, Sighting::kCdp);
    EXPECT_EQ(facts.neighbours[0].port, 12U);
    EXPECT_EQ(facts.neighbours[0].name, "CORE(FOC1)");
    EXPECT_THAT(facts.neighbours[0].addresses, ElementsAre("192.0.2.7"));
}

TEST(NeighbourTables, ArpAndBridges) {
    Tables tables;
    tables.put("1.3.6.1.2.1.4.22.1.2.3.192.0.2.9", text(kOne));
    tables.put("1.3.6.1.2.1.4.22.1.2.3.192.0.2.10", text("?"));
    tables.put("1.3.6.1.2.1.4.35.1.4.3.1.4.192.0.2.11", text(kTwo));
    tables.put("1.3.6.1.2.1.17.1.1.0", text(kTwo));
    tables.put("1.3.6.1.2.1.17.1.4.1.2.5", number(105));
    tables.put("1.3.6.1.2.1.17.4.3.1.2.2.0.0.0.0.1", number(5));
    tables.put("1.3.6.1.2.1.17.4.3.1.2.1.0.94.0.0.1", number(5));       // a multicast group
    tables.put("1.3.6.1.2.1.17.7.1.2.2.1.2.7.2.0.0.0.0.2", number(6));  // in VLAN 7
    tables.put("1.3.6.1.2.1.17.7.1.2.2.1.2.7.2.0.0.0.0.3", number(0));  // it does not know
    const NeighbourFacts facts = tables.facts();
    EXPECT_THAT(facts.arp, ElementsAre(Pair("192.0.2.9", "02:00:00:00:00:01"),
                                       Pair("192.0.2.11", "02:00:00:00:00:02")));
    EXPECT_THAT(facts.hardware, ElementsAre("02:00:00:00:00:02"));
    EXPECT_THAT(facts.learned,
                ElementsAre(Pair("02:00:00:00:00:01", 105U), Pair("02:00:00:00:00:02", 6U)));
}

TEST(NeighbourTables, NothingIsNothing) {
    const NeighbourFacts facts = Tables().facts();
    EXPECT_THAT(facts.neighbours, IsEmpty());
    EXPECT_THAT(facts.hardware, IsEmpty());
    NeighbourFacts short_reply;
    read_neighbour_reply(NeighbourTable::kSpoken, {}, short_reply);
    EXPECT_THAT(short_reply.neighbours, IsEmpty());
}

TEST(TopologyRoots, AreNamedOrTheGatewayOrRefused) {
    config::Fleet fleet;
    fleet.devices["gw"];
    fleet.devices["twin"];
    fleet.devices["host"];
    const config::ByName<std::vector<std::string>> addresses = {{"gw", {"192.0.2.1"}},
                                                                {"host", {"192.0.2.9"}}};
    const auto hop = [](const char* text) { return *net::IpAddress::parse(text); };
    EXPECT_THAT(topology_roots({"host"}, fleet, addresses, {}).value(), ElementsAre("host"));
    EXPECT_THAT(topology_roots({}, fleet, addresses, {hop("192.0.2.1")}).value(),
                ElementsAre("gw"));
    const auto message = [&](const std::vector<std::string>& named,
                             const std::vector<net::IpAddress>& gateways, auto known) {
        const auto roots = topology_roots(named, fleet, known, gateways);
        EXPECT_FALSE(roots);
        EXPECT_THAT(roots.error().message, HasSubstr("argument `root`"));
        return roots.error().message;
    };
    EXPECT_THAT(message({"nobody"}, {}, addresses), HasSubstr("there is no device \"nobody\""));
    EXPECT_THAT(message({}, {}, addresses), HasSubstr("no default gateway"));
    EXPECT_THAT(message({}, {hop("198.51.100.1")}, addresses),
                HasSubstr("(198.51.100.1) is no device"));
    auto twins = addresses;
    twins["twin"] = {"192.0.2.1"};
    EXPECT_THAT(message({}, {hop("192.0.2.1")}, twins), HasSubstr("(gw, twin)"));
}

}  // namespace
}  // namespace pollux::runtime
