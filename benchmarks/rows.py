"""The rows of the table: each is a named function that yields Results."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from harness import Result, compare, rounds
from machine import flags

from tilery import compat

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
ROWS = {}  # name -> function of the number of threads


def row(function):
    ROWS[function.__name__.replace("_", "-")] = function
    return function


def example(name):
    return compat.load(EXAMPLES / name)


def same(ours, expected, tolerance=1e-4):
    torch.testing.assert_close(ours.float(), expected.float(), rtol=tolerance, atol=tolerance * float(expected.abs().max()))


def operands(n, dtype=torch.float32):
    torch.manual_seed(n)
    return torch.randn(n, n).to(dtype), torch.randn(n, n).to(dtype), torch.empty(n, n)


def blocks_text(blocks):
    return "x".join(map(str, blocks))


@row
def matmul_f32(threads):
    """Matmul f32 from the pointer-style source against the better of torch and NumPy."""
    matmul = example("tileon/matmul.py").matmul
    for n, goal in ((512, 0.85), (1024, 0.95), (2048, 0.95)):
        for blocks in ((128, 256, 64), (64, 64, 32)):
            a, b, c = operands(n)
            reference = torch.empty(n, n)
            na, nb, nc = a.numpy(), b.numpy(), np.empty((n, n), np.float32)
            same(matmul(a, b, c, blocks), a @ b)
            rivals = {"torch": lambda: torch.mm(a, b, out=reference), "numpy": lambda: np.matmul(na, nb, out=nc)}
            work = f"matmul f32 {n}, blocks {blocks_text(blocks)}"
            yield compare(work, lambda: matmul(a, b, c, blocks), rivals, 2 * n**3, "GFLOP/s", goal)


@row
def matmul_many(threads):
    """Matmul f32 2048 on eight threads or more (--threads) against torch."""
    if threads < 8:
        return
    matmul = example("tileon/matmul.py").matmul
    for blocks in ((128, 256, 64), (64, 64, 32)):
        a, b, c = operands(2048)
        reference = torch.empty(2048, 2048)
        same(matmul(a, b, c, blocks), a @ b)
        rivals = {"torch": lambda: torch.mm(a, b, out=reference)}
        work = f"matmul f32 2048, {threads} threads, blocks {blocks_text(blocks)}"
        yield compare(work, lambda: matmul(a, b, c, blocks), rivals, 2 * 2048**3, "GFLOP/s", 0.8)


@row
def matmul_half(threads):
    """Matmul f16 and bf16 with f32 accumulation against our own f32."""
    matmul = example("tileon/matmul.py").matmul
    for dtype in (torch.float16, torch.bfloat16):
        goal = 1.6 if dtype == torch.bfloat16 and "avx512_bf16" in flags() else 0.9
        for n in (1024, 2048):
            for blocks in ((128, 256, 64), (64, 64, 32)):
                a, b, c = operands(n, dtype)
                fa, fb, fc = operands(n)
                same(matmul(a, b, c, blocks), a.float() @ b.float())
                work = f"matmul {str(dtype)[6:]} {n}, blocks {blocks_text(blocks)}"
                rivals = {"own f32": lambda: matmul(fa, fb, fc, blocks)}
                yield compare(work, lambda: matmul(a, b, c, blocks), rivals, 2 * n**3, "GFLOP/s", goal)


@row
def matmul_few_rows(threads):
    """Matmul of one row and of 16 with a matrix of 4096, as it lies and turned, f32 and bf16, against torch."""
    matmul = example("tileon/matmul.py").matmul
    n = 4096
    for dtype, goal in ((torch.float32, 0.7), (torch.bfloat16, 1.0)):
        for m in (1, 16):
            for turned in (False, True):
                a, b, c = torch.randn(m, n).to(dtype), torch.randn(n, n).to(dtype), torch.empty(m, n)
                b, reference, blocks = b.t() if turned else b, torch.empty(m, n, dtype=dtype), (16, 64, 128)
                same(matmul(a, b, c, blocks), a.float() @ b.float())
                work = f"matmul {str(dtype)[6:]} {m}x{n}x{n}{', B turned' if turned else ''}, blocks {blocks_text(blocks)}"
                ours, rivals = partial(matmul, a, b, c, blocks), {"torch": partial(torch.mm, a, b, out=reference)}
                yield compare(work, ours, rivals, n * n * dtype.itemsize, "GB/s", goal)


@row
def matmul_bytes(threads):
    """Matmul of 8-bit integers with sums of 32 bits against torch."""
    builder = example("tilelang/matmul.py").matmul_kernel_builder
    for n, blocks in ((1024, (128, 128, 64)), (1024, (64, 64, 32)), (2048, (128, 128, 64))):
        a, b = (torch.randint(-128, 128, (n, n), dtype=torch.int8) for _ in range(2))
        c, reference = torch.empty(n, n, dtype=torch.int32), torch.empty(n, n, dtype=torch.int32)
        kernel = builder(n, n, n, *blocks, dtype="int8", accum_dtype="int32", out_dtype="int32")
        kernel(a, b, c)
        assert torch.equal(c, torch._int_mm(a, b))
        ours, rivals = partial(kernel, a, b, c), {"torch": partial(torch._int_mm, a, b, out=reference)}
        yield compare(f"matmul int8 {n}, blocks {blocks_text(blocks)}", ours, rivals, 2 * n**3, "GFLOP/s", 0.85)


@row
def languages(threads):
    """NineToothed's and TileLang's matmul in f16 against Tileon's, same tiles."""
    n, blocks = 1024, (128, 128, 32)
    matmul = example("tileon/matmul.py").matmul
    ninetoothed = example("ninetoothed/matmul.py").matmul_kernel
    tilelang = example("tilelang/matmul.py").matmul_kernel_builder(n, n, n, *blocks)
    a, b, _ = operands(n, torch.float16)
    c, d = torch.empty(n, n, dtype=torch.float16), torch.empty(n, n, dtype=torch.float16)
    pinned = dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), blocks, strict=True))
    rivals = {"Tileon": lambda: matmul(a, b, d, blocks)}
    for name, ours in (("NineToothed", lambda: ninetoothed(a, b, c, **pinned)), ("TileLang", lambda: tilelang(a, b, c))):
        ours()
        same(c, a.float() @ b.float(), 1e-3)
        yield compare(f"{name} matmul f16 {n}, blocks {blocks_text(blocks)}", ours, rivals, 2 * n**3, "GFLOP/s", 0.97)


@row
def ninetoothed(threads):
    """NineToothed's addmm and rms norm in f32 against the same programs of Tileon, its convolution against torch's."""
    addmm, other = example("ninetoothed/addmm.py").addmm, example("tileon/addmm.py").addmm
    rms_norm, others = example("ninetoothed/rows.py").rms_norm, example("tileon/rows.py").rms_norm
    for n in (512, 1024, 2048):
        (a, b, c), x, d = operands(n), torch.randn(n, n), torch.empty(n, n)
        addmm(x, a, b, 0.5, 2.0, c)
        same(c, torch.addmm(x, a, b, beta=0.5, alpha=2.0))
        rivals = {"Tileon": lambda: other(x, a, b, 0.5, 2.0, d)}
        yield compare(f"NineToothed addmm f32 {n}", lambda: addmm(x, a, b, 0.5, 2.0, c), rivals, 2 * n**3, "GFLOP/s", 0.97)
    for m in (512, 1024, 2048):
        n = 1024
        x, w, y, z = torch.randn(m, n), torch.randn(n), torch.empty(m, n), torch.empty(m, n)
        weight = w.expand_as(x)
        rms_norm(x, weight, 1e-5, y, BLOCK_SIZE=n)
        same(y, F.rms_norm(x, (n,), w, 1e-5))
        ours = lambda: rms_norm(x, weight, 1e-5, y, BLOCK_SIZE=n)  # noqa: E731
        rivals = {"Tileon": lambda: others(x, w, z)}
        yield compare(f"NineToothed rms norm {m}x{n} f32", ours, rivals, 8 * m * n, "GB/s", 0.97)
    conv2d = example("ninetoothed/conv2d.py").conv2d
    for images, channels, size, filters in ((4, 64, 16, 512), (4, 512, 14, 512), (4, 64, 56, 64)):
        x, w = torch.randn(images, channels, size, size), torch.randn(filters, channels, 3, 3)
        expected = F.conv2d(x, w)
        y = torch.empty_like(expected)
        conv2d(x, w, y)
        same(y, expected)
        flops = 2 * y.numel() * w[0].numel()
        work = f"NineToothed conv2d {images}x{channels}x{size}x{size}, {filters} filters 3x3, f32"
        yield compare(work, lambda: conv2d(x, w, y), {"torch": lambda: F.conv2d(x, w)}, flops, "GFLOP/s", 0.8)


@row
def vector_add(threads):
    """Vector add f32 against torch."""
    add = example("tileon/rows.py").add
    for power in (20, 26):
        x, y = torch.randn(2**power), torch.randn(2**power)
        out, reference = torch.empty_like(x), torch.empty_like(x)
        same(add(x, y, out), x + y)
        rivals = {"torch": lambda: torch.add(x, y, out=reference)}
        yield compare(f"vector add 2^{power} f32", lambda: add(x, y, out), rivals, 12 * 2**power, "GB/s", 1.0)


def _row_kernels(m, n):
    kernels = example("tileon/rows.py")
    torch.manual_seed(n)
    x, w, b = torch.randn(m, n), torch.randn(n), torch.randn(n)
    out, reference = torch.empty_like(x), torch.empty_like(x)
    statistic = torch.empty(m, 1), torch.empty(m, 1)

    def native_layer_norm():
        torch.ops.aten.native_layer_norm.out(x, (n,), w, b, 1e-5, out0=reference, out1=statistic[0], out2=statistic[1])

    same(kernels.softmax(x, out), torch.softmax(x, -1))
    same(kernels.layer_norm(x, w, b, out), F.layer_norm(x, (n,), w, b))
    same(kernels.rms_norm(x, w, out), F.rms_norm(x, (n,), w, 1e-5))
    return {
        "softmax": (lambda: kernels.softmax(x, out), lambda: torch.softmax(x, -1, out=reference)),
        "layer norm": (lambda: kernels.layer_norm(x, w, b, out), native_layer_norm),
        "rms norm": (lambda: kernels.rms_norm(x, w, out), lambda: F.rms_norm(x, (n,), w, 1e-5)),
        "copy": (None, lambda: reference.copy_(x)),
    }


@row
def rows_in_cache(threads):
    """Softmax 4096x1000, layer norm and rms norm 4096x1024 against torch."""
    for name, n in (("softmax", 1000), ("layer norm", 1024), ("rms norm", 1024)):
        ours, theirs = _row_kernels(4096, n)[name]
        yield compare(f"{name} 4096x{n} f32", ours, {"torch": theirs}, 8 * 4096 * n, "GB/s", 1.0)


@row
def rows_from_memory(threads):
    """Softmax and layer norm 1024x16384 into a given output against a copy of the same size."""
    kernels = _row_kernels(1024, 16384)
    for name, goal in (("softmax", 0.6), ("layer norm", 0.7)):
        yield compare(f"{name} 1024x16384 f32", kernels[name][0], {"copy": kernels["copy"][1]}, 8 * 1024 * 16384, "GB/s", goal)


def _limit(work, values, limit, unit):
    """A row whose rival is a fixed limit on a time."""
    values = sorted(values)
    middle = statistics.median(values)
    low, high = limit / values[-1 - len(values) // 10], limit / values[len(values) // 10]
    return Result(work, middle, "limit", limit, unit, limit / middle, low, high, 1.0)


def _fresh_process(cache, *arguments):
    command = [sys.executable, str(Path(__file__).with_name("first_call.py")), *map(str, arguments)]
    environment = {**os.environ, "TILERY_CACHE_DIR": str(cache)}
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


@row
def first_call(threads):
    """First call of the matmul kernel with an empty and a warm disk cache, and import, each in a fresh process."""
    empty, warm, imports = [], [], []
    for _ in range(7):
        with tempfile.TemporaryDirectory() as cache:
            empty.append(_fresh_process(cache, 128, 256, 64))
            warm.append(_fresh_process(cache, 128, 256, 64))
            imports += [empty[-1]["import"], warm[-1]["import"]]
    yield _limit("first call, empty cache", [run["calls"][0] for run in empty], 150, "ms")
    yield _limit("first call, warm disk cache", [run["calls"][0] for run in warm], 10, "ms")
    yield _limit("import tilery", imports, 150, "ms")


@row
def compile_time(threads):
    """Compile time of the matmul kernel with blocks of 256x256x128 against 32x32x32."""
    large, small = [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as cache:
            _, first, second = _fresh_process(cache, 64, 64, 64, 256, 256, 128, 32, 32, 32)["calls"]
            large.append(first)
            small.append(second)
    ratios = sorted(s / b for s, b in zip(small, large, strict=True))
    middle = [statistics.median(values) for values in (large, small, ratios)]
    yield Result("compile 256x256x128 blocks", middle[0], "32x32x32", middle[1], "ms", middle[2], ratios[0], ratios[-1], 0.5)


@row
def launch(threads):
    """Launch of a one-program kernel with four arguments; torch.add of 16 elements beside it."""
    kernels = example("tileon/rows.py")
    x, y, out = torch.randn(16), torch.randn(16), torch.empty(16)
    kernel = kernels.add_kernel[(1,)]
    times = rounds({"ours": lambda: kernel(x, y, out, 16, BLOCK=16), "torch": lambda: torch.add(x, y, out=out)}, budget=2.0)
    beside = statistics.median(times["torch"]) * 1e6
    yield _limit(f"launch, 4 arguments (torch.add {beside:.1f} us)", [t * 1e6 for t in times["ours"]], 5, "us")


@row
def inductor(threads):
    """Elementwise chain, softmax and layer norm 4096x1024 written by torch.compile's Inductor in Triton against its C++."""
    command = [sys.executable, "-m", "tilery", "run", str(Path(__file__).with_name("inductor.py")), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for result in json.loads(done.stdout.splitlines()[-1]):
        yield Result(**result)
