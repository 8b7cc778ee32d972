"""Elements that iterations of a parallel loop compute from themselves, and that several of them share."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.tilelang import language as T

PLACES = {
    "row": lambda i, j: j,
    "rest": lambda i, j: j % 8,
    "quotient": lambda i, j: (i % 4 * 64 + j) // 4,
    "bits": lambda i, j: (i & 1) * 8 + (j >> 3),
    "apart": lambda i, j: i % 4 * 8 + j % 8,
}
BODIES = {
    "sum": (lambda r, x: r + x, lambda out, at, x: out.index_add_(0, at, x)),
    "most": (lambda r, x: T.max(r, T.abs(x)), lambda out, at, x: out.scatter_reduce_(0, at, x.abs(), "amax")),
    "least": (lambda r, x: T.min(x, r), lambda out, at, x: out.scatter_reduce_(0, at, x, "amin")),
}


@tilelang.jit(out_idx=[-1])
def updated(rows, columns, dtype, place, body, scope, guarded):
    where, what = PLACES[place], BODIES[body][0]
    alloc = T.alloc_shared if scope == "shared" else T.alloc_fragment

    @T.prim_func
    def main(A: T.Tensor((rows, columns), dtype), B: T.Tensor((64,), dtype)):
        with T.Kernel(1, threads=128):
            a, r = T.alloc_fragment((rows, columns), dtype), alloc((64,), dtype)
            T.copy(A, a)
            T.clear(r)
            for i, j in T.Parallel(rows, columns):
                if guarded:
                    if a[i, j] > 0.5:
                        r[where(i, j)] = what(r[where(i, j)], a[i, j])
                else:
                    r[where(i, j)] = what(r[where(i, j)], a[i, j])
            T.copy(r, B)

    return main


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("scope", ["fragment", "shared"])
@pytest.mark.parametrize("body", list(BODIES))
@pytest.mark.parametrize("place", list(PLACES))
def test_all_of_them_count(engine, device, place, body, scope, guarded):
    rows, columns = (4, 8) if place == "apart" else (32, 64)
    a = torch.randint(-8, 9, (rows, columns), generator=torch.Generator().manual_seed(5), device="cpu").float()
    got = updated(rows, columns, "float32", place, body, scope, guarded)(a.to(device)).cpu()
    i, j = torch.meshgrid(torch.arange(rows, device="cpu"), torch.arange(columns, device="cpu"), indexing="ij")
    at, x = PLACES[place](i, j).reshape(-1), a.reshape(-1)
    if guarded:
        at, x = at[x > 0.5], x[x > 0.5]
    expected = BODIES[body][1](torch.zeros(64, device="cpu"), at, x)
    assert torch.equal(got, expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32"])
def test_types(engine, device, dtype):
    a = torch.randint(-8, 9, (32, 64), generator=torch.Generator().manual_seed(6), device="cpu").to(getattr(torch, dtype))
    got = updated(32, 64, dtype, "quotient", "most", "fragment", False)(a.to(device)).cpu()
    i, j = torch.meshgrid(torch.arange(32, device="cpu"), torch.arange(64, device="cpu"), indexing="ij")
    at = PLACES["quotient"](i, j).reshape(-1)
    expected = torch.zeros(64, device="cpu").scatter_reduce_(0, at, a.float().abs().reshape(-1), "amax")
    assert torch.equal(got.float(), expected)
