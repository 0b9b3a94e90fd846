// The page of `pollux top` and of the demo, made from the status of a server.
#pragma once

#include <cstdint>
#include <string>

#include "document/node.hpp"

namespace pollux::app {

class TopScreen {
  public:
    // `status` as the control socket gives it; remembers the last one for rates.
    std::string page(const document::Node& status, int width);
    // The same in one line, for what is not a terminal.
    std::string line(const document::Node& status);

  private:
    double polls_per_second(const document::Node& status);

    double last_started_ = -1;
    double last_time_ = 0;
    double rate_ = 0;
};

int terminal_width();
// Every line ends by clearing what an earlier, longer one left there.
std::string with_cleared_lines(const std::string& text);

}  // namespace pollux::app
