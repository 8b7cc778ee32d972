"""A survey of programs as strangers write them, in Triton: 169 launches of 58 kernels under upstream and under Tilery in one
process, interleaved, compared with each other (their results were compared with the reference interpreter's on a CPU).

./run python benchmarks/survey/run.py [NAME ...] [--rounds N] [--warm I N] [--cpu]

NAME: a part of a case's name. --warm I N: compiles each N-th case from the I-th on and measures nothing (upstream's compiler
takes most of the time: several processes fill its cache). --cpu: small sizes on the CPU, machine code beside the interpreter.
Ratio: upstream's time over ours; microseconds, medians of upstream's do_bench, an empty L2 before each call.
"""

import argparse
import math
import os
import statistics
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from survey import attention, products, rows  # noqa: E402, F401  (they add their cases)
from survey.cases import CASES, Environment, programs  # noqa: E402


def distance(found, expected):
    """Relative, by norms; NaN where one has NaNs that the other has not."""
    found, expected = found.double().cpu(), expected.double().cpu()
    if not torch.equal(found.isnan(), expected.isnan()):
        return float("nan")
    found, expected = found.nan_to_num(), expected.nan_to_num()
    return float((found - expected).norm() / (expected.norm() + 1e-30))


def launched(modules, name, device, small=False):
    """(launch, copies of what it wrote) of a case; the message where it fails."""
    function, numbers = CASES[name]
    try:
        launch, written = function(Environment(modules, device, small), *numbers)
        launch()
        if device == "cuda":
            torch.cuda.synchronize()
        return launch, [tensor.clone() for tensor in written]
    except Exception as failure:  # a case that fails is a line of the table
        return f"{type(failure).__name__}: {str(failure).splitlines()[0][:160]}"


def on_the_cpu(names):
    ours = programs(True)
    for name in names:
        results = []
        for oracle in "01":
            os.environ["TILERY_ORACLE"] = oracle
            results.append(launched(ours, name, "cpu", small=True))
        failed = [result for result in results if isinstance(result, str)]
        far = not failed and [d for d in map(distance, results[0][1], results[1][1]) if not d < 1e-2]
        if failed or far:
            print(name, failed or far)
    print(f"{len(names)} launches")


def measured(names, rounds):
    from triton.testing import do_bench

    sides, table = [programs(True), programs(False)], []
    for name in names:
        results = [launched(modules, name, "cuda") for modules in sides]
        if any(isinstance(result, str) for result in results):
            print(name, *("ours" if i == 0 else "upstream's" for i in (0, 1) if isinstance(results[i], str)), "fails:", results)
            continue
        times = [[], []]
        for _ in range(rounds):
            for i in (0, 1):
                times[i].append(1e3 * do_bench(results[i][0], warmup=3, rep=12, return_mode="median"))
        ours, theirs = map(statistics.median, times)
        far = max(map(distance, results[0][1], results[1][1]), default=0.0)
        table.append((theirs / ours, name, ours, theirs, far))
    for ratio, name, ours, theirs, far in sorted(table):
        print(f"{ratio:5.2f} {name:48s} {ours:9.1f} {theirs:9.1f} {far:.1e}{'' if far < 2e-2 else '  WRONG?'}")
    if table:
        print(f"{len(table)} launches, geometric mean {math.exp(statistics.fmean(math.log(row[0]) for row in table)):.3f}")


def main():
    parser = argparse.ArgumentParser(description="Triton programs under upstream and under Tilery")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", nargs=2, type=int, metavar=("I", "N"))
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    names = [name for name in CASES if not options.names or any(part in name for part in options.names)]
    if options.cpu:
        on_the_cpu(names)
    elif options.warm:
        for modules in (programs(True), programs(False)):
            for name in names[options.warm[0] :: options.warm[1]]:
                launched(modules, name, "cuda")
    else:
        measured(names, options.rounds)


if __name__ == "__main__":
    main()
