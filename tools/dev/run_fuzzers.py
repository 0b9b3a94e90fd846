#!/usr/bin/env python3
"""Runs fuzzers for a time of processor each, several at once, at the lowest priority.

    tools/dev/run_fuzzers.py --minutes 20 --jobs 2 [--bin build/fuzz/bin] NAME...

Time is counted as the processor time of the fuzzer, so that a busy machine makes it last longer but
not less thorough; --wall counts by the clock. What a fuzzer learned stays in build/fuzz/corpus/NAME,
what it found in build/fuzz/findings. Ends with one line per fuzzer and `N passed, N failed`.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
MOST_WALL = 20  # times the wanted processor time: a machine that has no time for us is told so


class Fuzzer:
    def __init__(self, name, root):
        self.name = name
        corpus, findings = root / "build/fuzz/corpus" / name, root / "build/fuzz/findings"
        corpus.mkdir(parents=True, exist_ok=True)
        findings.mkdir(parents=True, exist_ok=True)
        self.log_path = root / "build/fuzz" / f"{name}.log"
        command = [str(root / "build/fuzz/bin" / name), str(corpus)]
        committed = root / "fuzz/corpus" / name
        if committed.is_dir():
            command.append(str(committed))
        command += ["-timeout=25", "-rss_limit_mb=3000", "-print_final_stats=1",
                    f"-artifact_prefix={findings}/{name}-"]
        self.log = open(self.log_path, "wb")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        self.started = time.monotonic()
        self.stopping = False
        self.starved = False
        self.cpu = 0.0
        try:  # A session of its own is a group of its own for the scheduler: nice counts inside it only.
            Path(f"/proc/{self.process.pid}/autogroup").write_text("19")
        except OSError:
            pass
        os.setpriority(os.PRIO_PROCESS, self.process.pid, 19)

    def processor_seconds(self):
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            self.cpu = (int(fields[11]) + int(fields[12])) / TICKS
        except (OSError, IndexError):
            pass
        return self.cpu

    def wall_seconds(self):
        return time.monotonic() - self.started

    def stop(self):
        if not self.stopping:
            self.process.send_signal(signal.SIGINT)
            self.stopping = True

    def result(self):
        """Whether nothing was found, and a line about it."""
        self.log.close()
        text = self.log_path.read_text(errors="replace")
        found = re.search(r"ERROR: (.*)|SUMMARY: (.*)", text)
        runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        count = int(runs.group(1)) if runs else 0
        clean = found is None and self.stopping and not self.starved and count > 0
        words = "nothing found" if clean else f"FAILED, see {self.log_path}: " + (
            found.group(0) if found else "the machine has no time for it" if self.starved
            else f"ended by itself with {self.process.returncode}")
        return clean, (f"{self.name}: {self.cpu / 60:.1f} min of processor in {self.wall_seconds() / 60:.1f} min, "
                       f"{count} executions, {words}")


def run(names, root, seconds, jobs, wall):
    waiting, running, failed = list(names), [], 0
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Fuzzer(waiting.pop(0), root))
                print(f"fuzzing {running[-1].name}", flush=True)
            time.sleep(1)
            for one in list(running):
                spent = one.wall_seconds() if wall else one.processor_seconds()
                if one.process.poll() is not None:
                    running.remove(one)
                    clean, line = one.result()
                    failed += not clean
                    print(line, flush=True)
                elif spent >= seconds:
                    one.stop()
                elif one.wall_seconds() > MOST_WALL * seconds:
                    one.starved = True
                    one.stop()
    finally:
        for one in running:
            one.process.kill()
            one.process.wait()
    print(f"{len(names) - failed} passed, {failed} failed")
    return failed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[2]
    missing = [name for name in options.names if not (root / "build/fuzz/bin" / name).exists()]
    if missing:
        sys.exit(f"run_fuzzers: not built: {', '.join(missing)}. Run ./dev build fuzz")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(0 if run(options.names, root, options.minutes * 60, max(1, options.jobs), options.wall) else 1)


if __name__ == "__main__":
    main()
