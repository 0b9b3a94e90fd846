// Random stories, told to the core and to the plain reference at once. A failure prints the seed
// (RC_PARAMS="seed=...") and the shortest story that still fails. ctest always tells the same
// stories; `./dev soak --stories` tells others.
#include "tests/property/scheduler_model.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

namespace rc {

template <>
struct Arbitrary<pollux::tests::ModelCommand> {
    static Gen<pollux::tests::ModelCommand> arbitrary() {
        using pollux::tests::ModelCommand;
        const auto byte = gen::noShrink(gen::arbitrary<std::uint8_t>());
        return gen::build<ModelCommand>(
            gen::set(&ModelCommand::what, gen::resize(kNominalSize, byte)),
            gen::set(&ModelCommand::who, gen::resize(kNominalSize, gen::arbitrary<std::uint8_t>())),
            gen::set(&ModelCommand::how, gen::resize(kNominalSize, gen::arbitrary<std::uint8_t>())),
            gen::set(&ModelCommand::more,
                     gen::resize(kNominalSize, gen::arbitrary<std::uint8_t>())),
            gen::set(&ModelCommand::wait_ms,
                     gen::resize(kNominalSize, gen::arbitrary<std::uint16_t>())));
    }
};

}  // namespace rc

namespace pollux::tests {
namespace {

using namespace std::chrono_literals;

constexpr int kStoryLength = 300;

// Three classes, the second with a double share. Nobody ages: no task becomes critical by waiting,
// so none reserves anything.
model::CoreSettings three_classes() {
    model::CoreSettings settings;
    settings.global_rate = 1000;
    settings.device_rate = 1000;
    settings.device_slots = 1000;
    settings.device_class_slots = 1000;
    settings.aging_step = 24h;
    for (const char* name : {"a", "b", "c"}) {
        model::ClassSettings one;
        one.name = name;
        settings.classes.push_back(one);
    }
    settings.classes[1].weight = 2;
    return settings;
}

// Looking for the shortest story takes minutes, and a test may be cut off before they are over.
void say_once(const std::string& trouble) {
    static bool said = false;
    if (!said) std::cerr << "disagreement, before it is made shorter: " << trouble << std::endl;
    said = true;
}

void tell(const ModelOptions& options) {
    const auto story = *rc::gen::resize(kStoryLength, rc::gen::container<std::vector<ModelCommand>>(
                                                          rc::gen::arbitrary<ModelCommand>()));
    SchedulerModel model(options);
    for (const ModelCommand& command : story) {
        model.apply(command);
        if (model.agrees()) continue;
        say_once(model.trouble());
        RC_FAIL(model.trouble());
    }
    RC_TAG(model.starts() < 10 ? "few starts" : "many starts");
}

RC_GTEST_PROP(SchedulerModel, NothingIsScarce, ()) {
    ModelOptions options;
    options.settings = three_classes();
    options.tiers = 4;
    options.triggers = true;
    tell(options);
}

RC_GTEST_PROP(SchedulerModel, SlotsAndRatesOfClassesAreScarce, ()) {
    ModelOptions options;
    options.settings = three_classes();
    options.settings.global_rate = 4;
    options.settings.global_slots = 5;
    options.settings.classes[0].slots = 2;
    options.settings.classes[1].rate = 1;
    options.settings.max_starts_per_step = 2;
    tell(options);
}

RC_GTEST_PROP(SchedulerModel, DevicesRegionsAndResourcesAreScarce, ()) {
    ModelOptions options;
    options.settings = three_classes();
    options.settings.device_slots = 2;
    options.settings.device_class_slots = 1;
    options.settings.device_rate = 2;
    options.settings.resources = {{"lane", 3}};
    options.devices = true;
    options.regions = true;
    options.resources = true;
    tell(options);
}

// Waiting raises the tier.
RC_GTEST_PROP(SchedulerModel, TasksAgeWhileTheyWaitForTheirTurn, ()) {
    ModelOptions options;
    options.settings = three_classes();
    options.settings.aging_step = 5s;
    options.settings.global_rate = 1;
    options.settings.max_starts_per_step = 1;
    options.tiers = 4;
    options.triggers = true;
    tell(options);
}

RC_GTEST_PROP(SchedulerModel, TasksAgeWhileTheyWaitForTheirDevice, ()) {
    ModelOptions options;
    options.settings = three_classes();
    options.settings.aging_step = 5s;
    options.settings.device_slots = 1;
    options.settings.device_rate = 1;
    options.tiers = 4;
    options.devices = true;
    options.triggers = true;
    tell(options);
}

// All limits at once.
RC_GTEST_PROP(SchedulerModel, EverythingIsScarce, ()) {
    ModelOptions options;
    options.settings = three_classes();
    options.settings.global_rate = 4;
    options.settings.global_slots = 6;
    options.settings.classes[0].slots = 2;
    options.settings.classes[1].rate = 1;
    options.settings.device_slots = 2;
    options.settings.device_class_slots = 1;
    options.settings.device_rate = 2;
    options.settings.max_starts_per_step = 2;
    options.settings.resources = {{"lane", 3}};
    options.devices = true;
    options.regions = true;
    options.resources = true;
    tell(options);
}

}  // namespace
}  // namespace pollux::tests
