// How the simulated devices ask who is there: basic, digest (RFC 7616), bearer and API key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lab/fleet_time.hpp"
#include "net/http_message.hpp"

namespace pollux::lab {

enum class DigestAlgorithm : std::uint8_t { kMd5, kSha256 };

bool basic_is_right(const net::Request& request);
bool bearer_is_right(const net::Request& request);
bool api_key_is_right(const net::Request& request);

// Makes nonces that carry their time, so that none has to be kept.
class DigestGuard {
  public:
    explicit DigestGuard(std::uint64_t seed) : seed_(seed) {}

    enum class Verdict : std::uint8_t { kRight, kStale, kWrong };
    Verdict check(const net::Request& request, DigestAlgorithm algorithm, FleetTime now) const;
    // The value of WWW-Authenticate.
    std::string challenge(DigestAlgorithm algorithm, bool stale, FleetTime now) const;

  private:
    std::string nonce(std::int64_t second) const;

    std::uint64_t seed_;
};

}  // namespace pollux::lab
