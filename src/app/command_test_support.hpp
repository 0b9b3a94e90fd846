// A command as people type it, run inside the test, and what it printed.
#pragma once

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

namespace pollux::app {

struct Printed {
    int status = -1;  // for the commands that are added to the app
    std::string out;
    std::string err;

    // The status is set by then.
    void run(CLI::App& app, const std::vector<std::string>& arguments) {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        // CLI11 takes them from the back.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
        std::fflush(stdout);
        out = testing::internal::GetCapturedStdout();
        err = testing::internal::GetCapturedStderr();
    }
};

}  // namespace pollux::app
