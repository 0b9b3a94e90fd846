// The shape of an answer, told by an example with marks behind its keys: from one text come the
// example that is shown and the JSON schema.
//
//   "since?": …     it may be absent             "age~": …      it may be null
//   "labels*": {…}  its keys are names; every value looks like the first one
//   "spec!": …      free-form: anything may be in it
//   "job": "$Job"   a named shape (answer_shapes.hpp); in the schema a reference to it
//   "...": "$Alert" all fields of that shape, and those beside it
//
// What has no mark is always there. Every item of a list looks like the first; a null among them
// says that some are null. A number with a point is a number, one without is an integer.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pollux::api {

// JSON text of the schema; empty if the example is no JSON. `shapes` gets the names of shapes that
// it refers to.
std::string schema_of_example(std::string_view example, std::set<std::string>& shapes);

// The example without its marks, shapes filled in.
std::string plain_example(std::string_view example);

}  // namespace pollux::api
