"""Block pointers and tensor descriptors as values, against torch on whole tensors."""

import pytest
import torch

from tilery import tileon
from tilery.errors import Error
from tilery.tileon import language as tl


def close(got, want, tolerance=1e-4):
    torch.testing.assert_close(got.double(), want.double(), rtol=tolerance, atol=tolerance)


@tileon.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0), tl.program_id(1)
    a = tl.make_block_ptr(a_ptr, (M, K), (sam, sak), (m * BM, 0), (BM, BK), (1, 0))
    b = tl.make_block_ptr(b_ptr, (K, N), (sbk, sbn), (0, n * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc += tl.dot(tl.load(a, boundary_check=(0, 1)), tl.load(b, boundary_check=(0, 1)))
        a = tl.advance(a, (0, BK))
        b = tl.advance(b, (BK, 0))
    c = tl.make_block_ptr(c_ptr, (M, N), (scm, scn), (m * BM, n * BN), (BM, BN), (1, 0))
    tl.store(c, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


@pytest.mark.parametrize("M, N, K", [(64, 64, 64), (100, 70, 50), (33, 1, 129)])
def test_matmul_advances_its_pointers_in_a_loop(engine, M, N, K):
    a, b, c = torch.randn(M, K), torch.randn(K, N), torch.empty(M, N)
    grid = (tileon.cdiv(M, 32), tileon.cdiv(N, 32))
    matmul[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), BM=32, BN=32, BK=16)
    close(c, a.double() @ b.double())


def test_an_advancing_matmul_is_one_contraction():
    a = torch.randn(64, 64)
    kernel = matmul[(2, 2)](a, a, torch.empty(64, 64), 64, 64, 64, 64, 1, 64, 1, 64, 1, BM=32, BN=32, BK=16)
    assert "tile.contract" in kernel.asm["passes"] and "scf.for" not in kernel.asm["passes"]
    assert "tile.div trunc" not in kernel.asm["passes"]  # where a block begins is a product of the loop's counter


@tileon.jit
def moved(p, n: tl.constexpr):
    return tl.advance(p, (n,)), n


@tileon.jit
def through_values(x_ptr, o_ptr, n, late, N: tl.constexpr):
    """A tuple, a branch, a helper's result, a while loop: o[i] = the sum of blocks late, late + 1, .. of x."""
    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (N,), (0,))
    if late > 0:
        p = tl.advance(p, (late * N,))
    both = (p, tl.zeros((N,), tl.float32))
    i = late * N
    while i < n:
        q, total = both
        total += tl.load(q, boundary_check=(0,))
        q, step = moved(q, N)
        both = (q, total)
        i += step
    tl.store(o_ptr + tl.arange(0, N), both[1])


@pytest.mark.parametrize("late", [0, 1, 3])
def test_they_are_values(engine, late):
    x, out = torch.randn(72), torch.empty(16)
    through_values[(1,)](x, out, 72, late, N=16)
    padded = torch.cat([x[late * 16 :], torch.zeros(8)])
    close(out, padded.reshape(-1, 16).sum(0))


@tileon.jit
def copy(x_ptr, o_ptr, rows, columns, at, CHECK: tl.constexpr, PADDING: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (at, 0), (4, 8), (1, 0))
    tile = tl.load(x, boundary_check=CHECK, padding_option=PADDING)
    o = tl.make_block_ptr(o_ptr, (4, 8), (8, 1), (0, 0), (4, 8), (1, 0))
    tl.store(o, tile)


@pytest.mark.parametrize("check", [(), (0,), (1,), (0, 1)])
def test_only_dimensions_that_boundary_check_names_are_checked(engine, check):
    """The block lies half below the tensor that the pointer names, inside a larger one."""
    x, out = torch.arange(80.0).reshape(10, 8), torch.empty(4, 8)
    copy[(1,)](x, out, 5, 6, 3, check, "zero")
    want = x.reshape(-1)[18:].clone()  # rows of 6 elements, read 8 at a time
    rows = torch.stack([want[6 * r : 6 * r + 8] for r in range(4)])
    rows[2:] = 0 if 0 in check else rows[2:]
    rows[:, 6:] = 0 if 1 in check else rows[:, 6:]
    assert torch.equal(out, rows)


@pytest.mark.parametrize("at", [-2, -9, 4])
def test_blocks_that_begin_before_the_tensor(engine, at):
    x, out = torch.arange(40.0).reshape(5, 8), torch.empty(4, 8)
    copy[(1,)](x, out, 5, 8, at, (0,), "nan")
    want = torch.full((4, 8), float("nan"))
    for r in range(4):
        if 0 <= at + r < 5:
            want[r] = x[at + r]
    assert torch.equal(out.isnan(), want.isnan()) and torch.equal(out.nan_to_num(), want.nan_to_num())


def test_padding_of_integers_is_zero(engine):
    x, out = torch.arange(40, dtype=torch.int32).reshape(5, 8), torch.empty(4, 8, dtype=torch.int32)
    copy[(1,)](x, out, 5, 8, 3, (0, 1), "")
    assert torch.equal(out, torch.cat([x[3:], torch.zeros(2, 8, dtype=torch.int32)]))
    with pytest.raises(Error, match="padding 'nan' needs floats"):
        copy[(1,)](x, out, 5, 8, 3, (0, 1), "nan")


@tileon.jit
def on_descriptors(x_ptr, o_ptr, sums_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    o = tl.make_tensor_descriptor(o_ptr, [M, N], [N, 1], [BM, BN])
    sums = tl.make_tensor_descriptor(sums_ptr, [BM, BN], [BN, 1], [BM, BN])
    for m in range(0, M, BM):
        for n in range(0, N, BN):
            tile = x.load([m, n])
            o.store([m, n], tile * 2)
            sums.atomic_add([0, 0], tile)
    tl.static_assert(x.block_shape[0] == BM and x.dtype == tl.float32 and x.shape[0] is not None)


def test_descriptors_load_store_and_add(engine):
    x, out, sums = torch.randn(50, 40), torch.zeros(50, 40), torch.zeros(16, 16)
    on_descriptors[(1,)](x, out, sums, 50, 40, BM=16, BN=16)
    assert torch.equal(out, 2 * x)
    padded = torch.zeros(64, 48)
    padded[:50, :40] = x
    close(sums, padded.reshape(4, 16, 3, 16).sum((0, 2)))


@tileon.jit
def rows(x_ptr, o_ptr, index_ptr, M, N, column, R: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, BN])
    o = tl.make_tensor_descriptor(o_ptr, [R, BN], [BN, 1], [1, BN])
    index = tl.load(index_ptr + tl.arange(0, R))
    o.scatter(x.gather(index, column), (R - 1) - tl.arange(0, R), 0)


def test_gather_and_scatter_rows(engine):
    x, out = torch.randn(20, 24), torch.zeros(8, 16)
    index = torch.tensor([3, 0, 19, 25, 7, -1, 7, 2], dtype=torch.int32)
    rows[(1,)](x, out, index, 20, 24, 12, R=8, BN=16)
    want = torch.zeros(8, 16)
    for r, i in enumerate(index.tolist()):
        if 0 <= i < 20:
            want[7 - r, :12] = x[i, 12:]
    assert torch.equal(out, want)


@tileon.jit
def chosen(x_ptr, y_ptr, o_ptr, n, which, N: tl.constexpr):
    if which:
        d = tl.make_tensor_descriptor(x_ptr, [n], [1], [N])
    else:
        d = tl.make_tensor_descriptor(y_ptr, [n - 3], [1], [N])
    tl.store(o_ptr + tl.arange(0, N), tl.load_tensor_descriptor(d, [0]))


@pytest.mark.parametrize("which", [0, 1])
def test_a_branch_chooses_a_descriptor(engine, which):
    x, y, out = torch.randn(10), torch.randn(10), torch.empty(16)
    chosen[(1,)](x, y, out, 10, which, N=16)
    want = torch.zeros(16)
    want[: 10 if which else 7] = x if which else y[:7]
    assert torch.equal(out, want)


@tileon.jit
def too_narrow(x_ptr):
    tl.make_tensor_descriptor(x_ptr, [16, 4], [4, 1], [4, 2])


@tileon.jit
def wrong_rank(x_ptr):
    tl.make_tensor_descriptor(x_ptr, [16, 4], [4, 1], [8])


@tileon.jit
def checks_a_pointer(x_ptr):
    tl.load(x_ptr + tl.arange(0, 4), boundary_check=(0,))


@tileon.jit
def checks_what_is_not_there(x_ptr):
    tl.load(tl.make_block_ptr(x_ptr, (4,), (1,), (0,), (4,), (0,)), boundary_check=(1,))


@pytest.mark.parametrize(
    "kernel, message",
    [
        (too_narrow, r"at least 16 bytes in the last dimension, but got 2 \* 4 = 8 bytes"),
        (wrong_rank, "a descriptor of 2 dimensions needs as many block_shape, got 1"),
        (checks_a_pointer, "padding_option and boundary_check are for block pointers"),
        (checks_what_is_not_there, r"boundary_check names dimension 1 of a block of shape \[4\]"),
    ],
)
def test_errors(kernel, message):
    with pytest.raises(Error, match=message):
        kernel[(1,)](torch.zeros(64))
