// Strict reading of one JSON object of a case. The first rule of a known answer is that all of it
// is used: a field that is missing, of the wrong type, or that nobody read is a problem, because an
// expectation that is silently ignored always passes.
//
// Reading never stops: a field that cannot be read gives a neutral value and leaves a problem, and
// a case with problems has failed whatever was computed from it.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace pollux::known_answers {

using Problems = std::vector<std::string>;

// A row of a table: so many texts, then so many numbers.
struct Row {
    std::vector<std::string> texts;
    std::vector<double> numbers;
};

class Fields {
  public:
    // `path` names the object in problems ("inputs.config"); `object` and `problems` outlive this.
    // A null `object` is one whose absence is already a problem: its fields are not reported again.
    Fields(std::string path, const boost::json::object* object, Problems& problems);

    bool has(std::string_view name) const;

    double number(std::string_view name);
    double number_or(std::string_view name, double fallback);
    std::optional<double> nullable_number(std::string_view name);  // must be there, may be null
    std::int64_t integer(std::string_view name);
    std::int64_t integer_or(std::string_view name, std::int64_t fallback);
    bool boolean(std::string_view name);
    bool boolean_or(std::string_view name, bool fallback);
    std::string text(std::string_view name);
    base::Duration seconds(std::string_view name);
    void null(std::string_view name);  // the only value it may have

    std::vector<double> numbers(std::string_view name);
    std::vector<double> one_or_more(std::string_view name);  // a number or an array of them
    std::vector<bool> booleans(std::string_view name);
    std::map<std::string, std::int64_t> counts(std::string_view name);
    std::vector<Row> rows(std::string_view name, std::size_t texts, std::size_t numbers);
    Fields object(std::string_view name);

    void problem(std::string_view name, std::string_view what);
    void ignore(std::string_view name);  // an explanation for people
    void finish();                       // every field that was not read becomes a problem

  private:
    const boost::json::value* find(std::string_view name);
    const boost::json::array* array(std::string_view name);

    std::string path_;
    const boost::json::object* object_;
    Problems* problems_;
    std::vector<std::string> used_;
};

}  // namespace pollux::known_answers
