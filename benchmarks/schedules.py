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


def work(measures, names, chosen):
    """A schedule's side: a line of JSON for each case. chosen: {case: digests of its code}, where they are known."""
    from survey.cases import Environment, programs
    from survey.run import CASES

    from tilery import _native

    compile, code = _native.compile, []

    def noting(*args, **options):
        compiled = compile(*args, **options)
        code.append(hashlib.sha256(compiled.image.to_bytes()).hexdigest())
        if code == chosen.get(name):
            raise Same
        return compiled

    _native.compile = noting
    modules = programs(True)
    for name in names:
        print(json.dumps({"begins": name}), flush=True)
        said = launched(Environment(modules, "cuda", False), *CASES[name], measures, code)
        print(json.dumps({"name": name, **said}), flush=True)
        code.clear()


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


def asked(schedule, folder, measures, names, chosen={}):
    """{case: what its line says}; a process that ends or hangs is begun again behind the case that it was in."""
    caches = Path(folder) / hashlib.sha256(schedule.encode()).hexdigest()[:16]
    settings = {**os.environ, "TILERY_SCHEDULE": schedule, "TILERY_CACHE_DIR": str(caches)}
    found, left = {}, list(names)
    while left:
        command = [sys.executable, __file__, "--work", json.dumps([measures, left, chosen])]
        process = subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        begun, watch = None, watching(process)
        for line in process.stdout:
            watch.cancel()
            watch = watching(process)
            said = json.loads(line) if line.startswith("{") else {}
            begun = said.get("begins", begun)
            if "name" in said:
                found[said["name"]] = said
                if "illegal" in said.get("fails", "") or "CUDA error" in said.get("fails", ""):
                    break  # nothing runs on this context any more
        watch.cancel()
        process.kill()
        process.wait()
        if begun is None:
            sys.exit(f"TILERY_SCHEDULE={schedule!r}: the process ended before its first case")
        found.setdefault(begun, {"fails": "ended the process"})
        left = left[left.index(begun) + 1 :]
    return found


def watching(process):
    """A timer that ends a process which says nothing."""
    watch = threading.Timer(SILENCE, process.kill)
    watch.start()
    return watch


def compared(names, schedules, jobs, least):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        with ThreadPoolExecutor(jobs) as pool:
            parts = pool.map(lambda part: asked("", folder, False, part), [names[i::jobs] for i in range(min(jobs, len(names)))])
            chosen = {name: said["code"] for part in parts for name, said in part.items() if "code" in said}
            found = pool.map(lambda schedule: asked(schedule, folder, False, list(chosen), chosen), schedules)
            compiled = dict(zip(schedules, found, strict=True))
        print(f"{len(schedules)} schedules of {len(names)} launches compiled in {time.monotonic() - begin:.0f} s", flush=True)
        first, times = asked("", folder, True, names), {}
        for schedule, found in compiled.items():
            kept = [name for name, said in found.items() if "code" in said and said["code"] != chosen[name]]
            times[schedule] = asked(schedule, folder, True, kept)
        last = asked("", folder, True, names)
        print(f"measured in {time.monotonic() - begin:.0f} s", flush=True)
        return table(first, last, compiled, times, least)


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
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(*json.loads(options.work))
    from survey import attention, products
    from survey.run import CASES

    modules = (attention.__name__, products.__name__)
    names = [name for name, (function, _) in CASES.items() if function.__module__ in modules]
    names = [name for name in names if not options.names or any(part in name for part in options.names)]
    schedules = options.schedules or [f"{name}={value}" for name, values in FIELDS.items() for value in values]
    compared(names, schedules, options.jobs, options.least)


if __name__ == "__main__":
    main()
