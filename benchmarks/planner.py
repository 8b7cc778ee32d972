"""Builds of Tilery in turns, on kernels whose plans hang on the thresholds of compiler/lower/plan_stored.cpp.

usage: ./run python benchmarks/planner.py [--rounds N] [--kernels PART] NAME=FOLDER NAME=FOLDER ...

A folder is that of a build (it holds python/tilery/_native*.so), made with other values of the constants; the first one is what
the others are compared with. Each has a process of its own, on one thread; a round asks every process once for a kernel, and CPU
time counts, so that other work on the machine matters little. A line: a kernel, then for each build its time as a multiple of the
first one's, the median of the rounds (10th to 90th percentile); "=": the same machine code.
"""

import argparse
import hashlib
import sys
from pathlib import Path

import builds

ROOT = Path(__file__).resolve().parent.parent


def kernels():
    """{name: a launch}. The number in a name is the planner's cost of the tile in question: instructions of an element."""
    import planner_kernels as k

    found = {}
    for size in (1024, 16384):
        for kind in k.INVARIANTS:
            found[f"loop, {kind}, {size}"] = k.loop(kind, size)
            found[f"short loop, {kind}, {size}"] = k.loop(kind, size, count=2)
        for kind in k.EXPRESSIONS:
            found[f"two uses, {kind}, {size}"] = k.two_uses(kind, size)
        for stride in (2, 8, 64):
            found[f"loop, stride {stride}, {size}"] = k.strided_loop(stride, size, 64)
            found[f"short loop, stride {stride}, {size}"] = k.strided_loop(stride, size, 2)
            found[f"two uses, stride {stride}, {size}"] = k.strided_twice(stride, size)
        found[f"two uses, gathered, {size}"] = k.gathered_twice(size)
    for kind in k.EXPRESSIONS:
        found[f"broadcast, {kind}"] = k.broadcast(kind)
    for kind in k.INDICES:
        found[f"index in a loop, {kind}"] = k.index_in_loop(kind)
        found[f"index twice, {kind}"] = k.index_twice(kind)
    for columns in (8, 64, 512):
        found[f"index in a loop, rows of {columns} 20"] = k.rows_in_loop(columns)
    found["index twice, rows of 512 20"] = k.rows_twice()
    found.update(k.programs())
    return found


def work():
    """One build: kernels with digests of their code, then their times."""
    from tilery import _native

    compile, code = _native.compile, []

    def noting(*args, **options):
        compiled = compile(*args, **options)
        code.append(hashlib.sha256(compiled.image.object).hexdigest())
        return compiled

    _native.compile = noting
    builds.work(kernels(), note=lambda: code.pop())


def main():
    parser = argparse.ArgumentParser(prog="planner.py", description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kernels", default="", help="part of the names of those to measure")
    options = parser.parse_args()
    pairs = [text.split("=", 1) for text in options.builds]
    first, *others = [builds.Build(name, [Path(folder) / "python", ROOT / "python"], __file__) for name, folder in pairs]
    print(" " * 44, *(f"{build.name:24}" for build in others))
    for kernel, code in first.notes.items():
        differ = [build for build in others if build.notes[kernel] != code]
        if not differ or options.kernels not in kernel:
            continue
        ratios = {build.name: [] for build in differ}
        for _ in range(options.rounds):
            base = first.seconds(kernel)
            for build in differ:
                ratios[build.name].append(build.seconds(kernel) / base)
        cells = []
        for build in others:
            middle, low, high = builds.spread(ratios[build.name]) if build.name in ratios else (0, 0, 0)
            cells.append(f"{middle:.2f} ({low:.2f} to {high:.2f})" if middle else "=")
        print(f"{kernel:44}", *(f"{cell:24}" for cell in cells), flush=True)


work() if sys.argv[1:] == ["--work"] else main()
