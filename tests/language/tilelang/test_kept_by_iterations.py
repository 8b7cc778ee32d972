"""Local buffers and variables that iterations of parallel loops keep over turns and other loops: each iteration has its own."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

BEGINS = ["clear", "element", "loop", "first turn", "variable"]


def sums(n, begin, place, last):
    @T.prim_func
    def main(X: T.Tensor((5, n), "float32"), Y: T.Tensor((n,), "float32"), at: T.int32):
        with T.Kernel(1, threads=64):
            kept, total = T.alloc_local((3,), "float32"), T.alloc_var("float32")
            total = 7.0
            if begin == "clear":
                T.clear(kept)
            elif begin == "element":
                kept[1] = 0.0
            elif begin == "loop":
                for i in T.serial(3):
                    kept[i] = 0.0
            for step in T.serial(5):
                for j in T.Parallel(n):
                    if begin == "first turn":
                        if step == 0:
                            kept[1] = 0.0
                    kept[0] = X[step, j]
                    if begin == "variable":
                        total = total * 0.5 + kept[0]
                    elif place:
                        kept[at] = kept[at] * 0.5 + kept[0]
                    else:
                        kept[1] = kept[1] * 0.5 + kept[0]
                    if not last:
                        Y[j] = total if begin == "variable" else kept[1]
            if last:
                for j in T.Parallel(n):
                    Y[j] = total if begin == "variable" else kept[1]

    return main


def exact(x, first):
    total = torch.full(x.shape[1:], first, dtype=torch.float64, device="cpu")
    for row in x.double():
        total = total * 0.5 + row
    return total


@pytest.mark.pairs
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("place", [False, True])
@pytest.mark.parametrize("begin", BEGINS)
@pytest.mark.parametrize("n", [64, 37])
def test_sums(device, n, begin, place, last):
    x = torch.randn(5, n, device="cpu")
    y = torch.full((n + 2,), float("nan"), device=device)
    tilelang.compile(sums(n, begin, place, last))(x.to(device), y[1:-1], 1)
    torch.testing.assert_close(y[1:-1].double().cpu(), exact(x, 7.0 if begin == "variable" else 0.0), rtol=1e-5, atol=1e-5)
    assert y[0].isnan() and y[-1].isnan()


@pytest.mark.parametrize("m, n", [(8, 8), (3, 20)])
def test_iterations_of_two_dimensions(device, m, n):
    @T.prim_func
    def main(X: T.Tensor((4, m, n), "float16"), Y: T.Tensor((m, n), "float16"), Z: T.Tensor((m, n), "int32")):
        with T.Kernel(1, threads=64):
            most, at = T.alloc_local((1,), "float16"), T.alloc_local((1,), "int32")
            most[0] = -T.infinity("float16")
            T.fill(at, -1)
            for step in T.serial(4):
                for i, j in T.Parallel(m, n):
                    if X[step, i, j] > most[0]:
                        most[0] = X[step, i, j]
                        at[0] = step
            for i, j in T.Parallel(m, n):
                Y[i, j] = most[0]
                Z[i, j] = at[0]

    x = torch.stack([torch.randperm(m * n, device="cpu").view(m, n).half() for _ in range(4)]) * 4
    x += torch.arange(4, device="cpu").half()[:, None, None]
    y, z = torch.zeros(m, n, dtype=torch.float16, device=device), torch.zeros(m, n, dtype=torch.int32, device=device)
    tilelang.compile(main)(x.to(device), y, z)
    largest = x.float().max(0)
    assert torch.equal(y.float().cpu(), largest.values) and torch.equal(z.long().cpu(), largest.indices)


def test_each_begins_anew(device):
    """A sum that no iteration clears begins with what was written before the loop, in each."""

    @T.prim_func
    def main(X: T.Tensor((64, 9), "float32"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            total = T.alloc_local((1,), "float32")
            T.fill(total, 3)
            for j in T.Parallel(64):
                for k in T.serial(9):
                    total[0] += X[j, k]
                Y[j] = total[0]

    x = torch.randint(-9, 10, (64, 9), device="cpu").float()
    y = torch.full((64,), float("nan"), device=device)
    tilelang.compile(main)(x.to(device), y)
    assert torch.equal(y.cpu(), x.sum(1) + 3)


def test_what_all_threads_share(device):
    """A variable that only the block writes is one for all iterations."""

    @T.prim_func
    def main(X: T.Tensor((4, 32), "int32"), Y: T.Tensor((32,), "int32"), Last: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=32):
            rows = T.alloc_var("int32")
            rows = 0
            for step in T.serial(4):
                for j in T.Parallel(32):
                    Y[j] = T.if_then_else(step == 0, 0, Y[j]) + X[step, j] * rows
                rows = rows + 1
            Last[0] = rows

    x = torch.randint(-9, 10, (4, 32), dtype=torch.int32, device="cpu")
    y, last = torch.zeros(32, dtype=torch.int32, device=device), torch.zeros(1, dtype=torch.int32, device=device)
    tilelang.compile(main)(x.to(device), y, last)
    assert torch.equal(y.cpu(), (x * torch.arange(4, device="cpu")[:, None]).sum(0).int()) and last.item() == 4
