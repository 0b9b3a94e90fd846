#include "lab/fleet_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/text.hpp"

namespace pollux::lab {
namespace {

namespace json = boost::json;
using net::Request;
using net::Response;

constexpr std::size_t kMaxListed = 100'000;
constexpr base::Duration kLongestFault = std::chrono::hours(24 * 365);

Response answer_json(int status, const json::value& value) {
    return Response::json(status, json::serialize(value) + "\n");
}

Response refuse(int status, std::string_view message) {
    return answer_json(status, {{"error", message}});
}

json::object describe(const Device& device, FleetTime now) {
    json::object out;
    out["name"] = device.name();
    out["kind"] = device.kind() == DeviceKind::kSnmp ? "snmp" : "http";
    out["address"] = address_text(device.address());
    if (device.kind() == DeviceKind::kSnmp) {
        out["interfaces"] = device.interfaces();
    } else {
        out["personality"] = to_string(device.personality());
        out["tls"] = device.uses_tls();
    }
    out["uptime_seconds"] = device.uptime(now).count() / 1'000'000'000;
    json::array faults;
    const FaultState state = device.faults(now);
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
        if (state.has(static_cast<FaultKind>(kind))) faults.emplace_back(kFaultNames[kind]);
    }
    out["faults"] = std::move(faults);
    return out;
}

base::Result<json::object> body_of(const Request& request) {
    boost::system::error_code problem;
    json::value value = json::parse(request.body, problem);
    if (problem || !value.is_object()) {
        return base::config_error("lab.control", "the body is not a JSON object");
    }
    return std::move(value.as_object());
}

base::Result<Fault> fault_of(const json::object& body, FleetTime now) {
    Fault fault;
    const json::value* kind = body.if_contains("kind");
    const auto known = kind != nullptr && kind->is_string()
                           ? parse_fault_kind(std::string_view(kind->as_string()))
                           : std::nullopt;
    if (!known) {
        return base::config_error(
            "lab.control", fmt::format("\"kind\" must be one of {}", fmt::join(kFaultNames, ", ")));
    }
    fault.kind = *known;
    if (const json::value* time = body.if_contains("for")) {
        const auto duration = time->is_string()
                                  ? parse_duration(std::string_view(time->as_string()))
                                  : parse_duration(json::serialize(*time));
        if (!duration) return std::unexpected(duration.error());
        fault.until = now + *duration;
    }
    if (const json::value* amount = body.if_contains("amount")) {
        boost::system::error_code problem;
        const auto number = amount->to_number<std::uint32_t>(problem);
        if (problem || number > 3'600'000) {
            return base::config_error("lab.control",
                                      "\"amount\" is a whole number: percent or milliseconds");
        }
        fault.amount = number;
    } else if (fault.kind == FaultKind::kLoss) {
        fault.amount = 50;
    } else if (fault.kind == FaultKind::kLatency) {
        fault.amount = 1000;
    }
    for (const auto& member : body) {
        if (member.key() != "kind" && member.key() != "for" && member.key() != "amount") {
            return base::config_error(
                "lab.control",
                fmt::format("{} is not known here", base::quoted(std::string_view(member.key()))));
        }
    }
    return fault;
}

std::size_t number_parameter(const Request& request, std::string_view name, std::size_t otherwise) {
    const auto text = net::query_parameter(request.query, name);
    std::size_t number = otherwise;
    if (text) std::from_chars(text->data(), text->data() + text->size(), number);
    return number;
}

}  // namespace

base::Result<base::Duration> parse_duration(std::string_view text) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    double factor = 0;
    if (unit.empty() || unit == "s") factor = 1;
    if (unit == "ms") factor = 1e-3;
    if (unit == "m") factor = 60;
    if (unit == "h") factor = 3600;
    const base::Duration duration = base::from_seconds(number * factor);
    if (problem != std::errc{} || factor == 0 || duration <= base::Duration::zero() ||
        duration > kLongestFault) {
        return base::config_error(
            "lab.duration",
            fmt::format("{} is not a time; write one like 60s, 5m or 2h", base::quoted(text)));
    }
    return duration;
}

Response FleetControl::answer(const Request& request) {
    const std::string path = net::percent_decode(request.path).value_or("");
    const std::string& method = request.method;
    if (path == "/status" && method == "GET") return Response::json(200, status_());
    if (path == "/devices" && method == "GET") return list(request);
    if (path == "/profile" && method == "POST") return set_profile(request);
    if (path == "/faults" && method == "DELETE") {
        fleet_.clear_all_faults();
        return {.status = 204, .headers = {}, .body = {}};
    }
    constexpr std::string_view kDevices = "/devices/";
    if (path.starts_with(kDevices)) {
        const std::string_view tail = std::string_view(path).substr(kDevices.size());
        const std::size_t slash = std::min(tail.find('/'), tail.size());
        return device(request, tail.substr(0, slash), tail.substr(slash));
    }
    return refuse(404, "there are /status, /devices, /devices/{name}[/fault], /faults, /profile");
}

Response FleetControl::list(const Request& request) const {
    const std::size_t offset = number_parameter(request, "offset", 0);
    const std::size_t limit = std::min(number_parameter(request, "limit", 1000), kMaxListed);
    const std::size_t total = fleet_.snmp().size() + fleet_.http().size();
    json::array devices;
    for (std::size_t i = offset; i < total && devices.size() < limit; ++i) {
        const Device& device =
            i < fleet_.snmp().size() ? fleet_.snmp()[i] : fleet_.http()[i - fleet_.snmp().size()];
        devices.push_back(describe(device, now_()));
    }
    return answer_json(200, {{"total", total}, {"devices", std::move(devices)}});
}

Response FleetControl::device(const Request& request, std::string_view name,
                              std::string_view rest) {
    const auto found = fleet_.find(name);
    if (!found) return refuse(404, found.error().message);
    if (rest.empty() && request.method == "GET") {
        return answer_json(200, describe(**found, now_()));
    }
    if (rest == "/fault" && request.method == "POST") return set_fault(request, name);
    if (rest == "/fault" && request.method == "DELETE") {
        if (auto done = fleet_.clear_faults(name); !done) return refuse(404, done.error().message);
        return {.status = 204, .headers = {}, .body = {}};
    }
    return refuse(405, "GET /devices/{name}, POST or DELETE /devices/{name}/fault");
}

Response FleetControl::set_fault(const Request& request, std::string_view name) {
    const auto body = body_of(request);
    if (!body) return refuse(400, body.error().message);
    const auto fault = fault_of(*body, now_());
    if (!fault) return refuse(400, fault.error().message);
    if (auto done = fleet_.set_fault(name, *fault, now_()); !done) {
        return refuse(404, done.error().message);
    }
    return answer_json(200, describe(**fleet_.find(name), now_()));
}

Response FleetControl::set_profile(const Request& request) {
    const auto body = body_of(request);
    if (!body) return refuse(400, body.error().message);
    const json::value* name = body->if_contains("name");
    if (name == nullptr || !name->is_string()) return refuse(400, "\"name\" is missing");
    auto profile = find_profile(std::string_view(name->as_string()));
    if (!profile) return refuse(400, profile.error().message);
    fleet_.set_profile(std::move(*profile));
    return answer_json(200, {{"profile", fleet_.profile().name}});
}

}  // namespace pollux::lab
