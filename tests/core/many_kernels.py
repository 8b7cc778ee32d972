"""Different kernels, half of Tileon and half of TileLang, compiled by eight threads while two launch what is there: python
many_kernels.py COUNT. Prints the seconds and the megabytes that it took."""

import importlib.util
import queue
import sys
import tempfile
import threading
import time
from pathlib import Path

import torch

HEAD = """
import torch
from tilery import tilelang, tileon
from tilery.tilelang import language as T
from tilery.tileon import language as tl
"""
TILEON = """
@tileon.jit
def kernel_{number}(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(y + at, {tileon}, mask=at < n)

def run_{number}(x, y):
    kernel_{number}[(-(-len(x) // {block}),)](x, y, len(x), B={block})
"""
TILELANG = """
@T.prim_func
def kernel_{number}(X: T.Tensor(({size},), "float32"), Y: T.Tensor(({size},), "float32")):
    with T.Kernel({size} // {block}) as b:
        for i in T.Parallel({block}):
            Y[b * {block} + i] = {tilelang}

def run_{number}(x, y, made=[]):
    if not made:
        made.append(tilelang.compile(kernel_{number}))
    made[0](x, y)
"""
SIZE, BLOCKS = 512, (32, 64, 128)
# (of Tileon, of TileLang, what it is): exact in float32
FORMS = [
    ("v * {a} + {b}", "X[b * {block} + i] * {a} + {b}", lambda x, a, b: x * a + b),
    ("tl.where(v > {a}, v, {b})", "T.if_then_else(X[b * {block} + i] > {a}, X[b * {block} + i], {b})", None),
    ("tl.maximum(v, {a}) - {b}", "T.max(X[b * {block} + i], {a}) - {b}", lambda x, a, b: x.clamp(min=a) - b),
    ("tl.abs(v - {a}) * {b}", "T.abs(X[b * {block} + i] - {a}) * {b}", lambda x, a, b: (x - a).abs() * b),
]


def source(number):
    form = FORMS[number // 2 % len(FORMS)]
    numbers = {"a": float(number % 61), "b": float(number // 3 + 1), "block": BLOCKS[number % 3], "size": SIZE}
    parts = {"tileon": form[0].format(**numbers), "tilelang": form[1].format(**numbers)}
    return (TILELANG if number % 2 else TILEON).format(number=number, **parts, **numbers)


def expected(number, x):
    a, b = float(number % 61), float(number // 3 + 1)
    function = FORMS[number // 2 % len(FORMS)][2]
    return torch.where(x > a, x, torch.tensor(b)) if function is None else function(x, a, b)


def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024


def main(count):
    x = torch.arange(-SIZE // 2, SIZE // 2, dtype=torch.float32)
    waiting, ready, failures, done = queue.Queue(), [], [], threading.Event()

    def use(module, number):
        y = torch.full((SIZE,), float("nan"))
        getattr(module, f"run_{number}")(x, y)
        if not torch.equal(y, expected(number, x)):
            failures.append(number)

    def compile(folder):
        while not done.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            path = Path(folder) / f"kernel_{number}.py"
            path.write_text(HEAD + source(number))
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            use(module, number)
            ready.append((module, number))

    def launch(step):
        at = 0
        while not done.is_set():
            if not ready:
                time.sleep(0.001)
                continue
            at += step
            use(*ready[at % len(ready)])

    def watched(work, *arguments):
        try:
            work(*arguments)
        except BaseException as wrong:
            failures.append(wrong)
            done.set()

    for number in range(count):
        waiting.put(number)
    start, before = time.monotonic(), peak()
    with tempfile.TemporaryDirectory() as folder:
        compilers = [threading.Thread(target=watched, args=(compile, folder)) for _ in range(8)]
        launchers = [threading.Thread(target=watched, args=(launch, step)) for step in (1, 7)]
        for thread in (*compilers, *launchers):
            thread.start()
        for thread in compilers:
            thread.join()
        done.set()
        for thread in launchers:
            thread.join()
    assert not failures, failures
    assert sorted(number for _, number in ready) == list(range(count))
    print(f"{time.monotonic() - start:.1f} {peak() - before:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
