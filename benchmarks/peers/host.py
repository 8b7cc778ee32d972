"""The host's time: a launch, and the first call of a kernel."""

import ctypes
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from gpu_rounds import Contest, settings
from harness import Result
from loaded_programs import EXAMPLES, HERE, as_triton, ours, rivals

LAUNCH = 0.6  # microseconds of a launch beyond the driver's own
EMPTY = {"matmul": 60, "attention": 100}  # milliseconds of a first call beyond the assembly of its code
WARM = 10  # the same with the disk cache warm
FRESH = 3  # processes that call first


def limit(work, values, most, unit, rival="limit"):
    """A row whose rival is a fixed limit on a time."""
    values = sorted(values)
    middle, edge = statistics.median(values), len(values) // 10
    return Result(work, middle, rival, most, unit, most / middle, most / values[-1 - edge], most / values[edge], 1.0)


BURST, BURSTS = 512, 4  # launches: the driver holds some 1024, then each waits for the GPU to end one


def host_microseconds(call):
    """Of the host's time, while the GPU has work left."""
    took = 0.0
    for _ in range(BURSTS):
        start = time.perf_counter()
        for _ in range(BURST):
            call()
        took += time.perf_counter() - start
        torch.cuda.synchronize()
    return 1e6 * took / (BURST * BURSTS)


def driver_floor(folder):
    """A function that gives microseconds of the driver's own launch, by launch_floor.c; None without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("clang-22")
    if not compiler:
        return None
    library = Path(folder) / "launch_floor.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", HERE / "launch_floor.c", "-o", library, "-ldl"], check=True)
    function = ctypes.CDLL(library).launch_nanoseconds
    function.restype = ctypes.c_double

    def measured():
        took = 0.0
        for _ in range(BURSTS):
            once = function(BURST) / 1e3
            torch.cuda.synchronize()
            if once < 0:
                raise RuntimeError(f"the driver refuses the empty kernel: error {-1e3 * once:.0f}")
            took += once / BURSTS
        return took

    return measured


def launch():
    """An add kernel with four arguments beside the driver's own launch, torch.add, and Triton and TileLang on the same source."""
    x, y, z = (torch.randn(1024, device="cuda") for _ in range(3))
    path, tilelang = EXAMPLES / "tileon" / "rows.py", HERE / "tilelang_matmul.py"

    def pointers(load):
        bound = load(path).add_kernel[(1,)]
        return lambda: bound(x, y, z, 1024, BLOCK=1024)

    def buffers(load):
        kernel = load(tilelang).add(1024, 1024)
        return lambda: kernel(x, y, z)

    contest = Contest()
    contest.enter("ours", lambda: pointers(ours))
    contest.enter("torch", lambda: lambda: torch.add(x, y, out=z))
    contest.enter("Triton", lambda: pointers(as_triton))
    contest.enter("our TileLang", lambda: buffers(ours))
    contest.enter("TileLang", lambda: buffers(rivals))
    if "ours" not in contest.calls:
        return
    measures = {name: functools.partial(host_microseconds, call) for name, call in contest.calls.items()}
    with tempfile.TemporaryDirectory() as folder:
        if floor := driver_floor(folder):
            measures["driver"] = floor
        times = {name: [] for name in measures}
        for _ in range(settings.rounds):
            for name, measure in measures.items():
                times[name].append(measure())
    middle = {name: statistics.median(found) for name, found in times.items()}
    for source, kind, others in (("pointers", "ours", ("torch", "Triton")), ("TileLang", "our TileLang", ("TileLang",))):
        if kind in times:
            work = f"launch, 4 arguments, {source}"
            if floor:
                yield limit(work, times[kind], middle["driver"] + LAUNCH, "us", f"driver + {LAUNCH}")
            for name in set(others) & set(middle):
                yield limit(work, times[kind], middle[name], "us", name)


@functools.cache
def first_calls(what):
    """Milliseconds of a kernel's first call in fresh processes, the disk cache empty and warm; the driver's own cache is off."""
    command = [sys.executable, str(Path(__file__).with_name("first_call.py")), what, str(FRESH)]
    done = subprocess.run(command, env={**os.environ, "CUDA_CACHE_DISABLE": "1"}, capture_output=True, text=True, timeout=90)
    if done.returncode:
        raise RuntimeError(done.stderr[-400:])
    return json.loads(done.stdout)


def first_call(what):
    if settings.share:
        return
    times = first_calls(what)
    assembler = statistics.median(times["assembler"])
    work = f"first call, empty cache, {what} (assembler {assembler:.0f} ms)"
    yield limit(work, times["empty"], assembler + EMPTY[what], "ms", f"assembler + {EMPTY[what]}")
    if "Triton" in times:
        yield limit(work, times["empty"], statistics.median(times["Triton"]), "ms", "Triton")


def warm_first_call(what):
    if not settings.share:
        yield limit(f"first call, warm disk cache, {what}", first_calls(what)["warm"], WARM, "ms")


WORKLOADS = {
    "launch, 4 arguments": {"launch": launch},
    "first call, empty cache": {f"first-call-{what}": functools.partial(first_call, what) for what in EMPTY},
    "first call, warm disk cache": {f"first-call-warm-{what}": functools.partial(warm_first_call, what) for what in EMPTY},
}
