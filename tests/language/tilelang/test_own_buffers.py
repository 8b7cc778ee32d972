"""Local buffers in parallel loops: each iteration has its own, whatever thread it runs in."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.gpu


def sums(inside, n, each, block):
    @T.prim_func
    def main(X: T.Tensor((3, n, each), "float16"), Y: T.Tensor((n,), "float32"), limit: T.int32):
        with T.Kernel(1, threads=64):
            if not inside:
                held = T.alloc_local((each,), "float16")
            total = T.alloc_fragment((1, n), "float32")
            T.clear(total)
            for _, j in T.Parallel(1, n):
                if inside:
                    held = T.alloc_local((each,), "float16")
                for step in T.serial(3):
                    if j < limit:
                        for i in T.vectorized(each):
                            held[i] = X[step, j, i]
                        for i in T.serial(each):
                            total[_, j] += T.cast(held[i], "float32")
            for j in T.Parallel(n):
                Y[j] = total[0, j]

    return main


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("n, each", [(64, 8), (100, 4), (37, 3)])
def test_rows_held_by_iterations(inside, n, each):
    x = torch.randn(3, n, each).half()
    y = torch.full((n,), float("nan"))
    kernel = tilelang.compile(sums(inside, n, each, 64))
    kernel(x, y, n - 5)
    expected = x.double().sum((0, 2))
    expected[n - 5 :] = 0
    assert torch.allclose(y.double(), expected, atol=1e-5)
    assert "st.shared.b16" not in kernel.get_kernel_source()


def test_numbers_kept_over_a_loop():
    """One loop in another one: what an iteration keeps is its own."""

    @T.prim_func
    def main(X: T.Tensor((5, 64), "float32"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            kept = T.alloc_local((2,), "float32")
            for k in T.serial(5):
                for j in T.Parallel(64):
                    if k == 0:
                        kept[0] = 0.0
                        kept[1] = 1.0
                    kept[0] = kept[0] * 0.5 + X[k, j] * kept[1]
                    kept[1] = kept[1] + 1.0
                    Y[j] = kept[0]

    x, y = torch.randn(5, 64), torch.full((64,), float("nan"))
    tilelang.compile(main)(x, y)
    expected = torch.zeros(64, dtype=torch.float64)
    for k in range(5):
        expected = expected * 0.5 + x[k].double() * (k + 1)
    assert torch.allclose(y.double(), expected, atol=1e-5)
