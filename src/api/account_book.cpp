#include "api/account_book.hpp"

#include <algorithm>

namespace pollux::api {
namespace {

template <class Record>
const Record* find(const AccountBook::ByName<Record>& table, std::string_view name) {
    const auto found = table.find(name);
    return found == table.end() ? nullptr : &found->second;
}

template <class Record>
void write(store::ObjectBatch& batch, const std::vector<Record>& records, base::WallTime now) {
    for (const Record& one : records) {
        batch.writes.push_back({to_object(one, now), one.head.version});
    }
}

template <class Record>
void remove(store::ObjectBatch& batch, model::ObjectKind kind, const std::vector<Record>& records) {
    for (const Record& one : records) {
        batch.removals.push_back({kind, one.head.id, one.head.version});
    }
}

}  // namespace

bool AccountChange::empty() const {
    return users.empty() && tokens.empty() && sessions.empty() && removed_users.empty() &&
           removed_tokens.empty() && removed_sessions.empty();
}

store::ObjectBatch AccountChange::batch(base::WallTime now) const {
    store::ObjectBatch batch;
    remove(batch, model::ObjectKind::kUser, removed_users);
    remove(batch, model::ObjectKind::kToken, removed_tokens);
    remove(batch, model::ObjectKind::kSession, removed_sessions);
    write(batch, users, now);
    write(batch, tokens, now);
    write(batch, sessions, now);
    return batch;
}

std::vector<std::string> AccountBook::load(const std::vector<model::ConfigObject>& objects) {
    std::vector<std::string> complaints;
    const auto take = [&](auto record, const auto& keep) {
        if (record) {
            keep(std::move(*record));
        } else {
            complaints.push_back(record.error().message);
        }
    };
    for (const model::ConfigObject& object : objects) {
        switch (object.kind) {
            case model::ObjectKind::kUser:
                take(read_user(object), [&](User user) {
                    const std::string name = user.head.name;
                    users_.insert_or_assign(name, std::move(user));
                });
                break;
            case model::ObjectKind::kToken:
                take(read_token(object), [&](Token token) { put(std::move(token)); });
                break;
            case model::ObjectKind::kSession:
                take(read_session(object), [&](Session session) { put(std::move(session)); });
                break;
            default: break;
        }
    }
    return complaints;
}

const User* AccountBook::user(std::string_view name) const { return find(users_, name); }
const Token* AccountBook::token(std::string_view name) const { return find(tokens_, name); }
const Session* AccountBook::session(std::string_view id) const { return find(sessions_, id); }

const Token* AccountBook::token_by_hash(std::string_view hash) const {
    const std::string* name = find(token_by_hash_, hash);
    return name == nullptr ? nullptr : token(*name);
}

const Session* AccountBook::session_by_hash(std::string_view hash) const {
    const std::string* id = find(session_by_hash_, hash);
    return id == nullptr ? nullptr : session(*id);
}

std::vector<Session> AccountBook::sessions_of(std::string_view user) const {
    std::vector<Session> found;
    for (const auto& [id, session] : sessions_) {
        if (session.user == user) found.push_back(session);
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &Session::last_seen);
    return found;
}

std::vector<Token> AccountBook::tokens_of(std::string_view user) const {
    std::vector<Token> found;
    for (const auto& [name, token] : tokens_) {
        if (token.owner == user) found.push_back(token);
    }
    return found;
}

std::size_t AccountBook::admins() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(users_, [](const auto& one) { return is_admin(one.second); }));
}

void AccountBook::put(Token token) {
    if (const Token* before = this->token(token.head.name)) token_by_hash_.erase(before->hash);
    token_by_hash_[token.hash] = token.head.name;
    const std::string name = token.head.name;
    tokens_.insert_or_assign(name, std::move(token));
}

void AccountBook::put(Session session) {
    if (const Session* before = this->session(session.head.id)) {
        session_by_hash_.erase(before->hash);
    }
    session_by_hash_[session.hash] = session.head.id;
    const std::string id = session.head.id;
    sessions_.insert_or_assign(id, std::move(session));
}

void AccountBook::erase(const Token& token) {
    token_by_hash_.erase(token.hash);
    tokens_.erase(token.head.name);
}

void AccountBook::erase(const Session& session) {
    session_by_hash_.erase(session.hash);
    sessions_.erase(session.head.id);
}

void AccountBook::apply(const AccountChange& change) {
    for (const User& one : change.removed_users) users_.erase(one.head.name);
    for (const Token& one : change.removed_tokens) erase(one);
    for (const Session& one : change.removed_sessions) erase(one);
    for (User one : change.users) {
        ++one.head.version;
        const std::string name = one.head.name;
        users_.insert_or_assign(name, std::move(one));
    }
    for (Token one : change.tokens) {
        ++one.head.version;
        // A use while the commit ran is not lost.
        const Token* before = token(one.head.name);
        if (before != nullptr) one.last_used = std::max(one.last_used, before->last_used);
        put(std::move(one));
    }
    for (Session one : change.sessions) {
        ++one.head.version;
        const Session* before = session(one.head.id);
        if (before != nullptr) one.last_seen = std::max(one.last_seen, before->last_seen);
        put(std::move(one));
    }
}

void AccountBook::touch_token(std::string_view name, base::WallTime now) {
    const auto found = tokens_.find(name);
    if (found != tokens_.end()) found->second.last_used = std::max(found->second.last_used, now);
}

void AccountBook::touch_session(std::string_view id, base::WallTime now) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second.last_seen = std::max(found->second.last_seen, now);
}

}  // namespace pollux::api
