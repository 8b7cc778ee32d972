"""What a user meets first, in each language: how objects show themselves, misspelt names, NumPy's integers, stages as text."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tilery import aot, ninetoothed, tilelang, tileon
from tilery.core import cache
from tilery.errors import Error
from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl
from tilery.ninetoothed.auto_tuner import AutoTuner
from tilery.tilelang import language as T
from tilery.tileon import language as tl

DEVICES = ["cpu"]
BLOCK = Symbol("BLOCK", constexpr=True)


@tileon.jit
def add_one(x, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@ninetoothed.jit
def double(x: Tensor(1).tile((BLOCK,)), y: Tensor(1).tile((BLOCK,))):
    y = x * 2  # noqa: F841


@tilelang.jit(out_idx=[-1])
def triple(n, threads=64):
    @T.prim_func
    def main(x: T.Tensor((n,), "float32"), y: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=threads):
            for i in T.Parallel(n):
                y[i] = x[i] * 3

    return main


def ones(n=64):
    return np.ones(n, np.float32)


def test_how_kernels_show_themselves(tmp_path):
    compiled = add_one[(1,)](ones(), 64, N=64)
    shown = {
        add_one: "JITFunction(" + add_one.__module__ + ":add_one)",
        double: "<kernel double(x, y, BLOCK)>",
        triple: "<kernels of triple(n, threads)>",
        triple(64): "<kernel main(x: T.Tensor((64,), T.float32), y: T.Tensor((64,), T.float32)), makes y>",
        AutoTuner([print, abs], ["first", "second"]): "<autotuner of 2 functions: first, second>",
        tilelang.autotune(configs=[{"threads": 32}])(triple): "<autotuner of 1 configuration: <kernels of triple(n, threads)>>",
        tileon.heuristics({"N": lambda args: 64})(add_one): f"<heuristics for N: {add_one!r}>",
    }
    for value, text in shown.items():
        assert repr(value) == text
    assert repr(compiled).startswith("<compiled kernel add_one(x: *float32") and repr(compiled).endswith(", N=64) for the CPU>")
    tuned = tileon.autotune(configs=[tileon.Config({"N": n}) for n in (32, 64)], key=["n"])(add_one)
    assert repr(tuned) == f"<autotuner of 2 configurations by n: {add_one!r}>"
    tuned[lambda meta: (tileon.cdiv(64, meta["N"]),)](ones(), 64)
    assert ", best: N: " in repr(tuned)
    library = aot.Library.open(aot.write(tmp_path, "one", [aot.entry_of("add_one", compiled.image())]))
    assert repr(library) == "<library of add_one>"


MISSPELT = [
    (lambda: add_one[(1,)](ones(), 64, N=64, num_warp=4), "num_warps"),
    (lambda: tileon.jit(do_not_specialise=["n"])(add_one.fn), "do_not_specialize"),
    (lambda: tileon.autotune(config=[], key=[]), "configs"),
    (lambda: tileon.Config({}, num_warp=4), "num_warps"),
    (lambda: tileon.heuristic, "heuristics"),
    (lambda: tl.aranges, "tl.arange"),
    (lambda: double(ones(), ones(), BLOK=64), "BLOCK"),
    (lambda: double(ones(), ones(), BLOCK=64, num_warp=4), "num_warps"),
    (lambda: ninetoothed.jit(num_warp=4), "num_warps"),
    (lambda: ninetoothed.make(None, None, None, kernel_nam="x"), "kernel_name"),
    (lambda: Tensor(2).tiles((1, 1)), "tile"),
    (lambda: Tensor(2, dtyp="fp32"), "dtype"),
    (lambda: Symbol("x", metta=True), "meta"),
    (lambda: ninetoothed.blok_size, "block_size"),
    (lambda: ntl.summ, "ntl.sum"),
    (lambda: T.aloc_shared, "T.alloc_shared"),
    (lambda: tilelang.jit(out_idxs=1), "out_idx"),
    (lambda: tilelang.compile(None, targte="cpu"), "target"),
    (lambda: tilelang.autotune(config=[]), "configs"),
    (lambda: tilelang.compil, "compile"),
]


@pytest.mark.parametrize("call, wanted", MISSPELT, ids=[f"{n}-{wanted}" for n, (_, wanted) in enumerate(MISSPELT)])
def test_misspelt_names(call, wanted):
    with pytest.raises(Error) as raised:
        call()
    assert raised.value.hint == f"did you mean {wanted}?"


@tileon.jit
def misspelt_option(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 1.0, masks=None)


def test_misspelt_names_inside_kernels():
    with pytest.raises(TypeError) as raised:
        misspelt_option[(1,)](ones(), N=64)
    assert "did you mean mask? its parameters: store(pointer, value, mask=None" in str(raised.value)


def test_integers_of_numpy():
    x = ones()
    add_one[(np.int64(1),)](x, np.int32(64), N=np.int64(64), num_warps=np.int32(4))
    assert (x == 2).all()
    y = ones()
    double(x, y, BLOCK=np.int32(16))
    assert (y == 4).all()
    made = ninetoothed.make(
        lambda a, b: (a.tile((np.int64(16),)), b.tile((np.int64(16),))), double.application, [Tensor(np.int64(1))] * 2
    )
    made(x, y)
    assert (y == 4).all()
    arranged = Tensor(np.int64(2)).tile((np.int64(4), -1)).expand((np.int64(-1), np.int64(3))).permute((np.int64(1), np.int64(0)))
    assert arranged.ndim == 2 and repr(Tensor(2, name="x")[np.int64(0)]) == repr(Tensor(2, name="x")[0])
    z = triple(np.int64(64), threads=np.int32(32))(x)
    assert (z == 6).all() and triple(np.int64(64)) is not None


@pytest.mark.parametrize("target", ["host", "sm_80", "sm_90a"])
def test_plans_as_text(target, tmp_path):
    """The text that TILERY_DUMP=plan prints."""
    build = Path(os.environ.get("TILERY_BUILD_DIR", "build"))
    if not (build / "tilery-translate").exists():
        pytest.skip("needs a build with tilery-translate")
    compiled = add_one[(1,)](ones(), 64, N=64)
    texts = cache.stages(compiled.module, -1, {"disjoint": True}, target)
    (tmp_path / "module.mlir").write_text(compiled.module.text())
    command = [build / "tilery-translate", f"--target={target}", "--print=plan", "--disjoint", tmp_path / "module.mlir"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert texts["plan"].strip() and texts["plan"].strip() == printed.strip()
    if target == "host":
        assert compiled.asm["plan"] == texts["plan"]


DUMP = """
import numpy as np
from tilery.tileon import jit, language as tl

@jit
def fill(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), 1.0)

print(fill[(1,)](np.zeros(16, np.float32), N=16).asm["plan"], end="")
"""


def test_plans_of_launches(tmp_path):
    (tmp_path / "program.py").write_text(DUMP)
    environment = {**os.environ, "TILERY_DUMP": "plan", "TILERY_CACHE_DIR": "", "TILERY_ORACLE": ""}
    command = [sys.executable, tmp_path / "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() and done.stdout.strip() in done.stderr
