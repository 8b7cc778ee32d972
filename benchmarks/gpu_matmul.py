"""Schedules of the Hopper matmul beside each other and cuBLAS, on one GPU: which fields win where.

usage: gpu_matmul.py [--sizes 2048,4096,4096x14336x4096] [--sources tilelang,pointers,pointers32,ninetoothed,chosen]
                     [--majors row,column] [--blocks 128x256x64] [SCHEDULE ...]

A schedule is a value of TILERY_SCHEDULE such as "group=1 stages=3"; "" is the compiler's own.
"""

import argparse
import os
import statistics
import sys
from pathlib import Path

os.environ["TILERY_CACHE_DIR"] = ""
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]

import torch  # noqa: E402
from gpu_rounds import Contest  # noqa: E402
from loaded_programs import EXAMPLES, ours  # noqa: E402
from loaded_programs import HERE as PEERS  # noqa: E402
from matmuls import checker, operands  # noqa: E402


def tilelang(a, b, c, blocks, transposed):
    (m, k), n = a.shape, b.shape[1]
    kernel = ours(PEERS / "tilelang_matmul.py").matmul(m, n, k, transposed, 3, *blocks)
    given = b.t() if transposed else b
    return lambda: kernel(a, given, c)


def pointers(a, b, c, blocks, transposed):
    (m, k), n = a.shape, b.shape[1]
    names = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), blocks, strict=True))
    launch = ours(EXAMPLES / "tileon" / "matmul.py").matmul_kernel[(-(-m // blocks[0]) * -(-n // blocks[1]),)]
    return lambda: launch(a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), num_warps=8, num_stages=4, **names)


def ninetoothed(a, b, c, blocks, transposed):
    names = dict(zip(("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K"), blocks or (), strict=bool(blocks)))
    kernel = ours(EXAMPLES / "ninetoothed" / "matmul.py").matmul_kernel
    return lambda: kernel(a, b, c, **names)


def chosen(a, b, c, blocks, transposed):
    return ninetoothed(a, b, c, None, transposed)


# source: (function, type of the operands, type of the result)
SOURCES = {
    "tilelang": (tilelang, torch.bfloat16, torch.bfloat16),
    "pointers": (pointers, torch.bfloat16, torch.bfloat16),
    "pointers32": (pointers, torch.bfloat16, torch.float32),
    "ninetoothed": (ninetoothed, torch.float16, torch.float16),
    "chosen": (chosen, torch.float16, torch.float16),
}


def compare(shape, source, major, blocks, schedules, rounds):
    function, dtype, out = SOURCES[source]
    transposed = major == "column"
    a, b, c = operands(*shape, transposed, dtype)
    check = checker(a, b, c)
    result = c if out == dtype else torch.empty(c.shape, dtype=out, device="cuda")
    contest = Contest(rounds, milliseconds=10)
    contest.enter("cuBLAS", lambda: lambda: torch.mm(a, b, out=c), check)
    for schedule in schedules:
        os.environ["TILERY_SCHEDULE"] = schedule

        def rounded():
            if result is not c:
                c.copy_(result)
            check()
            result.fill_(float("nan"))

        contest.enter(schedule or "own", lambda: function(a, b, result, blocks, transposed), rounded)
    contest.run()
    m, n, k = shape
    rival = contest.times["cuBLAS"]
    print(f"{m}x{n}x{k} {source} {major}: cuBLAS {2e-9 * m * n * k / statistics.median(rival):.0f}")
    for name, times in contest.times.items():
        ratios = sorted(r / t for r, t in zip(rival, times, strict=True))
        if name != "cuBLAS":
            rate = 2e-9 * m * n * k / statistics.median(times)
            print(f"  {name:40} {rate:4.0f}  {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="2048,4096,8192")
    parser.add_argument("--sources", default="tilelang,pointers,ninetoothed")
    parser.add_argument("--majors", default="row")
    parser.add_argument("--blocks", default="128x256x64")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("schedules", nargs="*", default=[""])
    given = parser.parse_args()
    blocks = tuple(map(int, given.blocks.split("x")))
    for size in given.sizes.split(","):
        shape = tuple(map(int, size.split("x")))
        for source in given.sources.split(","):
            for major in given.majors.split(","):
                compare(shape * 3 if len(shape) == 1 else shape, source, major, blocks, given.schedules, given.rounds)


if __name__ == "__main__":
    main()
