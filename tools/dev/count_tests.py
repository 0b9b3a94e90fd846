#!/usr/bin/env python3
"""Prints `passed failed` for a folder with ctest.xml (ctest --output-junit) and gtest's own XML.

    tools/dev/count_tests.py build/test/results

A gtest binary counts with its cases. Any other test counts as one, or with what its last line says
if that is `N passed, N failed`. A binary that failed without a failed case (it crashed, leaked or
ran out of time) counts as one failure more.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

COUNTS = re.compile(r"(\d+) passed, (\d+) failed$")


def count_gtest(path):
    """(passed, failed) of one gtest file; skipped and disabled cases are neither."""
    passed = failed = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None:
            failed += 1
        elif case.get("status") == "run" and case.get("result") == "completed":
            passed += 1
    return passed, failed


def count_other(case):
    """(passed, failed) by the last line of the test's output, if it has that form."""
    output = (case.findtext("system-out") or "").strip().rsplit("\n", 1)[-1]
    counts = COUNTS.search(output)
    return (int(counts[1]), int(counts[2])) if counts else None


def count(folder):
    passed = failed = 0
    for case in ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
        if case.get("status") == "disabled" or case.find("skipped") is not None:
            continue
        ok = case.get("status") == "run"
        own = folder / (case.get("name") + ".xml")
        try:
            counts = count_gtest(own) if own.exists() else count_other(case)
        except ElementTree.ParseError:
            counts = None  # cut short by a crash
        case_passed, case_failed = counts or (int(ok), 0)
        passed += case_passed
        failed += case_failed if ok or case_failed else 1
    return passed, failed


if __name__ == "__main__":
    print(*count(Path(sys.argv[1])))
