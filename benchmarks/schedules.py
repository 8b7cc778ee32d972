"""Chosen schedules beside others, on a GPU: the survey's launches with products under each value of TILERY_SCHEDULE that is asked
for. Says where another one than the model's choice is faster, and so which of its prices are wrong.

usage: ./run python benchmarks/schedules.py [NAME ...] [--schedules TEXT ...] [--jobs N] [--least RATIO]

NAME: a part of a case's name. A schedule has a process and a cache of its own; what it refuses, or what becomes the code that is
chosen anyway, is not measured. N compile at a time, then they measure one after the other, the chosen one first and last.
A line: microseconds as chosen (its two times as a ratio), then what is RATIO times as fast or more, the fastest first.
"""

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FIELDS = {
    "consumers": (1, 2, 3, 4),
    "k": (32, 64, 128),
    "stages": (2, 3, 4, 6, 8, 12),
    "group": (1, 4, 8, 16),
    "resident": (0, 2, 3, 4),
    "instances": (0, 2),
    "fetchers": (0, 1, 2),
    "general": (1,),
} | {name: (0, 1) for name in ("delay", "spread", "overlap", "ahead", "joined", "branch", "longest", "hold_operands")}
FIELDS |= {"split_columns": (0, 1), "early": (0,), "boxed": (0,), "stage_output": (0,), "cluster": (1,), "partial": (0,)}
SILENCE = 60  # seconds without a word, after which a launch hangs


class Same(Exception):
    """A case whose only kernel is what is chosen anyway."""


def work():
    """A schedule's side: for each line that asks, a line of JSON for each of its cases, then one that says that it is done."""
    from survey.cases import Environment, programs
    from survey.run import CASES

    from tilery import _native

    compile, code, modules = _native.compile, [], programs(True)

    def noting(*args, **options):
        compiled = compile(*args, **options)
        code.append(hashlib.sha256(compiled.image.to_bytes()).hexdigest())
        if code == chosen.get(name):
            raise Same
        return compiled

    _native.compile = noting
    for line in sys.stdin:
        measures, names, chosen = json.loads(line)
        for name in names:
            print(json.dumps({"begins": name}), flush=True)
            said = launched(Environment(modules, "cuda", False), *CASES[name], measures, code)
            print(json.dumps({"name": name, **said}), flush=True)
            code.clear()
        print(json.dumps({"done": True}), flush=True)


def launched(environment, function, numbers, measures, code):
    import torch
    from triton.testing import do_bench

    try:
        launch, written = function(environment, *numbers)
        launch()
        torch.cuda.synchronize()
        sizes = [float(tensor.double().nan_to_num().norm()) for tensor in written]
        times = [1e3 * do_bench(launch, warmup=3, rep=10, return_mode="median") for _ in range(3 if measures else 0)]
        return {"code": code[:], "sizes": sizes, "time": statistics.median(times) if times else None}
    except Same:
        return {"same": True}
    except Exception as failure:  # what a schedule cannot do is no result of it
        return {"fails": f"{type(failure).__name__}: {str(failure).splitlines()[0][:200]}"}


class Schedule:
    """A process in which kernels are compiled with this value of TILERY_SCHEDULE; it is begun again where it ends."""

    def __init__(self, text, folder):
        cache = Path(folder) / hashlib.sha256(text.encode()).hexdigest()[:16]
        self.settings = {**os.environ, "TILERY_SCHEDULE": text, "TILERY_CACHE_DIR": str(cache)}
        self.begin()

    def begin(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.process = subprocess.Popen([sys.executable, __file__, "--work"], env=self.settings, **pipes)

    def end(self):
        self.process.kill()
        self.process.wait()

    def ask(self, measures, names, chosen={}):
        """{case: what its line says}"""
        found, left = {}, list(names)
        while left:
            self.process.stdin.write(json.dumps([measures, left, chosen]) + "\n")
            self.process.stdin.flush()
            begun = self._hear(found)
            if begun is None:
                return found
            found.setdefault(begun, {"fails": "ended the process"})
            left = left[left.index(begun) + 1 :]
            self.end()
            self.begin()
        return found

    def _hear(self, found):
        """The case in which the process ends, hangs, or loses its GPU; None: it has done all."""
        begun, watch = None, self._watch()
        for line in self.process.stdout:
            watch.cancel()
            said = json.loads(line) if line.startswith("{") else {}
            begun = said.get("begins", begun)
            if "name" in said:
                found[said["name"]] = said
            if said.get("done"):
                return None
            if "illegal" in said.get("fails", "") or "CUDA error" in said.get("fails", ""):
                return begun  # nothing runs on this context any more
            watch = self._watch()
        watch.cancel()
        return begun or sys.exit(f"TILERY_SCHEDULE={self.settings['TILERY_SCHEDULE']!r}: the process ends before its first case")

    def _watch(self):
        """A timer that ends a process which says nothing."""
        watch = threading.Timer(SILENCE, self.process.kill)
        watch.daemon = True
        watch.start()
        return watch


def compared(names, texts, jobs, least):
    begin = time.monotonic()

    def said(what):
        print(f"{what} after {time.monotonic() - begin:.0f} s", flush=True)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        plain = [Schedule("", folder) for _ in range(min(jobs, len(names)))]
        schedules = {text: Schedule(text, folder) for text in texts}
        parts = pool.map(lambda part: plain[part].ask(False, names[part :: len(plain)]), range(len(plain)))
        chosen = {name: found["code"] for part in parts for name, found in part.items() if "code" in found}
        said(f"{len(chosen)} of {len(names)} launches compiled")
        for process in plain[1:]:
            process.end()
        compiled = dict(zip(texts, pool.map(lambda text: schedules[text].ask(False, list(chosen), chosen), texts), strict=True))
        said(f"those of {len(texts)} schedules compiled")
        first, times = plain[0].ask(True, names), {}
        for text, found in compiled.items():
            kept = [name for name, each in found.items() if "code" in each and each["code"] != chosen[name]]
            times[text] = schedules[text].ask(True, kept)
            schedules[text].end()
        last = plain[0].ask(True, names)
        plain[0].end()
        said("measured")
        table(first, last, compiled, times, least)


def table(first, last, compiled, times, least):
    regrets = []
    for name, said in first.items():
        if "fails" in said:
            print(f"{name:44s} fails: {said['fails']}")
            continue
        rivals = []
        for schedule, found in times.items():
            if other := found.get(name):
                if "fails" in other:
                    print(f"{name:44s} {schedule}: {other['fails']}")
                elif any(abs(a - b) > 0.02 * abs(a) for a, b in zip(said["sizes"], other["sizes"])):
                    print(f"{name:44s} {schedule}: other results, norms {other['sizes']} for {said['sizes']}")
                else:
                    rivals.append((said["time"] / other["time"], schedule))
        rivals.sort(reverse=True)
        regrets.append(max(1.0, rivals[0][0]) if rivals else 1.0)
        better = "; ".join(f"{ratio:.2f} {schedule}" for ratio, schedule in rivals if ratio >= least)
        print(f"{name:44s} {said['time']:9.1f} ({said['time'] / last[name].get('time', 1e-9):.2f}) of {len(rivals):2d}: {better}")
    for schedule, found in compiled.items():
        ends = [name for name, said in found.items() if said.get("fails", "").startswith(("ended", "Runtime"))]
        if ends:
            print(f"{schedule}: {len(ends)} of {len(found)} launches end: {', '.join(ends[:6])}")
    print(f"{len(regrets)} launches; best over chosen, geometric mean {statistics.geometric_mean(regrets):.3f}")


def main():
    parser = argparse.ArgumentParser(description="chosen schedules beside others")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--schedules", nargs="+", metavar="TEXT", default=[])
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--least", type=float, default=1.04)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work()
    from survey import attention, products
    from survey.run import CASES

    modules = (attention.__name__, products.__name__)
    names = [name for name, (function, _) in CASES.items() if function.__module__ in modules]
    names = [name for name in names if not options.names or any(part in name for part in options.names)]
    schedules = options.schedules or [f"{name}={value}" for name, values in FIELDS.items() for value in values]
    compared(names, schedules, options.jobs, options.least)


if __name__ == "__main__":
    main()
