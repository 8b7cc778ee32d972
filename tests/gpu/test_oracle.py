"""The oracle on tensors of a GPU: it works on copies."""

import pytest
import torch
from gpu.programs import EXAMPLES

from tilery import compat
from tilery.core import oracle
from tilery.errors import Error


@pytest.mark.gpu
def test_debug_mode_gives_the_result_back():
    kernel = compat.load(EXAMPLES / "ninetoothed" / "matmul.py").matmul_kernel
    a = torch.randn(64, 64, dtype=torch.float16, device="cuda")
    result = torch.full_like(a, float("nan"))
    kernel(a, a, result, debug=True)
    torch.testing.assert_close(result, a @ a)


@pytest.mark.gpu
def test_tensors_of_one_storage_stay_together():
    from tilery import tileon
    from tilery.tileon import language as tl

    @tileon.jit
    def shift(x_ptr, y_ptr, n: tl.constexpr):
        i = tl.arange(0, n)
        tl.store(y_ptr + i, tl.load(x_ptr + i) + 1)

    memory = torch.arange(32, dtype=torch.float32, device="cuda")
    shift[(1,)](memory, memory[16:], 16, debug=True)
    step = torch.arange(2.0, device="cuda").repeat_interleave(16)
    assert torch.equal(memory, torch.arange(16.0, device="cuda").repeat(2) + step)


@pytest.mark.gpu
def test_tensors_that_are_seen_as_another_type():
    from tilery import tileon
    from tilery.tileon import language as tl

    @tileon.jit
    def double(x_ptr, pair, n: tl.constexpr):
        i = tl.arange(0, n)
        tl.store(x_ptr + i, tl.load(pair[0] + i) * 2)

    bits = torch.arange(16, dtype=torch.int16, device="cuda")
    double[(1,)](tileon.reinterpret(bits, tl.uint16), (tileon.reinterpret(bits, tl.uint16),), 16, debug=True)
    assert torch.equal(bits, 2 * torch.arange(16, dtype=torch.int16, device="cuda"))


@pytest.mark.gpu(emulated=False)
def test_an_error_leaves_the_tensors_as_they_were():
    from tilery import tileon
    from tilery.tileon import language as tl

    @tileon.jit
    def outside(y_ptr, n: tl.constexpr):
        tl.store(y_ptr + tl.arange(0, n), 1.0)

    memory = torch.zeros(12, device="cuda")
    with pytest.raises(Error, match="y_ptr"):
        outside[(1,)](memory, 16, debug=True)
    assert not memory.any()


class Array:
    def __dlpack_device__(self):
        return (2, 0)


class Pointer:
    dtype = "float32"

    def data_ptr(self):
        return 16


@pytest.mark.parametrize("kind", [Array, Pointer])
def test_other_things_on_a_gpu_are_refused(kind):
    plan = oracle.plan(lambda grid, arguments: pytest.fail("it ran"), device=0)
    with pytest.raises(NotImplementedError, match=f"argument `x` .{kind.__name__}. lies on a GPU"):
        plan((1, 1, 1), {"x": kind()})
