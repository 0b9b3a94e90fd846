// Requests of the protocols that bring text or facts, as templates: what an endpoint of HTTP is for
// a command, a query or a check. Private to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "extract/placeholder.hpp"
#include "model/ask.hpp"

namespace pollux::extract {

struct SshRequestPlan {
    Template command;
    std::uint64_t max_output_bytes = 1U << 20U;
    std::vector<std::pair<int, int>> good_exit = {{0, 0}};
};

struct ExecRequestPlan {
    // Arguments that belong together, like an option and its value. They are left out together
    // when a placeholder in one of them is empty.
    using Part = std::vector<Template>;
    std::vector<Part> command;
    std::vector<std::pair<std::string, Template>> environment;
    std::uint64_t max_output_bytes = 64U << 10U;
    std::vector<std::pair<int, int>> good_exit = {{0, 3}};
};

struct TcpRequestPlan {
    Template send;
    Template expect;
    std::uint64_t max_bytes = 64U << 10U;
};

struct TlsRequestPlan {
    Template start_tls;
    Template server_name;
    std::string ca_file;
    bool require_valid = false;
};

struct IcmpRequestPlan {
    model::IcmpAsk ask;
};

struct DnsRequestPlan {
    Template name;
    Template type;
    bool recursion = true;
};

// Nothing: the endpoint is one of HTTP.
using RequestPlan = std::variant<std::monostate, SshRequestPlan, ExecRequestPlan, TcpRequestPlan,
                                 TlsRequestPlan, IcmpRequestPlan, DnsRequestPlan>;

// The text of a placeholder, not escaped; nullopt: there is no such name.
using PlaceholderValues = std::function<std::optional<std::string>(std::string_view)>;

// The request with everything filled in. Values go into a shell command in quotes, into an argument
// as they are.
base::Result<decltype(model::Ask::request)> make_request(const RequestPlan& plan,
                                                         const PlaceholderValues& values);

// One word of a POSIX shell, whatever it holds.
std::string shell_quoted(std::string_view text);

}  // namespace pollux::extract
