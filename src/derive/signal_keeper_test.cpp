#include "derive/signal_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pollux::derive {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

model::Signal signal(std::string type, std::string subject = "", std::string message = "m") {
    model::Signal out;
    out.type = type;
    out.rule = std::move(type);
    out.subject = std::move(subject);
    out.message = std::move(message);
    return out;
}

model::Signal cleared(model::Signal out) {
    out.clear = true;
    return out;
}

base::WallTime at(std::int64_t second) { return {second * 1'000'000}; }

std::vector<std::string> told(const std::vector<SignalChange>& changes) {
    std::vector<std::string> out;
    for (const SignalChange& change : changes) {
        const char* word = change.step == SignalStep::kRaised    ? "raised "
                           : change.step == SignalStep::kUpdated ? "updated "
                                                                 : "cleared ";
        out.push_back(word + change.signal.type +
                      (change.signal.subject.empty() ? "" : "/" + change.signal.subject));
    }
    return out;
}

TEST(SignalKeeper, TellsTransitionsOfPollsOnly) {
    SignalKeeper keeper;
    model::PollSignals poll;
    poll.signals = {signal("fan")};
    poll.settled = {"fan"};
    EXPECT_THAT(told(keeper.apply(poll, at(1))), ElementsAre("raised fan"));
    EXPECT_THAT(keeper.apply(poll, at(2)), IsEmpty());
    poll.signals = {signal("fan", "", "both fans")};
    EXPECT_THAT(told(keeper.apply(poll, at(3))), ElementsAre("updated fan"));
    EXPECT_EQ(keeper.raised().begin()->second.occurrences, 3U);
    EXPECT_EQ(keeper.raised().begin()->second.since.us, at(1).us);
    poll.signals.clear();
    const auto over = keeper.apply(poll, at(4));
    EXPECT_THAT(told(over), ElementsAre("cleared fan"));
    EXPECT_TRUE(over[0].signal.clear);
    EXPECT_EQ(over[0].occurrences, 3U);
    EXPECT_THAT(keeper.apply(poll, at(5)), IsEmpty());
}

TEST(SignalKeeper, ClearsOnlyWhatAPollDecided) {
    SignalKeeper keeper;
    model::PollSignals poll;
    poll.signals = {signal("disk", "a"), signal("disk", "b"), signal("fan")};
    poll.settled = {"disk", "fan"};
    keeper.apply(poll, at(1));
    poll.signals.clear();
    poll.settled.clear();
    EXPECT_THAT(keeper.apply(poll, at(2)), IsEmpty());  // the poll failed: nothing is known
    poll.settled = {"disk"};
    poll.open = {{"disk", "b"}};  // its value was missing
    EXPECT_THAT(told(keeper.apply(poll, at(3))), ElementsAre("cleared disk/a"));
    EXPECT_EQ(keeper.raised().size(), 2U);
}

TEST(SignalKeeper, CountsEachMessageAndClearsTheSameSubject) {
    SignalKeeper keeper;
    const std::vector<model::Signal> down = {signal("link_down", "3")};
    EXPECT_THAT(told(keeper.apply(down, at(1))), ElementsAre("raised link_down/3"));
    EXPECT_THAT(told(keeper.apply(down, at(2))), ElementsAre("updated link_down/3"));
    const std::vector<model::Signal> other = {cleared(signal("link_down", "4"))};
    EXPECT_THAT(keeper.apply(other, at(3)), IsEmpty());
    const std::vector<model::Signal> up = {cleared(signal("link_down", "3"))};
    EXPECT_THAT(told(keeper.apply(up, at(4))), ElementsAre("cleared link_down/3"));
    EXPECT_THAT(keeper.raised(), IsEmpty());
}

TEST(SignalKeeper, IsBounded) {
    SignalKeeper keeper(2);
    const std::vector<model::Signal> many = {signal("a"), signal("b"), signal("c"), signal("a")};
    EXPECT_THAT(told(keeper.apply(many, at(1))), ElementsAre("raised a", "raised b", "updated a"));
    EXPECT_EQ(keeper.dropped(), 1U);
}

TEST(SignalKeeper, EndsWhatAnEditedAddonNoLongerRaises) {
    SignalKeeper keeper;
    keeper.apply(std::vector<model::Signal>{signal("a"), signal("b")}, at(1));
    const std::vector<std::string> rules = {"b"};
    EXPECT_THAT(told(keeper.keep_rules(rules)), ElementsAre("cleared a"));
    EXPECT_THAT(told(keeper.clear_all()), ElementsAre("cleared b"));
}

TEST(SignalKeeper, ComesBackFromItsBytes) {
    SignalKeeper keeper;
    model::Signal full = signal("link_down", "3");
    full.fields = {{"if_index", "3"}};
    full.at = at(9);
    full.severity = "major";
    keeper.apply(std::vector<model::Signal>{full, signal("fan")}, at(1));
    base::ByteWriter bytes;
    keeper.encode(bytes);
    const std::string text = bytes.take();
    const auto back = SignalKeeper::decode(text);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->raised(), keeper.raised());
    EXPECT_FALSE(SignalKeeper::decode(text, 1).has_value());
    for (std::size_t i = 0; i < text.size(); ++i) {
        EXPECT_FALSE(SignalKeeper::decode(std::string_view(text).substr(0, i)).has_value()) << i;
    }
    EXPECT_FALSE(SignalKeeper::decode("\x07").has_value());
}

}  // namespace
}  // namespace pollux::derive
