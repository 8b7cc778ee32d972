"""Everyday programs of users beside torch, on one thread: CPU time, the least of some interleaved rounds, and torch's over ours.

./run python benchmarks/everyday/run.py [LANGUAGE/NAME ...]
"""

import os
import sys
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TILERY_NUM_THREADS"):
    os.environ[name] = "1"

import importlib  # noqa: E402

import torch  # noqa: E402

ROUNDS, SECONDS = 7, 0.02


def repeats(function):
    function()
    start = time.thread_time()
    function()
    return max(1, int(SECONDS / max(time.thread_time() - start, 1e-7)))


def race(ours, theirs):
    """CPU seconds a call, the least of each over rounds by turns."""
    counts = [repeats(ours), repeats(theirs)]
    least = [float("inf")] * 2
    for _ in range(ROUNDS):
        for i, function in enumerate((ours, theirs)):
            start = time.thread_time()
            for _ in range(counts[i]):
                function()
            least[i] = min(least[i], (time.thread_time() - start) / counts[i])
    return least


def main():
    torch.set_num_threads(1)
    for language in ("tileon", "ninetoothed", "tilelang"):
        for name, (ours, theirs, result) in importlib.import_module(f"{language}_programs").programs().items():
            full = f"{language}/{name}"
            if sys.argv[1:] and not any(word in full for word in sys.argv[1:]):
                continue
            ours()
            expected = theirs()
            near = {"rtol": 2e-2, "atol": 0.5} if result.element_size() == 2 else {"rtol": 1e-3, "atol": 1e-3}
            torch.testing.assert_close(result, expected.to(result.dtype).reshape(result.shape), **near)
            own, other = race(ours, theirs)
            print(f"{full:44} {own * 1e6:9.1f} us, torch {other * 1e6:9.1f}: {other / own:5.2f}", flush=True)


main()
