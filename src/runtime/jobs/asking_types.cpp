// Jobs that ask, as polls do: on the shard of their device, by its drivers, within its rules.
#include <fmt/format.h>

#include "base/text.hpp"
#include "config/job_reader.hpp"
#include "document/scalar.hpp"
#include "net/http_url.hpp"
#include "runtime/jobs/job_types.hpp"

namespace pollux::runtime {
namespace {

using base::quoted;
using document::Node;
using model::ArgumentKind;
using model::JobSpec;
using namespace std::chrono_literals;

std::string text_of(const Node& arguments, std::string_view key, std::string otherwise = "") {
    const Node* node = arguments.find(key);
    return node == nullptr ? std::move(otherwise) : node->scalar();
}

using SharedCredentials = std::shared_ptr<const model::Credentials>;

base::Result<SharedCredentials> credentials_of(const std::string& name,
                                               const JobSurroundings& around) {
    if (name.empty()) return SharedCredentials();
    const auto known = around.fleet.credentials.find(name);
    if (known == around.fleet.credentials.end()) {
        return base::config_error("job.credentials",
                                  fmt::format("there is no credential {}", quoted(name)));
    }
    auto resolved = config::resolve(name, known->second, around.secrets);
    if (!resolved) return std::unexpected(resolved.error());
    return std::make_shared<const model::Credentials>(std::move(*resolved));
}

JobAsks one_ask(model::Ask ask) { return {{std::make_shared<const model::Ask>(std::move(ask))}}; }

base::Result<JobAsks> http_asks(const JobSpec& job, const JobSurroundings& around) {
    const Node arguments = config::arguments_of(job);
    const auto url = net::HttpUrl::parse(text_of(arguments, "url"));
    if (!url) return std::unexpected(url.error());
    const std::string name = text_of(arguments, "credentials");
    auto credentials = credentials_of(name, around);
    if (!credentials) return std::unexpected(credentials.error());
    model::HttpAsk http;
    http.url = url->text;
    const std::string method = text_of(arguments, "method", "GET");
    http.method = method == "POST"   ? model::HttpMethod::kPost
                  : method == "PUT"  ? model::HttpMethod::kPut
                  : method == "HEAD" ? model::HttpMethod::kHead
                                     : model::HttpMethod::kGet;
    http.body = text_of(arguments, "body");
    if (const Node* headers = arguments.find("headers")) {
        for (const auto& entry : headers->entries()) {
            http.headers.emplace_back(entry.key, entry.value.scalar());
        }
    }
    http.tls.verify = text_of(arguments, "verify", "true") == "true";
    http.max_redirects = static_cast<std::uint32_t>(
        document::parse_integer(text_of(arguments, "redirects", "0")).value_or(0));
    if (*credentials) {
        const config::Credential& known = around.fleet.credentials.find(name)->second;
        http.auth = known.auth.value_or(!known.username.empty() ? model::HttpAuth::kBasic
                                        : known.token           ? model::HttpAuth::kBearer
                                                                : model::HttpAuth::kNone);
        if (!known.header.empty()) http.api_key_header = known.header;
    }
    return one_ask({.host = url->host,
                    .port = url->port,
                    .timeout = job.timeout,
                    .request = std::move(http),
                    .credentials = std::move(*credentials)});
}

base::Result<JobAsks> ssh_asks(const JobSpec& job, const JobSurroundings& around) {
    const auto device = around.fleet.devices.find(job.device);
    if (device == around.fleet.devices.end()) {
        return base::config_error("job.device",
                                  fmt::format("there is no device {}", quoted(job.device)));
    }
    const Node arguments = config::arguments_of(job);
    const std::string name =
        text_of(arguments, "credentials", device->second.poll.credentials.value_or(""));
    auto credentials = credentials_of(name, around);
    if (!credentials) return std::unexpected(credentials.error());
    std::vector<std::string> addresses = device->second.addresses;
    if (addresses.empty()) addresses.push_back(job.device);
    JobAsks asks;
    for (const std::string& address : addresses) {
        model::SshAsk ssh;
        ssh.command = text_of(arguments, "command");
        ssh.good_exit = {{0, 255}};  // what it said is wanted either way
        const auto port = static_cast<std::uint16_t>(
            document::parse_integer(text_of(arguments, "port", "22")).value_or(22));
        asks.push_back(
            {std::make_shared<const model::Ask>(model::Ask{.host = address,
                                                           .port = port,
                                                           .timeout = job.timeout,
                                                           .request = std::move(ssh),
                                                           .credentials = *credentials})});
    }
    return asks;
}

base::Result<JobAsks> exec_asks(const JobSpec& job, const JobSurroundings&) {
    const Node arguments = config::arguments_of(job);
    model::ExecAsk exec;
    for (const Node& item : arguments.find("argv")->items()) exec.argv.push_back(item.scalar());
    if (const Node* environment = arguments.find("environment")) {
        for (const auto& entry : environment->entries()) {
            exec.environment.emplace_back(entry.key, entry.value.scalar());
        }
    }
    exec.good_exit = {{0, 255}};
    return one_ask({.host = job.device.empty() ? "localhost" : job.device,
                    .timeout = job.timeout,
                    .request = std::move(exec),
                    .credentials = nullptr});
}

JobType poll_type() {
    JobType type;
    type.def.name = "poll";
    type.def.help = "Polls a target now and takes the outcome.";
    type.def.weight = 2;
    type.def.slots = 100;
    type.def.timeout = 5min;
    type.def.target = model::JobPlace::kRequired;
    type.host = JobHost::kTarget;
    return type;
}

JobType http_type() {
    JobType type;
    type.def.name = "http";
    type.def.help = "Sends one HTTP request.";
    type.def.slots = 32;
    type.def.rate = 50;
    type.def.timeout = 30s;
    type.def.arguments = {
        {.name = "url", .required = true, .help = "http or https, without credentials"},
        {.name = "method", .words = {"GET", "POST", "PUT", "HEAD"}, .help = "GET if not given"},
        {.name = "headers", .kind = ArgumentKind::kMap, .help = "sent along"},
        {.name = "body", .help = "of POST and PUT"},
        {.name = "credentials", .help = "name of a credential of the fleet"},
        {.name = "verify", .kind = ArgumentKind::kBoolean, .help = "check the certificate"},
        {.name = "redirects",
         .kind = ArgumentKind::kInteger,
         .low = 0,
         .high = 10,
         .help = "how many are followed; 0: a redirect is the answer"}};
    type.host = JobHost::kShard;
    type.asks = http_asks;
    return type;
}

JobType ssh_type() {
    JobType type;
    type.def.name = "ssh";
    type.def.help = "Runs a command on a device over SSH.";
    type.def.slots = 32;
    type.def.timeout = 1min;
    type.def.device = model::JobPlace::kRequired;
    type.def.arguments = {
        {.name = "command", .required = true, .help = "for the login shell there"},
        {.name = "credentials", .help = "name of a credential; else that of the device"},
        {.name = "port", .kind = ArgumentKind::kInteger, .low = 1, .high = 65'535, .help = "22"}};
    type.host = JobHost::kShard;
    type.asks = ssh_asks;
    return type;
}

JobType exec_type() {
    JobType type;
    type.def.name = "exec";
    type.def.help = "Runs a program here: of `plugin_folders` or `exec_allow` only, no shell.";
    type.def.slots = 8;
    type.def.timeout = 1min;
    type.def.device = model::JobPlace::kOptional;
    type.def.arguments = {
        {.name = "argv", .kind = ArgumentKind::kTexts, .required = true, .help = "program first"},
        {.name = "environment", .kind = ArgumentKind::kMap, .help = "beside PATH and LC_ALL"}};
    type.host = JobHost::kShard;
    type.asks = exec_asks;
    return type;
}

}  // namespace

void add_asking_types(JobTypes& types) {
    types.add(poll_type());
    types.add(http_type());
    types.add(ssh_type());
    types.add(exec_type());
}

}  // namespace pollux::runtime
