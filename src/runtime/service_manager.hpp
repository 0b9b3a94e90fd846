// Tells systemd how the service is doing (the protocol of sd_notify), without its library: a
// datagram to the socket named in NOTIFY_SOCKET. Without that variable nothing happens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace pollux::runtime {

class ServiceManager {
  public:
    // From the environment of the process.
    static ServiceManager from_environment();
    ServiceManager(std::string socket, std::optional<base::Duration> watchdog)
        : socket_(std::move(socket)), watchdog_(watchdog) {}

    void ready(std::string_view status) const;
    void status(std::string_view status) const;
    void reloading() const;
    void stopping() const;
    void feed_watchdog() const;

    // How often the watchdog wants to be fed at the latest; nothing: it does not.
    std::optional<base::Duration> watchdog() const { return watchdog_; }

  private:
    void send(std::string_view message) const;

    std::string socket_;
    std::optional<base::Duration> watchdog_;
};

}  // namespace pollux::runtime
