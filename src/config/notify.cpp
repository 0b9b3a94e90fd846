#include "config/notify.hpp"

#include <fmt/format.h>

#include "document/map_reader.hpp"

namespace pollux::config {
namespace {

template <class Value>
std::vector<Value> named(const ByName<Value>& map) {
    std::vector<Value> result;
    for (const auto& [name, value] : map) {
        result.push_back(value);
        result.back().name = name;
    }
    return result;
}

}  // namespace

std::vector<model::Receiver> receivers_of(const Fleet& fleet) { return named(fleet.receivers); }
std::vector<model::NotifyRoute> routes_of(const Fleet& fleet) { return named(fleet.routes); }

std::vector<model::Silence> silences_of(const Fleet& fleet, const ByName<std::string>& ids) {
    std::vector<model::Silence> silences = named(fleet.silences);
    for (model::Silence& silence : silences) {
        const auto found = ids.find(silence.name);
        silence.id = found == ids.end() ? silence.name : found->second;
    }
    return silences;
}

void check_zones(const Fleet& fleet, const Places& places, const ZoneCheck& check,
                 document::Diagnostics& diagnostics) {
    const auto look = [&](const model::CronWindow& window, const std::string& place,
                          const std::string& field) {
        const auto status = check(window.zone);
        if (!status) diagnostics.error(places.find(place), field, status.error().message);
    };
    for (const auto& [name, route] : fleet.routes) {
        const std::string place = "route/" + name;
        const std::string field = "routes." + name;
        for (const auto& window : route.only_during) {
            look(window, place + "/only_during", field + ".only_during");
        }
        for (const auto& window : route.quiet) look(window, place + "/quiet", field + ".quiet");
    }
    for (const auto& [name, silence] : fleet.silences) {
        if (silence.kind != model::SilenceKind::kRecurring) continue;
        look(silence.window, "silence/" + name + "/zone", "silences." + name + ".zone");
    }
}

void check_channels(const ByName<model::Receiver>& receivers, const Places& places,
                    const ChannelRules& rules, document::Diagnostics& diagnostics) {
    for (const auto& [name, receiver] : receivers) {
        for (std::size_t i = 0; i < receiver.channels.size(); ++i) {
            const auto status = rules.check(receiver.channels[i]);
            if (status) continue;
            const std::string_view code = status.error().code;
            const std::string_view key = code == "feed.unknown_template" ? "template"
                                         : code == "feed.bad_param"      ? "params"
                                                                         : "url";
            const std::string field =
                document::item_path(fmt::format("receivers.{}.channels", name), i);
            diagnostics.error(places.find(fmt::format("receiver/{}/channels/{}/{}", name, i, key)),
                              fmt::format("{}.{}", field, key), status.error().message);
        }
    }
}

}  // namespace pollux::config
