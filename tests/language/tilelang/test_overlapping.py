"""Arguments that share memory: what the program only reads may, without slower code."""

import pytest
import torch

from tilery import _native, tilelang
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts


def updating(rows):
    """Sums of rows that two tables name, added to memory in each step: it loads behind its updates."""

    @T.prim_func
    def main(
        A: T.Tensor((rows, 64), "float16"),
        B: T.Tensor((rows, 64), "float16"),
        Begins: T.Tensor((2,), "int32"),
        Ends: T.Tensor((2,), "int32"),
        C: T.Tensor((rows, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a, b = T.alloc_shared((64, 64), "float16"), T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            first = Begins[0]
            for k in T.Pipelined((Ends[1] - Begins[0]) // 64, num_stages=2):
                T.copy(A[first + k * 64 : first + (k + 1) * 64, :], a)
                T.copy(B[first + k * 64 : first + (k + 1) * 64, :], b)
                T.clear(c)
                T.gemm(a, b, c, transpose_B=True)
                T.atomic_add(C[first + k * 64 : first + (k + 1) * 64, :], c)

    return main


def plan(overlapping):
    function = updating(256)
    module = tilelang.compile(function).traced(usual_layouts(function.params)).module
    return _native.compile(module, overlapping=overlapping, texts=True, target="sm_90a").plan


def test_read_arguments_may_overlap():
    assert "that may overlap" not in plan([("Begins", "Ends"), ("A", "B")])
    assert "that may overlap" in plan([("A", "B"), ("C", "A")])
    assert "that may overlap" in plan([("A", "what no kernel has")])
    assert "that may overlap" in plan([])


@pytest.mark.parametrize("alias", ["tables", "factors", "none"])
def test_launches(device, alias):
    a = torch.randn(256, 64, device=device).half()
    b = a if alias == "factors" else torch.randn(256, 64, device=device).half()
    begins = torch.tensor([0, 256], dtype=torch.int32, device=device)
    ends = begins if alias == "tables" else begins.clone()
    c = torch.zeros(256, 64, device=device)
    kernel = tilelang.compile(updating(256))
    for _ in range(2):
        kernel(a, b, begins, ends, c)
    parts = [2 * a[i : i + 64].double() @ b[i : i + 64].double().T for i in range(0, 256, 64)]
    torch.testing.assert_close(c.double(), torch.cat(parts), rtol=1e-5, atol=1e-4)
    expected = {"tables": [("Begins", "Ends")], "factors": [("A", "B")], "none": None}[alias]
    assert kernel._last.options.get("overlapping") == expected


def test_written_arguments_may_not(device):
    """The second product takes what the first one has stored."""
    from tilery import tileon
    from tilery.tileon import language as tl

    @tileon.jit
    def shifted(x, y, n, BLOCK: tl.constexpr):
        for begin in range(0, n, BLOCK):
            i = begin + tl.arange(0, BLOCK)
            tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

    whole = torch.arange(100, dtype=torch.float32, device=device)
    shifted[(1,)](whole, whole[16:], 64, 16)  # each step reads what the one before has stored
    exact = torch.arange(100, dtype=torch.float32, device=device)
    for begin in range(0, 64, 16):
        exact[begin + 16 : begin + 32] = exact[begin : begin + 16] + 1
    torch.testing.assert_close(whole, exact)
