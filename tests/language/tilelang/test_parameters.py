"""What functions take: tensors declared in the body, addresses, scalars of eager functions, None for what is not used."""

import numpy as np
import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def test_parameters_declared_in_the_body(engine):
    @T.prim_func
    def main(A, B, C):
        m = T.dynamic("m")
        T.annotate_pass_configs({"tl.enable_fast_math": True})
        A: T.Tensor[[m], T.float32]
        B: T.Tensor[[m * 2 + 1], T.float32]
        C: T.StridedTensor[[m, 2], [4, 1], T.float32]
        with T.Kernel(threads=1):
            for i in T.serial(m * 2 + 1):
                B[i] = A[i % m] + 1
            for i in T.serial(m):
                C[i, 1] = A[i]

    assert main.attrs == {"global_symbol": "main", "tilelang_pass_configs": {"tl.enable_fast_math": True}}
    a, c = torch.randn(5), torch.zeros(5, 4)
    b = tilelang.compile(main, out_idx=1)(a, c[:, :2])
    assert (b == a.repeat(3)[:11] + 1).all() and (c[:, 1] == a).all() and not c[:, [0, 2, 3]].any()


def test_scalars_of_eager_functions(engine):
    @tilelang.jit
    def ramp(m: T.int32, step: T.float32, block: int = 4):
        B = T.empty([m + 1], T.float32)
        with T.Kernel(T.ceildiv(m + 1, block)) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = (bx * block + i) * step
        return B

    for m, step in ((22, 0.5), (3, 2.0)):
        assert (ramp(m, step) == torch.arange(m + 1) * step).all()
    assert len(ramp.eager.kernels) == 1


@pytest.mark.parametrize(
    "kind, least, greatest",
    [(f"int{bits}", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)]
    + [(f"uint{bits}", 0, 2**bits - 1) for bits in (8, 32, 64)],
)
def test_integers_that_a_scalar_parameter_does_not_hold(engine, kind, least, greatest):
    @T.prim_func
    def main(x: getattr(T, kind), B: T.Tensor((1,), kind)):
        with T.Kernel(1):
            B[0] = x

    kernel, b = tilelang.compile(main), torch.zeros(1, dtype=getattr(torch, kind))
    for number in (least, 1, greatest):
        kernel(number, b)
        assert b.item() == number
    for number in (least - 1, greatest + 1, *([2**40] if greatest < 2**40 else [])):
        with pytest.raises(OverflowError, match=f"does not fit into ({kind}|64 bits)"):
            kernel(number, b)
    assert b.item() == greatest


def test_addresses(engine):
    @T.prim_func
    def product(a: T.ptr, b: T.ptr, c: T.ptr, m: T.int32, n: T.int32, k: T.int32):
        A = T.make_tensor(a, (m, k), "float16")
        B = T.make_tensor(b, (n, k), "float16")
        C = T.make_tensor(c, (m, n), "float32")
        with T.Kernel(T.ceildiv(n, 32), T.ceildiv(m, 32)) as (bx, by):
            A_s, B_s = T.alloc_shared((32, 16), "float16"), T.alloc_shared((32, 16), "float16")
            acc = T.alloc_fragment((32, 32), "float32")
            T.clear(acc)
            for ko in T.Pipelined(T.ceildiv(k, 16), num_stages=2):
                T.copy(A[by * 32, ko * 16], A_s)
                T.copy(B[bx * 32, ko * 16], B_s)
                T.gemm(A_s, B_s, acc, transpose_B=True)
            T.copy(acc, C[by * 32, bx * 32])

    a, b = torch.randint(-3, 4, (40, 24)).half(), torch.randint(-3, 4, (50, 24)).half()
    kernel, expected = tilelang.compile(product), a.float() @ b.float().T
    c = torch.zeros(40, 50)
    kernel(a, b, c, 40, 50, 24)
    assert (c == expected).all()
    c.zero_()
    kernel(a.data_ptr(), b.data_ptr(), c.data_ptr(), 40, 50, 24)
    assert (c == expected).all()


def test_a_table_of_addresses(engine):
    @T.prim_func
    def gather(P: T.Tensor([3], T.ptr), Out: T.Tensor([3, 16], "float16")):
        with T.Kernel(3) as bx:
            source = T.make_tensor(P[bx], (16,), "float16")
            for i in T.Parallel(16):
                Out[bx, i] = source[15 - i]

    rows = [torch.randn(16).half() for _ in range(3)]
    out = torch.zeros(3, 16).half()
    tilelang.compile(gather)(torch.tensor([row.data_ptr() for row in rows]), out)
    assert (out == torch.stack(rows).flip(1)).all()


def test_none_for_what_is_not_used(engine):
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), Bias: T.Tensor((n,), "float32"), Out: T.Tensor((1,), "int32")):
        with T.Kernel(1):
            Out[0] = n

    @T.prim_func
    def add(A: T.Tensor((4,), "float32"), Bias: T.Tensor((4,), "float32")):
        with T.Kernel(1):
            T.copy(Bias, A)

    kernel, out = tilelang.compile(main), torch.zeros(1, dtype=torch.int32)
    for a, bias, size in ((torch.ones(3), None, 3), (None, torch.ones(5), 5), (torch.ones(2), torch.ones(2), 2), (None, None, 0)):
        kernel(a, bias, out)
        assert out.item() == size
    with pytest.raises(RuntimeError, match="add.Bias is expected to be a tensor, since the kernel uses it, but got None"):
        tilelang.compile(add)(torch.ones(4), None)


def test_none_on_the_side_that_a_known_condition_leaves_out(engine):
    def program(chosen, n=8):
        @T.prim_func
        def rows(A: T.Tensor((n, 4), "float32"), Index: T.Tensor((n,), "int32"), B: T.Tensor((n, 4), "float32")):
            with T.Kernel(n, threads=32) as bx:
                row = T.if_then_else(chosen, T.cast(Index[bx], "int64"), T.cast(bx, "int64"))
                for i in T.Parallel(4):
                    B[bx, i] = A[row, i] + T.if_then_else(not chosen, 1.0, T.cast(Index[bx], "float32"))

        return tilelang.compile(rows)

    a, b = torch.randn(8, 4), torch.zeros(8, 4)
    program(False)(a, None, b)
    assert torch.equal(b, a + 1)
    index = torch.tensor([3, 1, 4, 1, 5, 2, 6, 5], dtype=torch.int32)
    program(True)(a, index, b)
    assert torch.equal(b, a[index.long()] + index[:, None])
    with pytest.raises(RuntimeError, match="rows.Index is expected to be a tensor, since the kernel uses it, but got None"):
        program(True)(a, None, b)


@pytest.mark.parametrize("chosen", [True, False])
def test_the_side_that_a_known_condition_takes_is_evaluated_once(engine, chosen):
    @T.prim_func
    def count(A: T.Tensor((2,), "int32"), B: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=1):
            first = T.atomic_add(A[0], 1, return_prev=True)
            B[0] = first + T.if_then_else(chosen, T.atomic_add(A[1], 1, return_prev=True), T.cast(7, "int32"))

    a, b = torch.zeros(2, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    tilelang.compile(count)(a, b)
    assert a.tolist() == [1, int(chosen)] and b.item() == (0 if chosen else 7)


def test_updates_on_a_side_are_made_where_it_is_taken(engine):
    @T.prim_func
    def count(X: T.Tensor((8,), "int32"), A: T.Tensor((4,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=8):
            for i in T.Parallel(8):
                B[i] = T.if_then_else(
                    X[i] > 3,
                    T.atomic_add(A[0], 1, return_prev=True) * 0 + 5,
                    T.if_then_else(X[i] == 0, T.atomic_add(A[1], 1, return_prev=True) * 0 + 6, 7),
                )
                B[i] += T.atomic_add(A[2], 1, return_prev=True) * 0 if X[i] > 5 else T.atomic_add(A[3], 1, return_prev=True) * 0

    x, a, b = torch.arange(8, dtype=torch.int32), torch.zeros(4, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    tilelang.compile(count)(x, a, b)
    assert a.tolist() == [4, 1, 2, 6] and b.tolist() == [6, 7, 7, 7, 5, 5, 5, 5]




def test_a_condition_that_its_own_side_updates_is_read_once(engine):
    @T.prim_func
    def take(X: T.Tensor((8,), "int32"), A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=8):
            for i in T.Parallel(8):
                B[i] = T.if_then_else(X[i], T.atomic_add(X[i], -1, return_prev=True), T.atomic_add(A[i], 1, return_prev=True))

    x = torch.tensor([0, 1] * 4, dtype=torch.int32)
    rest, a, b = x.clone(), torch.zeros(8, dtype=torch.int32), torch.full((8,), 9, dtype=torch.int32)
    tilelang.compile(take)(rest, a, b)
    assert not rest.any() and a.tolist() == (1 - x).tolist() and b.tolist() == x.tolist()


def test_returned_tensors_and_out_idx():
    @T.prim_func
    def main(A: T.Tensor((4,), "float32")):
        B = T.empty((4,), "float32")
        with T.Kernel(1):
            T.copy(A, B)
        return B

    assert main.attrs["tilelang_out_idx"] == [-1]
    with pytest.raises(ValueError, match="Out index conflict: `main` returns tensors and has out_idx"):
        tilelang.compile(main, out_idx=[0])


def test_while_frames(engine):
    @T.prim_func
    def main(Limit: T.Buffer((1,), "int32"), Out: T.Buffer((1,), "int32")):
        with T.Kernel(1):
            state = T.alloc_fragment((1,), "int32")
            state[0] = 0
            with T.While(state[0] < Limit[0]):
                state[0] = state[0] + 3
            Out[0] = state[0]

    out = torch.zeros(1, dtype=torch.int32)
    tilelang.compile(main, target="c")(torch.tensor([10], dtype=torch.int32), out)
    assert out.item() == 12


def test_views_of_tensors(engine):
    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((8, 16), "int16"), C: T.Tensor((2, 8), "int32")):
        with T.Kernel(1):
            T.copy(T.view(A, [8, 16], dtype="int16"), B)
            row = T.int32()
            T.let(row, 2)
            T.copy(T.reshape(A, [8, 8])[row : row + 2, :], C)

    a = torch.randint(-(2**31), 2**31 - 1, (64,), dtype=torch.int32)
    b, c = torch.zeros(8, 16, dtype=torch.int16), torch.zeros(2, 8, dtype=torch.int32)
    kernel = tilelang.compile(main)
    kernel(a, b, c)
    assert (b == a.view(torch.int16).view(8, 16)).all() and (c == a.view(8, 8)[2:4]).all()


def test_a_view_of_a_tensor_with_gaps_is_refused(engine):
    step = T.dynamic("step")

    @T.prim_func
    def main(A: T.StridedTensor((64,), (step,), "int32"), B: T.Tensor((8, 16), "int16")):
        with T.Kernel(1):
            T.copy(T.view(A, [8, 16], dtype="int16"), B)

    a, b = torch.randint(-(2**31), 2**31 - 1, (128,), dtype=torch.int32), torch.zeros(8, 16, dtype=torch.int16)
    kernel = tilelang.compile(main)
    kernel(a[:64], b)
    assert (b == a[:64].view(torch.int16).view(8, 16)).all()
    with pytest.raises(ValueError, match="`main` views A, whose stride 0 is 2, not 1: it has gaps"):
        kernel(a[::2], b)


def test_regions_of_run_time_extents_and_names_of_slices(engine):
    @T.prim_func
    def main(A: T.Tensor((64,), "int64"), B: T.Tensor((4, 4), "float32"), n: T.int32):
        with T.Kernel(1):
            start = T.alloc_var("int32", init=n)
            T.fill(A[start : start * 2 + n], 7)
            tile = T.alloc_shared((8, 8), "float32")
            T.fill(tile, 1)
            corner = tile[:4, :4]
            T.clear(corner)
            T.copy(tile[2:6, 2:6], B)

    a, b = torch.zeros(64, dtype=torch.int64), torch.zeros(4, 4)
    tilelang.compile(main)(a, b, 4)
    assert a.nonzero().flatten().tolist() == list(range(4, 12)) and not b[:2, :2].any() and b.sum() == 12


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_numbers_of_numpy_are_numbers(engine, kind):
    def scaled(rows, columns, block, times):
        @T.prim_func
        def main(A: T.Tensor((rows, columns), "float32"), B: T.Tensor((rows, columns), "float32")):
            with T.Kernel(T.ceildiv(columns, block), rows, threads=block) as (bx, by):
                tile = T.alloc_shared((block,), "float32")
                T.copy(A[by, bx * block], tile)
                for _ in T.serial(times):
                    for i in T.Parallel(block):
                        tile[i] = times * tile[i] + block * 0.5 + np.float32(0.25)
                for i in T.Parallel(block):
                    B[by, block * bx + i] = tile[i] - (times * bx) + (bx + times)

        return tilelang.compile(main, out_idx=1)

    a = torch.randn(6, 50)
    assert torch.equal(scaled(*map(kind, (6, 50, 32, 2)))(a), scaled(6, 50, 32, 2)(a))


def test_buffers_as_long_as_a_scalar_parameter_says(engine):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), n: T.int32, B: T.Tensor((64,), "float32")):
        with T.Kernel(3):
            rows = T.alloc_shared((n, 4), "float32")
            for i in T.serial(n):
                for j in T.Parallel(4):
                    rows[i, j] = A[i * 4 + j] * 2
            for i in T.serial(n):
                for j in T.Parallel(4):
                    B[i * 4 + j] = rows[n - 1 - i, j]

    a, b = torch.randn(64), torch.zeros(64)
    tilelang.compile(main)(a, 7, b)
    assert torch.equal(b[:28].view(7, 4), (a[:28] * 2).view(7, 4).flip(0)) and not b[28:].any()


def test_buffers_of_run_time_extents(engine):
    """Memory of a block that each call sizes, and copies of as many elements."""
    n, m = T.dynamic("n"), T.dynamic("m")

    @T.prim_func
    def main(A: T.Tensor((m, n), "float32"), B: T.Tensor((m, n), "float32"), C: T.Tensor((m, n), "float32")):
        with T.Kernel(m, threads=128) as bx:
            row, turned = T.alloc_shared((n,), "float32"), T.alloc_shared((n + 2,), "float32")
            T.fill(turned, 7)
            T.copy(A[bx, 0:n], row)
            for i in T.Parallel(n):
                turned[i + 2] = row[n - 1 - i] + bx
            for i in T.Parallel(n):
                B[bx, i] = turned[i + 2] * (turned[1] - 6)
            T.copy(row, C[bx, 0:n])

    kernel = tilelang.compile(main)
    for rows, columns in ((3, 5), (4, 200), (1, 1)):
        a, b, c = torch.randn(rows, columns), torch.zeros(rows, columns), torch.zeros(rows, columns)
        kernel(a, b, c)
        assert torch.equal(b, a.flip(1) + torch.arange(rows)[:, None]) and torch.equal(c, a)


def test_addresses_of_elements(engine):
    @T.prim_func
    def main(A: T.Tensor((6, 16), "float32"), B: T.Tensor((4, 8), "float32"), C: T.Tensor((16,), "float32")):
        with T.Kernel(1):
            part = T.make_tensor(T.address_of(A[1, 4]), (4, 8), "float32", (16, 1))
            tile = T.alloc_shared((16,), "float32")
            for i, j in T.Parallel(4, 8):
                B[i, j] = part[i, j]
            for k in T.serial(4):
                T.ptx_cp_async(T.access_ptr(tile[k * 4], "w", 4), T.access_ptr(A[2, k * 4], "r", 4), 16, k != 1)
            T.ptx_commit_group()
            T.ptx_wait_group(0)
            T.copy(tile, C)

    a, b, c = torch.randn(6, 16), torch.zeros(4, 8), torch.ones(16)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(b, a[1:5, 4:12])
    assert torch.equal(c, torch.cat([a[2, :4], torch.zeros(4), a[2, 8:]]))


def _scaled(kind):
    @T.prim_func
    def main(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), kind), factor: T.int32):
        with T.Kernel(1):
            for i in T.Parallel(8):
                B[i] = A[i] * factor

    return main


def test_calls_after_the_first_are_checked_as_it_was(engine):
    """They do not go through Python."""
    kernel = tilelang.compile(_scaled("float32"))
    a, b = torch.randn(8), torch.zeros(8)
    for factor in (1, 2, 3):
        kernel(a, b, factor)
        assert torch.equal(b, a * factor)
        with pytest.raises(ValueError, match="Kernel expected 3 inputs, but 2 are provided"):
            kernel(a, b)
        with pytest.raises(TypeError, match="factor"):
            kernel(a, b, factor=factor)
        with pytest.raises(TypeError, match="float32"):
            kernel(a, b.double(), factor)
    kernel(a, b, 5, debug=True)
    assert torch.equal(b, a * 5)


@pytest.mark.parametrize("kind, returned", [("float32", torch.float32), ("float8_e8m0fnu", torch.float8_e8m0fnu)])
def test_results_have_their_type_in_every_call(engine, kind, returned):
    kernel = tilelang.compile(_scaled(kind), out_idx=1)
    a = torch.tensor([1.0, 2, 4, 0.5, 1, 2, 4, 8])
    for factor in (1, 2, 4):
        b = kernel(a, factor)
        assert b.dtype == returned and torch.equal(b.to(torch.float32), a * factor)


def test_parameters_are_shown_as_they_are_declared():
    m = T.dynamic("m")

    @T.prim_func
    def main(A: T.Tensor((m, 8), "float16"), B: T.StridedTensor((4, m), (16, 1), "int8"), n: T.int32):
        with T.Kernel(1):
            A[0, 0] = n

    shown = [repr(kind) for kind in tilelang.compile(main).params]
    assert shown == ["T.Tensor((m, 8), T.float16)", "T.StridedTensor((4, m), (16, 1), T.int8)", "T.int32"]
