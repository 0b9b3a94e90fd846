#include "app/control_server.hpp"

#include <fmt/format.h>

#include <charconv>

#include "api/history_page.hpp"
#include "api/profile_page.hpp"
#include "app/events_page.hpp"
#include "app/fleet_access.hpp"
#include "app/server_page.hpp"
#include "base/bytes.hpp"
#include "document/scalar.hpp"
#include "document/write.hpp"
#include "runtime/change_log.hpp"

namespace pollux::app {
namespace {

constexpr std::size_t kMaxBody = 256U << 20U;
constexpr std::size_t kMostLines = 1000;
// Who may open the socket is the owner of the data folder.
constexpr const char* kPrincipal = "local:socket";

model::AuditEntry audit_entry(std::string action, std::string object) {
    model::AuditEntry entry;
    entry.at = net::wall_now();
    entry.principal = kPrincipal;
    entry.action = std::move(action);
    entry.object = std::move(object);
    return entry;
}

net::Response problem(int status, const base::Error& error) {
    document::Node body = document::Node::map();
    body.set("code", document::Node::text(error.code));
    body.set("error", document::Node::text(error.message));
    return net::Response::json(status, document::to_json(body));
}

net::HttpServerOptions control_options() {
    net::HttpServerOptions options;
    options.limits.body_bytes = kMaxBody;
    options.max_connections = 64;
    return options;
}

std::size_t limit_of(const net::Request& request) {
    const std::string text = net::query_parameter(request.query, "limit").value_or("20");
    std::size_t limit = 0;
    std::from_chars(text.data(), text.data() + text.size(), limit);
    return std::clamp<std::size_t>(limit, 1, kMostLines);
}

base::Result<api::HistoryWish> history_wish(const net::Request& request) {
    const auto parameter = [&](std::string_view name) {
        return net::query_parameter(request.query, name).value_or("");
    };
    api::HistoryWish wish;
    wish.key = parameter("key");
    if (std::string metric = parameter("metric"); !metric.empty()) wish.metrics = {metric};
    if (std::string row = parameter("row"); !row.empty()) wish.rows = {row};
    const auto from = base::parse_utc(parameter("from"));
    const auto to = base::parse_utc(parameter("to"));
    const auto step = document::parse_duration(parameter("step"));
    if (!from || !to || !step) {
        return base::config_error("control.range",
                                  "from and to are times in RFC 3339, step a duration");
    }
    wish.from = *from;
    wish.to = *to;
    wish.step = *step;
    return wish;
}

base::Result<schedule::OperatorVerb> verb_of(std::string_view name) {
    using enum schedule::OperatorVerb;
    constexpr std::array<std::pair<std::string_view, schedule::OperatorVerb>, 8> kVerbs = {{
        {"poll", kTriggerNow},
        {"enable", kEnable},
        {"disable", kDisable},
        {"reset-breaker", kResetBreaker},
        {"retry-dead-letter", kRetryDeadLetter},
        {"remove-dead-letter", kRemoveDeadLetter},
        {"reset-all-breakers", kResetAllBreakers},
        {"retry-all-dead-letters", kRetryAllDeadLetters},
    }};
    for (const auto& [known, verb] : kVerbs) {
        if (known == name) return verb;
    }
    return base::config_error("control.verb", fmt::format("unknown action {}", name));
}

}  // namespace

std::string encode_files(const std::vector<config::FileText>& files) {
    base::ByteWriter out;
    out.varint(files.size());
    for (const config::FileText& file : files) {
        out.string(file.file);
        out.string(file.text);
    }
    return out.take();
}

base::Result<std::vector<config::FileText>> decode_files(const std::string& body) {
    base::ByteReader in(body);
    std::vector<config::FileText> files;
    const std::uint64_t count = in.varint();
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        std::string name(in.string(body.size()));
        std::string text(in.string(body.size()));
        files.push_back({std::move(name), std::move(text)});
    }
    if (!in.ok() || !in.at_end()) {
        return base::config_error("control.body", "the body of the request is damaged");
    }
    return files;
}

ControlServer::ControlServer(net::EventLoop& loop, runtime::Server& server,
                             const observe::LogTail* log)
    : loop_(loop),
      server_(server),
      log_(log),
      http_(loop, control_options(), [this](net::Request request, net::Responder responder) {
          handle(std::move(request), std::move(responder));
      }) {}

base::Result<std::unique_ptr<ControlServer>> ControlServer::start(net::EventLoop& loop,
                                                                  runtime::Server& server,
                                                                  const std::string& data_folder,
                                                                  const observe::LogTail* log) {
    std::unique_ptr<ControlServer> control(new ControlServer(loop, server, log));
    auto listener = net::UnixListener::listen(
        loop, data_folder + "/" + kControlSocket,
        [http = &control->http_](std::unique_ptr<net::ByteStream> stream) {
            http->adopt(std::move(stream));
        });
    if (!listener) return std::unexpected(listener.error());
    control->listener_ = std::move(*listener);
    return control;
}

void ControlServer::answer(
    std::move_only_function<std::string(const runtime::CoreLoop::View&)> question,
    net::Responder responder) {
    server_.ask(std::move(question), [responder = std::move(responder)](std::string text) mutable {
        responder.send(net::Response::json(200, std::move(text)));
    });
}

// Pages of plain text, for support. False: it is none of them.
bool ControlServer::handle_text(const std::string& route, net::Responder& responder) {
    if (route == "GET /log") {
        responder.send(net::Response::text(200, log_ == nullptr ? "" : log_->text()));
    } else if (route == "GET /timeline") {
        const auto text = runtime::timeline(server_.store(), store::kMostChangesPerQuery);
        responder.send(text ? net::Response::text(200, *text) : problem(503, text.error()));
    } else if (route == "GET /metrics") {
        server_.metrics([responder = std::move(responder)](std::string text) mutable {
            responder.send(net::Response::text(200, std::move(text)));
        });
    } else {
        return false;
    }
    return true;
}

void ControlServer::handle(net::Request request, net::Responder responder) {
    const std::string route = request.method + " " + request.path;
    if (handle_text(route, responder)) return;
    if (route == "GET /status") {
        answer([limit = limit_of(request)](const auto& view) { return status_page(view, limit); },
               std::move(responder));
    } else if (route == "GET /explain") {
        std::string key = net::query_parameter(request.query, "key").value_or("");
        if (explain_inbound(key, responder)) return;
        answer([key = std::move(key)](const auto& view) { return explain_page(view, key); },
               std::move(responder));
    } else if (route == "POST /apply") {
        apply(request, std::move(responder));
    } else if (route == "POST /reload") {
        const auto status = server_.reload();
        responder.send(status ? net::Response::json(200, "{}") : problem(422, status.error()));
    } else if (route == "GET /objects") {
        responder.send(net::Response::text(200, encode_objects(server_.objects())));
    } else if (route == "GET /history") {
        const auto wish = history_wish(request);
        const auto page = wish ? api::history_page(server_.history(), *server_.view(), *wish)
                               : base::Result<std::string>(std::unexpected(wish.error()));
        responder.send(page ? net::Response::json(200, *page) : problem(422, page.error()));
    } else if (route == "GET /inbound") {
        server_.inbound_page([responder = std::move(responder)](std::string text) mutable {
            responder.send(net::Response::json(200, std::move(text)));
        });
    } else if (route == "GET /inbound/url") {
        const bool push = net::query_parameter(request.query, "kind").value_or("") == "push";
        const auto url =
            server_.inbound_url(net::query_parameter(request.query, "key").value_or(""),
                                push ? model::ProtocolKind::kPush : model::ProtocolKind::kWebhook);
        responder.send(url ? net::Response::text(200, url->reveal()) : problem(404, url.error()));
    } else if (route == "POST /inbound/forget") {
        forget_sender(request, std::move(responder));
    } else if (route == "GET /events") {
        events(request, std::move(responder));
    } else if (route == "GET /profiles") {
        std::string device = net::query_parameter(request.query, "device").value_or("");
        server_.profiles([device = std::move(device), responder = std::move(responder)](
                             const std::vector<runtime::ProfileRow>& rows) mutable {
            responder.send(net::Response::json(200, api::profile_page(rows, device)));
        });
    } else if (route == "GET /learned") {
        server_.learned(
            [responder = std::move(responder)](const std::vector<std::string>& learned) mutable {
                responder.send(net::Response::text(200, encode_learned(learned)));
            });
    } else if (route == "POST /operate") {
        operate(request, std::move(responder));
    } else if (route == "POST /setting") {
        change_setting(request, std::move(responder));
    } else {
        responder.send(net::Response::json(404, "{\"error\":\"no such page\"}"));
    }
}

bool ControlServer::explain_inbound(const std::string& key, net::Responder& responder) {
    auto waiting = std::make_shared<net::Responder>(std::move(responder));
    const bool known = server_.explain_inbound(key, [waiting](std::string text) {
        waiting->send(net::Response::json(200, std::move(text)));
    });
    if (!known) responder = std::move(*waiting);
    return known;
}

void ControlServer::events(const net::Request& request, net::Responder responder) {
    const auto number = [&](std::string_view name, std::uint64_t otherwise) {
        const std::string text = net::query_parameter(request.query, name).value_or("");
        std::uint64_t value = otherwise;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    };
    store::ObservationQuery query;
    query.after = number("after", 0);
    query.before = number("before", INT64_MAX);
    query.key = net::query_parameter(request.query, "target");
    query.newest_first = net::query_parameter(request.query, "order") != "oldest";
    query.limit = limit_of(request);
    const auto rows = server_.store().observations(query);
    responder.send(rows ? net::Response::json(200, events_page(*rows))
                        : problem(500, rows.error()));
}

void ControlServer::apply(const net::Request& request, net::Responder responder) {
    const auto files = decode_files(request.body);
    if (!files) {
        responder.send(problem(400, files.error()));
        return;
    }
    const bool adopt = net::query_parameter(request.query, "adopt") == "true";
    const auto report = server_.apply(
        *files, adopt ? runtime::OwnedElsewhere::kAdopt : runtime::OwnedElsewhere::kRefuse,
        kPrincipal);
    if (!report) {
        responder.send(problem(422, report.error()));
        return;
    }
    document::Node body = document::Node::map();
    body.set("added", document::Node::unsigned_integer(report->added));
    body.set("changed", document::Node::unsigned_integer(report->changed));
    body.set("removed", document::Node::unsigned_integer(report->removed));
    body.set("difference", document::Node::text(report->difference));
    std::string warnings;
    for (const auto& item : report->warnings) warnings += document::to_string(item) + "\n";
    body.set("warnings", document::Node::text(warnings));
    responder.send(net::Response::json(200, document::to_json(body)));
}

void ControlServer::operate(const net::Request& request, net::Responder responder) {
    const auto verb = verb_of(net::query_parameter(request.query, "verb").value_or(""));
    if (!verb) {
        responder.send(problem(400, verb.error()));
        return;
    }
    schedule::OperatorAction action;
    action.verb = *verb;
    action.key = net::query_parameter(request.query, "key").value_or("");
    const std::string word = net::query_parameter(request.query, "verb").value_or("");
    auto entry = audit_entry("task." + word, action.key.empty() ? "*" : action.key);
    server_.operate(
        std::move(action), std::move(entry),
        [&loop = loop_,
         responder = std::move(responder)](base::Result<runtime::OperateResult> result) mutable {
            loop.post([responder = std::move(responder), result = std::move(result)]() mutable {
                responder.send(result ? net::Response::json(200, "{}")
                                      : problem(409, result.error()));
            });
        });
}

void ControlServer::forget_sender(const net::Request& request, net::Responder responder) {
    const std::string engine = net::query_parameter(request.query, "engine").value_or("");
    server_.forget_sender(
        engine, [this, engine, responder = std::move(responder)](base::Status status) mutable {
            // The clock is in memory and no row of the act, so the record goes by itself.
            if (status) {
                status = server_.store().submit(
                    store::AuditBatch{{audit_entry("trap_sender.forget", engine)}, {}}, {});
            }
            responder.send(status ? net::Response::json(200, "{}") : problem(422, status.error()));
        });
}

void ControlServer::change_setting(const net::Request& request, net::Responder responder) {
    config::StoredSettings wanted = server_.stored_settings();
    const std::string key = net::query_parameter(request.query, "key").value_or("");
    const std::string value = net::query_parameter(request.query, "value").value_or("");
    auto status = config::set_value(wanted, key, value);
    auto entry = audit_entry("settings.change", key);
    entry.after = value;
    if (status) {
        status = server_.change_settings(std::move(wanted), {"pollux settings set", {entry}});
    }
    responder.send(status ? net::Response::json(200, "{}") : problem(422, status.error()));
}

// --- metrics ------------------------------------------------------------------------------------

MetricsServer::MetricsServer(net::EventLoop& loop, runtime::Server& server)
    : server_(server), http_(loop, {}, [this](net::Request request, net::Responder responder) {
          handle(request, std::move(responder));
      }) {}

base::Result<std::unique_ptr<MetricsServer>> MetricsServer::start(net::EventLoop& loop,
                                                                  runtime::Server& server) {
    const config::Settings& settings = server.settings();
    auto at = net::SocketAddress::parse(settings.metrics_bind,
                                        static_cast<std::uint16_t>(settings.metrics_port));
    if (!at) return std::unexpected(at.error());
    std::unique_ptr<MetricsServer> metrics(new MetricsServer(loop, server));
    net::TcpListenerOptions listener;
    // Somebody wrote another address into the settings: that is the decision.
    listener.allow_non_loopback = true;
    auto listening = metrics->http_.listen(*at, nullptr, listener);
    if (!listening) return std::unexpected(listening.error());
    metrics->address_ = *listening;
    return metrics;
}

void MetricsServer::handle(const net::Request& request, net::Responder responder) {
    const auto send = [](net::Responder to, std::string text) {
        net::Response response = net::Response::text(200, std::move(text));
        for (net::HeaderField& field : response.headers) {
            if (net::equal_ignoring_case(field.name, "Content-Type")) {
                field.value = "text/plain; version=0.0.4; charset=utf-8";
            }
        }
        to.send(std::move(response));
    };
    if (request.method != "GET" && request.method != "HEAD") {
        responder.send(net::Response::text(405, "only GET\n").with("Allow", "GET, HEAD"));
    } else if (request.path == "/metrics") {
        server_.metrics([this, send, responder = std::move(responder)](std::string text) mutable {
            if (more_) more_(text);
            send(std::move(responder), std::move(text));
        });
    } else if (request.path == "/metrics/devices") {
        server_.device_metrics([send, responder = std::move(responder)](std::string text) mutable {
            send(std::move(responder), std::move(text));
        });
    } else {
        responder.send(net::Response::text(404, "look at /metrics and /metrics/devices\n"));
    }
}

}  // namespace pollux::app
