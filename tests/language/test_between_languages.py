"""Functions of one language called from kernels of another: every pair, against NumPy's numbers."""

import pytest
import torch

from tilery import ninetoothed, tilelang, tileon
from tilery.errors import Error
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def of_tileon(x, y, factor: tl.constexpr):
    high = tl.maximum(x, y).to(tl.float32)
    low = tl.minimum(x, y)
    if factor > 2:
        high = tl.where(high > 0, high * factor, tl.exp(high))
    for _ in tl.static_range(2):
        low = low + 1
    return high + low


def of_ninetoothed(x, y, factor):
    high = ntl.maximum(x, y)
    low = ntl.minimum(x, y)
    return ntl.where(high > 0, high * factor, ntl.exp(high)) + (low + 2)


@T.macro
def of_tilelang(x, y, factor):
    high = T.max(x, y)
    low = T.min(x, y)
    positive = T.cast(high > 0, "float32")
    return positive * high * factor + (1 - positive) * T.exp(high) + (low + 2)


FUNCTIONS = {"tileon": of_tileon, "ninetoothed": of_ninetoothed, "tilelang": of_tilelang}


def expected(x, y):
    high, low = torch.maximum(x, y).double(), torch.minimum(x, y).double()
    return torch.where(high > 0, high * 3, high.exp()) + low + 2


def in_tileon(function, x, y, out):
    @tileon.jit
    def kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        result = function(tl.load(x_ptr + offsets, mask=mask), tl.load(y_ptr + offsets, mask=mask), 3)
        tl.store(out_ptr + offsets, result, mask=mask)

    kernel[(tl.cdiv(x.numel(), 32),)](x, y, out, x.numel(), BLOCK=32)


def in_ninetoothed(function, x, y, out):
    def application(x, y, out):
        out = function(x, y, 3)  # noqa: F841

    def arrangement(*tensors):
        return tuple(t.tile((32,)) for t in tensors)

    ninetoothed.make(arrangement, application, tuple(Tensor(1) for _ in range(3)))(x, y, out)


def in_tilelang(function, x, y, out):
    n = x.numel()

    @T.prim_func
    def kernel(x: T.Tensor((n,), "float32"), y: T.Tensor((n,), "float32"), out: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as block:
            for i in T.Parallel(32):
                out[block * 32 + i] = function(x[block * 32 + i], y[block * 32 + i], 3)

    tilelang.compile(kernel)(x, y, out)


KERNELS = {"tileon": in_tileon, "ninetoothed": in_ninetoothed, "tilelang": in_tilelang}


@pytest.mark.parametrize("caller, callee", [(a, b) for a in KERNELS for b in FUNCTIONS if a != b])
def test_pair(caller, callee, device):
    x, y = torch.randn(101, device=device), torch.randn(101, device=device)
    out = torch.full((101,), float("nan"), device=device)
    KERNELS[caller](FUNCTIONS[callee], x, y, out)
    torch.testing.assert_close(out.double(), expected(x, y), rtol=1e-6, atol=1e-6)


def test_an_arrangement_around_a_tileon_function(device):
    @tileon.jit
    def scaled(x, y, factor: tl.constexpr):
        y = tl.exp(x) * factor  # noqa: F841

    arrangement = lambda x, y, factor: (x.tile((32,)), y.tile((32,)), factor)  # noqa: E731
    x, y = torch.randn(77, device=device), torch.empty(77, device=device)
    ninetoothed.make(arrangement, scaled, (Tensor(1), Tensor(1), Tensor(0, constexpr=True)))(x, y, 3)
    torch.testing.assert_close(y.double(), x.double().exp() * 3, rtol=1e-6, atol=1e-6)


def test_an_application_around_a_product_of_tileon(device):
    @tileon.jit
    def multiply(a, b, total):
        return tl.dot(a, b, total, input_precision="ieee")

    def application(a, b, c):
        total = ntl.zeros(c.shape, dtype=ntl.float32)
        for k in range(a.shape[0]):
            total = multiply(a[k], b[k], total)
        c = total  # noqa: F841

    def arrangement(a, b, c):
        c = c.tile((16, 16))
        a = a.tile((16, 16)).tile((1, -1)).expand((-1, c.shape[1]))
        a.dtype = a.dtype.squeeze(0)
        b = b.tile((16, 16)).tile((-1, 1)).expand((c.shape[0], -1))
        b.dtype = b.dtype.squeeze(1)
        return a, b, c

    a, b, c = torch.randn(40, 50, device=device), torch.randn(50, 30, device=device), torch.empty(40, 30, device=device)
    ninetoothed.make(arrangement, application, (Tensor(2), Tensor(2), Tensor(2)))(a, b, c)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-4)


def test_what_belongs_to_a_language_stays_there(device):
    """A macro that allocates or loops as TileLang does is refused where there is no such kernel."""

    @T.macro
    def staged(x, y, factor):
        buffer = T.alloc_fragment((4,), "float32")
        return buffer[0] + x

    x, out = torch.randn(8, device=device), torch.empty(8, device=device)
    with pytest.raises(Error, match="outside of a kernel|used outside"):
        in_ninetoothed(staged, x, x, out)
