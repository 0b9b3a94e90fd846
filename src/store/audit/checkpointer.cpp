#include "store/audit/checkpointer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "store/durable_file.hpp"

namespace pollux::store {
namespace {

base::WallTime wall_now() {
    return base::WallTime{std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count()};
}

}  // namespace

AuditCheckpointer::AuditCheckpointer(std::shared_ptr<const AuditKey> key, Tell tell,
                                     CheckpointOptions options)
    : key_(std::move(key)), tell_(std::move(tell)), options_(options) {}

AuditCheckpointer::~AuditCheckpointer() { stop(); }

base::Status AuditCheckpointer::start(const std::string& path, const AuditHead& head) {
    path_ = path;
    auto known = read_checkpoints(path_);
    if (!known) return std::unexpected(std::move(known.error()));
    std::uint64_t newest = 0;
    if (*known) {
        lines_ = (*known)->lines.size();
        for (const CheckpointLine& line : (*known)->lines) {
            if (!line.checkpoint || !signed_by(*key_, *line.checkpoint)) continue;
            newest = std::max(newest, line.checkpoint->head.number);
        }
        if ((*known)->torn) {
            if (auto status = compact(); !status) return status;
        }
    }
    if (newest > head.number) {
        const base::Error cut{
            "audit.cut", base::ErrorClass::kPermanent,
            fmt::format("audit: the trail ends at record {}, its last checkpoint in {} at {}: "
                        "records are gone, or the state is older than the checkpoints; look with "
                        "'pollux audit verify'",
                        head.number, path_, newest)};
        tell_({"", &cut});
    }
    {
        const std::scoped_lock lock(mutex_);
        head_ = head;
        written_ = head.number;
    }
    if (!*known || head.number > newest) {
        const std::string line = to_line(make_checkpoint(*key_, head, wall_now()));
        if (auto status = append(line); !status) return status;
        tell_({line, nullptr});
    }
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "pollux-audit");
        run();
    });
    return {};
}

void AuditCheckpointer::note(const AuditHead& head) {
    const std::scoped_lock lock(mutex_);
    head_ = head;
    if (head_.number >= written_ + options_.records) changed_.notify_one();
}

void AuditCheckpointer::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void AuditCheckpointer::run() {
    for (;;) {
        AuditHead head;
        bool last = false;
        {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, options_.period, [this] {
                return stopping_ || head_.number >= written_ + options_.records;
            });
            last = stopping_;
            head = head_;
            if (head.number == written_) {
                if (last) return;
                continue;
            }
        }
        write(head);
        if (last) return;
    }
}

void AuditCheckpointer::write(const AuditHead& head) {
    const std::string line = to_line(make_checkpoint(*key_, head, wall_now()));
    auto status = append(line);
    if (status) {
        {
            const std::scoped_lock lock(mutex_);
            written_ = head.number;
        }
        tell_({line, nullptr});
        if (lines_ > options_.most_lines + options_.most_lines / 10) status = compact();
    }
    if (status) return;
    tell_({"", &status.error()});
    // Not at once again: the next try comes with the next period, or the stop.
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, options_.period, [this] { return stopping_; });
}

base::Status AuditCheckpointer::append(const std::string& line) {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    const std::string bytes = line + "\n";
    // One write, so that a line is never mixed with another.
    const bool whole =
        fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == std::ssize(bytes) && fsync(fd) == 0;
    const int number = errno;
    if (fd >= 0) ::close(fd);
    if (!whole) {
        return base::make_error(
            base::ErrorClass::kTransient, "store.file",
            fmt::format("audit: cannot write a checkpoint to {}: {}: a cut of the newest records "
                        "would not be found; check rights and free space",
                        path_, std::strerror(number)));
    }
    ++lines_;
    return lines_ == 1 ? sync_folder_of(path_) : base::Status{};
}

base::Status AuditCheckpointer::compact() {
    auto known = read_checkpoints(path_);
    if (!known) return std::unexpected(std::move(known.error()));
    if (!*known) return {};
    const auto& lines = (*known)->lines;
    const std::size_t skipped =
        lines.size() > options_.most_lines ? lines.size() - options_.most_lines : 0;
    std::string content;
    for (std::size_t i = skipped; i < lines.size(); ++i) content += lines[i].text + "\n";
    if (auto status = replace_file(path_, content); !status) return status;
    lines_ = lines.size() - skipped;
    return {};
}

}  // namespace pollux::store
