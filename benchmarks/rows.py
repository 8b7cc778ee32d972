"""The rows of the table: each is a named function that yields Results."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import lane_kernels
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
    yield from _under_tilery("inductor.py", threads)


@row
def models(threads):
    """Blocks of a transformer, a ResNet and a mixture of experts by torch.compile, its Triton against its C++ and eager torch."""
    yield from _under_tilery("compiled_models.py", threads)


def _under_tilery(program, threads):
    command = [sys.executable, "-m", "tilery", "run", str(Path(__file__).with_name(program)), str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for result in json.loads(done.stdout.splitlines()[-1]):
        yield Result(**result)


def _same_numbers(ours, expected):
    torch.testing.assert_close(ours, expected, rtol=1e-2, atol=1e-2 * float(expected.double().abs().max()))


@row
def lanes(threads):
    """Rows sorted, their largest elements, cumulative sums along and across them, against torch."""
    for m, n in ((256, 1024), (16, 16384)):
        x = torch.randn(m, n)
        out, values, places = torch.empty_like(x), torch.empty_like(x), torch.empty(m, n, dtype=torch.int64)
        lane_kernels.sort_rows[(m,)](x, out, n)
        _same_numbers(out, torch.sort(x, 1).values)
        ours, rivals = lambda: lane_kernels.sort_rows[(m,)](x, out, n), {"torch": lambda: torch.sort(x, 1, out=(values, places))}
        yield compare(f"sort rows {m}x{n} f32", ours, rivals, m * n, "Gelements/s", 1.0)
        first, other = torch.empty(m, dtype=torch.int64), torch.empty(m, dtype=torch.int64)
        lane_kernels.largest_of_rows[(m,)](x, first, n)
        _same_numbers(first, torch.argmax(x, 1))
        ours, rivals = lambda: lane_kernels.largest_of_rows[(m,)](x, first, n), {"torch": lambda: torch.argmax(x, 1, out=other)}
        yield compare(f"argmax of rows {m}x{n} f32", ours, rivals, m * n, "Gelements/s", 1.0)
        for dtype in (torch.float32, torch.float16, torch.int64):
            y = (x * 8).to(dtype)
            sums, theirs = torch.empty_like(y), torch.empty_like(y)
            ours = lambda: lane_kernels.sums_along_rows[(m,)](y, sums, n)  # noqa: E731
            ours()
            rivals = {"torch": lambda: torch.cumsum(y, 1, out=theirs)}
            yield compare(f"cumulative sums of rows {m}x{n} {str(dtype)[6:]}", ours, rivals, m * n, "Gelements/s", 1.0)
    x, sums, theirs = torch.randn(64, 4096), torch.empty(64, 4096), torch.empty(64, 4096)
    ours = lambda: lane_kernels.sums_down_columns[(16,)](x, sums, 4096, 64, 256)  # noqa: E731
    ours()
    _same_numbers(sums, torch.cumsum(x, 0))
    rivals = {"torch": lambda: torch.cumsum(x, 0, out=theirs)}
    yield compare("cumulative sums of columns 64x4096 f32", ours, rivals, x.numel(), "Gelements/s", 1.0)
    x, top = torch.randn(4096, 256), torch.empty(4096, 8)
    ours = lambda: lane_kernels.top_of_rows[(4096,)](x, top, 256, 8)  # noqa: E731
    ours()
    _same_numbers(top, torch.topk(x, 8, 1).values)
    yield compare("topk 8 of rows 4096x256 f32", ours, {"torch": lambda: torch.topk(x, 8, 1)}, x.numel(), "Gelements/s", 1.0)


@row
def updates(threads):
    """Numbers and rows added to computed places by atomics against torch."""
    n = 2**20
    for cells in (1000, 2**16, 2**20):
        places, values = torch.randint(0, cells, (n,)), torch.randn(n)
        out, other = torch.zeros(cells), torch.zeros(cells)
        ours = lambda: lane_kernels.scatter_add[(n // 1024,)](out, places, values, n, 1024)  # noqa: E731
        ours()
        _same_numbers(out, other.scatter_add_(0, places, values))
        rivals = {"torch": lambda: other.scatter_add_(0, places, values)}
        yield compare(f"2^20 numbers added into {cells} f32", ours, rivals, n, "Gelements/s", 1.0)
    for dtype in (torch.float32, torch.bfloat16):
        rows, values = torch.randint(0, 32000, (4096,)), torch.randn(4096, 512).to(dtype)
        out, other = torch.zeros(32000, 512, dtype=dtype), torch.zeros(32000, 512, dtype=dtype)
        ours = lambda: lane_kernels.add_rows[(4096,)](out, rows, values, 512)  # noqa: E731
        ours()
        _same_numbers(out, other.index_add_(0, rows, values))
        rivals = {"torch": lambda: other.index_add_(0, rows, values)}
        yield compare(f"4096 rows of 512 added by an index {str(dtype)[6:]}", ours, rivals, values.numel(), "Gelements/s", 1.0)


@row
def windows_of_channels(threads):
    """Depthwise convolutions of flattened elements, channels first and last, against torch."""
    for channels, size, window in ((64, 56, 3), (96, 56, 7), (128, 28, 5)):
        for last in (False, True):
            x, w = torch.randn(2, channels, size, size), torch.randn(channels, 1, window, window)
            form = torch.channels_last if last else torch.contiguous_format
            x, other = x.contiguous(memory_format=form), w.contiguous(memory_format=form)
            out, weights = torch.empty_like(x), w.permute(2, 3, 0, 1).contiguous() if last else w
            arguments = (x, weights, out, x.numel(), channels, size, size, window, last, 1024)
            ours = partial(lane_kernels.windows[(-(-x.numel() // 1024),)], *arguments)
            theirs = partial(F.conv2d, x, other, padding=window // 2, groups=channels)
            ours()
            same(out, theirs())
            work = f"depthwise {window}x{window} 2x{channels}x{size}x{size} f32, flattened{', channels last' if last else ''}"
            yield compare(work, ours, {"torch": theirs}, 2 * window**2 * x.numel(), "GFLOP/s", 0.5)


@row
def vector_times_matrix(threads):
    """Sums along columns of a matrix that lies either way against torch."""
    n = 1024
    for turned in (False, True):
        a, b, out, other = torch.randn(n), torch.randn(n, n), torch.empty(n), torch.empty(n)
        b = b.t() if turned else b
        ours = partial(lane_kernels.vector_times_columns[(n // 16,)], a, b, out, n, n, *b.stride(), 16, 128)
        ours()
        same(out, a @ b)
        work = f"a vector times {n}x{n} f32{', turned' if turned else ''}, sums of 16 columns"
        yield compare(work, ours, {"torch": lambda: torch.mv(b.t(), a, out=other)}, 4 * n * n, "GB/s", 0.5)
