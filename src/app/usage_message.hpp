// What is wrong with a command line, in words that name what was typed and what there is.
#pragma once

#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace pollux::app {

// For CLI::App::failure_message.
std::string usage_message(const CLI::App* app, const CLI::Error& error);

}  // namespace pollux::app
