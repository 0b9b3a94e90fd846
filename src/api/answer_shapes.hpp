// What several answers are made of, under names of their own: clients that are generated get a type
// for each. The notation is that of example_schema.hpp.
#pragma once

#include <string_view>

namespace pollux::api {

// The example of a shape; empty: there is none of this name.
std::string_view shape_text(std::string_view name);

}  // namespace pollux::api
