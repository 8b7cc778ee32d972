"""Matmuls of few rows, and of sizes that tiles do not divide, in several tiles: beside cuBLAS, TileLang and Triton."""

import torch
from gpu_rounds import Contest
from loaded_programs import EXAMPLES, HERE, as_triton, ours, rivals
from matmuls import checker, operands, pointer_call

FLAT = ((16, 64, 64), (16, 128, 64))
SQUARE = ((64, 128, 64), (128, 128, 64), (128, 256, 64))
SHAPES = {  # m, n, k, tiles, least ratio to cuBLAS
    "1x8192x8192": (1, 8192, 8192, FLAT, 1.0),
    "16x8192x8192": (16, 8192, 8192, FLAT, 1.0),
    "64x8192x8192": (64, 8192, 8192, ((64, 64, 64), (64, 128, 64)), 1.0),
    "128x8192x8192": (128, 8192, 8192, ((128, 64, 64), (64, 128, 64), (128, 128, 64)), 1.0),
    "1000": (1000, 1000, 1000, SQUARE, 1.0),
    "4000": (4000, 4000, 4000, SQUARE[1:], 1.0),
    "1024x1023x1024": (1024, 1023, 1024, SQUARE[:2], 2.0),
}
STAGES = 4


def enter_tiles(contest, a, b, c, tiles, check):
    (m, k), n = a.shape, b.shape[1]

    def tilelang(load, blocks):
        kernel = load(HERE / "tilelang_matmul.py").matmul(m, n, k, False, STAGES, *blocks)
        return lambda: kernel(a, b, c)

    def pointers(load, blocks):
        return pointer_call(load, a, b, c, STAGES, blocks)

    for blocks in tiles:
        tile = "x".join(map(str, blocks))
        contest.enter(f"our TileLang, {tile}", lambda blocks=blocks: tilelang(ours, blocks), check)
        contest.enter(f"our pointers, {tile}", lambda blocks=blocks: pointers(ours, blocks), check)
        contest.enter(f"TileLang, {tile}", lambda blocks=blocks: tilelang(rivals, blocks), check)
        contest.enter(f"Triton, {tile}", lambda blocks=blocks: pointers(as_triton, blocks), check)


def shape(name):
    m, n, k, tiles, goal = SHAPES[name]
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False  # as ours: sums in f32
    contest = Contest()
    a, b, c = operands(m, n, k, False, torch.bfloat16)
    contest.enter("cuBLAS", lambda: lambda: torch.mm(a, b, out=c), checker(a, b, c))
    enter_tiles(contest, a, b, c, tiles, checker(a, b, c))
    half = operands(m, n, k, False, torch.float16)
    kernel = ours(EXAMPLES / "ninetoothed" / "matmul.py").matmul_kernel
    contest.enter("f16 cuBLAS", lambda: lambda: torch.mm(*half[:2], out=half[2]), checker(*half))
    contest.enter("our NineToothed", lambda: lambda: kernel(*half), checker(*half))
    contest.run()
    for source, our, rival, least in (
        ("TileLang", "our TileLang", "cuBLAS", goal),
        ("pointers", "our pointers", "cuBLAS", goal),
        ("NineToothed f16", "our NineToothed", "f16 cuBLAS", goal),
        ("TileLang", "our TileLang", "TileLang", 1.0),
        ("pointers", "our pointers", "Triton", 1.0),
    ):
        yield from contest.result(f"matmul {name}, {source}", our, rival, 2 * m * n * k / 1e12, "TFLOP/s", least)


def rows(*names):
    return {f"shape-{name}": lambda name=name: shape(name) for name in names}


WORKLOADS = {
    "matmuls of 1 and 16 rows, 8192x8192": rows("1x8192x8192", "16x8192x8192"),
    "matmuls of 64 and 128 rows, 8192x8192": rows("64x8192x8192", "128x8192x8192"),
    "matmul 1000": rows("1000"),
    "matmul 4000": rows("4000"),
    "matmul 1024x1023x1024": rows("1024x1023x1024"),
}
