#include <iostream>
#include <string>
#include <vector>

#include "tests/known_answers/command.hpp"

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return pollux::known_answers::run_command(arguments, std::cout, std::cerr);
}
