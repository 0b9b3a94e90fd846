// The fleet as people write it: plain data, checked one by one by the reader (fleet_reader.hpp) and
// against each other by check_fleet.hpp. Everything is keyed by name, so the order of files and of
// entries within them never matters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "config/secret_reference.hpp"
#include "document/node.hpp"
#include "model/alert_policy.hpp"
#include "model/ask.hpp"
#include "model/notification.hpp"
#include "model/settings.hpp"
#include "model/task_spec.hpp"
#include "model/tier.hpp"

namespace pollux::config {

template <class T>
using ByName = std::map<std::string, T, std::less<>>;
using Labels = ByName<std::string>;
using Parameters = ByName<std::string>;

// `interval: 60s` sets the base only; `interval: {min: 10s, base: 60s, max: 5m}` sets what it
// names.
struct IntervalRange {
    std::optional<base::Duration> min;
    std::optional<base::Duration> base;
    std::optional<base::Duration> max;
    bool operator==(const IntervalRange&) const = default;
};

struct TlsOverrides {
    std::optional<bool> verify;
    std::optional<std::string> ca_file;
    std::optional<std::string> pin_sha256;
    bool operator==(const TlsOverrides&) const = default;
};

struct SnmpOverrides {
    std::optional<model::SnmpVersion> version;
    std::optional<SecretReference> community;  // never a literal but "public"
    // Over what is learned about the device.
    std::optional<std::uint32_t> max_varbinds;
    std::optional<std::uint32_t> max_repetitions;
    std::optional<std::uint32_t> parallel;
    std::optional<bool> bulk;
    bool operator==(const SnmpOverrides&) const = default;
};

// What is said about one type of alerts: for all rows, and for some by name or pattern.
struct AlertSettings {
    model::AlertOverride all;
    ByName<model::AlertOverride> rows;
    bool operator==(const AlertSettings&) const = default;
};

// What can be set at every level, from a single target to the defaults. Empty: ask the next level.
struct PollSettings {
    std::optional<bool> enabled;
    std::optional<bool> adaptive;
    std::optional<model::Tier> tier;
    IntervalRange interval;
    std::optional<base::Duration> staleness_bound;
    std::optional<base::Duration> timeout;
    std::optional<std::uint32_t> resends;
    std::optional<model::FailureProfile> failure_profile;
    std::optional<std::uint16_t> port;
    std::optional<std::string> credentials;
    std::optional<base::Duration> grace;  // push: how late a heartbeat may be
    std::optional<bool> confirm;          // inbound: a message lets the device be polled at once
    std::optional<model::FailureAlert> failure_alert;
    TlsOverrides tls;
    SnmpOverrides snmp;
    ByName<AlertSettings> alerts;            // by type; the nearest level wins per field
    Parameters params;                       // merged, the nearest level wins per name
    ByName<base::Duration> group_intervals;  // poll group of the addon -> interval
    ByName<std::int64_t> resources;          // named resource -> amount held by a run
    bool operator==(const PollSettings&) const = default;
};

// What belongs to a device as a whole: devices, groups and defaults set it.
struct DeviceSettings {
    std::optional<std::string> region;
    std::optional<double> rate;  // polls per second, over all addons of the device
    std::optional<std::uint32_t> slots;
    std::optional<std::uint32_t> slots_per_class;
    bool operator==(const DeviceSettings&) const = default;
};

enum class Behind : std::uint8_t {
    kNetwork,     // a dead parent slows the device down: it may still answer by another way
    kConnection,  // a dead parent holds the device: there is no other way to it
};

struct Device {
    std::vector<std::string> addresses;  // literal addresses or host names; empty: the name
    Labels labels;
    std::vector<std::string> groups;                // in the order of their precedence
    std::vector<std::vector<std::string>> parents;  // each entry is met by any one of its devices
    Behind behind = Behind::kNetwork;
    ByName<PollSettings> addons;
    DeviceSettings device;
    PollSettings poll;
    bool operator==(const Device&) const = default;
};

// Every label must be there with one of the values; "*" is any value.
using Selector = ByName<std::vector<std::string>>;

struct Group {
    std::string parent;  // name of the group this one belongs to; empty: none
    std::vector<std::string> members;
    Selector match;
    ByName<PollSettings> addons;  // given to every member
    DeviceSettings device;
    PollSettings poll;
    bool operator==(const Group&) const = default;
};

struct Defaults {
    DeviceSettings device;
    PollSettings poll;
    bool operator==(const Defaults&) const = default;
};

struct ClassOptions {
    IntervalRange interval;
    std::optional<std::uint32_t> weight;
    std::optional<double> rate;
    std::optional<std::uint32_t> slots;
    std::optional<bool> host_slots_exempt;
    std::optional<model::PolicyKind> policy;
    std::optional<model::Preset> preset;
    std::optional<base::Duration> staleness_bound;
    bool operator==(const ClassOptions&) const = default;
};

enum class SourceKind : std::uint8_t { kFile, kHttp };

// Devices that another system lists in the format of Prometheus' file_sd and http_sd.
struct Source {
    SourceKind kind = SourceKind::kFile;
    std::vector<std::string> paths;  // kFile: files, or patterns with * in the last part
    std::string url;                 // kHttp
    base::Duration refresh = std::chrono::minutes(5);
    std::string credentials;  // kHttp: for the request itself
    std::vector<std::string> addons;
    std::vector<std::string> groups;
    Labels labels;                            // given to every device
    ByName<std::string> label_map;            // label of the source -> our label; empty text: drop
    std::string name_label;                   // label that holds the device's name; empty: the host
    std::optional<std::string> region_label;  // label that holds the region
    bool operator==(const Source&) const = default;
};

struct Fleet {
    Defaults defaults;
    ByName<Group> groups;
    ByName<Device> devices;
    ByName<PollSettings> targets;  // by key `addon::device`
    ByName<PollSettings> addons;   // over what the manifest says
    ByName<ClassOptions> classes;
    ByName<std::int64_t> resources;  // named resource -> capacity
    ByName<Credential> credentials;
    ByName<Source> sources;
    // Who is told of alerts. Their names are those of the maps: the field `name` is empty here, see
    // notify.hpp.
    ByName<model::Receiver> receivers;
    ByName<model::NotifyRoute> routes;
    ByName<model::Silence> silences;
    bool operator==(const Fleet&) const = default;
};

// Where an object or a field was written: "device/web1/parents" -> file and line. What is not
// listed is looked up by its nearest ancestor; nothing is listed for objects from the store.
class Places {
  public:
    void set(std::string path, document::Mark mark) { marks_[std::move(path)] = std::move(mark); }
    document::Mark find(std::string_view path) const;
    document::Mark find_exact(std::string_view path) const;  // line 0: not listed

  private:
    ByName<document::Mark> marks_;
};

}  // namespace pollux::config
