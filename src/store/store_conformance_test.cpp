// The rules of store.hpp, for every backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "store/memory/memory_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/store_test_support.hpp"

namespace pollux::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A place that stores are opened on, one at a time.
class Medium {
  public:
    virtual ~Medium() = default;
    virtual std::unique_ptr<Store> open(AnswerSink sink) = 0;
    // What a crash at this moment would leave behind; the open store stays open.
    virtual std::unique_ptr<Medium> crash_image() = 0;
};

class MemoryMedium : public Medium {
  public:
    std::unique_ptr<Store> open(AnswerSink sink) override {
        return open_memory_store(disk_, std::move(sink));
    }
    std::unique_ptr<Medium> crash_image() override {
        auto image = std::make_unique<MemoryMedium>();
        const std::scoped_lock lock(disk_->mutex);
        image->disk_->content = disk_->content;
        return image;
    }

  private:
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
};

class SqliteMedium : public Medium {
  public:
    std::unique_ptr<Store> open(AnswerSink sink) override {
        auto directory = DataDirectory::open(folder_.path());
        if (!directory) throw std::runtime_error(directory.error().message);
        auto store = open_sqlite_store(*directory, std::move(sink));
        if (!store) throw std::runtime_error(store.error().message);
        return std::move(*store);
    }
    std::unique_ptr<Medium> crash_image() override {
        auto image = std::make_unique<SqliteMedium>();
        for (const char* name : {"state.db", "state.db-wal"}) {
            std::filesystem::copy_file(folder_.file(name), image->folder_.file(name));
        }
        return image;
    }

  private:
    TemporaryFolder folder_;
};

struct Kind {
    const char* name;
    std::unique_ptr<Medium> (*make)();
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class StoreConformance : public testing::TestWithParam<Kind> {
  protected:
    void SetUp() override {
        medium_ = GetParam().make();
        store_ = medium_->open(answers_.sink());
    }
    void reopen() {
        ASSERT_TRUE(store_->close());
        store_.reset();
        store_ = medium_->open(answers_.sink());
    }
    void crash() {
        auto image = medium_->crash_image();
        store_.reset();
        medium_ = std::move(image);
        store_ = medium_->open(answers_.sink());
    }
    Loaded loaded() {
        auto all = load_all(*store_);
        EXPECT_TRUE(all) << all.error().message;
        return all ? *all : Loaded{};
    }
    void write(std::shared_ptr<engine::WriteBatch> batch) {
        ASSERT_TRUE(store_->submit(std::move(batch)));
    }

    std::unique_ptr<Medium> medium_;
    Answers answers_;
    std::unique_ptr<Store> store_;
};

TEST_P(StoreConformance, EmptyStoreHasTheFirstEpochAndNothingElse) {
    const Loaded all = loaded();
    EXPECT_EQ(all.state.epoch, 1u);
    EXPECT_TRUE(all.state.clean_stop);
    EXPECT_GT(all.state.first_change, 0u);
    EXPECT_EQ(all.state.damaged_rows, 0u);
    EXPECT_TRUE(all.objects.empty());
    EXPECT_TRUE(all.tasks.empty());
    EXPECT_TRUE(all.memory.empty());
}

TEST_P(StoreConformance, EveryOpeningRaisesTheEpochAndTellsHowTheLastOneEnded) {
    reopen();
    EXPECT_EQ(loaded().state.epoch, 2u);
    EXPECT_TRUE(loaded().state.clean_stop);
    crash();
    EXPECT_EQ(loaded().state.epoch, 3u);
    EXPECT_FALSE(loaded().state.clean_stop);
}

TEST_P(StoreConformance, TaskRowsAreWrittenWholeAndReplaced) {
    write(task_batch(1, {task_row("a::b", 1), task_row("a::c", 2)}));
    write(task_batch(2, {task_row("a::b", 7)}));
    store_->flush();
    reopen();
    EXPECT_THAT(loaded().tasks, ElementsAre(task_row("a::b", 7), task_row("a::c", 2)));
}

TEST_P(StoreConformance, AnswersComeOnceAndInOrder) {
    for (std::uint64_t sequence = 1; sequence <= 200; ++sequence) {
        // The queue is bounded: what is not accepted is offered again.
        while (!store_->submit(task_batch(sequence, {task_row("a::b")}))) store_->flush();
    }
    store_->flush();
    const auto all = answers_.all();
    ASSERT_EQ(all.size(), 200u);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].answer.sequence, i + 1);
        EXPECT_TRUE(all[i].answer.committed);
        EXPECT_FALSE(all[i].why);
    }
}

TEST_P(StoreConformance, AnswersOfAllKindsKeepTheOrderOfSubmission) {
    auto order = std::make_shared<std::vector<int>>();  // touched in the store's thread only
    store_.reset();
    store_ = medium_->open([order](auto, auto) { order->push_back(1); });
    ASSERT_TRUE(store_->submit(task_batch(1)));
    ASSERT_TRUE(store_->submit(ObjectBatch{}, [order](auto) { order->push_back(2); }));
    ASSERT_TRUE(store_->submit(MemoryBatch{}, [order](auto) { order->push_back(3); }));
    ASSERT_TRUE(store_->submit(task_batch(2)));
    store_->flush();
    EXPECT_THAT(*order, ElementsAre(1, 2, 3, 1));
}

TEST_P(StoreConformance, ACallbackMaySubmit) {
    Store* store = store_.get();
    auto second = std::make_shared<std::atomic<bool>>(false);
    ASSERT_TRUE(store_->submit(ObjectBatch{}, [store, second](auto) {
        ASSERT_TRUE(
            store->submit(MemoryBatch{}, [second](auto status) { *second = status.has_value(); }));
    }));
    store_->flush();
    store_->flush();
    EXPECT_TRUE(*second);
}

TEST_P(StoreConformance, ACrashKeepsWhatWasAnswered) {
    auto batch = task_batch(1, {task_row("a::b")});
    batch->changes = {task_change(5, "a::b")};
    write(batch);
    ASSERT_TRUE(apply(*store_, {{}, {{config_object("1", "one"), 0}}, ""}));
    ASSERT_TRUE(store_->submit(MemoryBatch{{}, {{"a::b", "learned"}}}, {}));
    store_->flush();
    crash();
    const Loaded all = loaded();
    EXPECT_EQ(all.tasks.size(), 1u);
    EXPECT_EQ(all.objects.size(), 1u);
    EXPECT_EQ(all.memory.size(), 1u);
    EXPECT_EQ(store_->changes({})->size(), 1u);
}

TEST_P(StoreConformance, RemovalComesBeforeTheRowsOfTheSameBatch) {
    write(task_batch(1, {task_row("a::b", 1), task_row("a::gone", 1)}));
    ASSERT_TRUE(store_->submit(MemoryBatch{{}, {{"a::b", "of the old one"}}}, {}));
    write(task_batch(2, {task_row("a::b", 9)}, {"a::b", "a::gone", "a::never-was"}));
    store_->flush();
    reopen();
    EXPECT_THAT(loaded().tasks, ElementsAre(task_row("a::b", 9)));
    EXPECT_TRUE(loaded().memory.empty()) << "memory of a removed task goes with it";
}

TEST_P(StoreConformance, ABatchMayBeAppliedTwice) {
    auto batch = task_batch(1, {task_row("a::b", 3)}, {"a::c"});
    batch->changes = {task_change(10, "a::b"), task_change(11, "a::c")};
    write(batch);
    write(batch);
    store_->flush();
    EXPECT_THAT(loaded().tasks, ElementsAre(task_row("a::b", 3)));
    EXPECT_EQ(store_->changes({})->size(), 2u);
}

TEST_P(StoreConformance, EmptyBatchesAreAnswered) {
    write(task_batch(42));
    EXPECT_TRUE(apply(*store_, {}));
    auto memory = std::make_shared<bool>(false);
    ASSERT_TRUE(
        store_->submit(MemoryBatch{}, [memory](auto status) { *memory = status.has_value(); }));
    ASSERT_TRUE(store_->submit(MemoryBatch{}, {}));
    store_->flush();
    EXPECT_TRUE(*memory);
    ASSERT_EQ(answers_.all().size(), 1u);
    EXPECT_EQ(answers_.all()[0].answer.sequence, 42u);
}

TEST_P(StoreConformance, TenThousandRows) {
    std::vector<model::TaskRecord> rows;
    ObjectBatch objects;
    MemoryBatch memory;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        const auto name = fmt::format("pve::node-{:05}", i);
        rows.push_back(task_row(name, i));
        objects.writes.push_back({config_object(fmt::format("id-{}", i), name), 0});
        memory.rows.push_back({name, std::string(300, static_cast<char>(i))});
    }
    write(task_batch(1, rows));
    ASSERT_TRUE(apply(*store_, objects));
    ASSERT_TRUE(store_->submit(memory, {}));
    store_->flush();
    reopen();
    const Loaded all = loaded();
    EXPECT_EQ(all.tasks, rows);
    EXPECT_EQ(all.objects.size(), 10'000u);
    ASSERT_EQ(all.memory.size(), 10'000u);
    EXPECT_EQ(all.memory[77].bytes, memory.rows[77].bytes);
}

TEST_P(StoreConformance, HostileNamesAreJustNames) {
    const std::vector<std::string> names = {
        "a::'; DROP TABLE task_state; --",
        "a::\"quoted\"",
        std::string("a::nul\0inside", 13),
        "a::nœud ümlaut 日本 🙂",
        "a::%s%n{}",
        "a::?1",
        "a::\xff\xfe not utf-8",
        "a::" + std::string(4000, 'x'),
        "::",
        " ",
    };
    std::vector<model::TaskRecord> rows;
    ObjectBatch objects;
    MemoryBatch memory;
    for (const auto& name : names) {
        rows.push_back(task_row(name));
        objects.writes.push_back({config_object("id " + name, name, name), 0});
        memory.rows.push_back({name, name});
    }
    auto batch = task_batch(1, rows);
    for (std::size_t i = 0; i < names.size(); ++i) {
        batch->changes.push_back(task_change(i + 1, names[i]));
    }
    write(batch);
    ASSERT_TRUE(apply(*store_, objects));
    ASSERT_TRUE(store_->submit(memory, {}));
    store_->flush();
    reopen();
    const Loaded all = loaded();
    EXPECT_EQ(all.state.damaged_rows, 0u);
    ASSERT_EQ(all.tasks.size(), names.size());
    ASSERT_EQ(all.objects.size(), names.size());
    ASSERT_EQ(all.memory.size(), names.size());
    for (const auto& name : names) {
        EXPECT_THAT(all.tasks, testing::Contains(task_row(name)));
        EXPECT_THAT(all.objects, testing::Contains(testing::AllOf(
                                     testing::Field(&model::ConfigObject::name, name),
                                     testing::Field(&model::ConfigObject::body, name))));
        ChangeQuery query;
        query.key = name;
        EXPECT_EQ(store_->changes(query)->size(), 1u);
    }
}

TEST_P(StoreConformance, EmptyTextAndBytesAreKept) {
    ASSERT_TRUE(apply(*store_, {{}, {{config_object("1", "one", ""), 0}}, ""}));
    ASSERT_TRUE(store_->submit(MemoryBatch{{}, {{"", ""}}}, {}));
    write(task_batch(1, {task_row("")}));
    store_->flush();
    reopen();
    EXPECT_EQ(loaded().objects.size(), 1u);
    EXPECT_EQ(loaded().memory.size(), 1u);
    EXPECT_EQ(loaded().tasks.size(), 1u);
}

TEST_P(StoreConformance, ObjectsKeepEveryField) {
    model::ConfigObject object{model::ObjectKind::kCredential, "id-1", "snmp",
                               model::Origin::kDiscovery,      99,     base::WallTime{-7},
                               std::string("\0sealed\xff", 8)};
    auto commit = apply(*store_, {{}, {{object, 0}}, ""});
    ASSERT_TRUE(commit) << commit.error().message;
    EXPECT_THAT(commit->versions, ElementsAre(1));
    reopen();
    object.version = 1;
    EXPECT_THAT(loaded().objects, ElementsAre(object));
}

TEST_P(StoreConformance, EveryKindOfObjectComesBackAsItself) {
    std::vector<model::ObjectKind> kinds;
    for (int i = 0; i <= static_cast<int>(model::ObjectKind::kSilence); ++i) {
        const auto kind = static_cast<model::ObjectKind>(i);
        model::ConfigObject object = config_object("id", "name");
        object.kind = kind;
        ASSERT_TRUE(apply(*store_, {{}, {{object, 0}}, ""})) << to_string(kind);
        kinds.push_back(kind);
    }
    reopen();
    std::vector<model::ObjectKind> found;
    for (const auto& object : loaded().objects) found.push_back(object.kind);
    EXPECT_EQ(found, kinds);
}

TEST_P(StoreConformance, AWriteNeedsTheVersionThatIsStored) {
    ASSERT_TRUE(apply(*store_, {{}, {{config_object("1", "one", "a"), 0}}, ""}));
    ASSERT_TRUE(apply(*store_, {{}, {{config_object("1", "one", "b"), 1}}, ""}));
    for (const std::uint64_t wrong : {0U, 1U, 3U}) {
        auto late = apply(*store_, {{}, {{config_object("1", "one", "c"), wrong}}, ""});
        ASSERT_FALSE(late);
        EXPECT_EQ(late.error().code, "store.conflict");
        EXPECT_THAT(late.error().message, HasSubstr("device 1"));
        EXPECT_THAT(late.error().message, HasSubstr("found version 2"));
    }
    EXPECT_EQ(loaded().objects.at(0).body, "b");
    EXPECT_EQ(loaded().objects.at(0).version, 2u);
}

TEST_P(StoreConformance, ARemovalNeedsTheVersionThatIsStored) {
    ASSERT_TRUE(apply(*store_, {{}, {{config_object("1", "one"), 0}}, ""}));
    auto late = apply(*store_, {{{model::ObjectKind::kDevice, "1", 2}}, {}, ""});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, "store.conflict");
    EXPECT_FALSE(apply(*store_, {{{model::ObjectKind::kGroup, "1", 1}}, {}, ""}));
    EXPECT_TRUE(apply(*store_, {{{model::ObjectKind::kDevice, "1", 1}}, {}, ""}));
    EXPECT_TRUE(loaded().objects.empty());
}

TEST_P(StoreConformance, AConflictUndoesTheWholeBatch) {
    ASSERT_TRUE(apply(*store_, {{}, {{config_object("1", "one"), 0}}, ""}));
    ObjectBatch batch;
    batch.removals = {{model::ObjectKind::kDevice, "1", 1}};
    batch.writes = {{config_object("2", "two"), 0}, {config_object("3", "three"), 5}};
    EXPECT_FALSE(apply(*store_, batch));
    ASSERT_EQ(loaded().objects.size(), 1u);
    EXPECT_EQ(loaded().objects[0].id, "1");
    // And the next one is not hindered by it.
    EXPECT_TRUE(apply(*store_, {{}, {{config_object("2", "two"), 0}}, ""}));
}

TEST_P(StoreConformance, NamesAreUniqueWithinAKind) {
    ASSERT_TRUE(apply(*store_, {{}, {{config_object("1", "one"), 0}}, ""}));
    auto taken = apply(*store_, {{}, {{config_object("2", "one"), 0}}, ""});
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, "store.conflict");
    EXPECT_THAT(taken.error().message, HasSubstr("'one'"));
    auto group = config_object("2", "one");
    group.kind = model::ObjectKind::kGroup;
    EXPECT_TRUE(apply(*store_, {{}, {{group, 0}}, ""}));
    auto twice = apply(
        *store_, {{}, {{config_object("3", "three"), 0}, {config_object("4", "three"), 0}}, ""});
    EXPECT_FALSE(twice);
}

TEST_P(StoreConformance, NamesMayBeSwappedAndReusedInOneBatch) {
    ASSERT_TRUE(
        apply(*store_, {{}, {{config_object("1", "one"), 0}, {config_object("2", "two"), 0}}, ""}));
    ASSERT_TRUE(
        apply(*store_, {{}, {{config_object("1", "two"), 1}, {config_object("2", "one"), 1}}, ""}));
    EXPECT_EQ(loaded().objects.at(0).id, "2") << "in order of the names";
    ObjectBatch reuse;
    reuse.removals = {{model::ObjectKind::kDevice, "1", 2}};
    reuse.writes = {{config_object("9", "two"), 0}};
    ASSERT_TRUE(apply(*store_, reuse));
    ObjectBatch anew;  // the same id removed and made again begins at version 1
    anew.removals = {{model::ObjectKind::kDevice, "9", 1}};
    anew.writes = {{config_object("9", "nine"), 0}};
    auto commit = apply(*store_, anew);
    ASSERT_TRUE(commit) << commit.error().message;
    EXPECT_THAT(commit->versions, ElementsAre(1));
}

TEST_P(StoreConformance, NonsenseIsRefusedAndTheStoreGoesOn) {
    const auto one = config_object("1", "one");
    EXPECT_FALSE(apply(*store_, {{}, {{one, 0}, {one, 0}}, ""}));
    EXPECT_FALSE(apply(*store_, {{}, {{config_object("", "one"), 0}}, ""}));
    EXPECT_FALSE(apply(*store_, {{}, {{config_object("1", ""), 0}}, ""}));
    EXPECT_FALSE(apply(*store_, {{{model::ObjectKind::kSettings, "1", 1}}, {}, ""}));
    EXPECT_TRUE(apply(*store_, {{}, {{one, 0}}, ""}));
}

TEST_P(StoreConformance, EveryVersionOfTheSettingsIsKept) {
    auto settings = config_object("s", "settings");
    settings.kind = model::ObjectKind::kSettings;
    for (std::uint64_t version = 0; version < 5; ++version) {
        settings.body = fmt::format("{{\"n\":{}}}", version);
        ASSERT_TRUE(apply(*store_, {{}, {{settings, version}}, fmt::format("note {}", version)}));
    }
    EXPECT_FALSE(apply(*store_, {{}, {{settings, 2}}, "late"}));
    reopen();
    auto newest = store_->settings_versions(UINT64_MAX, 2);
    ASSERT_TRUE(newest);
    ASSERT_EQ(newest->size(), 2u);
    EXPECT_EQ(newest->at(0).object.version, 5u);
    EXPECT_EQ(newest->at(0).object.body, "{\"n\":4}");
    EXPECT_EQ(newest->at(0).note, "note 4");
    EXPECT_EQ(newest->at(0).object, loaded().objects.at(0));
    EXPECT_EQ(store_->settings_versions(4, 100)->size(), 3u);
}

TEST_P(StoreConformance, ChangesAreFoundByNumberAndByKey) {
    auto batch = task_batch(1);
    for (std::uint64_t number = 1; number <= 30; ++number) {
        batch->changes.push_back(task_change(number, number % 3 == 0 ? "a::x" : "a::y"));
    }
    write(batch);
    store_->flush();
    const auto numbers = [&](const ChangeQuery& query) {
        std::vector<std::uint64_t> all;
        auto found = store_->changes(query);
        EXPECT_TRUE(found);
        for (const auto& change : *found) all.push_back(change.number);
        return all;
    };
    ChangeQuery query;
    query.after = 27;
    EXPECT_THAT(numbers(query), ElementsAre(28, 29, 30));
    query.limit = 2;
    EXPECT_THAT(numbers(query), ElementsAre(28, 29));
    query = {};
    query.key = "a::x";
    query.newest_first = true;
    query.limit = 3;
    EXPECT_THAT(numbers(query), ElementsAre(30, 27, 24));
    query.before = 24;
    EXPECT_THAT(numbers(query), ElementsAre(21, 18, 15));
    const StoredChange expected{30, "a::x", schedule::ChangeKind::kBreaker,       0,
                                1,  3,      base::WallTime{1'700'000'000'000'030}};
    query = {};
    query.after = 29;
    EXPECT_THAT(*store_->changes(query), ElementsAre(expected));
}

TEST_P(StoreConformance, AQueryIsBounded) {
    auto batch = task_batch(1);
    for (std::uint64_t number = 1; number <= kMostChangesPerQuery + 10; ++number) {
        batch->changes.push_back(task_change(number, "a::x"));
    }
    write(batch);
    store_->flush();
    ChangeQuery query;
    query.limit = SIZE_MAX;
    query.before = UINT64_MAX;
    EXPECT_EQ(store_->changes(query)->size(), kMostChangesPerQuery);
    query.limit = 0;
    EXPECT_TRUE(store_->changes(query)->empty());
}

TEST_P(StoreConformance, NumbersOfChangesAreNeverGivenAgain) {
    const std::uint64_t first = loaded().state.first_change;
    // Shown as provisional, never written: lost by the crash, but seen by people.
    auto batch = task_batch(1);
    batch->changes = {task_change(first, "a::x")};
    write(batch);
    store_->flush();
    crash();
    EXPECT_GT(loaded().state.first_change, first + 1'000'000);
}

TEST_P(StoreConformance, MemoryIsReplacedAndRemoved) {
    ASSERT_TRUE(store_->submit(MemoryBatch{{}, {{"a", "1"}, {"b", "2"}, {"c", "3"}}}, {}));
    ASSERT_TRUE(store_->submit(MemoryBatch{{"b", "c"}, {{"a", "4"}, {"c", "5"}}}, {}));
    store_->flush();
    reopen();
    const Loaded all = loaded();
    ASSERT_EQ(all.memory.size(), 2u);
    EXPECT_EQ(all.memory[0].bytes, "4");
    EXPECT_EQ(all.memory[1].bytes, "5");
}

TEST_P(StoreConformance, CloseCommitsWhatWasSubmitted) {
    for (std::uint64_t i = 0; i < 50; ++i) {
        write(task_batch(i, {task_row(fmt::format("a::{:02}", i))}));
    }
    ASSERT_TRUE(store_->close());
    EXPECT_EQ(answers_.all().size(), 50u);
    EXPECT_TRUE(store_->close()) << "a second time does nothing";
    const auto late = store_->submit(task_batch(99));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, "store.closed");
    EXPECT_FALSE(store_->submit(ObjectBatch{}, {}));
    EXPECT_FALSE(store_->submit(MemoryBatch{}, {}));
    store_.reset();
    store_ = medium_->open(answers_.sink());
    EXPECT_EQ(loaded().tasks.size(), 50u);
    EXPECT_EQ(answers_.all().size(), 50u);
}

TEST_P(StoreConformance, StatsCountWhatWasDone) {
    auto batch = task_batch(1, {task_row("a::b"), task_row("a::c")}, {"a::d"});
    batch->changes = {task_change(1, "a::b")};
    write(batch);
    ASSERT_TRUE(apply(*store_, {{}, {{config_object("1", "one"), 0}}, ""}));
    ASSERT_FALSE(apply(*store_, {{}, {{config_object("1", "one"), 0}}, ""}));
    ASSERT_TRUE(store_->submit(MemoryBatch{{}, {{"a::b", "x"}}}, {}));
    store_->flush();
    const StoreStats stats = store_->stats();
    EXPECT_EQ(stats.commits, 3u);
    EXPECT_EQ(stats.object_commits, 1u);
    EXPECT_EQ(stats.memory_commits, 1u);
    EXPECT_EQ(stats.rows, 5u);
    EXPECT_EQ(stats.changes, 1u);
    EXPECT_EQ(stats.failures, 1u);
    EXPECT_EQ(stats.conflicts, 1u);
    EXPECT_FALSE(stats.failing) << "a conflict is no fault of the store";
    EXPECT_EQ(stats.last_error_code, "store.conflict");
    EXPECT_EQ(stats.queue_depth, 0u);
    std::uint64_t timed = 0;
    for (const auto count : stats.latency_counts) timed += count;
    EXPECT_EQ(timed, 4u);
}

TEST_P(StoreConformance, ReadsAndStatsGoOnBesideCommits) {
    std::atomic<bool> stop = false;
    std::thread reader([&] {
        while (!stop) {
            EXPECT_TRUE(store_->changes({}));
            EXPECT_TRUE(store_->settings_versions(UINT64_MAX, 10));
            static_cast<void>(store_->stats());
        }
    });
    for (std::uint64_t i = 1; i <= 100; ++i) {
        auto batch = task_batch(i, {task_row("a::b")});
        batch->changes = {task_change(i, "a::b")};
        while (!store_->submit(batch)) store_->flush();
    }
    store_->flush();
    stop = true;
    reader.join();
    EXPECT_EQ(store_->changes({})->size(), 100u);
    for (const auto& given : answers_.all()) EXPECT_TRUE(given.answer.committed);
}

INSTANTIATE_TEST_SUITE_P(Backends, StoreConformance,
                         testing::Values(Kind{"memory",
                                              +[]() -> std::unique_ptr<Medium> {
                                                  return std::make_unique<MemoryMedium>();
                                              }},
                                         Kind{"sqlite",
                                              +[]() -> std::unique_ptr<Medium> {
                                                  return std::make_unique<SqliteMedium>();
                                              }}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace pollux::store
