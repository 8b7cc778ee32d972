"""Every language takes the one way from a call to a plan."""

import gc

import pytest
import torch

from tilery import _native, ninetoothed, tilelang, tileon
from tilery.core import compile
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def tileon_double(x_ptr, y_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) * 2)


@ninetoothed.jit
def ninetoothed_double(x: Tensor(1).tile((16,)), y: Tensor(1).tile((16,))):
    y = x * 2  # noqa: F841


@tilelang.jit
def tilelang_double():
    @T.prim_func
    def double(X: T.Tensor((16,), "float32"), Y: T.Tensor((16,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(16):
                Y[i] = X[i] * 2

    return double


# Each call makes its kernel anew.
CALLS = {
    "tileon": lambda x, y, **options: tileon.jit(tileon_double.fn)[(1,)](x, y, 16, **options),
    "ninetoothed": lambda x, y, **options: ninetoothed.jit(ninetoothed_double.application)(x, y, **options),
    "tilelang": lambda x, y, **options: tilelang.compile(tilelang_double.get_tir())(x, y, **options),
}

LAUNCHES = {"tileon": "OracleLaunch", "ninetoothed": "OracleHostLaunch", "tilelang": "OracleHostLaunch"}


@pytest.fixture
def planned(monkeypatch):
    """What was planned: (name, was it traced, how it is launched)."""
    seen, plan = [], compile.CompiledKernel.plan

    def noted(self, debug=False):
        result = plan(self, debug)
        seen.append((self, self.kept is not None, type(result).__name__))
        return result

    monkeypatch.setattr(compile.CompiledKernel, "plan", noted)
    return seen


@pytest.fixture
def memory(monkeypatch):
    """The disk cache, without a disk."""
    entries = {}
    monkeypatch.setattr(_native, "cache_folder", lambda: "memory")
    monkeypatch.setattr(_native, "cache_get", lambda *key: entries.get(key))
    monkeypatch.setattr(_native, "cache_put", lambda *key_and_value: entries.update({key_and_value[:-1]: key_and_value[-1]}))


@pytest.mark.parametrize("language", CALLS)
def test_a_call_is_planned(language, planned, memory):
    x, y = torch.randn(16), torch.empty(16)
    for _ in range(2):
        CALLS[language](x, y)
        torch.testing.assert_close(y, x * 2)
    assert [traced for _, traced, _ in planned] == [True, False], "code from the disk cache needs no trace"
    assert set(planned[0][0].asm) >= {"tile", "passes", "llvm", "asm"}


@pytest.mark.parametrize("language", CALLS)
def test_debug_takes_the_oracle(language, planned):
    x, y = torch.randn(16), torch.zeros(16)
    CALLS[language](x, y, debug=True)
    torch.testing.assert_close(y, x * 2)
    assert [kind for *_, kind in planned] == [LAUNCHES[language]]


@pytest.mark.parametrize("language", CALLS)
def test_no_garbage_is_collected_while_a_kernel_is_traced(language, planned, monkeypatch):
    """Neither by the trace nor by the imports around it: each makes many objects that stay."""
    CALLS[language](torch.zeros(16), torch.zeros(16))
    kernel = planned[-1][0]
    collected, trace = [], type(kernel).trace
    thresholds, enabled = gc.get_threshold(), gc.isenabled()

    def note(phase, info):
        collected.append(phase)

    def imports_and_traces(self):
        gc.callbacks.append(note)
        made = [[] for _ in range(100)], trace(self)
        gc.callbacks.remove(note)
        return made[1]

    monkeypatch.setattr(type(kernel), "trace", imports_and_traces)
    kernel.kept = None
    gc.enable()
    gc.set_threshold(1, 1, 1)
    try:
        assert kernel.module.text()
        assert gc.isenabled() and not collected
    finally:
        gc.set_threshold(*thresholds)
        if not enabled:
            gc.disable()
