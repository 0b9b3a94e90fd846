// For tests: a layer between SQLite and the operating system that fails writes or syncs on demand,
// as a full or dying disk does. Only files opened through it (SqliteOptions::vfs) are touched.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace pollux::store {

enum class DiskFault : int {
    kNone,
    kFull,         // every write fails for want of space
    kWriteFails,   // every write fails with an I/O error
    kSyncFails,    // writes work, syncs do not
    kShortOfSpace  // a number of writes still works, then as kFull
};

class FaultVfs {
  public:
    // Registered once per process.
    static FaultVfs& instance() {
        static FaultVfs vfs;
        return vfs;
    }
    static constexpr const char* kName = "pollux_fault";

    void set(DiskFault fault, int writes_left = 0) {
        writes_left_ = writes_left;
        fault_ = fault;
    }
    int failed_calls() const { return failed_calls_; }

  private:
    struct File {
        sqlite3_file base;
        sqlite3_file* real;
    };

    FaultVfs() {
        real_ = sqlite3_vfs_find(nullptr);
        vfs_ = *real_;
        vfs_.zName = kName;
        vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
        vfs_.pNext = nullptr;
        vfs_.pAppData = real_;
        vfs_.xOpen = &open;
        if (sqlite3_vfs_register(&vfs_, 0) != SQLITE_OK) std::abort();
    }

    int verdict_of_write() {
        const DiskFault fault = fault_;
        if (fault == DiskFault::kNone || fault == DiskFault::kSyncFails) return SQLITE_OK;
        if (fault == DiskFault::kShortOfSpace && --writes_left_ >= 0) return SQLITE_OK;
        ++failed_calls_;
        return fault == DiskFault::kWriteFails ? SQLITE_IOERR_WRITE : SQLITE_FULL;
    }
    int verdict_of_sync() {
        if (fault_ != DiskFault::kSyncFails) return SQLITE_OK;
        ++failed_calls_;
        return SQLITE_IOERR_FSYNC;
    }

    static sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }

    static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
        auto* mine = reinterpret_cast<File*>(file);
        mine->base.pMethods = nullptr;
        mine->real = reinterpret_cast<sqlite3_file*>(mine + 1);
        auto* below = static_cast<sqlite3_vfs*>(vfs->pAppData);
        const int result = below->xOpen(below, name, mine->real, flags, out);
        if (mine->real->pMethods != nullptr) mine->base.pMethods = methods();
        return result;
    }

    static const sqlite3_io_methods* methods() {
        static const sqlite3_io_methods kMethods = [] {
            sqlite3_io_methods m{};
            m.iVersion = 2;  // with shared memory, without memory mapping
            m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
            m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
                return real(f)->pMethods->xRead(real(f), to, n, at);
            };
            m.xWrite = [](sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
                const int verdict = instance().verdict_of_write();
                if (verdict != SQLITE_OK) return verdict;
                return real(f)->pMethods->xWrite(real(f), from, n, at);
            };
            m.xTruncate = [](sqlite3_file* f, sqlite3_int64 n) {
                return real(f)->pMethods->xTruncate(real(f), n);
            };
            m.xSync = [](sqlite3_file* f, int flags) {
                const int verdict = instance().verdict_of_sync();
                if (verdict != SQLITE_OK) return verdict;
                return real(f)->pMethods->xSync(real(f), flags);
            };
            m.xFileSize = [](sqlite3_file* f, sqlite3_int64* n) {
                return real(f)->pMethods->xFileSize(real(f), n);
            };
            m.xLock = [](sqlite3_file* f, int level) {
                return real(f)->pMethods->xLock(real(f), level);
            };
            m.xUnlock = [](sqlite3_file* f, int level) {
                return real(f)->pMethods->xUnlock(real(f), level);
            };
            m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
                return real(f)->pMethods->xCheckReservedLock(real(f), out);
            };
            m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
                return real(f)->pMethods->xFileControl(real(f), op, arg);
            };
            m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
            m.xDeviceCharacteristics = [](sqlite3_file* f) {
                return real(f)->pMethods->xDeviceCharacteristics(real(f));
            };
            m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
                return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
            };
            m.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
                return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
            };
            m.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
            m.xShmUnmap = [](sqlite3_file* f, int remove) {
                return real(f)->pMethods->xShmUnmap(real(f), remove);
            };
            return m;
        }();
        return &kMethods;
    }

    sqlite3_vfs vfs_{};
    sqlite3_vfs* real_ = nullptr;
    std::atomic<DiskFault> fault_ = DiskFault::kNone;
    std::atomic<int> writes_left_ = 0;
    std::atomic<int> failed_calls_ = 0;
};

}  // namespace pollux::store
