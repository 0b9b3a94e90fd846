#include <CLI/CLI.hpp>
#include "app/commands.hpp"
namespace pollux::app { void add_demo(CLI::App&, int&) {} }
