// Rows with aligned columns, for people. Text from outside cannot play tricks on the terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pollux::app {

class Table {
  public:
    explicit Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}

    // As many cells as heads; an empty one is shown as "-".
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.empty(); }
    // With colours: heads stand out, and words such as "open" and "closed" are seen at once.
    std::string text(bool colour) const;

  private:
    std::vector<std::string> heads_;
    std::vector<std::vector<std::string>> rows_;
};

// Standard output is a terminal and NO_COLOR is not set.
bool wants_colour();

// Control characters escaped, at most so many bytes.
std::string printable(std::string_view text, std::size_t most = 200);
// The same for a message of several lines.
std::string printable_lines(std::string_view text);

}  // namespace pollux::app
