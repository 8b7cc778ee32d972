"""Programs around a product beside cuBLAS and beside Triton on the same source: split and streamed steps, groups of problems,
packed weights, two products in one program, one row."""

import torch
from gpu_rounds import Contest
from loaded_programs import HERE, as_triton, ours
from matmuls import BLOCKS, checker

PATH = HERE / "product_programs.py"
TILES = (BLOCKS, (128, 128, 64))


def half(*shape):
    return torch.randn(*shape, device="cuda").half()


def sums_check(a, b, c, prepare=lambda: None):
    """As matmuls.checker, of sums in f32 that several programs add up; zeros c for the next call."""
    exact, most = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    c.zero_()

    def check():
        wrong = int((~((c.double() - exact).abs() <= (a.shape[1] + 8) * 2.0**-23 * most)).sum())
        c.zero_()
        prepare()
        if wrong:
            raise ValueError(f"{wrong} of {c.numel()} elements of the product are wrong")

    return check


def race(work, enter, cublas, check, amount, unit="TFLOP/s", goals=(("Triton", 1.0),), tiles=TILES, name="cuBLAS"):
    """enter(module, tiles) -> call, for us and for Triton."""
    contest = Contest()
    if cublas:
        contest.enter(name, cublas, check)
    for blocks in tiles:
        for stages in (3, 4):
            for label, load in (("ours", ours), ("Triton", as_triton)):
                options = dict(num_warps=8 if blocks[1] > 128 else 4, num_stages=stages)
                prepare = lambda load=load, blocks=blocks, options=options: enter(load(PATH), blocks, options)
                contest.enter(f"{label}, {'x'.join(map(str, blocks))}, {stages} stages", prepare, check)
    contest.run()
    for rival, goal in goals:
        yield from contest.result(work, "ours", rival, amount, unit, goal)


def names(blocks):
    return dict(zip(("BM", "BN", "BK"), blocks, strict=True))


def multiprocessors():
    return torch.cuda.get_device_properties(0).multi_processor_count


def split_k(kind, m=512, n=512, k=16384, split=8):
    a, b, c = half(m, k), half(k, n), torch.zeros(m, n, device="cuda")
    locks = torch.zeros(m * n, device="cuda", dtype=torch.int32)

    def enter(module, blocks, options):
        grid = (-(-m // blocks[0]) * -(-n // blocks[1]), split)
        if kind == "atomics":
            return lambda: module.split_k_atomics[grid](a, b, c, m, n, k, SPLIT=split, **names(blocks), **options)
        return lambda: module.split_k_semaphores[grid](a, b, c, locks, m, n, k, SPLIT=split, **names(blocks), **options)

    work = f"matmul {m}x{n}x{k}, {split} parts of k, {kind}"
    yield from race(work, enter, None, sums_check(a, b, c), 2 * m * n * k / 1e12, tiles=((128, 128, 64),))


def stream_k(size=3072 + 256):
    a, b, c = half(size, size), half(size, size), torch.zeros(size, size, device="cuda")
    enter = lambda module, blocks, options: (
        lambda: module.stream_k[(multiprocessors(),)](a, b, c, size, size, size, **names(blocks), **options)
    )
    yield from race(f"matmul {size}, stream-K", enter, None, sums_check(a, b, c), 2 * size**3 / 1e12)


def grouped():
    """As of experts: one width and depth, other heights."""
    heights, n, k = (512, 1024, 2048, 128, 3072, 256, 1024, 128), 4096, 2048
    problems = [(half(m, k), half(k, n), torch.empty(m, n, device="cuda", dtype=torch.float16)) for m in heights]
    pointers = torch.tensor([[t.data_ptr() for t in problem] for problem in problems], device="cuda")
    sizes = torch.tensor([[m, n, k] for m in heights], device="cuda", dtype=torch.int32)
    checks = [checker(*problem) for problem in problems]
    count = multiprocessors()

    def enter(module, blocks, options):
        launch = module.grouped[(count,)]
        return lambda: launch(pointers, sizes, len(heights), NUM_PROGRAMS=count, **names(blocks), **options)

    each = lambda: lambda: [torch.mm(a, b, out=c) for a, b, c in problems]
    work, amount = f"{len(heights)} products of a table, {sum(heights)} rows", 2 * sum(heights) * n * k / 1e12
    goals = (("Triton", 1.0), ("cuBLAS", 1.0))
    yield from race(work, enter, each, lambda: [check() for check in checks], amount, goals=goals, name="cuBLAS, one by one")


def int4(m, n=8192, k=8192, scaled=128):
    a, scales, c = half(m, k), half(k // scaled, n).abs() * 0.1, torch.empty(m, n, device="cuda", dtype=torch.float16)
    packed = torch.randint(-(2**31), 2**31, (k // 8, n), device="cuda", dtype=torch.int64).int()
    shifts = 4 * torch.arange(8, device="cuda", dtype=torch.int32)
    weights = ((packed[:, None] >> shifts[None, :, None]) & 15) - 8
    b = weights.reshape(k, n).half() * scales.repeat_interleave(scaled, 0)

    def enter(module, blocks, options):
        launch = module.int4_weights[(-(-m // blocks[0]) * -(-n // blocks[1]),)]
        return lambda: launch(a, packed, scales, c, m, n, k, SCALED=scaled, **names(blocks), **options)

    tiles = ((16, 128, 64), (16, 64, 128)) if m < 64 else ((128, 128, 64), BLOCKS)
    work, goals = f"matmul {m}x{n}x{k}, weights of 4 bits", (("Triton", 1.0), ("f16 cuBLAS", 1.0))
    cublas = lambda: lambda: torch.mm(a, b, out=c)
    yield from race(work, enter, cublas, checker(a, b, c), 2 * m * n * k / 1e12, goals=goals, tiles=tiles, name="f16 cuBLAS")


def mlp(m=16384, hidden=4096, width=128):
    x, up, down, y = half(m, width), half(width, hidden) * 0.1, half(hidden, width) * 0.1, half(m, width)
    exact = (torch.relu(x.double() @ up.double()) ** 2).half().double() @ down.double()

    def check():
        torch.testing.assert_close(y.double(), exact, rtol=2e-2, atol=2e-2 * float(exact.abs().mean()))
        y.fill_(float("nan"))

    def enter(module, blocks, options):
        return lambda: module.mlp[(-(-m // 128),)](x, up, down, y, m, hidden, D=width, BM=128, BH=blocks[1], **options)

    tiles = ((128, 64, 0), (128, 128, 0))
    yield from race(f"mlp {m}x{width}, {hidden} hidden", enter, None, check, 4 * m * hidden * width / 1e12, tiles=tiles)


def matrix_vector(m=8192, n=8192):
    a, x, y = half(m, n), half(n), torch.empty(m, device="cuda", dtype=torch.float16)
    check = checker(a, x[:, None], y[:, None])

    def enter(module, blocks, options):
        return lambda: module.matrix_vector[(-(-m // blocks[0]),)](a, x, y, m, n, BM=blocks[0], BN=blocks[1], **options)

    goals = (("Triton", 1.0), ("cuBLAS", 1.0))
    cublas = lambda: lambda: torch.mv(a, x, out=y)
    tiles = ((1, 2048, 0), (4, 1024, 0), (16, 256, 0))
    yield from race(f"matrix-vector {m}x{n}", enter, cublas, check, 2 * m * n / 1e9, "GB/s", goals, tiles)


WORKLOADS = {
    "matmul 512x512x16384, 8 parts of k": {
        f"product-split-k-{kind}": lambda kind=kind: split_k(kind) for kind in ("atomics", "semaphores")
    },
    "matmul 3328, stream-K": {"product-stream-k": stream_k},
    "8 products of a table": {"product-grouped": grouped},
    "weights of 4 bits, 16 rows": {"product-int4-16": lambda: int4(16)},
    "weights of 4 bits, 4096 rows": {"product-int4-4096": lambda: int4(4096)},
    "two products in one program (mlp)": {"product-mlp": mlp},
    "matrix-vector 8192x8192": {"product-matrix-vector": matrix_vector},
}
