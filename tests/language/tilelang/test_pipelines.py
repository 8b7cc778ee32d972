"""Plans of T.Pipelined written by hand: which are taken, that they change no result, and which are refused."""

import inspect
import linecache

import pytest
import torch
from language import bounds
from language.bounds import within

from tilery import tilelang
from tilery.tilelang import language as T

M, N, K = 64, 48, 80


def product(order, stage, group=None, num_stages=0):
    """C = 2 A B; a step copies twice, doubles the second factor, multiplies."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=128) as _:
            A_s, B_s = T.alloc_shared((M, 16), "float16"), T.alloc_shared((16, N), "float16")
            doubled = T.alloc_fragment((16, N), "float16")
            acc = T.alloc_fragment((M, N), "float32")
            T.clear(acc)
            for k in T.Pipelined(K // 16, num_stages=num_stages, order=order, stage=stage, group=group):
                T.copy(A[0, k * 16], A_s)
                T.copy(B[k * 16, 0], B_s)
                for i, j in T.Parallel(16, N):
                    doubled[i, j] = B_s[i, j] * 2
                T.gemm(A_s, doubled, acc)
            T.copy(acc, C)

    return main


@pytest.mark.parametrize(
    "order, stage, group, num_stages",
    [
        ([0, 1, 2, 3], [0, 0, 1, 1], None, 0),
        ((0, 1, 2, 3), (0, 0, 0, 2), None, 3),
        ([2, 3, 0, 1], [0, 0, 1, 1], None, 2),  # the next step's copies after this one's product
        ([0, 1, 3, 2], [0, 0, 1, 2], None, 0),
        ([-1, -1, 0, 1], [-1, -1, 0, 0], None, 2),
        ([-1, 0, 1], [-1, 0, 0], [[0, 1], [2], [3]], 2),
        ([0, 1], [0, 1], [[0, 1], [2, 3]], 0),
        (None, [0, 0, 1, 1], None, 0),
        ([0, 1, 2, 3], None, None, 0),
    ],
)
def test_a_plan_changes_no_result(engine, order, stage, group, num_stages):
    a, b, c = torch.randn(M, K).half(), torch.randn(K, N).half(), torch.full((M, N), float("nan"))
    tilelang.compile(product(order, stage, group, num_stages))(a, b, c)
    within(c, bounds.product(a, 2 * b, torch.float32))


@pytest.mark.parametrize("statements", [2, 3])
def test_a_plan_may_count_statements_that_only_order_others(engine, statements):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=32) as _:
            s = T.alloc_shared((16,), "float32")
            for k in T.Pipelined(4, order=[*range(statements)], stage=[0] * statements):
                T.copy(A[k * 16], s)
                T.sync_threads()
                T.copy(s, B[k * 16])

    a, b = torch.randn(64), torch.full((64,), float("nan"))
    tilelang.compile(main)(a, b)
    assert torch.equal(b, a)


def test_a_plan_for_statements_of_macros_and_branches():
    """The plan of upstream's attention: 14 statements, in macros, in 6 groups."""

    @T.macro
    def scores(K_: T.Tensor, K_s: T.SharedBuffer, s: T.FragmentBuffer, k: T.int32):
        T.copy(K_[k * 16, 0], K_s)
        for i, j in T.Parallel(16, 16):
            s[i, j] = T.if_then_else(k * 16 + j <= i, 0.0, -T.infinity("float32"))
        T.gemm(K_s, K_s, s, transpose_B=True)

    @T.macro
    def softmax(s: T.FragmentBuffer, top: T.FragmentBuffer, before: T.FragmentBuffer, total: T.FragmentBuffer):
        T.copy(top, before)
        T.fill(top, -1e30)
        T.reduce_max(s, top, dim=1, clear=False)
        for i in T.Parallel(16):
            before[i] = T.exp(before[i] - top[i])
        for i, j in T.Parallel(16, 16):
            s[i, j] = T.exp(s[i, j] - top[i])
        T.reduce_sum(s, total, dim=1)
        for i in T.Parallel(16):
            top[i] = total[i]

    @T.prim_func
    def main(X: T.Tensor((64, 16), "float32"), Y: T.Tensor((16,), "float32"), n: T.int32):
        with T.Kernel(1, threads=128) as _:
            K_s = T.alloc_shared((16, 16), "float32")
            s = T.alloc_fragment((16, 16), "float32")
            top, before, total = (T.alloc_fragment((16,), "float32") for _ in range(3))
            T.clear(top)
            for k in T.Pipelined(
                4, num_stages=1, order=[-1, 0, 1, 2], stage=[-1, 0, 0, 1], group=[[0], [1, 2], [3, 4, 5, 6, 7, 8, 9], [10]]
            ):
                if k < n:
                    scores(X, K_s, s, k)
                    softmax(s, top, before, total)
                    T.copy(top, Y)

    tilelang.compile(main).get_kernel_source()


@pytest.mark.parametrize(
    "order, stage, group, message",
    [
        ([0, 1], [0, 0, 1, 1], None, "`order` of T.Pipelined has 2 entries, `stage` has 4"),
        ([0, 1, 2], [0, 0, 1], [[0, 1], [2, 3]], "`order` of T.Pipelined has 3 entries, `group` has 2"),
        ([0, 1, 2], [0, 0, 1], None, r"for 3 statements, and the loop's body has 4 \(lines \d+, \d+, \d+, \d+\)"),
        ([0, 1, 2, 3, 4], [0, 0, 1, 1, 1], None, "for 5 statements, and the loop's body has 4"),
        ([0, 1], [0, 1], [[0, 1], [2]], "for 3 statements, and the loop's body has 4"),
        ([0, 1, 2, 2], [0, 0, 1, 1], None, "two statements of T.Pipelined have the same order 2"),
        ([0, 1, 2, 4], [0, 0, 1, 1], None, "the place 4 of 4 statements"),
        ([0, 1, 2, -2], [0, 0, 1, 1], None, "an integer for each statement"),
        ([0, 1, 2, 3], [0, 0, 1, True], None, "an integer for each statement"),
        ([0, 1, 2, 3], [0, 0, 1, -1], None, "entry 3 is -1 in one of `order` and `stage`"),
        ([0, 1], [0, 0], [[0, 1], [2, 4]], "`group` of T.Pipelined holds the numbers of the loop's statements"),
        ([0, 1], [0, 0], [[0, 1], [1, 2, 3]], "`group` of T.Pipelined holds the numbers of the loop's statements"),
        ("0123", None, None, "`order` of T.Pipelined is a list"),
        ([0, 1, 2, 3], [0, 0, 1, 0], None, r"3 \(line \d+\) .* reads what statement 2 \(line \d+\) writes, .* later stage 1"),
        ([0, 1, 2, 3], [0, 1, 0, 1], None, r"statement 2 .* reads what statement 1 .* later stage 1, not in 0"),
        ([0, 1], [1, 0], [[0, 1], [2, 3]], r"statement 2 .* reads what statement 1 .* later stage 1"),
        ([0, 1, 3, 2], [0, 0, 1, 1], None, r"statement 3 .* reads what statement 2 .* comes before it in `order` within stage 1"),
    ],
)
def test_plans_that_cannot_be(order, stage, group, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tilelang.compile(product(order, stage, group))


def left(order, stage):
    """Sums twice the first rows; `jump` ends the loop or the iteration before, between or after the three statements."""

    @T.prim_func
    def main(X: T.Tensor((8, 64), "float32"), Y: T.Tensor((64,), "float32"), n: T.int32):
        with T.Kernel(1, threads=64):
            row = T.alloc_shared((64,), "float32")
            doubled, total = T.alloc_fragment((64,), "float32"), T.alloc_fragment((64,), "float32")
            T.clear(total)
            for k in T.Pipelined(8, num_stages=2, order=order, stage=stage):
                # JUMP 0
                T.copy(X[k, 0], row)
                # JUMP 1
                for i in T.Parallel(64):
                    doubled[i] = row[i] * 2
                # JUMP 2
                for i in T.Parallel(64):
                    total[i] += doubled[i]
                # JUMP 3
            T.copy(total, Y)

    return main


JUMPS = {
    "break": ["if k >= n:", "    break"],
    "last break": ["if k + 1 >= n:", "    break"],
    "loop_break": ["if k >= n:", "    T.loop_break()"],
    "continue": ["if k >= n:", "    continue"],
    "inner break": ["if k >= 0:", "    T.clear(doubled)", "    if k >= n:", "        break"],
    "break after": ["if k >= n:", "    T.clear(row)", "    break"],
    "break else": ["if k < n:", "    T.clear(row)", "else:", "    break"],
}


def written(jump, at):
    """`left` with the jump in its place."""
    text = inspect.getsource(left).replace(f"# JUMP {at}", f"\n{16 * ' '}".join(JUMPS[jump]))
    file = f"<{jump} {at}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"T": T}
    exec(compile(text, file, "exec"), names)
    return names["left"]


@pytest.mark.parametrize(
    "jump, at",
    [
        ("break", 0),
        ("break", 1),
        ("break", 2),
        ("last break", 3),
        ("loop_break", 0),
        ("continue", 0),
        ("continue", 2),
        ("inner break", 1),
        ("break after", 2),
    ],
)
def test_a_plan_counts_a_branch_that_leaves_the_loop(engine, jump, at):
    order, stage = [0, 1, 2, 3], [0, 0, 0, 1]
    if at == 0:
        stage = [0, 0, 1, 1]
    rows, total = torch.randn(8, 64), torch.full((64,), float("nan"))
    tilelang.compile(written(jump, at)(order, stage))(rows, total, 3)
    torch.testing.assert_close(total, 2 * rows[:3].sum(0))


@pytest.mark.parametrize(
    "jump, at, order, stage, message",
    [
        ("break", 0, [0, 1], [0, 1], "for 2 statements, and the loop's body has 4"),
        ("break", 0, [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 1, 1], "for 6 statements, and the loop's body has 4"),
        ("break", 0, [0, 1, 2, 3], [0, 1, 0, 0], "statement 2 .* reads what statement 1 .* later stage 1, not in 0"),
        ("break", 1, [0, 1, 3, 2], [0, 0, 0, 0], "statement 3 .* reads what statement 2 .* comes before it in `order`"),
        ("inner break", 1, [0, 1, 2, 3], [0, 1, 0, 0], "statement 3 .* reads what statement 1 .* later stage 1"),
        ("break after", 2, [0, 1, 2], [0, 0, 1], "for 3 statements, and the loop's body has 4"),
        ("break else", 2, [0, 1], [0, 1], "for 2 statements, and the loop's body has 5"),
        ("continue", 2, [0, 1], [0, 1], "for 2 statements, and the loop's body has 3"),
    ],
)
def test_plans_of_loops_that_are_left_early_are_checked(jump, at, order, stage, message):
    with pytest.raises(ValueError, match=message):
        tilelang.compile(written(jump, at)(order, stage))
