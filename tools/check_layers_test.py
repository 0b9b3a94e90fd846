#!/usr/bin/env python3
"""Each rule of check_layers.py fires on a bad snippet and stays silent on a good one."""

import sys
import tempfile
import unittest
from pathlib import Path

import check_layers

ONCE = "#pragma once\n"
UNFINISHED = "TO" "DO"
OUTSIDE = "../sha" "red"


def findings(path, text):
    """What the check says about a project that holds only this file, as (line, rule) pairs."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
        lines, _ = check_layers.check(Path(folder))
    for line in lines:
        assert line.startswith(path + ":"), line
    return [(int(line.split(":")[1]), line.split(":")[2].strip()) for line in lines]


class Rules(unittest.TestCase):
    def fires(self, rule, path, text, line=None):
        found = findings(path, text)
        self.assertIn(rule, [name for _, name in found], f"{path} should break {rule}:\n{text}")
        if line:
            self.assertIn((line, rule), found)

    def silent(self, path, text):
        self.assertEqual(findings(path, text), [], f"{path} should be clean:\n{text}")

    def test_layer(self):
        bad = {
            "src/base/a.cpp": "model/tier.hpp",
            "src/model/a.cpp": "schedule/core.hpp",
            "src/schedule/a.cpp": "engine/engine.hpp",
            "src/schedule/b.cpp": "alert/alert.hpp",
            "src/net/a.cpp": "observe/log.hpp",
            "src/store/a.cpp": "queue/queue.hpp",
            "src/api/a.cpp": "feed/feed.hpp",
            "src/runtime/a.cpp": "app/main.hpp",
            "src/engine/a.cpp": "sim/world.hpp",
            "src/runtime/b.cpp": "sim/world.hpp",
            "src/model/b.cpp": "tests/helper.hpp",
            "sim/a.cpp": "runtime/loop.hpp",
            "sim/b.cpp": "app/main.hpp",
        }
        for path, header in bad.items():
            self.fires("layer", path, f'#include "{header}"\n', line=1)
        good = {
            "src/model/a.cpp": "base/time.hpp",
            "src/model/b.cpp": "model/tier.hpp",
            "src/engine/a.cpp": "schedule/core.hpp",
            "src/protocol/a.cpp": "net/loop.hpp",
            "src/app/a.cpp": "sim/world.hpp",
            "sim/a.cpp": "engine/engine.hpp",
            "sim/b.cpp": "sim/world.hpp",
            "tests/regression/a_test.cpp": "sim/world.hpp",
            "bench/bench_a.cpp": "engine/engine.hpp",
        }
        for path, header in good.items():
            self.silent(path, f'#include "{header}"\n')
        self.silent("src/base/a.cpp", '// #include "model/tier.hpp"\n')
        self.fires("layer", "src/unheard_of/a.cpp", "int a;\n")

    def test_include_path(self):
        for header in ("time.hpp", "../model/tier.hpp", "src/base/time.hpp", "unknown/a.hpp"):
            self.fires("include-path", "src/model/a.cpp", f'#include "{header}"\n', line=1)

    def test_third_party(self):
        bad = {
            "src/model/a.hpp": "utf8proc.h",
            "src/base/a.cpp": "utf8proc.h",
            "sim/a.cpp": "CLI/CLI.hpp",
            "src/engine/a.cpp": "boost/json.hpp",
            "src/engine/b.cpp": "gtest/gtest.h",
            "src/engine/c.cpp": "unistd.h",
            "src/schedule/a.cpp": "boost/asio.hpp",
            "src/schedule/b.cpp": "sodium.h",
            "src/access/a.hpp": "sodium.h",
            "src/app/a.cpp": "benchmark/benchmark.h",
            "tests/regression/a_test.cpp": "boost/json.hpp",
        }
        for path, header in bad.items():
            self.fires("third-party", path, ONCE + f"#include <{header}>\n", line=2)
        good = {
            "src/base/a.hpp": "fmt/format.h",
            "src/model/a.cpp": "utf8proc.h",
            "src/app/a.cpp": "CLI/CLI.hpp",
            "src/app/b.cpp": "unistd.h",
            "src/base/a_test.cpp": "gmock/gmock.h",
            "tests/property/a_test.cpp": "rapidcheck/gtest.h",
            "tests/known_answers/main.cpp": "boost/json.hpp",
            "src/api/a.cpp": "boost/json.hpp",
            "src/engine/a.cpp": "vector",
            "src/access/a.cpp": "sodium.h",
            "src/store/a.cpp": "sodium.h",
        }
        for path, header in good.items():
            self.silent(path, ONCE + f"#include <{header}>\n")

    def test_pure(self):
        bad = [
            "auto t = std::chrono::steady_clock::now();",
            "auto t = std::chrono::system_clock::now();",
            "clock_gettime(0, nullptr);",
            "int r = rand();",
            "std::mt19937 generator;",
            "std::thread worker;",
            "std::mutex lock;",
            "std::shared_mutex lock;",
            "std::size_t h = std::hash<int>()(1);",
            "std::unordered_map<int, int> table;",
            "#include <random>",
            "#include <thread>",
            "#include <iostream>",
        ]
        for snippet in bad:
            for folder in ("base", "model", "schedule", "engine"):
                self.fires("pure", f"src/{folder}/a.cpp", "\n" + snippet + "\n", line=2)
            self.silent("src/runtime/a.cpp", snippet + "\n")
            self.silent("src/engine/a_test.cpp", snippet + "\n")
        self.silent("src/engine/a.cpp", '// std::mutex\nauto text = "std::mutex";\n')
        self.silent("src/engine/a.cpp", "int operand(int x);\n")

    def test_libm(self):
        for call in ("std::exp(1.0)", "std::log2(x)", "std::pow(x, 2)", "::sin(x)", "cos(x)",
                     "__builtin_exp(x)", "expf(x)", "std :: log1p (x)"):
            self.fires("libm", "src/schedule/a.cpp", f"double y = {call};\n", line=1)
        for call in ("std::sqrt(x)", "base::exp(x)", "journal.log(x)", "std::floor(x)", "expect(x)"):
            self.silent("src/schedule/a.cpp", f"double y = {call};\n")
        self.silent("src/base/math.cpp", "double exp2(double x) { return x; }\n")
        self.fires("libm", "src/base/math.cpp", "double y = std::exp2(1.0);\n")
        self.silent("src/base/math_test.cpp", "double y = std::exp2(1.0);\n")

    def test_function_length(self):
        def body(lines):
            return "    work();\n" * lines

        kinds = [
            "int f(int x) {\n%s}\n",
            "namespace a {\nclass B {\n  public:\n    void f() const {\n%s}\n};\n}\n",
            "A::A(int x) : a_{x}, b_(x) {\n%s}\n",
            "template <typename T>\nvoid f(T x = {}) {\n%s}\n",
            "auto f() -> int {\nif (x) {\n}\n%s}\n",
            'extern "C" int f(int x) {\n%s}\n',
        ]
        for kind in kinds:
            self.fires("function-length", "src/app/a.cpp", kind % body(71))
            self.silent("src/app/a.cpp", (kind % body(60)) * 2)
            self.silent("src/app/a_test.cpp", kind % body(71))
        self.silent("src/app/a.cpp", "const int table[] = {\n" + "    1,\n" * 90 + "};\n")
        self.silent("src/app/a.cpp", "struct A {\n" + "    int f() { return 1; }\n" * 90 + "};\n")
        self.silent("src/app/a.cpp", "auto a = make({\n" + "    {1, 2},\n" * 90 + "});\n")

    def test_co_await(self):
        for line in ("co_await send(Request{1});", "auto r = co_await f([&] { g(); });",
                     "co_await f(\n    {1, 2});", "co_await f([x](int y) { return y; });"):
            self.fires("co-await", "src/net/a.cpp", f"Task run() {{\n{line}\n}}\n", line=2)
        for line in ("co_await send(std::move(request));", "if (co_await f()) {\n}",
                     "co_await f(items[3]);", "{ co_await f(); }"):
            self.silent("src/net/a.cpp", f"Task run() {{\n{line}\n}}\n")

    def test_file_rules(self):
        self.fires("file-length", "src/app/a.cpp", "int a;\n" * 601, line=601)
        self.silent("src/app/a.cpp", "int a;\n" * 600)
        self.fires("name", "src/app/CamelCase.cpp", "int a;\n")
        self.fires("name", "src/app/with-dash.hpp", ONCE)
        self.fires("name", "src/app/a.h", ONCE)
        self.fires("pragma-once", "src/app/a.hpp", "int a;\n")
        self.fires("whitespace", "src/app/a.cpp", "int a; \n", line=1)
        self.fires("whitespace", "src/app/a.cpp", "\tint a;\n", line=1)
        self.fires("whitespace", "src/app/a.cpp", "int a;\r\n", line=1)
        self.fires("unfinished", "src/app/a.cpp", f"int a;  // {UNFINISHED}: more\n", line=1)
        self.fires("unfinished", "README.md", UNFINISHED + "\n", line=1)
        self.fires("outside", "dev", f"cat {OUTSIDE}/a\n", line=1)

    def test_lock_file(self):
        def lock(entry):
            return '{"packages": {\n"": {},\n"node_modules/a": {' + entry + '},\n"node_modules/@x/b": {}}}\n'

        name = "web/package-lock.json"
        self.fires("registry", name, lock('"resolved": "https://packages.example/a.tgz"'), line=3)
        self.fires("lock", name, lock('"optionalDependencies": {"@x/b": "1", "@x/c": "1"}'), line=3)
        self.silent(name, lock('"optionalDependencies": {"@x/b": "1"}, "version": "1.0.0"'))

    def test_this_project_text_is_read_as_written(self):
        self.silent("src/engine/a.cpp", "int a = 1'000'000;\nchar b = '\\'';\nint c = 1;\n")
        self.silent("src/engine/a.cpp", 'auto a = R"x(std::mutex " { )x";\nint b() {\n}\n')


if __name__ == "__main__":
    sys.exit(0 if unittest.main(exit=False, verbosity=1).result.wasSuccessful() else 1)
