"""What a target has no code for is refused by one message that names it."""

import numpy as np
import pytest
import torch

from tilery import _native, tilelang, tileon
from tilery.errors import Error
from tilery.tilelang import language as T
from tilery.tileon import language as tl

REGIONS = {
    "tile.threads": "tile.threads 32 {\n  ^bb0(%t: i32):\n    tile.sync\n    tile.yield\n  }",
    "tile.roles": "tile.roles [32, 128] {\n    tile.sync\n  }, {\n    tile.sync\n  }",
}


@pytest.mark.parametrize("op", REGIONS)
def test_explicit_threads_on_a_cpu(op):
    module = _native.Module.parse(f"tile.kernel @kernel() {{\n  {REGIONS[op]}\n  tile.return\n}}\n")
    with pytest.raises(Error, match=f"the CPU target cannot run {op} yet$") as caught:
        _native.compile(module)
    assert isinstance(caught.value, NotImplementedError)


@tileon.jit
def through_float8(x, y, n: tl.constexpr, float8: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(x + i).to(float8).to(tl.float32))


@pytest.mark.parametrize("float8, name", [(tl.float8e4nv, "float8_e4m3fn"), (tl.float8e5, "float8_e5m2")])
def test_conversion_to_8_bit_floats(float8, name):
    x = np.ones(16, np.float32)
    with pytest.raises(Error, match=f":21: the CPU target cannot compute with {name} yet\n") as caught:
        through_float8[(1,)](x, x.copy(), 16, float8)
    assert isinstance(caught.value, NotImplementedError)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_product_of_8_bit_floats(name):
    @T.prim_func
    def main(A: T.Tensor((16, 32), name), B: T.Tensor((32, 16), name), C: T.Tensor((16, 16), "float32")):
        with T.Kernel(1):
            a = T.alloc_shared((16, 32), name)
            b = T.alloc_shared((32, 16), name)
            c = T.alloc_fragment((16, 16), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C)

    a, b = (torch.zeros(shape).to(getattr(torch, name)) for shape in ((16, 32), (32, 16)))
    with pytest.raises(Error, match=f"the CPU target cannot compute with {name} yet"):
        tilelang.compile(main)(a, b, torch.empty(16, 16))


@tileon.jit
def half_of_it(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.where(i < n // 2, tl.load(x + i), 0.0))


def test_8_bit_floats_are_moved():
    x = torch.randn(16).to(torch.float8_e5m2)
    y = torch.full((16,), 7.0).to(torch.float8_e5m2)
    half_of_it[(1,)](x, y, 16)
    assert torch.equal(y[:8].view(torch.uint8), x[:8].view(torch.uint8)) and not y[8:].view(torch.uint8).any()


@tileon.jit
def exponential(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.exp(tl.load(x + i)))


@tileon.jit
def shown(x):
    tl.device_print("x", tl.load(x))


@tileon.jit
def column_sums(x, y, m: tl.constexpr, n: tl.constexpr):
    tile = tl.load(x + tl.arange(0, m)[:, None] * n + tl.arange(0, n)[None, :])
    tl.store(y + tl.arange(0, n), tl.sum(tl.sort(tile), axis=0))


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_what_a_gpu_cannot_run(target):
    x = np.ones((256, 256), np.float64)
    for kernel, arguments, message in (
        (exponential, (x, x.copy(), 16), "the GPU target has no exp of float64 yet"),
        (shown, (x,), "the GPU target cannot print yet"),
        (column_sums, (x, x.copy(), 256, 256), r"needs 5\d{5} bytes of shared memory, the device has \d+; use smaller tiles"),
    ):
        module = kernel[(1,)](*arguments).module
        with pytest.raises(Error, match=message) as caught:
            _native.compile(module, target=target)
        assert isinstance(caught.value, NotImplementedError)
