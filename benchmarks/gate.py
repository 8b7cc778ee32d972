"""Has anything become slower? This build and an earlier one in turns, on some thirty rows in all languages.

usage: ./run gate [BASE] [--rounds N] [--rows PART]
BASE: a commit (usually HEAD~1), built once in build/base; or a folder that has Tilery's package with its binding (`python` of an
unpacked archive). A line a row: the base's time / ours, median of the rounds (10th to 90th percentile). A row is slower when its
median is below 1 by more than its spread and 3 %, and still is when it is measured again with three times the rounds. The exit
status is 1 then."""

import argparse
import os
import sys
import time
from pathlib import Path

import builds

ROOT = Path(__file__).resolve().parent.parent
LEAST = 0.03  # what machines differ by from one minute to the next


def work(device):
    import torch
    from gate_rows import rows_of

    torch.manual_seed(0)
    torch.set_num_threads(1)

    def now():
        torch.cuda.synchronize()
        return time.perf_counter()

    builds.work(rows_of(device), time.thread_time if device == "cpu" else now)


def ratios(ours, base, row, rounds):
    """Each round's time of the base / ours."""
    return [base.seconds(row) / ours.seconds(row) for _ in range(rounds)]


def is_slower(values):
    """By more than the spread of its rounds, and than LEAST."""
    middle, low, high = builds.spread(values)
    return middle < 1 - max(LEAST, (high - low) / 2)


def measured(row, ours, base, rounds):
    """(the row's ratios, whether it has become slower)."""
    values = ratios(ours, base, row, rounds)
    if is_slower(values):
        values = ratios(ours, base, row, 3 * rounds)
    return values, is_slower(values)


def package_of(base):
    """The folders that hold the base's package and binding."""
    if Path(base).is_dir():
        return [Path(base).resolve()]
    sys.path.insert(0, str(ROOT / "tools"))
    from base_build import build_base

    tree = build_base(base, ROOT / "build" / "base", "_native", [f"-DPython_EXECUTABLE={sys.executable}"])
    return [tree / "python", tree / "build" / "python"]


def main():
    parser = argparse.ArgumentParser(prog="./run gate", description=__doc__.splitlines()[0])
    parser.add_argument("base", nargs="?", default="HEAD~1", help="a commit, or a folder with the package")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rows", default="", help="part of the names of those to measure")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    here = [path for path in os.environ["PYTHONPATH"].split(os.pathsep) if path]
    ours, base = (
        builds.Build(name, folders, __file__, options.device)
        for name, folders in (("this build", here), (options.base, package_of(options.base)))
    )
    slower = []
    for row in ours.notes:
        if options.rows in row:
            values, lost = measured(row, ours, base, options.rounds)
            print("{:32} {:.3f} ({:.3f} to {:.3f})".format(row, *builds.spread(values)), "SLOWER" * lost, flush=True)
            slower += [row] * lost
    print(f"{len(slower)} of {len(ours.notes)} rows are slower than with {options.base}", *slower, sep="\n  ")
    return bool(slower)


if __name__ == "__main__":
    sys.exit(work(sys.argv[2]) if sys.argv[1:2] == ["--work"] else main())
