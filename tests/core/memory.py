"""Compiles kernels of a language, uses them and drops them: python memory.py LANGUAGE WARM ROUND ROUNDS. Prints the kilobytes
that each kernel of a round has left behind, a line a round, after WARM kernels that are not counted.
LANGUAGE: tileon, tilelang, ninetoothed; or kinds: ever new kinds of calls of one kernel of Tileon."""

import ctypes
import gc
import importlib.util
import linecache
import sys
import tempfile
from pathlib import Path

import torch

HEAD = """
from tilery import ninetoothed, tilelang, tileon
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl
"""
PROGRAMS = {
    "tileon": """
@tileon.jit
def kernel(x, y, N: tl.constexpr, S: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at) * {factor} + S)

def run(x, y, s):
    kernel[(1,)](x, y, N=64, S=s)
""",
    "tilelang": """
def run(x, y, s):
    @T.prim_func
    def kernel(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                Y[i] = X[i] * {factor} + s

    tilelang.compile(kernel)(x, y)
""",
    "ninetoothed": """
def run(x, y, s):
    def application(x, y):
        y = x * {factor} + s  # noqa: F841

    ninetoothed.make(lambda x, y: (x.tile((64,)), y.tile((64,))), application, (Tensor(1), Tensor(1)))(x, y)
""",
}
trim = ctypes.CDLL("libc.so.6").malloc_trim


def resident():
    """Kilobytes; what the C library keeps of freed memory is no leak, nor are the texts of files that Python knows."""
    gc.collect()
    linecache.checkcache()  # forgets those of files that are gone
    trim(0)
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))


def programs(language):
    """Ever new modules' functions run(x, y, s), and what x is multiplied by."""
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        number = 0
        while True:
            path = Path(folder) / f"program_{number}.py"
            path.write_text(HEAD + PROGRAMS[language].format(factor=float(number + 1)))
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            yield module.run, float(number + 1)
            path.unlink()
            number += 1


def main(language, warm, size, rounds):
    made = programs("tileon" if language == "kinds" else language)
    run, factor = next(made)
    x, y = torch.arange(64.0), torch.zeros(64)
    before = None
    for number in range(warm + size * rounds + 1):
        if number >= warm and (number - warm) % size == 0:
            now = resident()
            if before is not None:
                print(f"{(now - before) / size:.2f}", flush=True)
            before = now
        if language != "kinds":
            run, factor = next(made)
        run(x, y, float(number))
        assert torch.equal(y, x * factor + number)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
