#include "protocol/ssh/host_key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

namespace pollux::protocol::ssh {
namespace {

// Closes itself.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

HostKeyFile::Stamp stamp_of(const struct stat& facts) {
    return {true, facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec, facts.st_ino,
            facts.st_size};
}

std::string folder_of(const std::string& path) {
    const auto folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

bool write_whole(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t wrote = write(fd, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
}

}  // namespace

HostKeyFile::Lock::Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

void HostKeyFile::Lock::release() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
}

std::unexpected<base::Error> HostKeyFile::error(std::string_view doing, int number) const {
    return base::config_error(
        "ssh.host_keys",
        fmt::format("cannot {} {}: {}. Without the keys of known hosts no host can be believed: "
                    "see that the user of the server may read and write the file and its folder",
                    doing, path_, std::strerror(number)));
}

base::Result<HostKeyFile::Stamp> HostKeyFile::stamp() const {
    struct stat facts{};
    if (stat(path_.c_str(), &facts) == 0) return stamp_of(facts);
    if (errno == ENOENT) return Stamp{};
    return error("look at", errno);
}

base::Result<HostKeyFile::Content> HostKeyFile::read() const {
    const Descriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0 && errno == ENOENT) return Content{};
    struct stat facts{};
    if (file.get() < 0 || fstat(file.get(), &facts) != 0) return error("read", errno);
    if (!S_ISREG(facts.st_mode)) return error("read", S_ISDIR(facts.st_mode) ? EISDIR : EINVAL);
    Content content{{}, stamp_of(facts)};
    std::string part(64 * 1024, '\0');
    for (;;) {
        const ssize_t got = ::read(file.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return error("read", errno);
        if (got == 0) return content;
        content.text.append(part, 0, static_cast<std::size_t>(got));
        if (content.text.size() > kMaxBytes) return error("read", EFBIG);
    }
}

// What root makes in the folder of another user belongs to that user, who must be able to use it.
// Nothing is given away by a link to somewhere else.
void HostKeyFile::give_away(int fd) const {
    struct stat folder{};
    struct stat named{};
    struct stat opened{};
    if (geteuid() != 0 || stat(folder_of(path_).c_str(), &folder) != 0 || folder.st_uid == 0 ||
        lstat(path_.c_str(), &named) != 0 || fstat(fd, &opened) != 0) {
        return;
    }
    const bool plain = S_ISREG(named.st_mode) && named.st_ino == opened.st_ino &&
                       named.st_dev == opened.st_dev && opened.st_nlink == 1;
    if (!plain || opened.st_uid != 0 || opened.st_size != 0) return;
    [[maybe_unused]] const int result = fchown(fd, folder.st_uid, folder.st_gid);
}

base::Result<HostKeyFile::Lock> HostKeyFile::lock(base::Duration patience) const {
    const HostKeyFile beside(path_ + ".lock");
    const std::string& path = beside.path();
    const int fd = open(path.c_str(), O_CREAT | O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return beside.error("open", errno);
    beside.give_away(fd);
    Lock held(fd);
    const auto until = std::chrono::steady_clock::now() + patience;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return beside.error("lock", errno);
        if (std::chrono::steady_clock::now() >= until) {
            return base::make_error(
                base::ErrorClass::kTransient, "ssh.host_keys",
                fmt::format("cannot write {}: another process holds {}; try again when it has "
                            "ended",
                            path_, path));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return held;
}

base::Result<std::optional<HostKeyFile::Stamp>> HostKeyFile::append(std::string_view text,
                                                                    std::size_t keep,
                                                                    const Stamp& was) const {
    const Descriptor file(open(path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
    struct stat before{};
    if (file.get() < 0 || fstat(file.get(), &before) != 0) return error("write", errno);
    const bool fresh = !was.exists && before.st_size == 0;
    if (!fresh && stamp_of(before) != was) return std::nullopt;
    if (fresh) give_away(file.get());
    const auto kept = static_cast<off_t>(keep);
    if (before.st_size > kept && ftruncate(file.get(), kept) != 0) return error("write", errno);
    const ssize_t wrote = write(file.get(), text.data(), text.size());
    struct stat after{};
    if (wrote == std::ssize(text) && fstat(file.get(), &after) == 0) {
        if (const auto synced = fresh ? sync_folder() : base::Status(); !synced) {
            return std::unexpected(synced.error());
        }
        return stamp_of(after);
    }
    auto failed = error("write", wrote < 0 ? errno : ENOSPC);
    [[maybe_unused]] const int undone = ftruncate(file.get(), kept);
    return failed;
}

base::Status HostKeyFile::replace(std::string_view text) const {
    std::error_code none;
    const auto real = std::filesystem::canonical(path_, none);  // a link stays one
    const std::string path = none ? path_ : real.string();
    const std::string fresh = fmt::format("{}.{}.new", path, getpid());
    struct stat old{};
    const bool exists = stat(path.c_str(), &old) == 0;
    int number = 0;
    {
        const Descriptor file(
            open(fresh.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (file.get() < 0) return error("write", errno);
        const bool same_owner = !exists || ((old.st_uid == geteuid() && old.st_gid == getegid()) ||
                                            fchown(file.get(), old.st_uid, old.st_gid) == 0);
        const bool good = same_owner &&
                          (!exists || fchmod(file.get(), old.st_mode & 07777U) == 0) &&
                          write_whole(file.get(), text) && fsync(file.get()) == 0;
        if (!good) number = errno == 0 ? EIO : errno;
    }
    if (number == 0 && rename(fresh.c_str(), path.c_str()) != 0) number = errno;
    if (number == 0) return sync_folder();
    unlink(fresh.c_str());
    return error("replace", number);
}

base::Status HostKeyFile::sync() const {
    const Descriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0 || fsync(file.get()) != 0) return error("sync", errno);
    return {};
}

base::Status HostKeyFile::sync_folder() const {
    const Descriptor folder(open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0 || fsync(folder.get()) != 0) return error("sync the folder of", errno);
    return {};
}

}  // namespace pollux::protocol::ssh
