#include "runtime/source_keeper.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "config/service_discovery.hpp"
#include "document/diagnostic.hpp"

namespace pollux::runtime {
namespace {

constexpr std::size_t kMaxListBytes = 64U << 20U;
constexpr std::size_t kMaxFiles = 10'000;
constexpr base::Duration kServerTimeout = std::chrono::seconds(30);

std::vector<std::string> matching(const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> files;
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
        for (std::size_t i = 0; i < std::min<std::size_t>(found.gl_pathc, kMaxFiles); ++i) {
            files.emplace_back(found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return files;
}

std::optional<std::string> read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::string text;
    std::array<char, 65536> buffer;
    while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > kMaxListBytes) return std::nullopt;
    }
    return text;
}

}  // namespace

struct SourceKeeper::Entry {
    Entry(net::EventLoop& loop, std::string the_name, std::move_only_function<void()> fire)
        : name(std::move(the_name)), timer(loop, std::move(fire)) {}

    std::string name;
    config::Source source;
    net::Timer timer;
    std::optional<Found> found;  // of the last good list
    std::uint64_t order = 0;     // of the request under way; 0: none
};

SourceKeeper::SourceKeeper(net::EventLoop& loop, observe::Log& log, config::SecretSource secrets,
                           std::shared_ptr<const net::EgressPolicy> egress,
                           std::move_only_function<void(const Devices&)> changed)
    : loop_(loop),
      log_(log),
      secrets_(std::move(secrets)),
      egress_(std::move(egress)),
      changed_(std::move(changed)) {}

SourceKeeper::~SourceKeeper() = default;

void SourceKeeper::set(const config::ByName<config::Source>& sources,
                       const config::ByName<config::Credential>& credentials) {
    credentials_ = credentials;
    bool fewer = false;
    for (auto at = entries_.begin(); at != entries_.end();) {
        const bool gone = !sources.contains(at->first);
        if (gone) stop_asking(*at->second);
        fewer = fewer || gone;
        at = gone ? entries_.erase(at) : std::next(at);
    }
    for (const auto& [name, source] : sources) {
        auto& entry = entries_[name];
        if (entry && entry->source == source) continue;
        if (!entry) {
            entry = std::make_unique<Entry>(loop_, name, [this, key = name] {
                const auto found = entries_.find(key);
                if (found != entries_.end()) ask(*found->second);
            });
        }
        stop_asking(*entry);  // what the old place answers is not what the new one says
        entry->source = source;
        entry->timer.arm(loop_.now());
    }
    if (fewer) tell();
}

void SourceKeeper::stop_asking(Entry& entry) {
    if (entry.order != 0) client_->cancel(entry.order);
    entry.order = 0;
}

void SourceKeeper::refresh() {
    for (const auto& [name, entry] : entries_) entry->timer.arm(loop_.now());
}

void SourceKeeper::ask(Entry& entry) {
    entry.timer.arm_in(entry.source.refresh);
    if (entry.source.kind == config::SourceKind::kFile) {
        ask_files(entry);
    } else if (entry.order == 0) {
        ask_server(entry);
    }
}

void SourceKeeper::take(Entry& entry, const std::string& text, const std::string& file, Found& into,
                        bool& good) {
    document::Diagnostics diagnostics;
    const auto targets = config::read_target_groups(text, file, diagnostics);
    Found devices = config::make_devices(entry.name, entry.source, targets, diagnostics);
    if (!diagnostics.ok()) {
        good = false;
        log_.error("a list of devices is broken: what it said before stays",
                   {{"source", entry.name}, {"error", diagnostics.text()}});
        return;
    }
    into.merge(std::move(devices));
}

void SourceKeeper::ask_files(Entry& entry) {
    Found found;
    bool good = true;
    for (const std::string& pattern : entry.source.paths) {
        const auto files = matching(pattern);
        if (files.empty()) {
            log_.warn("a list of devices is not there",
                      {{"source", entry.name}, {"path", pattern}});
            good = good && pattern.find('*') != std::string::npos;
        }
        for (const std::string& file : files) {
            const auto text = read_file(file);
            if (!text) {
                good = false;
                log_.error("a list of devices cannot be read",
                           {{"source", entry.name}, {"path", file}});
                continue;
            }
            take(entry, *text, file, found, good);
        }
    }
    finish(entry, std::move(found), good);
}

void SourceKeeper::ask_server(Entry& entry) {
    if (!client_) {
        auto resolver = net::Resolver::create(loop_, {});
        if (!resolver) {
            log_.error("names cannot be resolved", {{"error", resolver.error().message}});
            return;
        }
        resolver_ = std::move(*resolver);
        client_ = std::make_unique<net::HttpClient>(loop_, *resolver_, egress_);
    }
    auto ask = std::make_shared<model::HttpAsk>();
    ask->url = entry.source.url;
    ask->headers = {{"Accept", "application/json"},
                    {"X-Prometheus-Refresh-Interval-Seconds",
                     fmt::format("{:.0f}", base::to_seconds(entry.source.refresh))}};
    ask->max_redirects = 5;
    ask->max_body_bytes = kMaxListBytes;
    net::HttpOrder order;
    order.id = entry.order = next_id_++;
    order.deadline = loop_.now() + kServerTimeout;
    const auto credential = credentials_.find(entry.source.credentials);
    if (credential != credentials_.end()) {
        auto resolved = config::resolve(credential->first, credential->second, secrets_);
        if (!resolved) {
            log_.error("the credentials of a source are not usable",
                       {{"source", entry.name}, {"error", resolved.error().message}});
            entry.order = 0;
            return;
        }
        ask->auth = credential->second.auth.value_or(credential->second.username.empty()
                                                         ? model::HttpAuth::kBearer
                                                         : model::HttpAuth::kBasic);
        order.credentials = std::make_shared<const model::Credentials>(std::move(*resolved));
    }
    order.ask = std::move(ask);
    client_->start(
        std::move(order), [this, name = entry.name, id = entry.order](net::HttpOutcome&& outcome) {
            const auto found = entries_.find(name);
            if (found == entries_.end() || found->second->order != id) return;
            Entry& asked = *found->second;
            asked.order = 0;
            const bool answered =
                outcome.problem == net::HttpProblem::kNone && outcome.reply.status == 200;
            if (!answered) {
                log_.error("a list of devices could not be fetched: what it said before stays",
                           {{"source", name},
                            {"url", outcome.reply.final_url},
                            {"error", outcome.problem == net::HttpProblem::kNone
                                          ? fmt::format("status {}", outcome.reply.status)
                                          : outcome.detail}});
                return;
            }
            Found devices;
            bool good = true;
            take(asked, outcome.reply.body, outcome.reply.final_url, devices, good);
            finish(asked, std::move(devices), good);
        });
}

void SourceKeeper::finish(Entry& entry, Found found, bool good) {
    if (!good || entry.found == found) return;
    entry.found = std::move(found);
    tell();
}

void SourceKeeper::tell() {
    Devices all;
    for (const auto& [name, entry] : entries_) {
        // Without this list nobody knows whether a device of it is gone.
        if (!entry->found) return;
        all[name] = *entry->found;
    }
    changed_(all);
}

}  // namespace pollux::runtime
