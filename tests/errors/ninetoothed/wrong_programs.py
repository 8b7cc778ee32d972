"""Wrong applications. Each is followed by the message that it must give (messages.txt)."""
from tilery import ninetoothed
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl


def pairs(x, y):
    """x in rows of tiles: (programs) / (tiles) / (4,); y the same."""
    def chunks(t):
        t = t.tile((1, 4)).tile((1, -1))
        t.dtype = t.dtype.squeeze(0)
        t.dtype.dtype = t.dtype.dtype.squeeze(0)
        return t
    return chunks(x), chunks(y)


def whole(x, y):
    return x.tile((2, 4)), y.tile((2, 4))


KERNELS = {}


def wrong(arrangement):
    """Registers a kernel of two matrices; it is launched with 2 x 8 ones."""
    def register(application):
        KERNELS[application.__name__] = ninetoothed.make(arrangement, application, (Tensor(2), Tensor(2)))
        return application
    return register


@wrong(whole)
def undefined_name(x, y):
    y = x + z  # noqa: F821


@wrong(whole)
def used_before(x, y):
    y = x + total  # noqa: F821
    total = 1


@wrong(pairs)
def tile_without_index(x, y):
    y[0] = x + 1


@wrong(lambda x, y: (x.tile((1, 2)).tile((2, 4)), y.tile((1, 2)).tile((2, 4))))
def too_few_indices(x, y):
    y[0, 0] = x[0]


@wrong(whole)
def assigned_shape(x, y):
    y = ntl.zeros((3, 4), dtype=ntl.float32)


@wrong(whole)
def assigned_host_value(x, y):
    y = "text"


@wrong(whole)
def assigned_row(x, y):
    y[0] = x


@wrong(whole)
def pointer_of_a_tile(x, y):
    ntl.atomic_add(y.data_ptr(), ntl.sum(x))


@wrong(whole)
def offsets_of_no_dimension(x, y):
    y = x.offsets(2)


@wrong(whole)
def source_rank(x, y):
    y = x.source[0]


@wrong(whole)
def dot_shapes(x, y):
    y = ntl.dot(x, x)


@wrong(whole)
def dot_to_bfloat16(x, y):
    y = ntl.dot(x, ntl.trans(x), out_dtype=ntl.bfloat16)


@wrong(whole)
def operand_shapes(x, y):
    y = x + ntl.arange(0, 3)


@wrong(whole)
def named_axis(x, y):
    y = ntl.sum(x, axis="a")


@wrong(whole)
def two_axes(x, y):
    y = ntl.expand_dims(ntl.max(x, axis=(0, 1)), 0)


@wrong(whole)
def named_dimension(x, y):
    y = ntl.flip(x, "a")


@wrong(pairs)
def run_time_shape(x, y):
    y[0] = ntl.zeros((x.shape[0],), dtype=ntl.float32)


@wrong(pairs)
def type_changed_by_loop(x, y):
    total = 0
    for i in range(x.shape[0]):
        total += ntl.sum(x[i])
    y[0] = total


@wrong(whole)
def one_branch(x, y):
    if ntl.sum(x) > 0:
        scale = 2.0
    y = x * scale


def halve(v, n):
    if n == 0:
        return v
    return halve(v / 2, n)


@wrong(whole)
def recursion(x, y):
    t = x
    y = halve(t, 3)


def add_three(v):
    return v + ntl.arange(0, 3)


@wrong(whole)
def in_a_helper(x, y):
    local = x
    y = add_three(local)


@wrong(whole)
def unsupported_statement(x, y):
    try:
        y = x
    finally:
        pass


@wrong(whole)
def with_a_file(x, y):
    with open("file", "w"):
        y = x


@wrong(whole)
def returns(x, y):
    return 2 * x


@wrong(whole)
def returns_after_a_helper(x, y):
    def doubled(v):
        return 2 * v

    y = doubled(x)
    return y


@wrong(whole)
def chain_of_comparisons(x, y):
    y = ntl.where(1 < x < 3, x, 0)


@wrong(whole)
def comparisons_without_parentheses(x, y):
    y = ntl.where(x >= 1 & x.offsets(-1) < 3, x, 0)
