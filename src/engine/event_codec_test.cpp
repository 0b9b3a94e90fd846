#include "engine/event_codec.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <memory>

#include "base/test_random.hpp"
#include "engine/codec_samples.hpp"

namespace pollux::engine {
namespace {

using model::RunId;
using model::TaskHandle;
using schedule::Event;

constexpr TaskHandle kTask{0xFFFFFFFE, 7};
constexpr RunId kRun{0xFFFFFFFF, 0x1234567890ULL};

std::string bytes_of(const Event& event) {
    base::ByteWriter out;
    encode(out, event);
    return out.take();
}

base::Result<Event> decoded(std::string_view bytes) {
    base::ByteReader in(bytes);
    return decode_event(in);
}

// Through bytes and back; the bytes of the result must be the same again.
template <class T>
T round_trip(const T& event) {
    const std::string bytes = bytes_of(event) + "next";
    base::ByteReader in{std::string_view(bytes)};
    const auto back = decode_event(in);
    EXPECT_TRUE(back) << back.error().message;
    EXPECT_EQ(in.remaining(), 4u);
    EXPECT_EQ(bytes_of(*back) + "next", bytes);
    EXPECT_TRUE(std::holds_alternative<T>(*back));
    return std::get<T>(*back);
}

std::vector<Event> samples() {
    auto specs = std::make_shared<std::vector<model::TaskSpec>>();
    specs->push_back(sample_spec());
    specs->emplace_back();
    auto tasks = std::make_shared<std::vector<schedule::RestoredTask>>();
    tasks->push_back({sample_spec(), sample_record()});
    tasks->emplace_back();
    return {
        schedule::TasksUpserted{specs, 1'000'001},
        schedule::TaskRemoved{"pve::nœud-1", 1'000'002},
        schedule::TasksRestored{tasks, 1'000'003},
        schedule::RunFinished{kTask, kRun, model::Outcome::kPermanent, true, 0xFEDCBA9876543210ULL,
                              0.5F, std::chrono::seconds(90)},
        schedule::RunExpired{kTask, kRun},
        schedule::Observed{kTask, base::BootTime{-12'345}, true},
        schedule::Poked{kTask, schedule::PokeReason::kParentRecovered},
        schedule::ParentChanged{"switch-1", false},
        schedule::DeviceChanged{std::make_shared<model::DeviceSpec>(sample_device()), 1'000'004},
        schedule::CreditChanged{"basel", -3},
        schedule::OperatorAction{schedule::OperatorVerb::kCancelJob, "job::1", 1'000'005},
        schedule::SettingsChanged{std::make_shared<model::CoreSettings>(sample_settings()),
                                  1'000'006},
        schedule::Tick{},
    };
}

TEST(EventCodec, TasksRoundTrip) {
    const auto all = samples();
    const auto& upserted = std::get<schedule::TasksUpserted>(all[0]);
    const auto upserted_back = round_trip(upserted);
    EXPECT_EQ(*upserted_back.specs, *upserted.specs);
    EXPECT_EQ(upserted_back.correlation, 1'000'001u);

    const auto removed = round_trip(std::get<schedule::TaskRemoved>(all[1]));
    EXPECT_EQ(removed.key, "pve::nœud-1");
    EXPECT_EQ(removed.correlation, 1'000'002u);

    const auto restored = round_trip(std::get<schedule::TasksRestored>(all[2]));
    ASSERT_EQ(restored.tasks->size(), 2u);
    EXPECT_EQ(restored.tasks->front().spec, sample_spec());
    EXPECT_EQ(restored.tasks->front().record, sample_record());
    EXPECT_EQ(restored.tasks->back().spec, model::TaskSpec{});
    EXPECT_EQ(restored.tasks->back().record, model::TaskRecord{});
    EXPECT_EQ(restored.correlation, 1'000'003u);
}

TEST(EventCodec, RunsRoundTrip) {
    const auto all = samples();
    const auto finished = round_trip(std::get<schedule::RunFinished>(all[3]));
    EXPECT_EQ(finished.task, kTask);
    EXPECT_EQ(finished.run, kRun);
    EXPECT_EQ(finished.outcome, model::Outcome::kPermanent);
    EXPECT_TRUE(finished.has_digest);
    EXPECT_EQ(finished.digest, 0xFEDCBA9876543210ULL);
    EXPECT_EQ(finished.known_rate, 0.5F);
    EXPECT_EQ(finished.retry_after, std::chrono::seconds(90));

    const auto expired = round_trip(std::get<schedule::RunExpired>(all[4]));
    EXPECT_EQ(expired.task, kTask);
    EXPECT_EQ(expired.run, kRun);

    const auto observed = round_trip(std::get<schedule::Observed>(all[5]));
    EXPECT_EQ(observed.task, kTask);
    EXPECT_EQ(observed.at.ns, -12'345);
    EXPECT_TRUE(observed.changed);

    const auto poked = round_trip(std::get<schedule::Poked>(all[6]));
    EXPECT_EQ(poked.task, kTask);
    EXPECT_EQ(poked.reason, schedule::PokeReason::kParentRecovered);
}

TEST(EventCodec, SurroundingsRoundTrip) {
    const auto all = samples();
    const auto parent = round_trip(std::get<schedule::ParentChanged>(all[7]));
    EXPECT_EQ(parent.device, "switch-1");
    EXPECT_FALSE(parent.healthy);

    const auto device = round_trip(std::get<schedule::DeviceChanged>(all[8]));
    EXPECT_EQ(*device.spec, sample_device());
    EXPECT_EQ(device.correlation, 1'000'004u);

    const auto credit = round_trip(std::get<schedule::CreditChanged>(all[9]));
    EXPECT_EQ(credit.region, "basel");
    EXPECT_EQ(credit.credit, -3);

    const auto action = round_trip(std::get<schedule::OperatorAction>(all[10]));
    EXPECT_EQ(action.verb, schedule::OperatorVerb::kCancelJob);
    EXPECT_EQ(action.key, "job::1");
    EXPECT_EQ(action.correlation, 1'000'005u);

    const auto settings = round_trip(std::get<schedule::SettingsChanged>(all[11]));
    EXPECT_EQ(*settings.settings, sample_settings());
    EXPECT_EQ(settings.correlation, 1'000'006u);

    round_trip(std::get<schedule::Tick>(all[12]));
}

TEST(EventCodec, SamplesHaveEveryKind) {
    const auto all = samples();
    ASSERT_EQ(all.size(), std::variant_size_v<Event>);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].index(), i);
        EXPECT_EQ(bytes_of(all[i])[1], static_cast<char>(i)) << "a kind keeps its number";
    }
}

TEST(EventCodec, MissingPayloadIsAnEmptyOne) {
    EXPECT_TRUE(round_trip(schedule::TasksUpserted{}).specs->empty());
    EXPECT_TRUE(round_trip(schedule::TasksRestored{}).tasks->empty());
    EXPECT_EQ(*round_trip(schedule::DeviceChanged{}).spec, model::DeviceSpec{});
    EXPECT_EQ(*round_trip(schedule::SettingsChanged{}).settings, model::CoreSettings{});
}

TEST(EventCodec, FloatBitsSurvive) {
    schedule::RunFinished event;
    event.known_rate = std::bit_cast<float>(0x7FC01234U);  // a NaN with something in it
    EXPECT_EQ(std::bit_cast<std::uint32_t>(round_trip(event).known_rate), 0x7FC01234U);
}

TEST(EventCodec, RefusesCutOff) {
    for (const Event& event : samples()) {
        const std::string bytes = bytes_of(event);
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            const auto back = decoded(std::string_view(bytes).substr(0, length));
            ASSERT_FALSE(back) << event.index() << " cut to " << length;
            ASSERT_EQ(back.error().code, "codec.damaged");
            ASSERT_EQ(back.error().error_class, base::ErrorClass::kConfig);
        }
    }
}

TEST(EventCodec, RefusesUnknownVersionAndKind) {
    std::string bytes = bytes_of(schedule::Tick{});
    bytes[1] = 13;
    auto back = decoded(bytes);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().message,
              "event: field kind at offset 1: 13 is not one of the known values 0 to 12");
    bytes[0] = 7;
    back = decoded(bytes);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, "codec.version");
    EXPECT_EQ(
        back.error().message,
        "event: field version at offset 0: found 7, this program reads 1 to 2: use the program "
        "that wrote it, or a newer one");
}

TEST(EventCodec, RefusesEnumeratorsOutOfRange) {
    std::string finished = bytes_of(schedule::RunFinished{{0, 0}, {0, 0}});
    finished[6] = 5;
    auto back = decoded(finished);
    ASSERT_FALSE(back);
    EXPECT_EQ(
        back.error().message,
        "event: field run_finished.outcome at offset 6: 5 is not one of the known values 0 to "
        "4");
    std::string action = bytes_of(schedule::OperatorAction{});
    action[2] = 11;
    EXPECT_FALSE(decoded(action));
    std::string poked = bytes_of(schedule::Poked{{0, 0}});
    poked[4] = 6;
    EXPECT_FALSE(decoded(poked));
}

// A few bytes that promise billions of tasks: refused before anything is allocated for them.
TEST(EventCodec, RefusesHugeCounts) {
    for (const std::uint8_t kind : {std::uint8_t{0}, std::uint8_t{2}}) {
        base::ByteWriter out;
        out.u8(kEventVersion);
        out.u8(kind);
        out.varint(0);
        out.varint(std::uint64_t{1} << 62U);
        out.raw(std::string(100, '\0'));
        const auto back = decoded(out.view());
        ASSERT_FALSE(back);
        EXPECT_NE(back.error().message.find("elements of at least"), std::string::npos);
    }
}

// With the address sanitizer this is also the proof that nothing is read out of bounds. What is
// accepted must be written as it was read: every value has one encoding.
TEST(EventCodec, DamagedBytesAreRefusedOrMeanSomething) {
    base::TestRandom random(3);
    const auto all = samples();
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes = bytes_of(all[random.below(all.size())]);
        for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
            char& byte = bytes[random.below(bytes.size())];
            byte = static_cast<char>(random.one_in(2) ? random.next() : random.below(4));
        }
        base::ByteReader in{std::string_view(bytes)};
        const auto back = decode_event(in);
        if (!back) {
            ASSERT_NE(back.error().message.find("at offset"), std::string::npos);
            continue;
        }
        if (bytes[0] != kEventVersion) continue;  // an older form, written in the newest one
        ASSERT_EQ(bytes_of(*back), bytes.substr(0, in.offset()));
    }
}

TEST(EventCodec, KeepsTheFilterOfAnOperator) {
    schedule::OperatorAction action{schedule::OperatorVerb::kResetAllBreakers, "", 7};
    EXPECT_EQ(round_trip(action).filter, nullptr);
    action.filter = std::make_shared<const schedule::OperatorFilter>(
        schedule::OperatorFilter{{"c::a", "c::b"}, "snmp"});
    const auto back = round_trip(action);
    ASSERT_NE(back.filter, nullptr);
    EXPECT_EQ(*back.filter, *action.filter);
}

// As recordings of the version before have it.
TEST(EventCodec, ReadsAnOperatorOfTheVersionBefore) {
    base::ByteWriter out;
    out.u8(1);
    out.u8(10);
    out.u8(3);
    out.string("c::a");
    out.varint(9);
    const auto back = decoded(out.view());
    ASSERT_TRUE(back) << back.error().message;
    const auto& action = std::get<schedule::OperatorAction>(*back);
    EXPECT_EQ(action.verb, schedule::OperatorVerb::kResetBreaker);
    EXPECT_EQ(action.key, "c::a");
    EXPECT_EQ(action.correlation, 9u);
    EXPECT_EQ(action.filter, nullptr);
}

}  // namespace
}  // namespace pollux::engine
