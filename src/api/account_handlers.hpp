// The routes of logging in, users and tokens. Each reads its body, asks Accounts, and writes the
// answer; rules are not here.
#pragma once

#include <vector>

#include "api/accounts.hpp"
#include "api/authenticator.hpp"
#include "api/call.hpp"
#include "api/route.hpp"

namespace pollux::api {

class AccountHandlers {
  public:
    // Both outlive it, and it outlives its routes.
    AccountHandlers(Accounts& accounts, const AccountAuthenticator& authenticator)
        : accounts_(accounts), authenticator_(authenticator) {}

    std::vector<Route> routes();

    void bootstrap(Call call);
    void login(Call call);
    void logout(Call call);
    void me(Call call);
    void change_password(Call call);

    void list_users(Call call);
    void create_user(Call call);
    void show_user(Call call);
    void change_user(Call call);
    void remove_user(Call call);
    void list_sessions(Call call);
    void end_sessions(Call call);

    void list_tokens(Call call);
    void create_token(Call call);
    void revoke_token(Call call);

  private:
    Actor actor(const Call& call) const;
    std::expected<std::optional<std::uint64_t>, Problem> seen_version(const Call& call) const;

    Accounts& accounts_;
    const AccountAuthenticator& authenticator_;
};

// By the code of the error: 401, 403, 404, 409, 412, 429; otherwise as problem_of() has it.
Problem account_problem(const base::Error& error);
Problem account_problem(const LoginRefusal& refusal);

}  // namespace pollux::api
