"""Runs every test runner. Each prints its result and its time; skips are named, those for want of a GPU counted apart on the
line before the last. The last line is over all runners: `N passed, N failed, N skipped`.

usage: ./run test [lint|unit|ir|fuzz|python|emulated] [arguments of that runner]
       ./run test long [K/N | today]   campaigns of random programs, models, sweeps over every type: all, or one of N slices
       ./run test ci                   every runner, then today's slice of `long`
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import lint as linter

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ["TILERY_BUILD_DIR"])
LIT = "/usr/lib/llvm-22/bin/lit"
NO_GPU = "needs an NVIDIA GPU"  # how the reason of such a skip begins
SLICES = 7  # of `long`; one a day covers it in a week
LONG_UNIT = "*Long.*"  # test suites whose name ends so are campaigns
# What runs on the emulated GPU each time, and how: (arguments of pytest, TILERY_EMULATE). All of tests/gpu takes most of an hour.
EMULATED_LATE = ["rows", "reports", "threads", "float_extremes", "oracle", "runtime", "hopper_products"]
EMULATED = [
    (["tests/gpu/test_matmul.py", "tests/gpu/test_around_products.py", "-k", "not 4096 and not 3000"], "sm_90a"),
    ([*(f"tests/gpu/test_{name}.py" for name in EMULATED_LATE), "-k", "not uncommon and not share"], "sm_90a,late,processors=3"),
]


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skips: list[tuple[str, str]] = field(default_factory=list)  # test, reason

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.skips + other.skips)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {len(self.skips)} skipped"

    def after(self, status):
        """A runner that ends badly has failed, whatever it counted before it died."""
        if status != 0 and self.failed == 0:
            self.failed = 1
        return self


def from_junit(report):
    count = Count()
    if not report.exists() or not report.stat().st_size:
        return count
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag: child for child in case}
        if kinds.keys() & {"failure", "error"}:
            count.failed += 1
        elif "skipped" in kinds:
            name = f"{case.get('classname', '')}.{case.get('name')}".removeprefix(".")
            reason = re.sub(r"\A\S+:\d+\n", "", kinds["skipped"].get("message", ""))  # GoogleTest puts the place first
            expected = "fails, as expected: " if kinds["skipped"].get("type") == "pytest.xfail" else ""
            count.skips.append((name, expected + reason.strip()))
        elif case.get("status") != "notrun":  # what GoogleTest lists without running it: its Speed tests
            count.passed += 1
    return count


def lint(args, scratch):
    return Count(failed=(bad := linter.main(args)), passed=len(linter.CHECKS) - bad)


def unit(args, scratch, environment=()):
    """All C++ tests, and those of the runtime in a program without the compiler."""
    binaries = [BUILD / "tests" / "unit" / name for name in ("tilery-tests", "tilery-rt-tests")]
    return sum((google_test(binary, args, scratch, environment) for binary in binaries), Count())


def google_test(binary, args, scratch, environment):
    if not binary.exists():
        return Count()
    report = scratch / f"{binary.name}.xml"
    command = [binary, "--gtest_brief=1", f"--gtest_output=xml:{report}", *(args or [f"--gtest_filter=-{LONG_UNIT}"])]
    status = subprocess.run(command, cwd=ROOT, env={**os.environ, **dict(environment)}).returncode
    return from_junit(report).after(status)


def ir(args, scratch):
    report = scratch / "ir.xml"
    command = ["/usr/bin/python3", LIT, "-q", f"--xunit-xml-output={report}", *(args or [ROOT / "tests" / "ir"])]
    status = subprocess.run(command, cwd=ROOT).returncode
    return from_junit(report).after(status)


def programs(count, first, *against):
    return ["--count", str(count), "--first", str(first), *against]


def fuzz(args, scratch):
    """Random programs, by the oracle and as machine code, as a GPU's code with fibers for threads, and products as Hopper's code
    for ptxas, where it is on the path: a test each. On a failure the reduced programs are printed."""
    usual = [programs(1000, 1), programs(600, 10001, "--against", "blocks"), programs(600, 20001, "--against", "block-passes")]
    if shutil.which("ptxas"):
        usual.append(programs(200, 110_007, "--step", "17", "--against", "assembler"))
    return fuzzed([args] if args else usual)


def fuzzed(runs):
    binary = BUILD / "tests" / "fuzz" / "tilery-fuzz"
    if not binary.exists():
        return Count()
    failed = sum(subprocess.run([binary, *run], cwd=ROOT).returncode != 0 for run in runs)
    return Count(passed=len(runs) - failed, failed=failed)


def python(args, scratch, environment=()):
    report = scratch / "python.xml"
    command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *(args or ["tests"])]
    status = subprocess.run(command, cwd=ROOT, env={**os.environ, **dict(environment)}).returncode
    no_tests = 5  # pytest's own status for an empty selection
    return from_junit(report).after(0 if status == no_tests and not args else status)


def emulated(args, scratch):
    """Python programs on the emulated GPU: tests that are marked `gpu`, those of EMULATED or others."""
    folder = BUILD / "tests" / "emulator" / "gpu"
    if not (folder / "tilery").is_dir():
        return Count()
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    runs = [(args, os.environ.get("TILERY_EMULATE", "sm_90a"))] if args else EMULATED
    counts = (
        python([*tests, "-m", "gpu"], scratch, {"TILERY_EMULATE": settings, "PYTHONPATH": paths}) for tests, settings in runs
    )
    return sum(counts, Count())


def chosen(text):
    """(K, N) of the slice that `text` names."""
    if text == "today":
        part, parts = date.today().toordinal() % SLICES + 1, SLICES
        print(f"slice {part}/{parts} by the date {date.today()}; to repeat it: ./run test long {part}/{parts}", flush=True)
        return part, parts
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        sys.exit(f"run test long: {text!r} is no slice; write K/N with 1 <= K <= N, or today")
    return int(match[1]), int(match[2])


def long(args, scratch):
    part, parts = chosen(args[0] if args else "1/1")
    shard = {"GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(part - 1)}
    count = unit([f"--gtest_filter={LONG_UNIT}"], scratch, shard)
    runs = []
    for total, first, against in ((21000, 100_001, "machine"), (14000, 200_001, "blocks")):
        start, end = (first + total * step // parts for step in (part - 1, part))
        runs.append(programs(end - start, start, "--against", against))
    return count + fuzzed(runs) + python(["tests", "-m", "long", f"--slice={part}/{parts}"], scratch)


RUNNERS = {"lint": lint, "unit": unit, "ir": ir, "fuzz": fuzz, "python": python, "emulated": emulated}


def plan(argv):
    """[(name, runner, arguments)] of this command line."""
    if not argv or argv == ["ci"]:
        everything = [(name, run, []) for name, run in RUNNERS.items()]
        return everything + [("long", long, ["today"])] if argv else everything
    known = {**RUNNERS, "long": long}
    if argv[0] not in known:
        sys.exit(f"run test: no runner {argv[0]!r}; there are {', '.join(known)}, and ci")
    return [(argv[0], known[argv[0]], argv[1:])]


def shortened(names):
    """f[a], f[b], g as f[a, b], g."""
    cases = {}
    for name in names:
        function, _, case = name.partition("[")
        cases.setdefault(function, []).append(case.removesuffix("]"))
    return ", ".join(f"{f}[{', '.join(found)}]" if any(found) else f for f, found in cases.items())


def tell_skips(skips):
    """Names every skip but those for want of a GPU, whose number it prints last."""
    by_reason = {}
    for name, reason in skips:
        if not reason.startswith(NO_GPU):
            by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        print(f"skipped: {reason or 'no reason given'}: {shortened(names)}")
    print(f"skipped for want of a GPU: {len(skips) - sum(map(len, by_reason.values()))}")


def main(argv):
    total, begin = Count(), time.monotonic()
    runs = plan(argv)
    with tempfile.TemporaryDirectory() as scratch:
        for name, runner, args in runs:
            print(f"== {name}", flush=True)
            start = time.monotonic()
            count = runner(args, Path(scratch))
            print(f"== {name}: {count}, {time.monotonic() - start:.0f} s", flush=True)
            total += count
    if len(runs) > 1:
        print(f"== all: {time.monotonic() - begin:.0f} s")
    tell_skips(total.skips)
    print(total, flush=True)
    if total == Count():
        sys.exit("run test: no test ran")
    sys.exit(total.failed > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
