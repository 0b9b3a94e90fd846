// What was learned about SNMP devices, gathered from all shards.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "runtime/server.hpp"

namespace pollux::runtime {
namespace {

constexpr std::uint16_t kSnmpPort = 161;

struct Known {
    std::set<std::string> devices;
    model::SnmpFixed fixed;
};
using Directory = std::map<std::pair<std::string, std::uint16_t>, Known>;

// Who has which address, by the asks of the fleet.
Directory directory_of(const FleetImage& image) {
    Directory directory;
    for (const auto& [key, plan] : image.plans) {
        for (const auto& asks : plan->asks) {
            for (const auto& ask : asks) {
                const auto* snmp = std::get_if<model::SnmpAsk>(&ask->request);
                if (snmp == nullptr) continue;
                const std::uint16_t port = ask->port == 0 ? kSnmpPort : ask->port;
                Known& known = directory[{ask->host, port}];
                known.devices.insert(plan->device);
                if (snmp->fixed != model::SnmpFixed{}) known.fixed = snmp->fixed;
            }
        }
    }
    return directory;
}

}  // namespace

void Server::learned(std::move_only_function<void(std::vector<std::string>)> done) {
    if (options_.offline) {
        std::vector<std::string> stored;
        for (const auto& [key, bytes] : memories_) {
            if (key.starts_with(fmt::format("{}/", kDriverMemory))) stored.push_back(bytes);
        }
        return done(std::move(stored));
    }
    struct Gathering {
        std::vector<std::string> all;
        std::size_t missing = 0;
        std::move_only_function<void(std::vector<std::string>)> done;
    };
    auto gathering = std::make_shared<Gathering>();
    gathering->missing = shards_.size();
    gathering->done = std::move(done);
    for (const auto& shard : shards_) {
        shard->collect_learned([this, gathering](std::string bytes) {
            later([gathering, bytes = std::move(bytes)]() mutable {
                gathering->all.push_back(std::move(bytes));
                if (--gathering->missing == 0) gathering->done(std::move(gathering->all));
            });
        });
    }
}

void Server::profiles(std::move_only_function<void(std::vector<ProfileRow>)> done) {
    struct Gathering {
        std::vector<ProfileRow> rows;
        std::size_t missing = 0;
        std::move_only_function<void(std::vector<ProfileRow>)> done;
    };
    auto gathering = std::make_shared<Gathering>();
    gathering->missing = shards_.size();
    gathering->done = std::move(done);
    const auto take = [this, gathering](std::vector<ProfileRow> rows) {
        std::ranges::move(rows, std::back_inserter(gathering->rows));
        if (--gathering->missing > 0) return;
        const Directory directory = directory_of(*image_);
        for (ProfileRow& row : gathering->rows) {
            const auto known = directory.find({row.host, row.endpoint.port});
            if (known == directory.end()) continue;
            row.devices.assign(known->second.devices.begin(), known->second.devices.end());
            row.fixed = known->second.fixed;
        }
        gathering->done(std::move(gathering->rows));
    };
    for (const auto& shard : shards_) {
        shard->collect_profiles([this, take](std::vector<ProfileRow> rows) {
            later([take, rows = std::move(rows)]() mutable { take(std::move(rows)); });
        });
    }
}

}  // namespace pollux::runtime
