#include "runtime/uptime/uptime_keeper.hpp"

#include <pthread.h>

#include <utility>

#include "net/event_loop.hpp"

namespace pollux::runtime {

UptimeKeeper::UptimeKeeper(store::Store& store, observe::Log& log, View view)
    : store_(store), log_(log), view_(std::move(view)) {}

UptimeKeeper::~UptimeKeeper() { stop(); }

bool UptimeKeeper::recall(const std::string& key, std::string_view bytes) {
    if (key == kHeadKey) {
        book_.recall_head(bytes);
        return true;
    }
    if (!key.starts_with(kPrefix)) return false;
    book_.recall_target(key.substr(kPrefix.size()), bytes);
    return true;
}

void UptimeKeeper::start(base::Instant started, std::uint64_t first_change,
                         std::vector<Seed> seeds) {
    book_.begin(started.wall);
    book_.look(started);
    seeds_ = std::move(seeds);
    first_change_ = first_change;
    thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "pollux-uptime");
        run();
    });
}

void UptimeKeeper::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    {
        const std::lock_guard reading(refresh_mutex_);
        refresh(Pages::kOne);
    }
    const std::lock_guard lock(mutex_);
    if (image_) save();
}

void UptimeKeeper::run() {
    while (true) {
        {
            const std::lock_guard reading(refresh_mutex_);
            refresh(Pages::kAll);
        }
        std::unique_lock lock(mutex_);
        if (stopping_) return;
        if (image_) save();
        const base::Duration pause = image_ ? kReadEvery : kFresh;
        wake_.wait_for(lock, pause, [this] { return stopping_ || behind_; });
        if (stopping_) return;
        behind_ = false;
    }
}

// While somebody reads the log, what is known is the answer: a log may be long.
void UptimeKeeper::refresh_unless_busy() {
    const std::unique_lock reading(refresh_mutex_, std::try_to_lock);
    if (reading) refresh(Pages::kOne);
}

void UptimeKeeper::refresh(Pages pages) {
    {
        const std::lock_guard lock(mutex_);
        const bool fresh =
            refreshed_ != base::BootTime{} && net::boot_now() - refreshed_ < kFresh && !stopping_;
        if (fresh) return;
        take_fleet();
        // Without the fleet nobody can say what a transition means; the log waits.
        if (!image_) return;
    }
    // A fleet in which nothing changes costs no read at all.
    const std::uint64_t written = store_.stats().changes;
    if ((failing_ || read_ != written) && !take_pages(pages)) return;
    read_ = written;
    const std::lock_guard lock(mutex_);
    const base::WallTime now = look();
    if (!failing_) plant(now);
    book_.settle(now);
    refreshed_ = net::boot_now();
}

// The rest of a log is left to the thread, and at the end of a life to the next one: the cursor is
// saved with what was made of the log so far.
bool UptimeKeeper::take_pages(Pages pages) {
    while (take_page()) {
        const std::lock_guard lock(mutex_);
        if (pages == Pages::kAll && !stopping_) continue;
        behind_ = true;
        wake_.notify_all();
        return false;
    }
    return true;
}

base::WallTime UptimeKeeper::look() {
    const base::Instant now = net::instant_now();
    book_.look(now);
    return now.wall;
}

void UptimeKeeper::take_fleet() {
    const auto view = view_();
    if (!view || view->image == image_) return;
    image_ = view->image;
    book_.set_fleet(image_->alerts);
}

void UptimeKeeper::plant(base::WallTime at) {
    for (const Seed& seed : std::exchange(seeds_, {})) {
        book_.seed(seed.key, seed.up, seed.enabled, at);
    }
}

bool UptimeKeeper::take_page() {
    store::ChangeQuery query;
    query.limit = store::kMostChangesPerQuery;
    {
        const std::lock_guard lock(mutex_);
        query.after = book_.cursor();
    }
    // Without the lock: who asks for what is known need not wait for the disk.
    const auto changes = store_.changes(query);
    if (!changes) {
        if (!std::exchange(failing_, true)) {
            log_.error("transitions cannot be read, so uptime is not up to date",
                       {{"error", changes.error().message}});
        }
        return false;
    }
    failing_ = false;
    const std::lock_guard lock(mutex_);
    look();
    for (const store::StoredChange& change : *changes) {
        if (change.number >= first_change_) plant(change.at);
        book_.take(change);
    }
    return changes->size() == store::kMostChangesPerQuery;
}

void UptimeKeeper::save() {
    const Saving before = saved_->load();
    if (before == Saving::kUnderWay && !stopping_) return;  // the disk is slow: next time
    if (before != Saving::kDone) book_.save_failed(saving_);
    store::MemoryBatch batch = book_.save(look());
    saving_.clear();
    for (const store::MemoryRow& row : batch.rows) saving_.push_back(row.key);
    saved_->store(Saving::kUnderWay);
    const auto status = store_.submit(std::move(batch), [saved = saved_](base::Status done) {
        saved->store(done ? Saving::kDone : Saving::kFailed);
    });
    if (!status) saved_->store(Saving::kFailed);
}

std::optional<TargetUptime> UptimeKeeper::target(std::string_view key) {
    refresh_unless_busy();
    const std::lock_guard lock(mutex_);
    return book_.target(key, net::wall_now());
}

std::vector<GroupUptime> UptimeKeeper::groups() {
    refresh_unless_busy();
    const std::lock_guard lock(mutex_);
    return book_.groups(net::wall_now());
}

}  // namespace pollux::runtime
