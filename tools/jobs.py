"""Processes that run tests, side by side, and what they counted."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


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


# When a job starts, among those of all parts.
FIRST, USUAL, LAST = range(3)


@dataclass
class Job:
    """A process, how its exit status is counted, and what it has in its environment beside ours."""

    command: list
    count: Callable[[int], Count]
    environment: dict[str, str] = field(default_factory=dict)
    turn: int = USUAL


def run(job, out):
    """(what the job counted, its seconds of CPU time). It prints to the file `out`, or where we do."""
    process = subprocess.Popen(job.command, cwd=ROOT, env={**os.environ, **job.environment}, stdout=out, stderr=out)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return job.count(process.returncode), usage.ru_utime + usage.ru_stime


def run_all(parts, lanes):
    """{part: (count, seconds of CPU time)} of {part: its jobs}, of which `lanes` run at a time. Each part's line comes when its
    last job has ended; what a job prints comes at once where it is the only one, else when it has ended."""
    queue = sorted(((part, job) for part, jobs in parts.items() for job in jobs), key=lambda entry: entry[1].turn)
    left = {part: len(jobs) for part, jobs in parts.items()}
    results = {part: (Count(), 0.0) for part in parts}
    printing = threading.Lock()

    def end(part, count, seconds):
        results[part] = results[part][0] + count, results[part][1] + seconds
        left[part] -= 1
        if left[part] <= 0:
            print(f"== {part}: {results[part][0]}, {results[part][1]:.0f} s of CPU time", flush=True)

    def carry_out(entry):
        part, job = entry
        if len(queue) == 1:
            return end(part, *run(job, None))
        with tempfile.TemporaryFile("w+", errors="replace") as out:
            count, seconds = run(job, out)
            out.seek(0)
            with printing:
                print(f"== {part}\n{out.read()}", end="", flush=True)
                end(part, count, seconds)

    with telling(lambda: progress(left, {part: len(jobs) for part, jobs in parts.items()})), ThreadPoolExecutor(lanes) as pool:
        list(pool.map(carry_out, queue))
    return results


def progress(left, all):
    """What has not ended of {part: its jobs}."""
    parts = [f"{part} {all[part] - count} of {all[part]}" for part, count in left.items() if count > 0]
    return "processes that have ended: " + ", ".join(parts)


@contextlib.contextmanager
def telling(what, seconds=60.0):
    """Within it a line on stderr says each minute how long it takes, and what(): what jobs print comes when they have ended."""
    begin, over = time.monotonic(), threading.Event()

    def tell():
        while not over.wait(seconds):
            print(f"-- {time.monotonic() - begin:.0f} s; {what()}", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
