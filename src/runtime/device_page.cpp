#include "runtime/device_page.hpp"

#include "observe/metric_writer.hpp"

namespace pollux::runtime {

DevicePage::Family& DevicePage::family(std::string name, std::string_view type,
                                       std::string_view help) {
    const auto found = families_.find(name);
    if (found != families_.end()) return found->second;
    return families_.emplace(std::move(name), Family{std::string(type), std::string(help), {}})
        .first->second;
}

void DevicePage::merge(DevicePage other) {
    for (auto& [name, family] : other.families_) {
        const auto [found, fresh] = families_.try_emplace(name, std::move(family));
        if (!fresh) found->second.lines += family.lines;
    }
}

std::string DevicePage::text() const {
    std::string out;
    observe::MetricWriter writer(out);
    for (const auto& [name, family] : families_) {
        writer.family(name, family.type, family.help, {});
        out += family.lines;
    }
    return out;
}

}  // namespace pollux::runtime
