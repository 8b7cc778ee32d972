"""The emulated GPU as Python programs meet it (TILERY_EMULATE): each test is a process of its own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FOLDER = Path(os.environ["TILERY_BUILD_DIR"]) / "tests" / "emulator" / "gpu"
pytestmark = pytest.mark.skipif(not (FOLDER / "tilery").is_dir(), reason="needs the emulated GPU, which ./run test builds")

START = """
from tilery.compat import device
device.install()
import torch
from tilery import _native, tileon
from tilery.tileon import language as tl
"""
TAKES_TURNS = """
@tileon.jit
def takes_turns(turn, out):
    me = tl.program_id(0)
    while tl.atomic_add(turn, 0) != me:
        pass
    tl.store(out + me, tl.load(turn) * 10)
    tl.debug_barrier()
    tl.atomic_add(turn, 1)

turn, out = torch.zeros(1, dtype=torch.int32, device="cuda"), torch.zeros(7, dtype=torch.int32, device="cuda")
takes_turns[(7,)](turn, out)
assert out.tolist() == [0, 10, 20, 30, 40, 50, 60] and turn.item() == 7
"""
LOOKS_BACK = """
@tileon.jit
def looks_back(x, out, sums, state, N: tl.constexpr):
    # Threads that saw another block's answer at different times would leave the loop in different turns.
    me, i = tl.program_id(0), tl.arange(0, N)
    part = tl.cumsum(tl.load(x + me * N + i), 0)
    before = 0
    if me > 0:
        while tl.load(state + me - 1, volatile=True) == 0:
            pass
        before = tl.load(sums + me - 1, volatile=True)
    tl.store(sums + me, before + tl.sum(tl.load(x + me * N + i)))
    tl.debug_barrier()
    tl.atomic_xchg(state + me, 1)
    tl.store(out + me * N + i, part + before)

x = torch.randint(-9, 9, (12 * 256,), dtype=torch.int32, device="cuda")
out, sums, state = torch.zeros_like(x), *torch.zeros(2, 12, dtype=torch.int32, device="cuda")
looks_back[(12,)](x, out, sums, state, 256)
assert torch.equal(out, x.cumsum(0).int())
"""
PRODUCT = """
@tileon.jit
def product(a, b, c, k, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    sums = tl.zeros((N, N), tl.float32)
    for at in range(0, k, N):
        sums += tl.dot(tl.load(a + i * k + at + j), tl.load(b + (at + i) * N + j))
    tl.store(c + i * N + j, sums)

a, b = torch.randn(64, 256, device="cuda").half(), torch.randn(256, 64, device="cuda").half()
c = torch.full((64, 64), float("nan"), device="cuda")
for _ in range(2):
    kernel = product[(1,)](a, b, c, 256, N=64)
    assert (c.double() - a.double() @ b.double()).abs().max() < 1e-4
"""


@pytest.fixture
def run(tmp_path):
    """run(program, settings) -> the process that has run it."""

    def run(program, settings="sm_90a"):
        file = tmp_path / "program.py"
        file.write_text(START + textwrap.dedent(program))
        paths = os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")])
        own = {"TILERY_EMULATE": settings, "PYTHONPATH": paths, "TILERY_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.run([sys.executable, file], capture_output=True, text=True, env={**os.environ, **own})

    return run


def test_it_is_the_gpu_that_is_asked_for(run):
    done = run("print(_native.gpu_count(), _native.gpu_target(0))", "sm_80")
    assert done.stdout.split() == ["1", "sm_80:cuda13000"], done.stderr


@pytest.mark.parametrize("settings", ["sm_90a", "sm_90a,late,processors=1", "sm_80"])
@pytest.mark.parametrize("program", [TAKES_TURNS, LOOKS_BACK, PRODUCT], ids=["turns", "looks back", "product"])
def test_runs(run, program, settings):
    """Programs that wait for each other, too, and those whose copies take their time."""
    done = run(program, settings)
    assert done.returncode == 0, done.stderr


def test_code_is_kept_for_other_processes(run):
    """Its calls of the emulator find the functions wherever those lie."""
    assert run("_native.gpu_count()\n" + PRODUCT).returncode == 0
    done = run("_native.compile = None\n" + PRODUCT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("settings", ["gpu", "sm_90a,soon", "sm_90a,processors=0"])
def test_settings_that_make_no_sense(run, settings):
    done = run("_native.gpu_count()", settings)
    assert done.returncode == 2 and f"TILERY_EMULATE={settings}: expected a GPU" in done.stderr


UNORDERED = """
from tilery import tilelang
import tilery.tilelang.language as T

@tilelang.jit(out_idx=[-1])
def turned(waits):
    @T.prim_func
    def main(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            t = T.get_thread_binding()
            X[t] = X[t] + 1
            if waits:
                T.sync_threads()
            Y[t] = X[63 - t]

    return main

x = torch.randn(64, device="cuda")
y = turned(True)(x)
assert torch.equal(y, x.flip(0))
print("ordered", flush=True)
turned(False)(x)
torch.cuda.synchronize()
"""


def test_accesses_that_nothing_orders(run):
    """With `races` they fail, by kept code, too; programs that wait for their threads pass."""
    for _ in range(2):
        done = run(UNORDERED, "sm_90a,races")
        assert done.returncode and done.stdout == "ordered\n" and "nothing orders the two" in done.stderr, done.stderr
    done = run(PRODUCT, "sm_90a,races")
    assert done.returncode == 0, done.stderr
