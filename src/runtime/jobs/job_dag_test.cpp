// Ten thousand jobs in a random graph, three types, scarce resources, kill -9 in the middle: the
// order is right, nothing is held twice, types get their share, nothing is lost and what completed
// does not run again.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <mutex>
#include <set>

#include "base/test_random.hpp"
#include "runtime/jobs/job_test_support.hpp"
#include "store/store_test_support.hpp"

namespace pollux::runtime {
namespace {

using test::JobStage;

constexpr std::size_t kJobs = 10'000;
constexpr std::size_t kRoots = 3'000;
constexpr std::array<const char*, 3> kTypes = {"alpha", "beta", "gamma"};
constexpr std::array<std::uint32_t, 3> kWeights = {1, 1, 2};
const std::vector<model::ResourceSettings> kResources = {{"cpu", 16}, {"licence", 5}};

// Does the work of all types and watches over the rules. Each line is written before the next step,
// so that it is there after a kill: "S name" and "E name", "C name" once people could see that it
// completed, "V ..." for what must not be. Past the limit work begins and does not end.
class Arena {
  public:
    explicit Arena(const std::string& path, std::size_t limit = 2 * kJobs)
        : limit_(limit),
          fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
    ~Arena() { ::close(fd_); }

    std::vector<JobType> types() {
        std::vector<JobType> all;
        for (std::size_t i = 0; i < kTypes.size(); ++i) {
            all.push_back(test::worker_type(kTypes[i], kWeights[i],
                                            [this](const model::JobSpec& job, JobControl&) {
                                                begin(job);
                                                while (completed() >= limit_) usleep(10'000);
                                                end(job);
                                                return JobResult{.output = job.name};
                                            }));
        }
        return all;
    }
    void seen(const JobEvent& event) {
        if (event.kind == JobEventKind::kEnded) say("C " + event.type + " " + event.name);
    }
    void has_completed(const std::string& id) { done_.insert(id); }
    std::size_t completed() {
        const std::scoped_lock lock(mutex_);
        return done_.size();
    }

  private:
    void say(const std::string& line) {
        const std::string text = line + "\n";
        static_cast<void>(!::write(fd_, text.data(), text.size()));
    }
    void begin(const model::JobSpec& job) {
        const std::scoped_lock lock(mutex_);
        say("S " + job.type + " " + job.name);
        if (!running_.insert(job.id).second) say("V twice at once: " + job.name);
        if (done_.contains(job.id)) say("V again: " + job.name);
        for (const auto& group : job.depends_on) {
            const bool met = std::ranges::any_of(
                group, [&](const std::string& id) { return done_.contains(id); });
            if (!met) say("V before its parents: " + job.name);
        }
        for (const auto& [name, amount] : job.resources) {
            held_[name] += amount;
            for (const auto& known : kResources) {
                if (known.name == name && held_[name] > known.capacity) say("V too much " + name);
            }
        }
    }
    void end(const model::JobSpec& job) {
        const std::scoped_lock lock(mutex_);
        for (const auto& [name, amount] : job.resources) held_[name] -= amount;
        running_.erase(job.id);
        done_.insert(job.id);
        say("E " + job.type + " " + job.name);
    }

    std::size_t limit_;
    int fd_;
    std::mutex mutex_;
    std::set<std::string> done_;
    std::set<std::string> running_;
    std::map<std::string, std::int64_t> held_;
};

config::JobBatch random_batch() {
    base::TestRandom random(5);
    config::JobBatch batch;
    for (std::size_t i = 0; i < kJobs; ++i) {
        model::JobSpec& job = batch.jobs.emplace_back();
        job.name = "j" + std::to_string(i);
        job.type = kTypes[i % kTypes.size()];
        job.timeout = std::chrono::minutes(5);
        job.arguments = "{}";
        if (random.one_in(4))
            job.resources = {{"cpu", static_cast<std::int64_t>(1 + random.below(8))}};
        if (random.one_in(10)) job.resources.push_back({"licence", 1});
        for (std::uint64_t g = i < kRoots ? 0 : 1 + random.below(3); g > 0; --g) {
            auto& group = job.depends_on.emplace_back();
            for (std::uint64_t m = 1 + random.below(2); m > 0; --m) {
                group.push_back("j" + std::to_string(random.below(i)));
            }
        }
    }
    return batch;
}

test::StageOptions options(const std::string& folder) {
    return {.folder = folder, .resources = kResources, .global_slots = 24, .threads = 4};
}

// The process that is killed: submits, and works until then.
[[noreturn]] void work_until_killed(const std::string& folder, const std::string& lines) {
    Arena arena(lines, kJobs / 2);
    JobStage stage(options(folder), arena.types());
    stage.desk().on_event([&arena](const JobEvent& event) { arena.seen(event); });
    stage.desk().submit(random_batch(), "user:test", [](base::Result<JobSubmitted> done) {
        if (!done) _exit(3);
    });
    for (;;) stage.loop().run_once(std::chrono::milliseconds(10));
}

struct Told {
    std::vector<std::pair<std::string, std::string>> starts;  // type, name
    std::set<std::string> ended;
    std::set<std::string> seen;  // completed, as people were told
    std::vector<std::string> wrong;
};

Told read_lines(const std::string& path) {
    Told told;
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        const std::size_t space = line.find(' ', 2);
        if (line.starts_with("S ")) {
            told.starts.emplace_back(line.substr(2, space - 2), line.substr(space + 1));
        } else if (line.starts_with("E ")) {
            told.ended.insert(line.substr(space + 1));
        } else if (line.starts_with("C ")) {
            told.seen.insert(line.substr(space + 1));
        } else {
            told.wrong.push_back(line);
        }
    }
    return told;
}

// While all types had work that could start, each got what its weight says.
void expect_fair(const std::vector<std::pair<std::string, std::string>>& starts) {
    constexpr std::size_t kWindow = 1'200;
    ASSERT_GE(starts.size(), kWindow);
    std::map<std::string, std::size_t> counts;
    for (std::size_t i = 0; i < kWindow; ++i) ++counts[starts[i].first];
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
        const double share = static_cast<double>(counts[kTypes[i]]) / kWindow;
        EXPECT_NEAR(share, kWeights[i] / 4.0, 0.06) << kTypes[i];
    }
}

TEST(JobDag, TenThousandJobsRunInOrderFairlyAndSurviveAKill) {
    const store::TemporaryFolder folder;
    const std::string first = folder.file("first.txt");
    const std::string data = folder.file("data");
    const pid_t child = fork();
    if (child == 0) work_until_killed(data, first);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    while (read_lines(first).seen.size() < kJobs / 3 &&
           std::chrono::steady_clock::now() < patience) {
        usleep(20'000);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const Told before = read_lines(first);
    EXPECT_THAT(before.wrong, testing::IsEmpty());
    expect_fair(before.starts);

    const std::string second = folder.file("second.txt");
    Arena arena(second);
    std::set<std::string> completed;  // names, as the store has them
    {
        // What was committed, read without running anything.
        auto store = store::open_sqlite_store(store::DataDirectory::open(data).value(), {}).value();
        std::map<std::string, model::JobState> states;
        store::LoadVisitor visitor;
        visitor.task = [&](model::TaskRecord&& record) { states[record.key] = record.job; };
        visitor.job = [&](store::JobRow&& row) {
            if (states[row.key] != model::JobState::kCompleted) return;
            arena.has_completed(row.id);
            completed.insert(config::job_from_text(row.spec).value().name);
        };
        ASSERT_TRUE(store->load(visitor));
    }
    ASSERT_GE(before.seen.size(), kJobs / 3);
    for (const std::string& name : before.seen) {
        ASSERT_TRUE(completed.contains(name)) << name << " was seen as completed and is not";
    }
    ASSERT_LT(completed.size(), kJobs) << "it was killed in the middle";
    for (const std::string& name : completed) {
        ASSERT_TRUE(before.ended.contains(name)) << name << " was never done";
    }
    JobStage stage(options(data), arena.types());
    EXPECT_EQ(stage.restored(), kJobs) << "nothing is lost";
    ASSERT_TRUE(stage.until([&] { return arena.completed() == kJobs; }, std::chrono::minutes(3)))
        << arena.completed();
    ASSERT_TRUE(stage.until([&] {
        return stage.list({.phase = model::JobPhase::kCompleted, .limit = 1}).jobs.size() == 1 &&
               stage.list({.phase = model::JobPhase::kRunning, .limit = 1}).jobs.empty() &&
               stage.list({.phase = model::JobPhase::kFailed, .limit = 1}).jobs.empty();
    }));
    stage.close();
    const Told after = read_lines(second);
    EXPECT_THAT(after.wrong, testing::IsEmpty()) << "among them: what had completed ran again";
    for (const auto& [type, name] : after.starts) {
        ASSERT_FALSE(completed.contains(name)) << name << " had completed and ran again";
    }
    EXPECT_EQ(completed.size() + after.ended.size(), kJobs);
}

}  // namespace
}  // namespace pollux::runtime
