#include "config/fleet_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "config/fleet_parts.hpp"
#include "document/parse.hpp"
#include "model/task_key.hpp"

namespace pollux::config {
namespace {

using base::quoted;
using document::Diagnostics;
using document::key_path;
using document::MapEntry;
using document::MapReader;
using document::Mark;
using document::Node;
using parts::Input;

constexpr document::ParseLimits kLimits{
    .max_bytes = kMaxFleetFileBytes, .max_depth = 32, .max_nodes = 10'000'000};

std::string show(const Mark& mark) {
    return mark.file ? fmt::format("{}:{}", *mark.file, mark.line) : std::string("another file");
}

// Reads all files into one fleet; remembers where each object was described.
class FleetReader {
  public:
    FleetReader(LoadedFleet& loaded, Diagnostics& diagnostics)
        : fleet_(loaded.fleet), places_(loaded.places), diagnostics_(diagnostics) {}

    void read_root(const Node& root) {
        MapReader reader(root, "", diagnostics_);
        if (const auto schema = reader.string("schema"); schema && *schema != kFleetSchema) {
            reader.error("schema", fmt::format("{} is not known; this program reads {}",
                                               quoted(*schema), kFleetSchema));
        }
        read_defaults(reader);
        read_section(reader, "groups", "group", fleet_.groups, parts::read_group);
        read_section(reader, "devices", "device", fleet_.devices, parts::read_device);
        read_section(reader, "targets", "target", fleet_.targets, parts::read_target);
        read_section(reader, "addons", "addon", fleet_.addons, parts::read_addon);
        read_section(reader, "classes", "class", fleet_.classes, parts::read_class);
        read_section(reader, "credentials", "credential", fleet_.credentials,
                     parts::read_credential);
        read_section(reader, "sources", "source", fleet_.sources, parts::read_source);
        read_section(reader, "receivers", "receiver", fleet_.receivers, parts::read_receiver);
        read_section(reader, "routes", "route", fleet_.routes, parts::read_route);
        read_section(reader, "silences", "silence", fleet_.silences, parts::read_silence);
        read_resources(reader);
        reader.finish();
    }

  private:
    void read_defaults(MapReader& reader) {
        const Node* node = reader.map("defaults");
        if (node == nullptr || !claim("defaults", node->mark(), "defaults")) return;
        fleet_.defaults = parts::read_defaults({*node, "defaults", diagnostics_});
    }

    // False, and a complaint, if the object was described before.
    bool claim(const std::string& path, const Mark& mark, const std::string& field) {
        const Mark before = places_.find_exact(path);
        if (before.line == 0) {
            places_.set(path, mark);
            return true;
        }
        diagnostics_.error(
            mark, field, fmt::format("is described at {} already; keep one of them", show(before)));
        return false;
    }

    std::optional<std::string> section_name(std::string_view kind, std::string_view text,
                                            const Mark& mark, const std::string& field) {
        if (kind == "addon" || kind == "class") {
            const auto status = model::check_class_name(text);
            if (status) return std::string(text);
            diagnostics_.error(mark, field, status.error().message);
            return std::nullopt;
        }
        if (kind == "target") {
            auto key = model::parse_task_key(text);
            if (key && text.find("::") != std::string_view::npos) {
                return model::make_task_key(key->class_name, key->name);
            }
            diagnostics_.error(mark, field,
                               fmt::format("{} is no target; write addon::device{}", quoted(text),
                                           key ? std::string() : ": " + key.error().message));
            return std::nullopt;
        }
        return parts::read_name(kind, text, mark, field, diagnostics_);
    }

    template <class Value, class Read>
    void read_one(std::string_view kind, std::string_view name_text, const Mark& mark,
                  const std::string& path, const Node& node, ByName<Value>& into, Read read) {
        const auto name = section_name(kind, name_text, mark, path);
        const std::string place = fmt::format("{}/{}", kind, name.value_or(""));
        const bool fresh = name && claim(place, mark, path);
        Value value = read(Input{node, path, diagnostics_});
        if (!fresh) return;
        for (const MapEntry& entry : node.entries()) {
            places_.set(fmt::format("{}/{}", place, entry.key), entry.key_mark);
        }
        if (kind == "receiver") note_channels(place, node);
        into.emplace(*name, std::move(value));
    }

    void note_channels(const std::string& place, const Node& receiver) {
        const Node* channels = receiver.is_map() ? receiver.find("channels") : &receiver;
        if (channels == nullptr) return;
        for (std::size_t i = 0; i < channels->items().size(); ++i) {
            const std::string at = fmt::format("{}/channels/{}", place, i);
            places_.set(at, channels->items()[i].mark());
            for (const MapEntry& entry : channels->items()[i].entries()) {
                places_.set(fmt::format("{}/{}", at, entry.key), entry.key_mark);
            }
        }
    }

    // A map of names, or a list of maps with `name`.
    template <class Value, class Read>
    void read_section(MapReader& reader, std::string_view section, std::string_view kind,
                      ByName<Value>& into, Read read) {
        const Node* node = reader.any(section);
        if (node == nullptr) return;
        if (node->is_sequence()) {
            read_list(*node, section, kind, into, read);
            return;
        }
        if (!node->is_map()) {
            reader.error(section, fmt::format("is {}; a map of names is wanted, like `{}:` with "
                                              "`my-{}:` below it",
                                              document::kind_name(*node), section, kind));
            return;
        }
        for (const MapEntry& entry : node->entries()) {
            read_one(kind, entry.key, entry.key_mark, key_path(section, entry.key), entry.value,
                     into, read);
        }
    }

    template <class Value, class Read>
    void read_list(const Node& list, std::string_view section, std::string_view kind,
                   ByName<Value>& into, Read read) {
        constexpr std::array<std::string_view, 7> kNamed = {
            "device", "group", "credential", "source", "receiver", "route", "silence"};
        const bool named = std::ranges::find(kNamed, kind) != kNamed.end();
        for (std::size_t i = 0; i < list.items().size(); ++i) {
            const Node& item = list.items()[i];
            const std::string path = document::item_path(section, i);
            const Node* name = item.find("name");
            if (!named) {
                diagnostics_.error(item.mark(), path,
                                   fmt::format("`{}` is a map of names, not a list", section));
                return;
            }
            if (name == nullptr || !name->is_scalar()) {
                diagnostics_.error(item.mark(), path,
                                   fmt::format("has no name; write `- name: my-{}`", kind));
                continue;
            }
            read_one(kind, name->scalar(), name->mark(), path, item, into, read);
        }
    }

    void read_resources(MapReader& outer) {
        const Node* node = outer.map("resources");
        if (node == nullptr) return;
        MapReader reader(*node, "resources", diagnostics_);
        for (const MapEntry& entry : node->entries()) {
            const auto capacity = reader.amount(entry.key);
            const std::string path = key_path("resources", entry.key);
            const auto name = section_name("resource", entry.key, entry.key_mark, path);
            if (!name || !claim("resource/" + *name, entry.key_mark, path)) continue;
            if (capacity) fleet_.resources.emplace(*name, *capacity);
        }
    }

    Fleet& fleet_;
    Places& places_;
    Diagnostics& diagnostics_;
};

}  // namespace

LoadedFleet read_fleet(std::span<const FileText> files, Diagnostics& diagnostics) {
    LoadedFleet loaded;
    FleetReader reader(loaded, diagnostics);
    for (const FileText& file : files) {
        const document::Parsed parsed = document::parse(file.text, file.file, diagnostics, kLimits);
        if (parsed.ok && !parsed.root.is_null()) reader.read_root(parsed.root);
    }
    // An entry without any setting says nothing: stored and written, it would only be noise.
    std::erase_if(loaded.fleet.targets,
                  [](const auto& target) { return target.second == PollSettings{}; });
    std::erase_if(loaded.fleet.addons,
                  [](const auto& addon) { return addon.second == PollSettings{}; });
    std::erase_if(loaded.fleet.classes,
                  [](const auto& options) { return options.second == ClassOptions{}; });
    return loaded;
}

}  // namespace pollux::config
