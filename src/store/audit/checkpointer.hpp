// Writes checkpoints of the trail: after every 100 records, after 60 s with something new, and at
// the stop. A thread of its own, because it waits for the disk.
//
// note() is called from the store's thread, the rest from the owner's; `tell` from the own thread,
// and from start() and stop().
//
// Invariants
// 1. A line is appended and synced before it is told.
// 2. The file holds at most 1.1 times `most_lines`; it is then replaced by its newest lines. At
// every
//    moment the newest line is there.
// 3. What the file held and the trail does not is never made to fit: it stays as evidence.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.hpp"
#include "store/audit/checkpoint.hpp"

namespace pollux::store {

struct CheckpointOptions {
    std::uint64_t records = 100;
    std::chrono::milliseconds period = std::chrono::seconds(60);
    std::size_t most_lines = 10'000;
};

class AuditCheckpointer {
  public:
    // A checkpoint that was written; or what went wrong: it is tried again a period later.
    struct Told {
        std::string line;  // empty: there is none
        const base::Error* why = nullptr;
    };
    using Tell = std::function<void(const Told& told)>;

    AuditCheckpointer(std::shared_ptr<const AuditKey> key, Tell tell,
                      CheckpointOptions options = {});
    ~AuditCheckpointer();
    AuditCheckpointer(const AuditCheckpointer&) = delete;
    AuditCheckpointer& operator=(const AuditCheckpointer&) = delete;

    // Makes the file if it is absent, with a checkpoint of `head`, so that from now on a missing
    // file means something. A trail that is shorter than its last checkpoint is told as
    // audit.cut, and the file stays as it is. Fails with store.file. Blocks.
    base::Status start(const std::string& path, const AuditHead& head);
    void note(const AuditHead& head);
    // Writes the last checkpoint if there is something new, and ends the thread.
    void stop();

  private:
    void run();
    void write(const AuditHead& head);
    base::Status append(const std::string& line);
    base::Status compact();

    std::shared_ptr<const AuditKey> key_;
    Tell tell_;
    CheckpointOptions options_;
    std::string path_;
    std::size_t lines_ = 0;      // of the file; only where the file is written
    std::uint64_t written_ = 0;  // number of the newest checkpoint; guarded by mutex_ too

    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    AuditHead head_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace pollux::store
