// What lies in the data folder: rights, room, key, databases.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/doctor.hpp"
#include "store/history/history.hpp"
#include "store/history/history_schema.hpp"
#include "store/key_file.hpp"
#include "store/secret_vault.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/state_schema.hpp"

namespace pollux::app {
namespace {

constexpr std::uint64_t kMebibyte = 1U << 20U;
constexpr std::uint64_t kLittleRoom = 1024 * kMebibyte;
constexpr std::uint64_t kNoRoom = 64 * kMebibyte;
constexpr std::uint64_t kLargestChecked = 512 * kMebibyte;  // a check reads every page

std::string in_mebibytes(std::uint64_t bytes) {
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / static_cast<double>(kMebibyte));
}

void examine_room(const std::string& data, DoctorReport& report) {
    struct statvfs room{};
    if (statvfs(data.c_str(), &room) != 0) return;
    const std::uint64_t free = room.f_bavail * room.f_frsize;
    if (free < kNoRoom) {
        report.add(Finding::kProblem, "disk",
                   fmt::format("{} free below {}: polling goes on, but nothing more is kept; make "
                               "room, or lower POLLUX_HISTORY_QUOTA_MB",
                               in_mebibytes(free), data));
    } else if (free < kLittleRoom) {
        report.add(Finding::kWarning, "disk",
                   fmt::format("only {} free below {}", in_mebibytes(free), data));
    } else {
        report.add(Finding::kOk, "disk", fmt::format("{} free", in_mebibytes(free)));
    }
    if (room.f_favail != 0 && room.f_favail < 1000) {
        report.add(Finding::kWarning, "disk",
                   fmt::format("only {} more files can be made", room.f_favail));
    }
}

// `PRAGMA quick_check` in words; empty: sound.
std::string damage_of(store::Database& database) {
    auto statement = database.prepare("PRAGMA quick_check(3)");
    if (!statement) return statement.error().message;
    std::string found;
    while (true) {
        const auto row = statement->step();
        if (!row) return row.error().message;
        if (!*row) return found;
        if (statement->text(0) == "ok") continue;
        found += found.empty() ? "" : "; ";
        found += statement->text(0);
    }
}

void examine_database(const std::string& path, const char* subject, const store::Schema& schema,
                      DoctorReport& report) {
    if (access(path.c_str(), F_OK) != 0) {
        report.add(Finding::kOk, subject, fmt::format("{} is not there yet", path));
        return;
    }
    store::Database::OpenOptions options;
    options.create = false;
    options.read_only = true;
    auto database = store::Database::open(path, options);
    if (!database) {
        report.add(Finding::kProblem, subject, database.error().message);
        return;
    }
    if (const auto shape = store::check_shape(**database, schema); !shape) {
        report.add(Finding::kProblem, subject, shape.error().message);
        return;
    }
    const std::uint64_t bytes = store::bytes_on_disk(path);
    if (bytes > kLargestChecked) {
        report.add(Finding::kOk, subject,
                   fmt::format("{} of {}; too large for a check here: sqlite3 {} 'PRAGMA "
                               "integrity_check'",
                               path, in_mebibytes(bytes), path));
        return;
    }
    const std::string damage = damage_of(**database);
    if (damage.empty()) {
        report.add(Finding::kOk, subject,
                   fmt::format("{} is sound, {}", path, in_mebibytes(bytes)));
    } else {
        report.add(Finding::kProblem, subject,
                   fmt::format("{} is damaged: {}. Stop the server, keep a copy, and restore a "
                               "backup; the history alone may be removed and starts anew",
                               path, damage));
    }
}

}  // namespace

void examine_folder(const std::string& data, DoctorReport& report) {
    struct stat facts{};
    if (stat(data.c_str(), &facts) != 0) {
        report.add(Finding::kProblem, "data folder",
                   fmt::format("{}: {}; name the folder of your server with --data", data,
                               std::strerror(errno)));
        return;
    }
    const unsigned mode = facts.st_mode & 07777U;
    if (!S_ISDIR(facts.st_mode)) {
        report.add(Finding::kProblem, "data folder", fmt::format("{} is no folder", data));
        return;
    }
    if (facts.st_uid != geteuid()) {
        report.add(
            Finding::kWarning, "data folder",
            fmt::format("{} belongs to user {}, this is user {}: run this as the user of the "
                        "server",
                        data, facts.st_uid, geteuid()));
    }
    if ((mode & 077U) != 0) {
        report.add(Finding::kProblem, "data folder",
                   fmt::format("{} can be entered by others (mode {:04o}): chmod 0700 {}", data,
                               mode, data));
    } else if (access(data.c_str(), W_OK | X_OK) != 0) {
        report.add(Finding::kProblem, "data folder",
                   fmt::format("{} cannot be written: {}", data, std::strerror(errno)));
    } else {
        report.add(Finding::kOk, "data folder", fmt::format("{}, mode {:04o}", data, mode));
    }
    examine_room(data, report);
}

void examine_key(const std::string& data, DoctorReport& report) {
    const auto sources = store::KeySources::of_process(data + "/pollux.key");
    const bool elsewhere = !sources.environment.empty() || !sources.credentials_directory.empty();
    if (!elsewhere && !store::key_file_exists(sources.key_file)) {
        if (access((data + "/" + store::kStateFile).c_str(), F_OK) == 0) {
            report.add(
                Finding::kProblem, "key",
                fmt::format("{} is gone, and the store is there: what was sealed with it "
                            "cannot be opened; put the file back before you start the server, "
                            "which would make a new one",
                            sources.key_file));
        } else {
            report.add(Finding::kOk, "key", "none yet; the first start makes one");
        }
        return;
    }
    const auto vault = store::SecretVault::open(sources);
    if (!vault) {
        report.add(Finding::kProblem, "key", vault.error().message);
        return;
    }
    report.add(Finding::kOk, "key", fmt::format("{} from {}", vault->key_id(), vault->origin()));
}

void examine_databases(const std::string& data, DoctorReport& report) {
    examine_database(data + "/" + store::kStateFile, "state", store::state_schema(), report);
    examine_database(data + "/" + store::kHistoryFile, "history", store::history_schema(), report);
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(data, ignored)) {
        if (entry.path().extension() != ".backup") continue;
        report.add(
            Finding::kOk, "backup",
            fmt::format("{} from before an upgrade ({}); remove it when you do not want to go "
                        "back",
                        entry.path().string(), in_mebibytes(entry.file_size(ignored))));
    }
}

}  // namespace pollux::app
