// The users, tokens and sessions there are, in memory: found by name, id or hash. Plain tables
// without rules; owned by one thread (Accounts).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/account_records.hpp"
#include "store/store_types.hpp"

namespace pollux::api {

// What one act changes: written and removed in one transaction.
struct AccountChange {
    std::vector<User> users = {};
    std::vector<Token> tokens = {};
    std::vector<Session> sessions = {};
    std::vector<User> removed_users = {};
    std::vector<Token> removed_tokens = {};
    std::vector<Session> removed_sessions = {};

    bool empty() const;
    store::ObjectBatch batch(base::WallTime now) const;
};

class AccountBook {
  public:
    template <class Record>
    using ByName = std::map<std::string, Record, std::less<>>;

    // Takes over what was stored; returns a message for each object that cannot be read. Such an
    // object stays in the store, and nobody gets in by it.
    std::vector<std::string> load(const std::vector<model::ConfigObject>& objects);

    const User* user(std::string_view name) const;
    const Token* token(std::string_view name) const;
    const Token* token_by_hash(std::string_view hash) const;
    const Session* session(std::string_view id) const;
    const Session* session_by_hash(std::string_view hash) const;
    std::vector<Session> sessions_of(std::string_view user) const;  // the last seen ones first
    std::vector<Token> tokens_of(std::string_view user) const;

    const ByName<User>& users() const { return users_; }
    const ByName<Token>& tokens() const { return tokens_; }
    const ByName<Session>& sessions() const { return sessions_; }
    std::size_t admins() const;

    // After the commit: what was written has one version more.
    void apply(const AccountChange& change);
    // Used just now; written behind.
    void touch_token(std::string_view name, base::WallTime now);
    void touch_session(std::string_view id, base::WallTime now);

  private:
    void put(Token token);
    void put(Session session);
    void erase(const Token& token);
    void erase(const Session& session);

    ByName<User> users_;
    ByName<Token> tokens_;
    ByName<Session> sessions_;             // by id
    ByName<std::string> token_by_hash_;    // names
    ByName<std::string> session_by_hash_;  // ids
};

}  // namespace pollux::api
