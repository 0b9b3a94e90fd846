#!/usr/bin/env python3
"""Prints `passed failed skipped` for a folder with ctest.xml (ctest --output-junit) and gtest's own XML.

    tools/dev/count_tests.py build/test/results

A gtest binary counts with its cases. Any other test counts as one, or with what its last line says
if that is `N passed, N failed`. A binary that failed without a failed case (it crashed, leaked or
ran out of time) counts as one failure more. What failed or was skipped is named on standard error, with
the first lines of its reason: the end of a long log then says what to look at.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

COUNTS = re.compile(r"(\d+) passed, (\d+) failed$")
REASON_LINES = 12


def name_case(word, name, reason):
    print(word, name, file=sys.stderr)
    for line in reason.strip().splitlines()[:REASON_LINES]:
        print("   ", line[:200], file=sys.stderr)


def count_gtest(path):
    """(passed, failed, skipped) of one gtest file; disabled cases are none of these."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        failure = case.find("failure")
        reason = case.find("skipped")
        if failure is not None:
            failed += 1
            name_case("FAILED", name, failure.text or "")
        elif case.get("result") == "skipped":
            skipped += 1
            text = "" if reason is None else reason.text or reason.get("message") or ""
            name_case("SKIPPED", name, text)
        elif case.get("status") == "run" and case.get("result") == "completed":
            passed += 1
    return passed, failed, skipped


def count_other(case):
    """(passed, failed, skipped) by the last line of the output, if it has that form."""
    output = (case.findtext("system-out") or "").strip().rsplit("\n", 1)[-1]
    counts = COUNTS.search(output)
    return (int(counts[1]), int(counts[2]), 0) if counts else None


def count(folder):
    passed = failed = skipped = 0
    for case in ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
        own = folder / (case.get("name") + ".xml")
        # CTest says so of a whole program only if all of its cases are.
        if case.get("status") == "disabled":
            continue
        if case.find("skipped") is not None and not own.exists():
            skipped += 1
            name_case("SKIPPED", case.get("name"), "")
            continue
        ok = case.get("status") == "run" or case.find("skipped") is not None
        try:
            counts = count_gtest(own) if own.exists() else count_other(case)
        except ElementTree.ParseError:
            counts = None  # cut short by a crash
        case_passed, case_failed, case_skipped = counts or (int(ok), 0, 0)
        passed += case_passed
        failed += case_failed
        skipped += case_skipped
        if not ok and case_failed == 0:
            failed += 1
            output = (case.findtext("system-out") or "").strip().splitlines()
            name_case(
                "FAILED", case.get("name") + " as a whole", "\n".join(output[-REASON_LINES:])
            )
    return passed, failed, skipped


if __name__ == "__main__":
    print(*count(Path(sys.argv[1])))
