"""Runs every test runner and closes with one line over all of them: `N passed, N failed, N skipped`.

Usage: run_tests.py [unit|ir|fuzz|python] [arguments of that runner]
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ["TILERY_BUILD_DIR"])
LIT = "/usr/lib/llvm-22/bin/lit"


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def after(self, status):
        """A runner that ends badly has failed, whatever it counted before it died."""
        if status != 0 and self.failed == 0:
            self.failed = 1
        return self


def unit(args, scratch):
    binary = BUILD / "tests" / "unit" / "tilery-tests"
    if not binary.exists():
        return Count()
    report = scratch / "unit.json"
    command = [binary, "--gtest_brief=1", f"--gtest_output=json:{report}", *args]
    status = subprocess.run(command, cwd=ROOT).returncode
    count = Count()
    if report.exists() and report.stat().st_size:
        for suite in json.loads(report.read_text())["testsuites"]:
            for case in suite["testsuite"]:
                if case["status"] != "RUN" or case.get("result") == "SKIPPED":
                    count.skipped += case.get("result") == "SKIPPED"
                elif case.get("failures"):
                    count.failed += 1
                else:
                    count.passed += 1
    return count.after(status)


def from_junit(report):
    count = Count()
    if not report.exists():
        return count
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            count.failed += 1
        elif "skipped" in kinds:
            count.skipped += 1
        else:
            count.passed += 1
    return count


def ir(args, scratch):
    report = scratch / "ir.xml"
    command = ["/usr/bin/python3", LIT, "-q", f"--xunit-xml-output={report}", *(args or [ROOT / "tests" / "ir"])]
    status = subprocess.run(command, cwd=ROOT).returncode
    return from_junit(report).after(status)


def fuzz(args, scratch):
    """Two tests: random programs, by the oracle and as machine code, and as the GPU's general code with fibers for threads.
    On a failure the reduced programs are printed."""
    binary = BUILD / "tests" / "fuzz" / "tilery-fuzz"
    if not binary.exists():
        return Count()
    runs = [args] if args else [["--count", "2200"], ["--count", "1200", "--first", "10001", "--against", "blocks"]]
    failed = sum(subprocess.run([binary, *run], cwd=ROOT).returncode != 0 for run in runs)
    return Count(passed=len(runs) - failed, failed=failed)


def python(args, scratch):
    report = scratch / "python.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *(args or ["tests"])]
    status = subprocess.run(command, cwd=ROOT).returncode
    no_tests = 5  # pytest's own status for an empty selection
    return from_junit(report).after(0 if status == no_tests and not args else status)


RUNNERS = {"unit": unit, "ir": ir, "fuzz": fuzz, "python": python}


def main(argv):
    if argv and argv[0] not in RUNNERS:
        sys.exit(f"run test: no runner {argv[0]!r}; there are {', '.join(RUNNERS)}")
    names, args = (argv[:1], argv[1:]) if argv else (list(RUNNERS), [])
    total = Count()
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            print(f"== {name}", flush=True)
            count = RUNNERS[name](args, Path(scratch))
            print(f"== {name}: {count.passed} passed, {count.failed} failed, {count.skipped} skipped", flush=True)
            total += count
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped", flush=True)
    if total == Count():
        sys.exit("run test: no test ran")
    sys.exit(total.failed > 0)


main(sys.argv[1:])
