"""Matmuls of the three languages beside cuBLAS, and beside TileLang and Triton on the same source."""

import torch
from gpu_rounds import Contest
from loaded_programs import EXAMPLES, HERE, as_triton, ours, rivals

BLOCKS = (128, 256, 64)
STAGES = (3, 4)


def operands(m, n, k, transposed, dtype):
    """A, B with its rows or its columns in one piece, and an output; normal(0, 1)."""
    a = torch.randn(m, k, device="cuda", dtype=dtype)
    b = torch.randn(n, k, device="cuda", dtype=dtype).t() if transposed else torch.randn(k, n, device="cuda", dtype=dtype)
    return a, b, torch.empty(m, n, device="cuda", dtype=dtype)


def checker(a, b, c, lost=0.0):
    """A function that raises unless c is a @ b, each sum of k products rounded once; it spoils c for the next contestant.
    lost: what else a sum may lose, beside the sum of its products' absolute values."""
    exact = a.double() @ b.double()
    unit = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}[c.dtype]
    bound = unit * exact.abs() + (lost + (a.shape[-1] + 2) * 2.0**-23) * (a.double().abs() @ b.double().abs())
    c.fill_(float("nan"))

    def check():
        wrong = int((~((c.double() - exact).abs() <= bound)).sum())
        c.fill_(float("nan"))
        if wrong:
            raise ValueError(f"{wrong} of {c.numel()} elements of the product are wrong")

    return check


def pointer_call(load, a, b, c, stages, blocks=BLOCKS):
    (m, k), n = a.shape, b.shape[1]
    names = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), blocks, strict=True))
    launch = load(EXAMPLES / "tileon" / "matmul.py").matmul_kernel[(-(-m // blocks[0]) * -(-n // blocks[1]),)]
    return lambda: launch(a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), num_warps=8, num_stages=stages, **names)


def enter_bf16(contest, m, n, k, transposed):
    """TileLang's and the pointer-style source in bf16, from us and from those who made the languages, and cuBLAS."""
    a, b, c = operands(m, n, k, transposed, torch.bfloat16)
    given = b.t() if transposed else b
    check = checker(a, b, c)

    def tilelang(load, stages):
        kernel = load(HERE / "tilelang_matmul.py").matmul(m, n, k, transposed, stages)
        return lambda: kernel(a, given, c)

    def pointers(load, stages):
        return pointer_call(load, a, b, c, stages)

    contest.enter("cuBLAS", lambda: lambda: torch.mm(a, b, out=c), check)
    for stages in STAGES:
        contest.enter(f"our TileLang, {stages} stages", lambda: tilelang(ours, stages), check)
        contest.enter(f"our pointers, {stages} stages", lambda: pointers(ours, stages), check)
        contest.enter(f"TileLang, {stages} stages", lambda: tilelang(rivals, stages), check)
        contest.enter(f"Triton, {stages} stages", lambda: pointers(as_triton, stages), check)


def enter_f16(contest, m, n, k, transposed):
    """NineToothed's README, whose result is f16, with tiles left to the compiler, and cuBLAS."""
    a, b, c = operands(m, n, k, transposed, torch.float16)
    check = checker(a, b, c)
    kernel = ours(EXAMPLES / "ninetoothed" / "matmul.py").matmul_kernel
    contest.enter("f16 cuBLAS", lambda: lambda: torch.mm(a, b, out=c), check)
    contest.enter("our NineToothed", lambda: lambda: kernel(a, b, c), check)


def matmul(m, n, k, goal, transposed):
    """Rows of one shape."""
    contest = Contest()
    enter_bf16(contest, m, n, k, transposed)
    enter_f16(contest, m, n, k, transposed)
    contest.run()
    shape = f"{m}" if m == n == k else f"{m}x{n}x{k}"
    amount = 2 * m * n * k / 1e12
    which = f"matmul {shape}, B {'column' if transposed else 'row'}-major"
    for source, name, rival, least in (
        ("TileLang", "our TileLang", "cuBLAS", goal),
        ("pointers", "our pointers", "cuBLAS", goal),
        ("NineToothed f16", "our NineToothed", "f16 cuBLAS", goal),
        ("TileLang", "our TileLang", "TileLang", 1.0),
        ("pointers", "our pointers", "Triton", 1.0),
    ):
        yield from contest.result(f"{which}, {source}", name, rival, amount, "TFLOP/s", least)


def matmul_1024():
    """Tiles left to the compiler, in f16."""
    contest = Contest()
    enter_f16(contest, 1024, 1024, 1024, False)
    contest.run()
    yield from contest.result(
        "matmul 1024, tiles left to the compiler", "our NineToothed", "f16 cuBLAS", 2 * 1024**3 / 1e12, "TFLOP/s", 0.9
    )


SHAPES = {"2048": (2048, 2048, 2048, 0.95), "4096": (4096,) * 3 + (1.0,), "8192": (8192,) * 3 + (1.0,)}
SHAPES["4096x14336x4096"] = (4096, 14336, 4096, 1.0)


def rows(name):
    return {
        f"matmul-{name}-{major}": lambda transposed=transposed: matmul(*SHAPES[name], transposed)
        for major, transposed in (("row", False), ("column", True))
    }


WORKLOADS = {"matmul 1024": {"matmul-1024": matmul_1024}} | {f"matmul {name}": rows(name) for name in SHAPES}
