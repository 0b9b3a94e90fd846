#include "store/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace pollux::store {
namespace {

std::unexpected<base::Error> file_error(const char* doing, const std::string& path, int number) {
    return base::make_error(base::ErrorClass::kTransient, "store.file",
                            fmt::format("store: cannot {} {}: {}: check rights and free space of "
                                        "its folder",
                                        doing, path, std::strerror(number)));
}

bool write_whole(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

base::Status sync_folder_of(const std::string& path) {
    auto folder = std::filesystem::path(path).parent_path();
    if (folder.empty()) folder = ".";
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return file_error("open the folder of", path, errno);
    const bool synced = fsync(fd) == 0;
    const int number = errno;
    ::close(fd);
    if (!synced) return file_error("sync the folder of", path, number);
    return {};
}

base::Status replace_file(const std::string& path, std::string_view bytes) {
    const std::string fresh = path + ".new";
    const int fd =
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return file_error("write", fresh, errno);
    const bool whole = write_whole(fd, bytes) && fsync(fd) == 0;
    const int number = errno;
    ::close(fd);
    if (!whole || rename(fresh.c_str(), path.c_str()) != 0) {
        const int problem = whole ? errno : number;
        unlink(fresh.c_str());
        return file_error("write", path, problem);
    }
    return sync_folder_of(path);
}

base::Result<std::optional<std::string>> read_file(const std::string& path, std::size_t limit) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT) return std::nullopt;
        return file_error("read", path, errno);
    }
    std::string bytes;
    std::string part(64 * 1024, '\0');
    for (;;) {
        const ssize_t length = read(fd, part.data(), part.size());
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) {
            const int number = errno;
            ::close(fd);
            return file_error("read", path, number);
        }
        if (length == 0) break;
        bytes.append(part, 0, static_cast<std::size_t>(length));
        if (bytes.size() > limit) {
            ::close(fd);
            return base::make_error(base::ErrorClass::kPermanent, "store.file",
                                    fmt::format("store: {} has more than {} bytes", path, limit));
        }
    }
    ::close(fd);
    return bytes;
}

}  // namespace pollux::store
