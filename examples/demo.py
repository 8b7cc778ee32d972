"""Matmuls in each language and attention on real data: checked, timed, and set beside torch: on a GPU where there is one, else on
the CPU, and matmuls beside NumPy, too. TILERY_DEVICE=cpu: on the CPU."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

threads = str(min(2, len(os.sched_getaffinity(0))))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TILERY_NUM_THREADS"):
    os.environ.setdefault(name, threads)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.nn.functional import scaled_dot_product_attention  # noqa: E402

from tilery import compat  # noqa: E402

HERE = Path(__file__).resolve().parent
ON_GPU = torch.cuda.is_available() and os.environ.get("TILERY_DEVICE") != "cpu"
DEVICE = "cuda" if ON_GPU else "cpu"
UNIT, SCALE = ("TFLOP/s", 1e12) if ON_GPU else ("GFLOP/s", 1e9)
N, BLOCKS = 4096 if ON_GPU else 1024, (128, 256, 64)
HEADS, ROWS = (64, 4096) if ON_GPU else (8, 1024)  # of attention


@dataclass
class Case:
    """One program beside one rival."""

    language: str
    what: str
    call: Callable[[], object]
    out: torch.Tensor
    exact: Callable[[], torch.Tensor]  # in float64
    close: float  # the largest error, of the largest result
    operations: float


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


def random(*shape, dtype):
    return torch.randn(*shape, device=DEVICE, dtype=torch.float32).to(dtype)


def matmuls():
    a, b = (random(N, N, dtype=torch.float16) for _ in range(2))
    pointers = (a, b) if ON_GPU else (a.float(), b.float())
    c = torch.empty(N, N, device=DEVICE)
    d, e = torch.empty_like(a), torch.empty_like(a)
    matmul = compat.load(HERE / "tileon" / "matmul.py").matmul
    ninetoothed = compat.load(HERE / "ninetoothed" / "matmul.py").matmul_kernel
    tiles = BLOCKS if ON_GPU else (128, 128, 32)
    tilelang = compat.load(HERE / "tilelang" / "matmul.py").matmul_kernel_builder(N, N, N, *tiles)
    exact = lambda: a.double() @ b.double()
    tileon = "f16, pointer tiles" if ON_GPU else "f32, pointer tiles"
    work = 2 * N**3
    yield Case("Tileon/Triton", tileon, lambda: matmul(*pointers, c, BLOCKS), c, exact, 1e-5, work)
    yield Case("NineToothed", "f16, README's matmul", lambda: ninetoothed(a, b, d), d, exact, 1e-3, work)
    yield Case("TileLang", "f16, shared memory and T.gemm", lambda: tilelang(a, b, e), e, exact, 1e-3, work)


def matmul_rivals():
    """name -> call"""
    dtype = torch.float16 if ON_GPU else torch.float32
    a, b, c = (random(N, N, dtype=dtype) for _ in range(3))
    if ON_GPU:
        return {"cuBLAS f16": lambda: torch.mm(a, b, out=c)}
    na, nb, nc = a.numpy(), b.numpy(), c.numpy()
    return {"torch f32": lambda: torch.mm(a, b, out=c), "NumPy f32": lambda: np.matmul(na, nb, out=nc)}


def attentions(causal):
    q, k, v = attention_operands()
    out = torch.empty_like(q)
    attention = compat.load(HERE / "tileon" / "attention.py").attention
    # Of the first head: the scores of all in float64 are many.
    exact = lambda: scaled_dot_product_attention(*(x[:, :1].double() for x in (q, k, v)), is_causal=causal)
    what = f"{'bf16' if ON_GPU else 'f32'}, {'causal' if causal else 'full'}"
    blocks = (128, 128) if ON_GPU else (64, 64)
    close = 2.0**-6 if ON_GPU else 1e-5  # weights and results are rounded to bf16
    work = 4 * HEADS * ROWS**2 * 128 * (0.5 if causal else 1)
    yield Case("Tileon/Triton", what, lambda: attention(q, k, v, out, causal, blocks), out, exact, close, work)


def attention_operands():
    return [random(1, HEADS, ROWS, 128, dtype=torch.bfloat16 if ON_GPU else torch.float32) for _ in range(3)]


def attention_rivals(causal):
    """name -> call"""
    q, k, v = attention_operands()
    if not ON_GPU:
        return {"torch f32": lambda: scaled_dot_product_attention(q, k, v, is_causal=causal)}

    def library():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            scaled_dot_product_attention(q, k, v, is_causal=causal)

    return {"cuDNN bf16": library}


def show(table, cases, rivals):
    """Adds a row for each case; returns the languages whose results are wrong."""
    times = {name: best_time(call) for name, call in rivals.items()}
    rival = min(times, key=times.get)
    wrong = []
    for case in cases:
        case.out.fill_(float("nan"))
        case.call()
        exact = case.exact()
        got = case.out[tuple(slice(n) for n in exact.shape)].double()
        error = float((got - exact).abs().max() / exact.abs().max())
        if not error < case.close:
            wrong.append(case.language)
        ours, its = (f"{case.operations / seconds / SCALE:.0f}" for seconds in (best_time(case.call), times[rival]))
        table.add_row(case.language, case.what, f"{error:.1e}", ours, rival, its)
    return wrong


def main():
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    place = torch.cuda.get_device_name() if ON_GPU else f"{threads} threads"
    columns = ("language", "program", "largest error", UNIT, "rival", f"its {UNIT}")
    products = Table(*columns, title=f"{N} x {N} matmul, {place}")
    wrong = show(products, matmuls(), matmul_rivals())
    attention = Table(*columns, title=f"attention forward, {HEADS} heads of {ROWS} x 128, {place}")
    for causal in (False, True):
        wrong += show(attention, attentions(causal), attention_rivals(causal))
    for table in (products, attention):
        Console(width=110).print(table)
    built = os.environ.get("TILERY_BUILD_DIR")  # without a build (an unpacked archive) there are no C++ programs
    for binary in sorted((Path(built) / "examples" / "cpp").glob("example-*")) if built else ():
        print(f"C++, {binary.name.removeprefix('example-')}:", flush=True)
        if subprocess.run([binary]).returncode:
            wrong.append(binary.name)
    if wrong:
        sys.exit(f"wrong results: {', '.join(wrong)}")
    print("all results agree with float64")


main()
