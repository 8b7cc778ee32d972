"""Wrong kernels. Each is followed by the message that it must give (see test_tileon_errors.py)."""
import math

import numpy as np

from tilery import tileon
from tilery.tileon import language as tl

N = tl.arange
TABLE = np.zeros(64)


@tileon.jit
def undefined_name(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, valeu)  # noqa: F821


@tileon.jit
def used_before(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, total)  # noqa: F821
    total = 1  # noqa: F841


@tileon.jit
def dot_shapes(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((16, 32), tl.float32)
    b = tl.zeros((16, 32), tl.float32)
    c = tl.dot(a, b)
    tl.store(x_ptr, tl.sum(c))


@tileon.jit
def dot_types(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((16, 16), tl.float16)
    b = tl.zeros((16, 16), tl.float32)
    tl.store(x_ptr, tl.sum(tl.dot(a, b)))


@tileon.jit
def store_shape(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.arange(0, BLOCK))


@tileon.jit
def where_shapes(x_ptr, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    y = tl.where(x > 2, x, tl.zeros((2 * BLOCK,), tl.int32))
    tl.store(x_ptr, tl.sum(y))


@tileon.jit
def operand_shapes(x_ptr, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK) + tl.arange(0, 2 * BLOCK)
    tl.store(x_ptr, tl.sum(x))


@tileon.jit
def mask_shape(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK)[:, None] < 3)
    tl.store(x_ptr, tl.sum(x))


@tileon.jit
def other_without_mask(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK), other=0.0)
    tl.store(x_ptr, tl.sum(x))


@tileon.jit
def not_a_pointer(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(tl.arange(0, BLOCK))
    tl.store(x_ptr, tl.sum(x))


@tileon.jit
def float_offset(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + 0.5)
    tl.store(x_ptr, x)


@tileon.jit
def loop_changes_type(x_ptr, n, BLOCK: tl.constexpr):
    total = 0
    for i in range(n):
        total += tl.load(x_ptr + i)
    tl.store(x_ptr, total)


@tileon.jit
def loop_changes_shape(x_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(n):
        total = tl.sum(total)
    tl.store(x_ptr, total)


@tileon.jit
def one_branch(x_ptr, n, BLOCK: tl.constexpr):
    if n > 3:
        value = 1.0
    tl.store(x_ptr, value)


@tileon.jit
def branch_types(x_ptr, n, BLOCK: tl.constexpr):
    if n > 3:
        value = 1.0
    else:
        value = 1
    tl.store(x_ptr, value)


@tileon.jit
def after_the_loop(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n):
        value = i * 2
    tl.store(x_ptr, value)


@tileon.jit
def run_time_shape(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, n)
    tl.store(x_ptr + offsets, 0.0)


@tileon.jit
def run_time_shape_of_zeros(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.zeros((BLOCK, n), tl.float32)))


@tileon.jit
def empty_range(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(8, 8), 0.0)


@tileon.jit
def recursive(x_ptr, n, BLOCK: tl.constexpr):
    if n > 0:
        recursive(x_ptr, n - 1, BLOCK)
    tl.store(x_ptr, 1.0)


@tileon.jit
def unsupported_statement(x_ptr, BLOCK: tl.constexpr):
    try:
        tl.store(x_ptr, 1.0)
    finally:
        pass


@tileon.jit
def with_a_file(x_ptr, BLOCK: tl.constexpr):
    with open("file", "w"):
        tl.store(x_ptr, 1.0)


@tileon.jit
def tile_condition(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if x > 0:
        tl.store(x_ptr, 1.0)


@tileon.jit
def element_of_a_tile(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, x[0])


@tileon.jit
def element_assigned(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    x[0] = 1.0


@tileon.jit
def exp_of_half(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK)).to(tl.float16)
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.exp(x))


@tileon.jit
def store_to_const(x_ptr: tl.const, BLOCK: tl.constexpr):
    tl.store(x_ptr, 1.0)


@tileon.jit
def helper(x):
    return x + undefined_in_helper  # noqa: F821


@tileon.jit
def in_a_helper(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, helper(1.0))


@tileon.jit
def returns(x_ptr, BLOCK: tl.constexpr):
    return 1


@tileon.jit
def returns_later(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x + 1)
    return x


@tileon.jit
def host_function(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, math.exp(tl.load(x_ptr)))


@tileon.jit
def function_of_numpy(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, np.tanh(tl.load(x_ptr)))


@tileon.jit
def comprehension_at_run_time(x_ptr, BLOCK: tl.constexpr):
    parts = [tl.load(x_ptr + i) for i in range(tl.program_id(0))]
    tl.store(x_ptr, parts[0])


@tileon.jit
def range_of_a_table(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, TABLE), 0.0)


@tileon.jit
def failed_static_assert(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 100, "BLOCK is too small")


@tileon.jit
def bad_axis(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(3), 1.0)


@tileon.jit
def list_in_a_loop(x_ptr, n, BLOCK: tl.constexpr):
    parts = []
    for i in range(n):
        parts.append(i)
    tl.store(x_ptr, parts[0])


@tileon.jit
def bad_modifier(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(x_ptr, cache_modifier=".zz"))


@tileon.jit
def narrow_literal(x_ptr, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK).to(tl.int8)
    tl.store(x_ptr + x, x + 300)


@tileon.jit
def unknown_function(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.maxmum(tl.load(x_ptr), 0.0))


@tileon.jit
def refused_function(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.dispatch(None, "", "", [], {}, True))


@tileon.jit
def too_many_arguments(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.exp(tl.load(x_ptr), 2))


@tileon.jit
def unknown_argument(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK)), axes=0))


@tileon.jit
def too_many_for_a_helper(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, helper(tl.load(x_ptr), 2))


@tileon.jit
def print_without_a_text(x_ptr, BLOCK: tl.constexpr):
    tl.device_print(tl.load(x_ptr))
