// The JSON schema that an example shows: types of fields, items of arrays by the first of them.
//
// Nothing is required: what is absent in other states of the same thing is not known here. Objects
// whose keys are names that people chose (labels, settings and so on) have values of one kind, or
// of any. Numbers are numbers: an example cannot say whether one is always whole.
#pragma once

#include <string>
#include <string_view>

namespace pollux::api {

// JSON text of the schema; empty if the example is no JSON.
std::string schema_of_example(std::string_view example);

}  // namespace pollux::api
