#include "app/prompt.hpp"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>

namespace pollux::app {
namespace {

// Straight from the descriptor: nothing of a secret stays in a buffer of the library.
std::string read_line() {
    std::string line;
    char c = 0;
    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n') {
        if (line.size() < kMostTyped) line += c;
    }
    if (line.ends_with('\r')) line.pop_back();
    return line;
}

}  // namespace

bool asks_a_person() { return isatty(STDIN_FILENO) == 1; }

std::string ask_line(const std::string& question) {
    if (asks_a_person()) fmt::print(stderr, "{}: ", question);
    return read_line();
}

base::Secret ask_secret(const std::string& question) {
    termios before{};
    const bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;
    if (terminal) {
        fmt::print(stderr, "{}: ", question);
        termios silent = before;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    }
    base::Secret secret(read_line());
    if (terminal) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fmt::print(stderr, "\n");
    }
    return secret;
}

}  // namespace pollux::app
