#include "store/key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "store/durable_file.hpp"
#include "store/secret_vault.hpp"

namespace pollux::store {

namespace {

constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
constexpr std::size_t kMostKeyText = 256;

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

std::unexpected<base::Error> file_error(const std::string& path, const std::string& what) {
    return base::config_error("vault.key_file", fmt::format("vault: key file {}: {}", path, what));
}

std::unexpected<base::Error> system_error(const std::string& path, const char* doing) {
    return file_error(path, fmt::format("cannot {}: {}", doing, std::strerror(errno)));
}

}  // namespace

base::Result<base::Secret> decode_key(const base::Secret& text, const std::string& origin) {
    std::string bytes(kMasterKeyBytes + 1, '\0');  // one more, so that too long is noticed
    std::size_t length = 0;
    const std::string& encoded = text.reveal();
    const int result =
        sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(),
                          encoded.data(), encoded.size(), " \t\r\n", &length, nullptr, kVariant);
    base::Secret key(std::move(bytes));
    if (result != 0 || length != kMasterKeyBytes) {
        return base::config_error(
            "vault.key", fmt::format("vault: {} does not hold a key: expected {} bytes in base64 "
                                     "(44 characters), found {}; make one with: openssl rand "
                                     "-base64 32",
                                     origin, kMasterKeyBytes,
                                     result != 0 ? "other text or more bytes"
                                                 : fmt::format("{} bytes", length)));
    }
    return base::Secret(key.reveal().substr(0, kMasterKeyBytes));
}

bool key_file_exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

base::Result<base::Secret> read_key_file(const std::string& path, FileRights rights) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) return system_error(path, "open");
    struct stat found{};
    if (fstat(fd.get(), &found) != 0) return system_error(path, "look at");
    if (!S_ISREG(found.st_mode)) return file_error(path, "is not a regular file");
    if (rights == FileRights::kOwnerOnly && (found.st_mode & 077U) != 0) {
        return file_error(path, fmt::format("others than its owner may use it (mode {:04o}): make "
                                            "it private with: chmod 600 {}",
                                            found.st_mode & 07777U, path));
    }
    std::string text(kMostKeyText, '\0');
    const ssize_t length = read(fd.get(), text.data(), text.size());
    if (length < 0) return system_error(path, "read");
    text.resize(static_cast<std::size_t>(length));
    return decode_key(base::Secret(std::move(text)), "key file " + path);
}

base::Result<base::Secret> make_key_file(const std::string& path) {
    std::string bytes(kMasterKeyBytes, '\0');
    randombytes_buf(bytes.data(), bytes.size());
    base::Secret key(std::move(bytes));
    std::string text(sodium_base64_encoded_len(kMasterKeyBytes, kVariant), '\0');
    sodium_bin2base64(text.data(), text.size(),
                      reinterpret_cast<const unsigned char*>(key.reveal().data()), kMasterKeyBytes,
                      kVariant);
    text.back() = '\n';  // in the place of the terminating zero
    const base::Secret line(std::move(text));
    const Descriptor fd(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd.get() < 0) return system_error(path, "make it");
    const auto& out = line.reveal();
    const bool written = write(fd.get(), out.data(), out.size()) == std::ssize(out);
    if (!written || fsync(fd.get()) != 0) {
        auto error = system_error(path, "write");
        unlink(path.c_str());
        return error;
    }
    if (auto status = sync_folder_of(path); !status) return std::unexpected(status.error());
    return key;
}

base::Status replace_key_file(const std::string& from, const std::string& to) {
    if (rename(from.c_str(), to.c_str()) != 0) return system_error(to, "replace");
    return sync_folder_of(to);
}

}  // namespace pollux::store
