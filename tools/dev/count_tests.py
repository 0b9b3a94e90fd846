#!/usr/bin/env python3
"""Prints `passed failed` for a folder with ctest.xml (ctest --output-junit) and gtest's own XML.

    tools/dev/count_tests.py build/test/results

A gtest binary counts with its cases. Any other test counts as one, or with what its last line says
if that is `N passed, N failed`. A binary that failed without a failed case (it crashed, leaked or
ran out of time) counts as one failure more. What failed is named on standard error, with the first
lines of its reason: the end of a long log then says what to look at.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

COUNTS = re.compile(r"(\d+) passed, (\d+) failed$")
REASON_LINES = 12


def name_failure(name, reason):
    print("FAILED", name, file=sys.stderr)
    for line in reason.strip().splitlines()[:REASON_LINES]:
        print("   ", line[:200], file=sys.stderr)


def count_gtest(path):
    """(passed, failed) of one gtest file; skipped and disabled cases are neither."""
    passed = failed = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        failure = case.find("failure")
        if failure is not None:
            failed += 1
            name_failure(f"{case.get('classname')}.{case.get('name')}", failure.text or "")
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
        failed += case_failed
        if not ok and case_failed == 0:
            failed += 1
            output = (case.findtext("system-out") or "").strip().splitlines()
            name_failure(case.get("name") + " as a whole", "\n".join(output[-REASON_LINES:]))
    return passed, failed


if __name__ == "__main__":
    print(*count(Path(sys.argv[1])))
