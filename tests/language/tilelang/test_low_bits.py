"""The low bits of floats, as programs round by adding a large number: the assembler once stored the number in their place."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.gpu


CASES = [("float32", "int8"), ("float32", "int16"), ("float64", "int8"), ("float64", "int16"), ("float64", "int32")]


@pytest.mark.parametrize("real, low", CASES)
@pytest.mark.parametrize("count", [1, 8])
def test_low_bits_of_floats(real, low, count):
    bits = real.replace("float", "int")
    magic = 1.5 * 2 ** (23 if real == "float32" else 52)

    @T.prim_func
    def main(A: T.Tensor((96, count), real), B: T.Tensor((96, count), low)):
        with T.Kernel(1, threads=96):
            tx = T.get_thread_binding()
            for i in T.serial(count):
                B[tx, i] = T.cast(T.reinterpret(A[tx, i] + T.cast(magic, real), bits), low)

    a = (torch.rand(96, count, dtype=torch.float64) * 240 - 120).to(getattr(torch, real))
    b = torch.full((96, count), 99, dtype=getattr(torch, low))
    tilelang.compile(main)(a, b)
    assert torch.equal(b.double(), a.double().round())
