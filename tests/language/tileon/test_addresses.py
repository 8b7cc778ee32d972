"""What takes numbers refuses addresses: a tensor that is passed where its number was meant neither compares nor indexes."""

import linecache

import pytest
import torch

from tilery import tileon
from tilery.core.functions.table import ROWS
from tilery.core.tile.table import ROWS as WRITTEN
from tilery.errors import Error
from tilery.tileon import language as tl

# `n` is the address of a tensor without dimensions, `i` a tile of ints, `f` one of floats, `O` the result's address.
OPERATORS = [f"n {op} {x}" for op in ("<", "<=", ">", ">=", "==", "!=", "*", "/", "//", "%", "&", "|", "^", "<<", ">>")
             for x in ("50", "i", "f", "2.5", "O", "n")]  # fmt: skip
REFLECTED = [f"{x} {op} n" for op in ("<", ">=", "==", "-", "*", "/", "//", "%", "&", ">>") for x in ("50", "i", "2.5")]
ARITHMETIC = ["n + n", "O + n", "n + 1.5", "n - n", "n - 2.0", "n + f", "-n", "~n", "abs(n)", "(n + i) < 5", "(O + i) > (O + 1)"]
PLACES = [
    "range(n)", "range(0, n)", "tl.range(0, 8, n)", "tl.load(O + i, mask=n)", "tl.load(O + i, mask=n + i)",
    "tl.load(O + i, mask=i < n)", "tl.load(O + i, mask=i < 4, other=n)", "tl.store(O + i, 1, mask=n)", "tl.store(O + n, 1)",
    "tl.store(O + i, n)", "tl.where(i < n, 1, 2)", "tl.where(i < 4, n, 2)", "tl.where(i < 4, n, 2.0)", "min(n, 4)",
    "max(4, n)", "min(O, n)", "int(n)", "float(n)", "n.to(tl.int32)", "n.to(tl.float32)", "n.to(tl.float64, bitcast=True)",
    "tl.cast(n, tl.int8)", "tl.full((4,), n, tl.float32)", "tl.full((4,), n, tl.int32)", "tl.sum(n)", "tl.sum(n + i)",
    "tl.max(n)", "tl.max(n + i, axis=0)", "tl.min(n + i, 0, return_indices=True)", "tl.argmax(n + i, 0)", "tl.xor_sum(n + i)",
    "tl.reduce(n + i, 0, add)", "tl.associative_scan(n + i, 0, add)", "tl.cumsum(n + i)", "tl.cumprod(n + i)", "tl.sort(n + i)",
    "tl.topk(n + i, 4)", "tl.flip(n + i)", "tl.histogram(n + i, 16)", "tl.gather(i, n + i, 0)", "tl.gather(n + i, i, 0)",
    "tl.softmax(n + i)", "tl.cdiv(n, 4)", "tl.swizzle2d(n, 1, 4, 4, 2)", "tl.dot(n + m, m)", "tl.dot(m.to(tl.float32), n + m)",
    "tl.dot_scaled(n + m, None, 'fp16', m, None, 'fp16')", "tl.rand(n, i)", "tl.rand(1, n)", "tl.randint(1, n + i)",
    "tl.randn4x(n, i)", "tl.philox(1, n, 0, 0, 0)", "tl.philox(1, i, n, 0, 0)", "tl.uint_to_uniform_float(n)",
    "tl.atomic_add(O + i, n)", "tl.atomic_add(O, n)", "tl.atomic_max(O, n)", "tl.atomic_add(O + i, 1, mask=n)",
    "tl.atomic_cas(O, n, 1)", "tl.atomic_cas(O, 0, n)", "tl.device_assert(n > 3)", "tl.device_assert(i < n, 'm', n)",
    "tl.load(tl.make_block_ptr(O, (n,), (1,), (0,), (16,), (0,)), (0,))",
    "tl.make_block_ptr(O, (16,), (1,), (n,), (16,), (0,))", "tl.load(tl.make_block_ptr(O, (16,), (n,), (0,), (16,), (0,)), (0,))",
    "tl.advance(tl.make_block_ptr(O, (16,), (1,), (0,), (16,), (0,)), (n,))",
    "tl.make_tensor_descriptor(O, [n], [1], [16]).load([0])", "tl.make_tensor_descriptor(O, [16], [1], [16]).load([n])",
    "tl.make_tensor_descriptor(O, [4, 16], [n, 1], [4, 16]).load([0, 0])",
    "tl.make_tensor_descriptor(O, [16], [1], [16]).store([n], i)", "tl.expect_zero(i, n > 3)", "tl.assume(n)",
    "n.to(tl.int64).to(tl.pointer_type(tl.float8e4b8)) < 50", "n.to(tl.pointer_type(tl.float8e4b15)) == 50",
]  # fmt: skip
ELEMENTWISE = [
    f"tl.{name}({', '.join(['n'] + ['f'] * (len(row.parameters) - 1))})" for row in ROWS for name, _ in row.spelled("tl")
]  # every elementwise function


@tileon.jit
def add(a, b):
    return a + b


def kernel_of(expression, at="i"):
    """A kernel that computes an expression."""
    source = "def k(O, n):\n    i = tl.arange(0, 16)\n    f = i * 1.0\n    m = (i[:, None] + i[None, :]).to(tl.float16)\n" + (
        f"    for _ in {expression}:\n        pass\n" if "range(" in expression[:9] else f"    x = {expression}\n"
    )
    file = f"<{expression}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    space = {"tl": tl, "add": add, "__name__": __name__}
    exec(compile(source, file, "exec"), space)
    return tileon.jit(space["k"])


@pytest.mark.parametrize("expression", [*OPERATORS, *REFLECTED, *ARITHMETIC, *PLACES, *ELEMENTWISE])
def test_addresses_are_no_numbers(expression):
    out, n = torch.zeros(16, dtype=torch.int32), torch.tensor(4)
    with pytest.raises((TypeError, ValueError)) as caught:
        kernel_of(expression)[(1,)](out, n, debug="assert" in expression or "expect" in expression)
    assert isinstance(caught.value, Error) and "could not be translated" not in str(caught.value)
    assert out.tolist() == [0] * 16 and n.item() == 4


def test_every_function_of_numbers_is_among_them():
    """Those that are not: what moves elements, addresses among them, and what takes none."""
    moving = """
        store load_tensor_descriptor store_tensor_descriptor to_tensor broadcast broadcast_to expand_dims squeeze
        unsqueeze reshape view ravel permute trans transpose join split interleave cat zeros zeros_like arange
        program_id num_programs condition multiple_of max_contiguous max_constancy assume debug_barrier static_print
        static_assert static_range device_print inline_asm_elementwise extern_elementwise extern builtin
        map_elementwise philox_impl rand4x randn randint4x pair_uniform_to_normal reduce_or argmin atomic_min
        atomic_and atomic_or atomic_xor atomic_xchg bitonic_merge
    """.split()
    for row in WRITTEN:
        for name, _ in row.spelled("tl"):
            assert name in moving or any(f"tl.{name}(" in e for e in (*PLACES, *ELEMENTWISE)) or name in ("cast", "full")


def test_the_message_names_the_argument_and_what_to_write():
    kernel = kernel_of("tl.store(O + i, 1, mask=i < n)")
    with pytest.raises(TypeError) as caught:
        kernel[(1,)](torch.zeros(16, dtype=torch.int32), torch.tensor(4))
    text = str(caught.value)
    assert "operator < takes numbers, and `n` is the address of a tensor (pointer<int64>)" in text
    assert "n.item()" in text and "tl.load(n)" in text
    with pytest.raises(TypeError, match=r"operator > takes numbers, and this is an address in `O` \(pointer<int32>\[16\]\)"):
        kernel_of("(O + i + 1) > 4")[(1,)](torch.zeros(16, dtype=torch.int32), 4)


@tileon.jit
def moves_addresses(X, Y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    both = tl.join(X + i, Y + i)
    tl.store(out + i[:, None] * 2 + tl.arange(0, 2)[None, :], tl.load(both))
    p = tl.cat(tl.where(i < 4, X + i, Y + i), (1 + Y) + i, dim=0)
    tl.store(out + 2 * B + tl.arange(0, 2 * B), tl.load(p))
    tl.store(out, 1.0, mask=X.to(tl.uint64) != 0)
    tl.store(out + 1, 1.0, mask=X != None)  # noqa: E711


def test_addresses_are_moved_and_offset(engine):
    x, y, out = torch.randn(17), torch.randn(17), torch.zeros(64)
    moves_addresses[(1,)](x, y, out, B=16)
    right = torch.cat([torch.stack([x[:16], y[:16]], 1).ravel(), x[:4], y[4:16], y[1:]])
    right[:2] = 1
    assert torch.equal(out, right)
