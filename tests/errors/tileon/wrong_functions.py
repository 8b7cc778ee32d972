"""Functions of tl called wrongly. Each is followed by the message that it must give (messages.txt)."""

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def range_of_floats(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0.0, BLOCK), 0.0)


@tileon.jit
def bad_program_axis(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(3), 0.0)


@tileon.jit
def full_of_a_tile(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.full((BLOCK,), tl.arange(0, BLOCK), tl.float32)))


@tileon.jit
def shape_of_floats(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.zeros((BLOCK / 2,), tl.float32)))


@tileon.jit
def reshape_sizes(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.arange(0, BLOCK).reshape(3, 4)))


@tileon.jit
def broadcast_sizes(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.broadcast_to(tl.arange(0, BLOCK), (BLOCK, 3))))


@tileon.jit
def expand_twice(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.expand_dims(tl.arange(0, BLOCK), (0, 0))))


@tileon.jit
def permute_order(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.zeros((4, 8), tl.float32).permute(0, 0)))


@tileon.jit
def transpose_of_a_row(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.trans(tl.arange(0, BLOCK))))


@tileon.jit
def squeeze_of_many(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.squeeze(tl.arange(0, BLOCK), 0)))


@tileon.jit
def split_of_four(x_ptr, BLOCK: tl.constexpr):
    a, b = tl.split(tl.zeros((8, 4), tl.float32))
    tl.store(x_ptr, tl.sum(a + b))


@tileon.jit
def join_of_two_types(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.join(tl.zeros((8,), tl.float32), tl.zeros((4,), tl.float32))))


@tileon.jit
def gather_with_floats(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.gather(x, x, 0))


@tileon.jit
def gather_of_another_rank(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, tl.sum(tl.gather(x, tl.zeros((2, 2), tl.int32), 0)))


@tileon.jit
def dot_of_rows(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, tl.sum(tl.dot(x, x)))


@tileon.jit
def dot_accumulator(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((16, 16), tl.float16)
    tl.store(x_ptr, tl.sum(tl.dot(a, a, tl.zeros((16, 16), tl.int32))))


@tileon.jit
def dot_accumulator_shape(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((16, 16), tl.float16)
    tl.store(x_ptr, tl.sum(tl.dot(a, a, tl.zeros((16, 32), tl.float32))))


@tileon.jit
def dot_into_bfloat16(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((16, 16), tl.float16)
    tl.store(x_ptr, tl.sum(tl.dot(a, a, out_dtype=tl.bfloat16)))


@tileon.jit
def dot_precisions(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((16, 16), tl.float32)
    tl.store(x_ptr, tl.sum(tl.dot(a, a, input_precision="ieee", allow_tf32=True)))


@tileon.jit
def dot_precision_name(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((16, 16), tl.float32)
    tl.store(x_ptr, tl.sum(tl.dot(a, a, input_precision="fast")))


@tileon.jit
def dot_batches(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.dot(tl.zeros((2, 16, 16), tl.float32), tl.zeros((3, 16, 16), tl.float32))))


@tileon.jit
def dot_imprecise(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((16, 32), tl.float8e5)
    tl.store(x_ptr, tl.sum(tl.dot(a, tl.trans(a), max_num_imprecise_acc=64)))


@tileon.jit
def scaled_factors(x_ptr, BLOCK: tl.constexpr):
    a = tl.zeros((32, 64), tl.uint8)
    s = tl.zeros((32, 2), tl.uint8)
    tl.store(x_ptr, tl.sum(tl.dot_scaled(a, tl.zeros((32, 4), tl.uint8), "e5m2", tl.trans(a), s, "e5m2")))


@tileon.jit
def reduce_axis(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.arange(0, BLOCK), 1))


@tileon.jit
def xor_of_floats(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.xor_sum(tl.load(x_ptr + tl.arange(0, BLOCK)), 0))


@tileon.jit
def pair(a, b):
    return a, b


@tileon.jit
def reduce_returns_two(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.reduce(tl.arange(0, BLOCK), 0, pair))


@tileon.jit
def topk_of_more(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, 32), tl.topk(tl.load(x_ptr + tl.arange(0, BLOCK)), 32))


@tileon.jit
def sort_axis(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.sort(tl.load(x_ptr + tl.arange(0, BLOCK)), 2))


@tileon.jit
def histogram_of_floats(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, 4), tl.histogram(tl.load(x_ptr + tl.arange(0, BLOCK)), 4))


@tileon.jit
def clamp_of_ints(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.clamp(tl.arange(0, BLOCK), 0, 4))


@tileon.jit
def bits_of_floats(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), x | x)


@tileon.jit
def shift_of_floats(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), x << 1)


@tileon.jit
def quotient_of_signs(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    tl.store(x_ptr + x, x // x.to(tl.uint32))


@tileon.jit
def negative_unsigned(x_ptr, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK).to(tl.uint32)
    tl.store(x_ptr + tl.arange(0, BLOCK), x + -1)


@tileon.jit
def sum_of_pointers(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + x_ptr, 0.0)


@tileon.jit
def bitcast_widths(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), x.to(tl.int16, bitcast=True))


@tileon.jit
def rounding_name(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), x.to(tl.float16, fp_downcast_rounding="up"))


@tileon.jit
def store_of_a_wider_tile(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.zeros((2, BLOCK), tl.float32))


@tileon.jit
def mask_of_a_scalar(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(x_ptr, mask=tl.arange(0, BLOCK) < 3))


@tileon.jit
def boundary_of_a_pointer(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK), boundary_check=(0,))))


@tileon.jit
def mask_of_a_block_pointer(x_ptr, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (64,), (1,), (0,), (BLOCK,), (0,))
    tl.store(x_ptr, tl.sum(tl.load(p, mask=tl.arange(0, BLOCK) < 3)))


@tileon.jit
def block_pointer_ranks(x_ptr, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (64,), (1, 1), (0,), (BLOCK,), (0,))
    tl.store(x_ptr, tl.sum(tl.load(p)))


@tileon.jit
def block_pointer_dimension(x_ptr, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (64,), (1,), (0,), (BLOCK,), (0,))
    tl.store(x_ptr, tl.sum(tl.load(p, boundary_check=(1,))))


@tileon.jit
def advance_by_two(x_ptr, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (64,), (1,), (0,), (BLOCK,), (0,))
    tl.store(x_ptr, tl.sum(tl.load(tl.advance(p, (1, 1)))))


@tileon.jit
def advance_a_pointer(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(tl.advance(x_ptr, (1,))))


@tileon.jit
def descriptor_bytes(x_ptr, BLOCK: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, (8, 8), (8, 1), (8, 2))
    tl.store(x_ptr, tl.sum(d.load((0, 0))))


@tileon.jit
def descriptor_stride(x_ptr, n, BLOCK: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, (8, 8), (1, n), (8, 8))
    tl.store(x_ptr, tl.sum(d.load((0, 0))))


@tileon.jit
def descriptor_offsets(x_ptr, BLOCK: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, (8, 8), (8, 1), (8, 8))
    tl.store(x_ptr, tl.sum(d.load((0,))))


@tileon.jit
def atomic_of_a_byte(x_ptr, BLOCK: tl.constexpr):
    tl.atomic_add(x_ptr.to(tl.pointer_type(tl.int8)), 1)


@tileon.jit
def atomic_xor_of_floats(x_ptr, BLOCK: tl.constexpr):
    tl.atomic_xor(x_ptr, 1.0)


@tileon.jit
def atomic_order(x_ptr, BLOCK: tl.constexpr):
    tl.atomic_add(x_ptr, 1.0, sem="sequential")


@tileon.jit
def atomic_scope(x_ptr, BLOCK: tl.constexpr):
    tl.atomic_add(x_ptr, 1.0, scope="warp")


@tileon.jit
def condition_of_while(x_ptr, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    while x < 3:
        x += 1


@tileon.jit
def run_time_static_assert(x_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(n > 3)


@tileon.jit
def run_time_constexpr(x_ptr, n, BLOCK: tl.constexpr):
    size: tl.constexpr = n
    tl.store(x_ptr + tl.arange(0, size), 0.0)


@tileon.jit
def run_time_static_range(x_ptr, n, BLOCK: tl.constexpr):
    for i in tl.static_range(n):
        tl.store(x_ptr + i, 0.0)


@tileon.jit
def missing_argument(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr)


@tileon.jit
def member_of_a_tile(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.arange(0, BLOCK).mean())


@tileon.jit
def loop_over_a_tile(x_ptr, BLOCK: tl.constexpr):
    for value in tl.arange(0, BLOCK):
        tl.store(x_ptr, value)


@tileon.jit
def loop_over_a_list(x_ptr, n, BLOCK: tl.constexpr):
    values = [1.0, 2.0]
    tl.store(x_ptr, values[n])


@tileon.jit
def unpacks_too_few(x_ptr, BLOCK: tl.constexpr):
    a, b, c = tl.split(tl.zeros((8, 2), tl.float32))
    tl.store(x_ptr, tl.sum(a + b + c))


@tileon.jit
def unpacked_scalar(x_ptr, n, BLOCK: tl.constexpr):
    a, b = n
    tl.store(x_ptr, a + b)


@tileon.jit
def either(n):
    if n > 3:
        return tl.arange(0, 4)
    else:
        return tl.arange(0, 8)


@tileon.jit
def returns_two_shapes(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(either(n)))


@tileon.jit
def text_and_number(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, n + "a")


@tileon.jit
def asm_constraints(x_ptr, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    tl.store(x_ptr + x, tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r", [x], tl.int32, True, 1))


@tileon.jit
def asm_known_number(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    tl.store(x_ptr + x, tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,n", [x, n], tl.int32, True, 1))


@tileon.jit
def philox_of_floats(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.rand(1.5, tl.arange(0, BLOCK)))


@tileon.jit
def nothing_selected(x_ptr, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    tl.store(x_ptr + x, tl.where(x > 0, None, 1.0))


@tileon.jit
def comparisons_without_parentheses(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    tl.store(x_ptr + x, 1.0, mask=x >= 2 & x < n)


@tileon.jit
def float_method(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(x_ptr).float())


@tileon.jit
def indexed_pointer(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(x_ptr[tl.arange(0, BLOCK)]))


@tileon.jit
def size_of_a_pointer(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, len(x_ptr))


@tileon.jit
def shape_of_a_pointer(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, x_ptr.shape[0])


@tileon.jit
def reshape_of_the_rest(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK // 2), tl.sum(tl.arange(0, BLOCK).reshape(2, -1), 0))
