"""Matmuls in each language on real data: checked, timed, and set beside torch: on a GPU where there is one, else on the CPU, and
beside NumPy, too. TILERY_DEVICE=cpu: on the CPU."""

import os
import subprocess
import sys
import time
from pathlib import Path

threads = str(min(2, len(os.sched_getaffinity(0))))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TILERY_NUM_THREADS"):
    os.environ.setdefault(name, threads)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from tilery import compat  # noqa: E402

HERE = Path(__file__).resolve().parent
ON_GPU = torch.cuda.is_available() and os.environ.get("TILERY_DEVICE") != "cpu"
DEVICE = "cuda" if ON_GPU else "cpu"
N, BLOCKS = 4096 if ON_GPU else 1024, (128, 256, 64)


def best_time(function, seconds=0.5):
    """Of a call, in seconds; a GPU works while the next calls are made."""
    function()
    calls, best, end = 10 if ON_GPU else 1, float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        if ON_GPU:
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            function()
        if ON_GPU:
            torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def rate(function):
    """Of a matmul: in TFLOP/s on a GPU, in GFLOP/s on a CPU."""
    return 2 * N**3 / best_time(function) / (1e12 if ON_GPU else 1e9)


def random(dtype):
    return torch.randn(N, N, device=DEVICE, dtype=torch.float32).to(dtype)


def cases():
    """(language, what, call, output, operands)"""
    torch.manual_seed(0)
    half = torch.float16
    a, b = random(half), random(half)
    pointers = (a, b) if ON_GPU else (random(torch.float32), random(torch.float32))
    c = torch.empty(N, N, device=DEVICE)
    matmul = compat.load(HERE / "tileon" / "matmul.py").matmul
    name = "f16" if ON_GPU else "f32"
    yield "Tileon/Triton", f"{name}, pointer tiles", lambda: matmul(*pointers, c, BLOCKS), c, pointers
    d = torch.empty_like(a)
    ninetoothed = compat.load(HERE / "ninetoothed" / "matmul.py").matmul_kernel
    yield "NineToothed", "f16, README's matmul", lambda: ninetoothed(a, b, d), d, (a, b)
    e = torch.empty_like(a)
    tiles = BLOCKS if ON_GPU else (128, 128, 32)
    tilelang = compat.load(HERE / "tilelang" / "matmul.py").matmul_kernel_builder(N, N, N, *tiles)
    yield "TileLang", "f16, shared memory and T.gemm", lambda: tilelang(a, b, e), e, (a, b)


def rivals():
    """name -> rate"""
    if ON_GPU:
        a, b, c = random(torch.float16), random(torch.float16), random(torch.float16)
        return {"cuBLAS f16": rate(lambda: torch.mm(a, b, out=c))}
    a, b, c = random(torch.float32), random(torch.float32), random(torch.float32)
    na, nb, nc = a.numpy(), b.numpy(), c.numpy()
    return {"torch f32": rate(lambda: torch.mm(a, b, out=c)), "NumPy f32": rate(lambda: np.matmul(na, nb, out=nc))}


def main():
    torch.set_num_threads(int(threads))
    others = rivals()
    rival = max(others, key=others.get)
    place = torch.cuda.get_device_name() if ON_GPU else f"{threads} threads"
    unit = "TFLOP/s" if ON_GPU else "GFLOP/s"
    title = f"{N} x {N} matmul, {place}"
    table = Table("language", "program", "largest error", unit, "rival", f"its {unit}", title=title)
    wrong = []
    for language, what, call, out, (x, y) in cases():
        out.fill_(float("nan"))
        call()
        expected = x.double() @ y.double()
        error = float((out.double() - expected).abs().max() / expected.abs().max())
        if not error < (1e-5 if out.dtype == torch.float32 else 1e-3):
            wrong.append(language)
        table.add_row(language, what, f"{error:.1e}", f"{rate(call):.0f}", rival, f"{others[rival]:.0f}")
    Console(width=110).print(table)
    for binary in sorted((Path(os.environ["TILERY_BUILD_DIR"]) / "examples" / "cpp").glob("example-*")):
        print(f"C++, {binary.name.removeprefix('example-')}:", flush=True)
        if subprocess.run([binary]).returncode:
            wrong.append(binary.name)
    if wrong:
        sys.exit(f"wrong results: {', '.join(wrong)}")
    print("all results agree with float64")


main()
