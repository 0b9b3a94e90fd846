#include "protocol/ssh/host_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libssh/libssh.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace pollux::protocol::ssh {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(250);  // of a shard, which others wait for
constexpr auto kPatienceOfPeople = std::chrono::seconds(10);

std::string_view prefix_of(KnownHost::Mark mark) {
    switch (mark) {
        case KnownHost::Mark::kRevoked: return "@revoked ";
        case KnownHost::Mark::kAuthority: return "@cert-authority ";
        case KnownHost::Mark::kNone: break;
    }
    return "";
}

base::Status as_status(const base::Result<bool>& result) {
    if (!result) return std::unexpected(result.error());
    return {};
}

// The line without its end; `rest` begins with the next one.
std::string_view take_line(std::string_view& rest) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    return line;
}

// The line without the names that are forgotten, and how many these were; empty if none is left.
std::string without(std::string_view line, std::string_view host, std::size_t& count) {
    const auto known = parse_known_host(line);
    if (!known || known->mark != KnownHost::Mark::kNone) return std::string(line);
    if (known->names.starts_with('|')) {
        if (!match(known->names, host)) return std::string(line);
        ++count;
        return {};
    }
    const std::string any_port = fmt::format("[{}]:", host);
    std::vector<std::string> kept = plain_names(known->names);
    const std::size_t gone = std::erase_if(
        kept, [&](const std::string& name) { return name == host || name.starts_with(any_port); });
    count += gone;
    if (gone == 0) return std::string(line);
    if (kept.empty()) return {};
    const std::size_t names = line.find(known->names);
    return fmt::format("{}{}", fmt::join(kept, ","), line.substr(names + known->names.size()));
}

}  // namespace

std::string fingerprint_of(std::string_view base64_key) {
    // The type is written in the key itself; libssh wants to be told.
    for (const auto type : {SSH_KEYTYPE_ED25519, SSH_KEYTYPE_RSA, SSH_KEYTYPE_ECDSA_P256,
                            SSH_KEYTYPE_ECDSA_P384, SSH_KEYTYPE_ECDSA_P521}) {
        ssh_key key = nullptr;
        if (ssh_pki_import_pubkey_base64(std::string(base64_key).c_str(), type, &key) != SSH_OK) {
            continue;
        }
        unsigned char* hash = nullptr;
        std::size_t length = 0;
        std::string text;
        if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) == 0) {
            char* shown = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
            if (shown != nullptr) text = shown;
            ssh_string_free_char(shown);
            ssh_clean_pubkey_hash(&hash);
        }
        ssh_key_free(key);
        return text;
    }
    return {};
}

std::string HostKeys::name_of(std::string_view host, std::uint16_t port) {
    return port == 22 ? std::string(host) : fmt::format("[{}]:{}", host, port);
}

base::Status HostKeys::load() {
    if (in_memory()) return {};
    const auto now = file_.stamp();
    if (!now) {
        stamp_.reset();
        return std::unexpected(now.error());
    }
    if (stamp_ == *now) return {};
    stamp_.reset();
    const auto content = file_.read();
    if (!content) return std::unexpected(content.error());
    if (const auto taken = take(content->text); !taken) return taken;
    stamp_ = content->stamp;
    return {};
}

base::Status HostKeys::take(std::string_view text) {
    lines_.clear();
    by_name_.clear();
    others_.clear();
    last_line_ = 0;
    open_end_ = !text.empty() && !text.ends_with('\n');
    keep_ = text.size();
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = take_line(rest);
        ++last_line_;
        auto known = parse_known_host(line);
        if (!known) continue;
        // Half a key at the end is what a power failure left: nobody was told that it is recorded.
        if (rest.empty() && open_end_ && !is_whole_key(known->key)) {
            keep_ -= line.size();
            open_end_ = false;
            --last_line_;
            break;
        }
        if (lines_.size() >= kMaxKeys) {
            return base::config_error(
                "ssh.host_keys",
                fmt::format("{} has more than {} keys: take out those that nobody needs", path(),
                            kMaxKeys));
        }
        add(std::move(*known), last_line_);
    }
    const bool authority = std::ranges::any_of(
        lines_, [](const Line& line) { return line.known.mark == KnownHost::Mark::kAuthority; });
    if (authority && warn_ && !std::exchange(warned_, true)) {
        warn_(
            fmt::format("certificates of SSH hosts are not used: the lines with @cert-authority "
                        "in {} have no effect, their hosts are believed by their own keys",
                        path()));
    }
    return {};
}

void HostKeys::add(KnownHost known, std::size_t number) {
    const std::size_t place = lines_.size();
    const auto names = known.mark == KnownHost::Mark::kNone ? plain_names(known.names)
                                                            : std::vector<std::string>();
    for (const std::string& name : names) by_name_[name].push_back(place);
    if (names.empty()) others_.push_back(place);
    lines_.push_back({std::move(known), number});
}

// In their order; revoked keys also if they are of the host at another port.
std::vector<const HostKeys::Line*> HostKeys::lines_of(std::string_view host) const {
    const std::string name = small_letters(host);
    std::string bare = name;
    if (bare.starts_with('[')) bare = bare.substr(1, bare.find("]:") - 1);
    std::vector<const Line*> out;
    if (const auto found = by_name_.find(name); found != by_name_.end()) {
        for (const std::size_t place : found->second) out.push_back(&lines_[place]);
    }
    for (const std::size_t place : others_) {
        const Line& line = lines_[place];
        const bool revoked = line.known.mark == KnownHost::Mark::kRevoked;
        if (match(line.known.names, name) || (revoked && match(line.known.names, bare))) {
            out.push_back(&line);
        }
    }
    std::ranges::sort(out, {}, &Line::number);
    return out;
}

base::Result<HostKeys::Answer> HostKeys::check(const HostKey& seen) {
    const std::lock_guard lock(mutex_);
    if (const auto loaded = load(); !loaded) return std::unexpected(loaded.error());
    Answer answer;
    bool known = false;
    std::string_view shown;  // type of the key that a changed one is compared with
    for (const Line* line : lines_of(seen.host)) {
        const KnownHost& host = line->known;
        const bool same = host.key == seen.key;
        if (host.mark == KnownHost::Mark::kAuthority) {
            answer.authority = true;
        } else if (host.mark == KnownHost::Mark::kRevoked) {
            if (same) return Answer{Verdict::kRevoked, {}, line->number, false};
        } else if (same) {
            known = true;
        } else if (answer.line == 0 || (shown != seen.type && host.type == seen.type)) {
            answer.verdict = Verdict::kChanged;
            answer.known_fingerprint = fingerprint_of(host.key);
            answer.line = line->number;
            shown = host.type;
        }
    }
    if (known) return Answer{Verdict::kKnown, {}, 0, answer.authority};
    return answer;
}

base::Result<std::vector<std::string>> HostKeys::types_of(const std::string& host) {
    const std::lock_guard lock(mutex_);
    if (const auto loaded = load(); !loaded) return std::unexpected(loaded.error());
    std::vector<std::string> types;
    for (const Line* line : lines_of(host)) {
        if (line->known.mark == KnownHost::Mark::kNone) types.push_back(line->known.type);
    }
    return types;
}

base::Status HostKeys::remember(const HostKey& seen) {
    if (in_memory()) {
        const std::lock_guard lock(mutex_);
        if (const auto wanted = is_wanted(seen); !wanted || !*wanted) return as_status(wanted);
        add({KnownHost::Mark::kNone, seen.host, seen.type, seen.key}, ++last_line_);
        return {};
    }
    {
        auto held = file_.lock(kPatience);
        if (!held) return std::unexpected(held.error());
        const std::lock_guard lock(mutex_);
        if (const auto written = append(seen); !written) return written;
    }
    return file_.sync();  // others go on meanwhile
}

// False: it is there already.
base::Result<bool> HostKeys::is_wanted(const HostKey& seen) const {
    for (const Line* line : lines_of(seen.host)) {
        const KnownHost::Mark mark = line->known.mark;
        const bool same = line->known.key == seen.key;
        if (mark == KnownHost::Mark::kAuthority || (mark == KnownHost::Mark::kRevoked && !same)) {
            continue;
        }
        if (mark == KnownHost::Mark::kNone && same) return false;
        return base::make_error(base::ErrorClass::kTransient, "ssh.host_keys",
                                fmt::format("line {} of {} speaks against the key of {}, which "
                                            "was new a moment ago",
                                            line->number, path(), seen.host));
    }
    if (lines_.size() < kMaxKeys) return true;
    return base::config_error(
        "ssh.host_keys",
        fmt::format("{} has {} keys, no more are recorded: take out those that nobody needs",
                    path(), kMaxKeys));
}

base::Status HostKeys::append(const HostKey& seen) {
    constexpr int kAttempts = 3;  // somebody may write without the lock
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        if (const auto loaded = load(); !loaded) return loaded;
        if (const auto wanted = is_wanted(seen); !wanted || !*wanted) return as_status(wanted);
        const std::string line =
            fmt::format("{}{} {} {}\n", open_end_ ? "\n" : "", seen.host, seen.type, seen.key);
        const auto now = file_.append(line, keep_, *stamp_);
        if (!now) return std::unexpected(now.error());
        if (!*now) {
            stamp_.reset();
            continue;
        }
        stamp_ = **now;
        keep_ += line.size();
        open_end_ = false;
        add({KnownHost::Mark::kNone, seen.host, seen.type, seen.key}, ++last_line_);
        return {};
    }
    return base::make_error(
        base::ErrorClass::kTransient, "ssh.host_keys",
        fmt::format("cannot write {}: somebody else keeps changing it", path()));
}

base::Result<std::vector<HostKey>> HostKeys::list() {
    const std::lock_guard lock(mutex_);
    if (const auto loaded = load(); !loaded) return std::unexpected(loaded.error());
    std::vector<HostKey> out;
    for (const auto& [known, number] : lines_) {
        auto names = plain_names(known.names);
        if (names.empty()) names.push_back(known.names);
        for (const std::string& name : names) {
            out.push_back(
                {fmt::format("{}{}", prefix_of(known.mark), name), known.type, known.key});
        }
    }
    return out;
}

base::Result<std::size_t> HostKeys::forget(std::string_view given) {
    const std::string host = small_letters(given);
    std::optional<HostKeyFile::Lock> held;
    if (!in_memory()) {
        auto locked = file_.lock(kPatienceOfPeople);
        if (!locked) return std::unexpected(locked.error());
        held.emplace(std::move(*locked));
    }
    const std::lock_guard lock(mutex_);
    std::string before;
    if (in_memory()) {
        for (const auto& [known, number] : lines_) {
            before += fmt::format("{} {} {}\n", known.names, known.type, known.key);
        }
    } else {
        auto content = file_.read();
        if (!content) return std::unexpected(content.error());
        before = std::move(content->text);
    }
    std::size_t count = 0;
    std::string text;
    for (std::string_view rest = before; !rest.empty();) {
        const std::string_view line = take_line(rest);
        const std::size_t earlier = count;
        const std::string kept = without(line, host, count);
        if (!kept.empty() || count == earlier) text += kept + "\n";
    }
    if (count == 0) return count;
    if (in_memory()) {
        if (const auto taken = take(text); !taken) return std::unexpected(taken.error());
        return count;
    }
    if (const auto saved = file_.replace(text); !saved) return std::unexpected(saved.error());
    return count;
}

}  // namespace pollux::protocol::ssh
