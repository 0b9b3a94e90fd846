#include "app/fleet_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"

namespace pollux::app {
namespace {

namespace fs = std::filesystem;
using base::config_error;
using base::quoted;

bool is_fleet_file(const fs::path& path) {
    const std::string extension = path.extension().string();
    return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return number_; }

  private:
    int number_;
};

std::unexpected<base::Error> unreadable(const std::string& path, std::string_view why) {
    return config_error("fleet.unreadable",
                        fmt::format("cannot read {}: {}; check the path and its permissions",
                                    quoted(path, 400), why));
}

base::Result<std::vector<std::string>> list_folder(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const fs::path& path = it->path();
        if (path.filename().string().starts_with('.') || !is_fleet_file(path)) continue;
        if (files.size() == kMaxFleetFiles) {
            return config_error("fleet.too_many_files",
                                fmt::format("{} has more than {} files; name fewer folders",
                                            quoted(folder, 400), kMaxFleetFiles));
        }
        files.push_back(path.string());
    }
    if (error) return unreadable(folder, error.message());
    if (files.empty()) {
        return config_error("fleet.no_files", fmt::format("{} has no .yaml, .yml or .json files",
                                                          quoted(folder, 400)));
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

base::Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat facts{};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) {
        return unreadable(path, std::strerror(errno));
    }
    if (!S_ISREG(facts.st_mode)) return unreadable(path, "it is no regular file");
    if (static_cast<std::uint64_t>(facts.st_size) > max_bytes) {
        return unreadable(
            path, fmt::format("it has {} bytes, at most {} are read", facts.st_size, max_bytes));
    }
    std::string text(static_cast<std::size_t>(facts.st_size), '\0');
    std::size_t got = 0;
    while (got < text.size()) {
        const ssize_t count = ::read(file.get(), text.data() + got, text.size() - got);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return unreadable(path, std::strerror(errno));
        if (count == 0) break;  // it became shorter while we read
        got += static_cast<std::size_t>(count);
    }
    text.resize(got);
    return text;
}

base::Result<std::vector<config::FileText>> read_fleet_files(std::span<const std::string> paths) {
    std::vector<std::string> names;
    for (const std::string& path : paths) {
        std::error_code error;
        if (fs::is_directory(path, error)) {
            auto listed = list_folder(path);
            if (!listed) return std::unexpected(std::move(listed.error()));
            names.insert(names.end(), listed->begin(), listed->end());
            continue;
        }
        if (!error && fs::exists(path, error) && !is_fleet_file(path)) {
            return unreadable(path, "fleet files end in .yaml, .yml or .json");
        }
        names.push_back(path);
    }
    std::vector<config::FileText> files;
    for (std::string& name : names) {
        auto text = read_text_file(name, config::kMaxFleetFileBytes);
        if (!text) return std::unexpected(std::move(text.error()));
        files.push_back({std::move(name), std::move(*text)});
    }
    return files;
}

}  // namespace pollux::app
