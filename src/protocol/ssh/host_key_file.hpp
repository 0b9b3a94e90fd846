// The file of host keys on disk: read whole, added to at its end, or replaced. Only a file that is
// not there is an empty one; whatever else keeps it from being read is an error (ssh.host_keys).
//
// Who writes holds the lock, a file beside it, so that a server and a command do not lose each
// other's changes. Not thread-safe by itself, but for lock() and sync().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace pollux::protocol::ssh {

class HostKeyFile {
  public:
    static constexpr std::size_t kMaxBytes = std::size_t{256} << 20U;

    // Tells whether a file changed.
    struct Stamp {
        bool exists = false;
        std::int64_t changed = 0;
        std::uint64_t node = 0;
        std::int64_t size = 0;
        bool operator==(const Stamp&) const = default;
    };
    struct Content {
        std::string text;
        Stamp stamp;
    };
    // Held until it goes.
    class Lock {
      public:
        explicit Lock(int fd) : fd_(fd) {}
        ~Lock() { release(); }
        Lock(Lock&& other) noexcept;
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;
        Lock& operator=(Lock&&) = delete;
        void release();

      private:
        int fd_;
    };

    explicit HostKeyFile(std::string path) : path_(std::move(path)) {}

    const std::string& path() const { return path_; }

    base::Result<Stamp> stamp() const;
    base::Result<Content> read() const;

    // Waits at most for `patience`; transient error if somebody holds it for longer.
    base::Result<Lock> lock(base::Duration patience) const;

    // Both want the lock. The text goes after the first `keep` bytes of the file that had this
    // stamp, by one write; what stands behind these is cut off. Nothing: the file changed
    // meanwhile. On failure the file is as before. Not durable before sync().
    base::Result<std::optional<Stamp>> append(std::string_view text, std::size_t keep,
                                              const Stamp& was) const;
    // Keeps mode and owner of the file; durable.
    base::Status replace(std::string_view text) const;

    base::Status sync() const;

  private:
    std::unexpected<base::Error> error(std::string_view doing, int number) const;
    void give_away(int fd) const;
    base::Status sync_folder() const;  // a new name is durable when its folder is

    std::string path_;
};

}  // namespace pollux::protocol::ssh
