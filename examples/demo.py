"""Matmuls in each language on real data: checked, timed, and set beside torch and NumPy."""

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
N, BLOCKS = 1024, (128, 256, 64)


def best_time(function, seconds=0.5):
    function()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def rate(function):
    return 2 * N**3 / best_time(function) / 1e9


def cases():
    """(language, what, call, output, operands)"""
    torch.manual_seed(0)
    a, b, c = torch.randn(N, N), torch.randn(N, N), torch.empty(N, N)
    matmul = compat.load(HERE / "tileon" / "matmul.py").matmul
    yield "Tileon/Triton", "f32, pointer tiles", lambda: matmul(a, b, c, BLOCKS), c, (a, b)
    ha, hb = a.half(), b.half()
    hc = torch.empty(N, N, dtype=torch.float16)
    ninetoothed = compat.load(HERE / "ninetoothed" / "matmul.py").matmul_kernel
    yield "NineToothed", "f16, README's matmul", lambda: ninetoothed(ha, hb, hc), hc, (ha, hb)
    hd = torch.empty(N, N, dtype=torch.float16)
    tilelang = compat.load(HERE / "tilelang" / "matmul.py").matmul_kernel_builder(N, N, N, 128, 128, 32)
    yield "TileLang", "f16, shared memory and T.gemm", lambda: tilelang(ha, hb, hd), hd, (ha, hb)


def main():
    torch.set_num_threads(int(threads))
    a, b, c = torch.randn(N, N), torch.randn(N, N), torch.empty(N, N)
    na, nb, nc = a.numpy(), b.numpy(), c.numpy()
    rivals = {"torch f32": rate(lambda: torch.mm(a, b, out=c)), "NumPy f32": rate(lambda: np.matmul(na, nb, out=nc))}
    rival = max(rivals, key=rivals.get)
    title = f"{N} x {N} matmul, {threads} threads"
    table = Table("language", "program", "largest error", "GFLOP/s", "rival", "its GFLOP/s", title=title)
    wrong = []
    for language, what, call, out, (x, y) in cases():
        out.fill_(float("nan"))
        call()
        expected = x.double() @ y.double()
        error = float((out.double() - expected).abs().max() / expected.abs().max())
        if not error < (1e-5 if out.dtype == torch.float32 else 1e-3):
            wrong.append(language)
        table.add_row(language, what, f"{error:.1e}", f"{rate(call):.0f}", rival, f"{rivals[rival]:.0f}")
    Console(width=110).print(table)
    for binary in sorted((Path(os.environ["TILERY_BUILD_DIR"]) / "examples" / "cpp").glob("example-*")):
        print(f"C++, {binary.name.removeprefix('example-')}:", flush=True)
        if subprocess.run([binary]).returncode:
            wrong.append(binary.name)
    if wrong:
        sys.exit(f"wrong results: {', '.join(wrong)}")
    print("all results agree with float64")


main()
