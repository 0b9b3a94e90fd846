#include "api/silence_edits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/fleet_edits.hpp"
#include "api/silence_rules.hpp"
#include "base/text.hpp"
#include "base/uuid.hpp"
#include "config/fleet_edit.hpp"
#include "document/parse.hpp"
#include "runtime/random_bits.hpp"

namespace pollux::api {
namespace {

using config::EditVerb;
using document::Node;
using model::ConfigObject;
using model::ObjectKind;

constexpr std::string_view kForbidden = "access.forbidden";

std::unexpected<base::Error> unknown(const std::string& which) {
    return base::config_error("object.unknown",
                              fmt::format("there is no silence {}", base::quoted(which)));
}

std::unexpected<base::Error> forbidden() {
    return base::make_error(base::ErrorClass::kAuth, std::string(kForbidden),
                            "your grants do not reach everything that the silence would: name your "
                            "part of the fleet in its matchers, such as site=\"berlin\"");
}

const ConfigObject* find(const std::vector<ConfigObject>& objects, const std::string& which,
                         SilenceName kind) {
    const auto found = std::ranges::find_if(objects, [&](const ConfigObject& one) {
        return one.kind == ObjectKind::kSilence &&
               (kind == SilenceName::kId ? one.id : one.name) == which;
    });
    return found == objects.end() ? nullptr : &*found;
}

Node body_of(const ConfigObject& object) {
    document::Diagnostics diagnostics;
    return document::parse_json(object.body, "silence", diagnostics).root;
}

// Nobody waits for the record: who may not is told so in any case.
void tell_refusal(const ServerLink& link, const Call& call, const std::string& which,
                  const std::string& reason, const base::Error& why) {
    if (why.code != kForbidden) return;
    record_refusal(link, audit_entry(call, call.route->audit_action, which, reason), why.code,
                   [&log = link.log](const base::Status& recorded) {
                       if (recorded) return;
                       log.error("a refusal could not be recorded",
                                 {{"error", recorded.error().message}});
                   });
}

// On the server's thread.
base::Status edit(const ServerLink& link, config::WantedObject wanted, model::AuditEntry entry) {
    document::Diagnostics diagnostics;
    const std::string note = fmt::format("{} by {}", entry.action, entry.principal);
    const auto report =
        link.server.edit(std::span(&wanted, 1), {note, {std::move(entry)}}, diagnostics);
    if (report) return {};
    base::Error error = report.error();
    if (!diagnostics.ok()) error.message = diagnostics.as_error(error.code).message;
    return std::unexpected(std::move(error));
}

base::Result<config::WantedObject> wanted_silence(const ServerLink& link, const Call& call,
                                                  const model::Silence& silence) {
    config::WantedObject wanted;
    wanted.kind = ObjectKind::kSilence;
    wanted.body = silence_body(silence);
    if (!may_on_silence(call.principal, access::Permission::kOperate, silence.matchers)) {
        return forbidden();
    }
    if (silence.id.empty()) {
        const auto [high, low] = runtime::random_bits();
        wanted.verb = EditVerb::kCreate;
        wanted.name = fmt::format("silence-{:016x}", high ^ low);
        return wanted;
    }
    const ConfigObject* object = find(link.server.objects(), silence.id, SilenceName::kId);
    if (object == nullptr) return unknown(silence.id);
    if (!may_on_silence(call.principal, access::Permission::kOperate,
                        matchers_of(body_of(*object)))) {
        return forbidden();
    }
    wanted.verb = EditVerb::kReplace;
    wanted.name = object->name;
    return wanted;
}

base::Result<config::WantedObject> wanted_end(const ServerLink& link, const Call& call,
                                              const std::string& which, SilenceName kind) {
    const ConfigObject* object = find(link.server.objects(), which, kind);
    if (object == nullptr) return unknown(which);
    Node body = body_of(*object);
    const auto matchers = matchers_of(body);
    if (!may_on_silence(call.principal, access::Permission::kRead, matchers)) {
        return unknown(which);
    }
    if (!may_on_silence(call.principal, access::Permission::kOperate, matchers)) {
        return forbidden();
    }
    config::WantedObject wanted;
    wanted.kind = ObjectKind::kSilence;
    wanted.name = object->name;
    wanted.verb = EditVerb::kRemove;
    const base::WallTime now = net::wall_now();
    const auto time = [&](std::string_view key) {
        const Node* node = body.find(key);
        return node == nullptr ? std::nullopt : base::parse_utc(node->scalar());
    };
    const auto from = time("from");
    const auto until = time("until");
    if (until && *until <= now) {
        return base::make_error(base::ErrorClass::kPermanent, "silence.over",
                                "the silence is over already");
    }
    // One that comes back, or has not begun, has no end that could be now.
    if (body.find("cron") != nullptr || (from && *from >= now)) return wanted;
    wanted.verb = EditVerb::kReplace;
    wanted.body = body.set("until", Node::text(base::format_utc(now)));
    return wanted;
}

}  // namespace

void put_silence(const ServerLink& link, Call call, model::Silence silence, SilencePut done) {
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, silence = std::move(silence), done = std::move(done)]() mutable {
        const auto answer = [&](base::Result<std::string> id) {
            link.loop->post([held, id = std::move(id), done = std::move(done)]() mutable {
                done(std::move(*held), std::move(id));
            });
        };
        auto wanted = wanted_silence(link, *held, silence);
        if (!wanted) {
            tell_refusal(link, *held, silence.id, silence.reason, wanted.error());
            return answer(std::unexpected(wanted.error()));
        }
        const std::string name = wanted->name;
        auto entry = audit_entry(
            *held, wanted->verb == EditVerb::kCreate ? "silence.create" : "silence.change", name,
            silence.reason);
        if (auto status = edit(link, std::move(*wanted), std::move(entry)); !status) {
            return answer(std::unexpected(status.error()));
        }
        const ConfigObject* object = find(link.server.objects(), name, SilenceName::kName);
        answer(object == nullptr ? base::Result<std::string>(unknown(name)) : object->id);
    });
}

void expire_silence(const ServerLink& link, Call call, const std::string& which, SilenceName kind,
                    SilenceEnded done) {
    auto held = std::make_shared<Call>(std::move(call));
    link.on_main([link, held, which, kind, done = std::move(done)]() mutable {
        auto wanted = wanted_end(link, *held, which, kind);
        base::Status status;
        if (!wanted) {
            tell_refusal(link, *held, which, "", wanted.error());
            status = std::unexpected(wanted.error());
        } else {
            auto entry = audit_entry(*held, "silence.expire", wanted->name, "");
            status = edit(link, std::move(*wanted), std::move(entry));
        }
        link.loop->post([held, status = std::move(status), done = std::move(done)]() mutable {
            done(std::move(*held), std::move(status));
        });
    });
}

}  // namespace pollux::api
