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
from gpu_rounds import Contest
from harness import Result
from programs import EXAMPLES, HERE, as_triton, ours, rivals

LIMIT = 3.5  # microseconds of a launch
EMPTY, WARM = 60, 10  # milliseconds of a first call: beyond the assembly of its code; with the disk cache warm


def limit(work, values, most, unit):
    """A row whose rival is a fixed limit on a time."""
    values = sorted(values)
    middle, edge = statistics.median(values), len(values) // 10
    return Result(work, middle, "limit", most, unit, most / middle, most / values[-1 - edge], most / values[edge], 1.0)


def host_microseconds(call, count=2000):
    start = time.perf_counter()
    for _ in range(count):
        call()
    took = time.perf_counter() - start
    torch.cuda.synchronize()
    return 1e6 * took / count


def driver_floor(folder, count=2000):
    """A function that gives microseconds of the driver's own launch, by launch_floor.c; None without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("clang-22")
    if not compiler:
        return None
    library = Path(folder) / "launch_floor.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", HERE / "launch_floor.c", "-o", library, "-ldl"], check=True)
    function = ctypes.CDLL(library).launch_nanoseconds
    function.restype = ctypes.c_double

    def measured():
        took = function(count) / 1e3
        torch.cuda.synchronize()
        if took < 0:
            raise RuntimeError(f"the driver refuses the empty kernel: error {-1e3 * took:.0f}")
        return took

    return measured


def launch():
    """An add kernel with four arguments beside a limit; the driver, torch.add, Triton and TileLang are named with it."""
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
    measures = {name: functools.partial(host_microseconds, call) for name, call in contest.calls.items()}
    with tempfile.TemporaryDirectory() as folder:
        if floor := driver_floor(folder):
            measures["driver"] = floor
        times = {name: [] for name in measures}
        for _ in range(contest.rounds):
            for name, measure in measures.items():
                times[name].append(measure())
    beside = ", ".join(f"{name} {statistics.median(found):.1f}" for name, found in times.items() if name != "ours")
    yield limit(f"launch, 4 arguments (us: {beside})", times["ours"], LIMIT, "us")


def fresh(what, cache):
    """Milliseconds [call, assembler] by first_call.py; the driver's own cache is off."""
    environment = {**os.environ, "TILERY_CACHE_DIR": str(cache), "CUDA_CACHE_DISABLE": "1"}
    command = [sys.executable, str(Path(__file__).with_name("first_call.py")), what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-400:])
    return json.loads(done.stdout)


def first_call():
    """The matmul kernel's first call in fresh processes, the disk cache empty and warm."""
    empty, warm, alone = [], [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            empty.append(fresh("empty", cache)[0])
            call, assembler = fresh("warm", cache)
            warm.append(call)
            alone.append(assembler)
    assembler = statistics.median(alone)
    yield limit(f"first call, empty cache (assembler {assembler:.0f} ms)", empty, assembler + EMPTY, "ms")
    yield limit("first call, warm disk cache", warm, WARM, "ms")


ROWS = {"launch": launch, "first-call": first_call}
