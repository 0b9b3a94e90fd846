#!/usr/bin/env python3
"""Checks that includes only point down the layers, and the style rules a compiler does not see.

    tools/check_layers.py [--root DIR]

Prints `file:line: rule: what to do` for each finding; exit code 1 if there is any.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path

import cpp_text

# From the bottom to the top. What stands higher may include what stands lower; names on one line
# are siblings and do not know each other.
LAYERS = [
    ["base"],
    ["model"],
    ["document"],
    ["schedule", "extract", "derive", "config", "alert", "access"],
    ["engine"],
    ["net", "observe"],
    ["store", "queue", "protocol"],
    ["runtime", "lab"],
    ["api", "feed"],
    ["app"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
PURE = {name for names in LAYERS[:5] for name in names}
OUTSIDE = {"sim", "tests", "bench", "fuzz"}  # folders of C++ beside src/

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 70
CODE = {".cpp", ".hpp"}
WRONG_CODE = {".h": ".hpp", ".hh": ".hpp", ".hxx": ".hpp", ".cc": ".cpp", ".cxx": ".cpp", ".c": ".cpp"}
TEXT = CODE | {".py", ".sh", ".cmake", ".md", ".txt"}
SCRIPTS = {"dev", ".ci/run"}
SKIPPED_FOLDERS = {".git", "build", "data", "dist", "node_modules", "__pycache__"}

# Written in two halves so that this file does not report itself.
UNFINISHED = re.compile(r"\b(?:" + "|".join(["TO" "DO", "FIX" "ME", "X" "XX"]) + r")\b")
OUTSIDE_PATH = "../sha" "red"

LIBM = (
    "exp exp2 expm1 log log2 log10 log1p logb pow cbrt hypot sin cos tan asin acos atan atan2 "
    "sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma"
)
LIBM = "(?:" + "|".join(name + "[fl]?" for name in LIBM.split()) + ")"
LIBM_QUALIFIED = re.compile(r"(?:\bstd\s*::\s*|(?<![\w>:])::\s*|\b__builtin_)" + LIBM + r"\s*\(")
LIBM_BARE = re.compile(r"(?<![\w:.>])" + LIBM + r"\s*\(")

# (pattern, what to do), looked for in the code of pure folders, tests excepted.
BANNED_IN_PURE = [
    (r"\b(?:steady|system|high_resolution|utc|tai|file)_clock\b", "take `now` as an argument"),
    (r"\b(?:clock_gettime|gettimeofday|std::time|time\s*\(\s*(?:nullptr|NULL|0)\s*\))",
     "take `now` as an argument"),
    (r"\bs?rand\s*\(", "use the fixed hash of base/ instead of randomness"),
    (r"\b(?:random_device|mt19937(?:_64)?|default_random_engine)\b",
     "use the fixed hash of base/ instead of randomness"),
    (r"\bstd::(?:j?thread|(?:\w+_)?mutex|condition_variable(?:_any)?|async|future|promise)\b",
     "pure code has no threads; move it to runtime/"),
    (r"\bstd::hash\b", "use the fixed hash of base/: std::hash differs between builds"),
    (r"\bstd::unordered_\w+", "its order leaks into results; use a sorted or indexed container"),
]
BANNED_IN_PURE = [(re.compile(pattern), advice) for pattern, advice in BANNED_IN_PURE]
BANNED_HEADERS_IN_PURE = {
    "random", "thread", "mutex", "shared_mutex", "condition_variable", "future", "stop_token",
    "iostream", "fstream", "filesystem", "unordered_map", "unordered_set",
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)
SNAKE_CASE = re.compile(r"^[a-z0-9]+(?:_[a-z0-9]+)*$")
LAMBDA = re.compile(r"(?:^|[(,=&|?:{]|\breturn|\bco_await)\s*\[(?!\[)")


class File:
    """One file, and where it stands: folder is a layer, or one of OUTSIDE, or ''."""

    def __init__(self, root, path):
        self.path = path
        self.name = path.as_posix()
        self.raw = (root / path).read_bytes().decode("utf-8", errors="replace")
        self.lines = self.raw.split("\n")
        parts = path.parts
        if parts[0] == "src" and len(parts) > 2:
            self.folder = parts[1]
        else:
            self.folder = parts[0] if parts[0] in OUTSIDE else ""
        self.is_code = path.suffix in CODE
        self.is_test = path.stem.endswith(("_test", "_test_support")) or self.folder == "tests"
        self.in_src = parts[0] == "src"


def check_include_direction(file, line, target, report):
    """A quoted include: written from the root, and only downwards."""
    top = target.split("/")[0]
    if ".." in target.split("/") or "/" not in target or top == "src":
        report(file, line, "include-path", f'write "{target}" from the root, like "base/time.hpp"')
        return
    if top not in RANK and top not in OUTSIDE:
        report(file, line, "include-path",
               f'"{target}" is in no known folder; third-party headers are written with <>')
        return
    if file.folder in ("tests", "bench", "fuzz") or top == file.folder:
        return
    if file.folder == "sim":
        allowed = top in PURE
    elif top == "sim":
        allowed = file.folder == "app"
    else:
        allowed = top in RANK and RANK[top] < RANK.get(file.folder, -1)
    if not allowed:
        report(file, line, "layer",
               f"{file.folder} may not include {top}; move what is shared into a lower layer")


def third_party_owner(file, header):
    """None if the header may be included here, else the words for where it may."""
    def starts(*prefixes):
        return header.startswith(prefixes)

    high = file.in_src and RANK.get(file.folder, -1) > RANK["engine"]
    if starts("fmt/"):
        return None
    if starts("gtest/", "gmock/", "rapidcheck"):
        return None if file.is_test else "tests"
    if starts("benchmark/"):
        return None if file.folder == "bench" else "bench/"
    if starts("utf8proc"):
        inside = file.folder == "model" and file.path.suffix == ".cpp"
        return None if inside else "src/model/*.cpp"
    if starts("CLI/"):
        return None if file.folder == "app" else "src/app"
    if starts("re2/") and file.name == "src/model/matcher.cpp":
        return None  # patterns of labels: alert/ compiles them, config/ checks them
    if starts("boost/json", "re2/"):
        inside = file.folder == "extract" and file.path.suffix == ".cpp"
        known_answers = file.path.parts[:2] == ("tests", "known_answers")
        return None if inside or known_answers or high else (
            "src/extract/*.cpp, tests/known_answers and the layers above engine")
    if starts("pugixml"):
        inside = file.folder == "extract" and file.path.suffix == ".cpp"
        return None if inside else "src/extract/*.cpp: everybody else reads its tree"
    if starts("sodium"):
        # Hashing a token is a function of its bytes; random bytes are handed in from above.
        inside = file.folder == "access" and file.path.suffix == ".cpp"
        pure = file.folder in PURE | {"sim"}
        return "src/access/*.cpp and the layers above engine" if pure and not inside else None
    if starts("immintrin.h", "cpuid.h"):
        return None if file.name == "src/base/sha256_x86.cpp" else "src/base/sha256_x86.cpp"
    if starts("yaml-cpp/"):
        inside = file.folder == "document" and file.path.suffix == ".cpp"
        return None if inside else "src/document/*.cpp: everybody else reads its tree"
    if "." not in header and "/" not in header:
        return None  # the standard library
    if file.folder in PURE | {"sim"}:
        return "the layers above engine"
    return None


def check_includes(file, report):
    for found in INCLUDE.finditer(cpp_text.strip(file.raw, keep_strings=True)):
        line = cpp_text.line_of(file.raw, found.start())
        quoted, angled = found.groups()
        if quoted:
            check_include_direction(file, line, quoted, report)
            continue
        owner = third_party_owner(file, angled)
        if owner:
            report(file, line, "third-party", f"<{angled}> belongs in {owner}")
        if angled in BANNED_HEADERS_IN_PURE and file.folder in PURE and not file.is_test:
            report(file, line, "pure", f"<{angled}> has no place in a pure folder")


def check_pure(file, stripped, report):
    """No clocks, threads, randomness, hash order or libm where results must be reproducible."""
    if file.folder not in PURE or file.is_test:
        return
    own_math = file.folder == "base" and file.path.stem.startswith("math")
    for number, line in enumerate(stripped.split("\n"), 1):
        for pattern, advice in BANNED_IN_PURE:
            found = pattern.search(line)
            if found:
                report(file, number, "pure", f"{found.group().strip()}: {advice}")
        found = LIBM_QUALIFIED.search(line) or (None if own_math else LIBM_BARE.search(line))
        if found:
            report(file, number, "libm",
                   f"{found.group().strip()}): differs between machines; use base/math")


def check_functions(file, stripped, report):
    if file.is_test:
        return
    for first, last in cpp_text.functions(stripped):
        length = last - first + 1
        if length > MAX_FUNCTION_LINES:
            report(file, first, "function-length",
                   f"{length} lines; split it, {MAX_FUNCTION_LINES} is the limit")


def check_await(file, stripped, report):
    """g++ 12 destroys a temporary inside co_await twice."""
    for line, span in cpp_text.await_spans(stripped):
        if "{" in span or LAMBDA.search(span):
            report(file, line, "co-await",
                   "name the braced value or lambda on its own line, then move it in")


def check_text(file, report):
    for number, line in enumerate(file.lines, 1):
        if line.endswith("\r"):
            report(file, number, "whitespace", "end lines with LF, not CRLF")
        elif line != line.rstrip():
            report(file, number, "whitespace", "remove the blanks at the end of the line")
        if "\t" in line:
            report(file, number, "whitespace", "use blanks, not tabs")
        if UNFINISHED.search(line):
            report(file, number, "unfinished", "finish it, or write an issue and remove the mark")
        if OUTSIDE_PATH in line:
            report(file, number, "outside", f"{OUTSIDE_PATH} is no part of the project")
    if len(file.lines) - 1 > MAX_FILE_LINES and file.path.suffix not in (".md", ".txt"):
        report(file, MAX_FILE_LINES + 1, "file-length",
               f"{len(file.lines) - 1} lines; split it, {MAX_FILE_LINES} is the limit")


def check_name(file, report):
    suffix = file.path.suffix
    if suffix in WRONG_CODE:
        report(file, 1, "name", f"call it {file.path.stem}{WRONG_CODE[suffix]}")
    elif suffix in CODE | {".py", ".sh"} and not SNAKE_CASE.match(file.path.stem):
        report(file, 1, "name", "name files in snake_case")
    if suffix == ".hpp" and not re.search(r"^#pragma once$", file.raw, re.M):
        report(file, 1, "pragma-once", "add #pragma once")
    if file.in_src and len(file.path.parts) > 2 and file.folder not in RANK:
        report(file, 1, "layer", f"src/{file.folder} is in no layer; add it to LAYERS here")


def check_lock(name, text):
    """Findings in npm's lock file: from where packages come is the machine's affair, and `npm ci`
    refuses a lock file in which a platform's package is missing."""
    packages = json.loads(text).get("packages", {})
    named = {place.rsplit("node_modules/", 1)[-1] for place in packages}
    for place, package in packages.items():
        line = text[:text.find(json.dumps(place))].count("\n") + 1
        if "://" in str(package.get("resolved", "")):
            yield (f"{name}:{line}: registry: remove `resolved`; "
                   "web/.npmrc needs omit-lockfile-registry-resolved=true")
        missing = sorted(set(package.get("optionalDependencies", {})) - named)
        if missing:
            yield (f"{name}:{line}: lock: {missing[0]} is missing, so npm ci refuses the file; "
                   "lock it where the registry has all platforms, or use a package without them")


def project_files(root):
    """Paths of all files to look at, relative to root, sorted."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = (Path(folder) / name).relative_to(root)
            if path.suffix in TEXT or path.suffix in WRONG_CODE or path.as_posix() in SCRIPTS:
                yield path


def check(root):
    """All findings below root, as printable lines in order of the files, and the file count."""
    findings = []

    def report(file, line, rule, advice):
        findings.append(f"{file.name}:{line}: {rule}: {advice}")

    count = 0
    for path in project_files(root):
        file = File(root, path)
        count += 1
        check_text(file, report)
        check_name(file, report)
        if file.is_code:
            stripped = cpp_text.strip(file.raw)
            check_includes(file, report)
            check_pure(file, stripped, report)
            check_functions(file, stripped, report)
            check_await(file, stripped, report)
    lock = root / "web" / "package-lock.json"
    if lock.exists():
        findings += check_lock("web/package-lock.json", lock.read_text(encoding="utf-8"))
        count += 1
    return findings, count


def main():
    parser = argparse.ArgumentParser(description="Checks layers and style.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    findings, count = check(parser.parse_args().root)
    for finding in findings:
        print(finding)
    print(f"check_layers: {count} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
