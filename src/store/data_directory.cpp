#include "store/data_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace pollux::store {

namespace {

std::unexpected<base::Error> access_error(const std::string& what, const std::string& path) {
    return base::config_error(
        "store.access", fmt::format("data folder: cannot {} {}: {}: give the user that runs pollux "
                                    "write access, or name another folder",
                                    what, path, std::strerror(errno)));
}

std::string pid_in(int fd) {
    std::array<char, 24> text{};
    const ssize_t length = pread(fd, text.data(), text.size(), 0);
    std::string_view pid(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    pid = pid.substr(0, pid.find_first_not_of("0123456789"));
    return pid.empty() ? "an unknown process" : fmt::format("process {}", pid);
}

}  // namespace

base::Result<std::shared_ptr<const DataDirectory>> DataDirectory::open(const std::string& path) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return access_error("make", path);
    const std::string lock_path = path + "/pollux.lock";
    const int fd = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return access_error("open", lock_path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const bool held = errno == EWOULDBLOCK;
        const std::string holder = held ? pid_in(fd) : std::string();
        auto error = access_error("lock", lock_path);
        ::close(fd);
        if (!held) return error;
        return base::config_error(
            "store.locked", fmt::format("data folder {} is in use by {}: stop that one first, or "
                                        "name another folder",
                                        path, holder));
    }
    // The pid is for the message of whoever comes second; on a full disk the lock holds all the
    // same.
    const std::string pid = fmt::format("{}\n", getpid());
    if (ftruncate(fd, 0) == 0) static_cast<void>(!pwrite(fd, pid.data(), pid.size(), 0));
    return std::shared_ptr<const DataDirectory>(new DataDirectory(path, fd));
}

DataDirectory::~DataDirectory() { ::close(lock_fd_); }

}  // namespace pollux::store
