"""Products of many matrices, and of 8-bit floats, in pointer style: beside cuBLAS, and beside Triton on the same source."""

import itertools

import torch
from gpu_rounds import Contest
from loaded_programs import HERE, as_triton, ours, rivals
from matmuls import checker, pointer_call

WIDE, SQUARE = (128, 256, 64), (128, 128, 64)


def batched_call(load, a, b, c, blocks, stages):
    (batches, m, k), n = a.shape, b.shape[2]
    names = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), blocks, strict=True), GROUP=8)
    launch = load(HERE / "batched_matmul.py").batched[(-(-m // blocks[0]) * -(-n // blocks[1]), batches)]
    warps = 8 if blocks == WIDE else 4
    strides = (*a.stride(), *b.stride(), *c.stride())
    return lambda: launch(a, b, c, m, n, k, *strides, num_warps=warps, num_stages=stages, **names)


def batched(batches, size, goal):
    """bf16, square matrices, one behind the other."""
    a, b, c = (torch.randn(batches, size, size, device="cuda").bfloat16() for _ in range(3))
    check = checker(a, b, c)
    contest = Contest()
    contest.enter("cuBLAS", lambda: lambda: torch.bmm(a, b, out=c), check)
    for blocks in (WIDE, SQUARE):
        for stages in (3, 4):
            for name, load in (("ours", ours), ("Triton", as_triton)):
                prepare = lambda load=load, blocks=blocks, n=stages: batched_call(load, a, b, c, blocks, n)
                contest.enter(f"{name}, {blocks[0]}x{blocks[1]}, {stages} stages", prepare, check)
    contest.run()
    work, amount = f"{batches} matmuls {size}, pointers", 2 * batches * size**3 / 1e12
    for rival in ("cuBLAS", "Triton"):
        yield from contest.result(work, "ours", rival, amount, "TFLOP/s", goal)


def float8(size, transposed=True, goal=1.0):
    """e4m3, results in f16; both operands with k in one piece, or B with its rows in one, of which cuBLASLt has the transpose."""
    a = torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn)
    columns = torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn).t()
    b = columns if transposed else columns.contiguous()
    c = torch.empty(size, size, device="cuda", dtype=torch.float16)
    one = torch.ones((), device="cuda")
    # The tensor cores keep 13 bits behind the leading one of the largest of 32 products and the sum: each step may lose one.
    check = checker(a, b, c, lost=(size / 32 + 2) * 2.0**-12)
    contest = Contest()
    # `accumulator += tl.dot(a, b)` asks for sums with all bits of f32, T.gemm for the tensor cores' own.
    for sums in ("all bits", "fast"):
        how = dict(out_dtype=torch.float16, use_fast_accum=sums == "fast", out=c)
        scaled = lambda how=how: torch._scaled_mm(a, columns, one, one, **how)
        contest.enter(f"cuBLASLt, {sums}", lambda scaled=scaled: scaled, check)
    tiles = [(128, 256, 128)] if transposed else [(128, 256, 128), (256, 128, 128)]
    for blocks, stages in itertools.product(tiles, (3, 4)):
        how = f"{blocks[0]}x{blocks[1]}, {stages} stages"
        for name, load in (("ours", ours), ("Triton", as_triton)):
            prepare = lambda load=load, n=stages, blocks=blocks: pointer_call(load, a, b, c, n, blocks)
            contest.enter(f"{name}, {how}", prepare, check)
        for name, load in (("our TileLang", ours), ("TileLang", rivals)):
            prepare = lambda load=load, n=stages, blocks=blocks: float8_tilelang(load, a, b, c, n, transposed, blocks)
            contest.enter(f"{name}, {how}", prepare, check)
    contest.run()
    work = f"matmul e4m3 {size}, B {'column' if transposed else 'row'}-major"
    for source, name, rival, least in (
        ("pointers", "ours", "cuBLASLt, all bits", goal),
        ("TileLang", "our TileLang", "cuBLASLt, fast", goal),
        ("pointers", "ours", "Triton", 1.0),
        ("TileLang", "our TileLang", "TileLang", 1.0),
    ):
        yield from contest.result(f"{work}, {source}", name, rival, 2 * size**3 / 1e12, "TFLOP/s", least)


def float8_tilelang(load, a, b, c, stages, transposed, blocks):
    matmul = load(HERE / "tilelang_matmul.py").matmul
    kernel = matmul(*c.shape, a.shape[1], transposed, stages, *blocks, dtype="float8_e4m3", out="float16")
    return lambda: kernel(a, b.t() if transposed else b, c)


WORKLOADS = {
    "batched matmuls": {
        "batch-32x512": lambda: batched(32, 512, 1.0),
        "batch-64x1024": lambda: batched(64, 1024, 1.0),
        "batch-2x4096": lambda: batched(2, 4096, 1.0),
    },
    "matmul e4m3, B column-major": {"float8-4096": lambda: float8(4096), "float8-8192": lambda: float8(8192)},
    "matmul e4m3, B row-major": {
        "float8-4096-row": lambda: float8(4096, False, 0.85),
        "float8-8192-row": lambda: float8(8192, False, 0.85),
    },
}
