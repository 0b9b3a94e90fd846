#include "app/table.hpp"

#include <gtest/gtest.h>

namespace pollux::app {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
    Table table({"KEY", "STATE"});
    table.add({"a::b", "open"});
    table.add({"müller::x", ""});
    EXPECT_EQ(table.text(false), "KEY        STATE\na::b       open\nmüller::x  -\n");
}

TEST(Table, ColoursStandAroundTheWordOnly) {
    Table table({"STATE", "N"});
    table.add({"open", "1"});
    EXPECT_EQ(table.text(true), "\x1b[1mSTATE\x1b[0m  \x1b[1mN\x1b[0m\n\x1b[31mopen\x1b[0m   1\n");
}

TEST(Table, TextFromOutsideCannotSteerTheTerminal) {
    EXPECT_EQ(printable("a\x1b[2Jb\nc \"q\""), "a\\x1b[2Jb\\x0ac \"q\"");
    EXPECT_EQ(printable_lines("one\n  tw\ro\n"), "one\n  tw\\x0do\n");
}

}  // namespace
}  // namespace pollux::app
