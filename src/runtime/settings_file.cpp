#include "runtime/settings_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pollux::runtime {
namespace {

std::unexpected<base::Error> file_error(std::string_view what, const std::string& path,
                                        int number) {
    return base::make_error(base::ErrorClass::kTransient, "settings.file",
                            fmt::format("cannot {} {}: {}", what, path, std::strerror(number)));
}

}  // namespace

base::Result<std::optional<std::string>> SettingsFile::edited() {
    const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return std::nullopt;
    const auto once =
        [this](std::unexpected<base::Error> error) -> base::Result<std::optional<std::string>> {
        if (error.error().message == last_problem_) return std::nullopt;
        last_problem_ = error.error().message;
        return error;
    };
    if (fd < 0) return once(file_error("read", path_, errno));
    std::string text(kMaxBytes + 1, '\0');
    std::size_t size = 0;
    ssize_t got = 1;
    while (size < text.size() && got > 0) {
        got = read(fd, text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            size += static_cast<std::size_t>(got);
    }
    const int number = errno;
    close(fd);
    if (got < 0) return once(file_error("read", path_, number));
    if (size > kMaxBytes) return once(file_error("read", path_, EFBIG));
    text.resize(size);
    last_problem_.clear();
    if (known_ == text) return std::nullopt;
    known_ = text;
    return text;
}

base::Status SettingsFile::write(const std::string& text) {
    const std::string fresh = path_ + ".new";
    const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return file_error("write", fresh, errno);
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t put = ::write(fd, text.data() + done, text.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) break;
        done += static_cast<std::size_t>(put);
    }
    const bool whole = done == text.size() && fsync(fd) == 0;
    int number = errno;
    close(fd);
    if (!whole || rename(fresh.c_str(), path_.c_str()) != 0) {
        if (whole) number = errno;
        unlink(fresh.c_str());
        return file_error("write", path_, number);
    }
    known_ = text;
    return {};
}

}  // namespace pollux::runtime
