"""What an application may do with its parameters: source access, offsets, levels, helpers that assign their caller's names."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from language import bounds
from language.attention import attention_with_bound
from language.products import factor

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Symbol, Tensor, block_size
from tilery.ninetoothed import language as ntl
from tilery.ninetoothed.language import libdevice

FACTOR = 3.0


def elementwise(application, count, **options):
    """A kernel of `count` vectors in blocks of 4, and what it gives for arange(6)."""
    kernel = ninetoothed.make(
        lambda *ts: tuple(t.tile((4,)) if t.ndim else t for t in ts), application, options.pop("tensors", (Tensor(1),) * count)
    )

    def run(*args):
        out = torch.full((6,), float("nan"))
        kernel(torch.arange(6.0), out, *args)
        return out

    return run


def test_gather_through_source():
    def application(x, index, out):
        row = index
        out = x.source[row[:, None], ntl.arange(0, 5)[None, :]]

    kernel = ninetoothed.make(
        lambda x, i, o: (x.tile((1, -1)), i.tile((1,)), o.tile((1, -1))), application, (Tensor(2, other=7), Tensor(1), Tensor(2))
    )
    x, out = torch.arange(20.0).reshape(4, 5), torch.full((4, 5), float("nan"))
    kernel(x, torch.tensor([2, 0, 9, -1]), out)
    assert torch.equal(out[:2], x[[2, 0]])
    assert (out[2:] == 7).all()


def test_scatter_of_rows_by_a_loaded_index():
    def arrangement(index, input, output):
        output = output.tile((1, -1)).tile((-1, 1)).squeeze(1)
        output.dtype = output.dtype.squeeze(1)
        return index.tile((1,)), input.tile((1, -1)).squeeze(1), output.expand((index.shape[0],))

    def application(index, input, output):
        row = index
        output[row] = input

    kernel = ninetoothed.make(arrangement, application, (Tensor(1), Tensor(2), Tensor(2)))
    input, output = torch.arange(15.0).reshape(3, 5), torch.full((4, 5), -1.0)
    kernel(torch.tensor([2, 0, 7]), input, output)
    assert torch.equal(output, torch.stack([input[1], torch.full((5,), -1.0), input[0], torch.full((5,), -1.0)]))


def test_offsets_and_source_shape():
    def application(x, y):
        y = ntl.where(x.offsets(-1) < x.source.shape[-1] - 1, x, 100.0) + 1000 * x.offsets(0)[:, None]

    kernel = ninetoothed.make(lambda x, y: (x.tile((2, 4)), y.tile((2, 4))), application, (Tensor(2), Tensor(2)))
    x, y = torch.arange(21.0).reshape(3, 7), torch.full((3, 7), float("nan"))
    kernel(x, y)
    expected = x.clone()
    expected[:, -1] = 100
    assert torch.equal(y, expected + 1000 * torch.arange(3.0)[:, None])


def test_linear_offsets_count_strides():
    def application(x, y):
        y = x.offsets()

    kernel = ninetoothed.make(lambda x, y: (x.tile((2, 4)), y.tile((2, 4))), application, (Tensor(2), Tensor(2)))
    x, y = torch.zeros(3, 20)[:, ::2], torch.full((3, 10), -1)
    kernel(x, y)
    assert torch.equal(y, 20 * torch.arange(3)[:, None] + 2 * torch.arange(10))


def test_pointer_of_the_source():
    def application(x, y):
        ntl.atomic_add(y.source.data_ptr() + 2 * y.source.stride(0), ntl.sum(x))

    kernel = ninetoothed.make(lambda x, y: (x.tile((8,)), y.tile((1,))), application, (Tensor(1), Tensor(1)))
    x, y = torch.arange(20.0), torch.zeros(6)
    kernel(x, y[::2])
    assert y.tolist() == [0, 0, 0, 0, 190, 0]


def test_middle_levels_and_in_place_update():
    def arrangement(x):
        x = x.tile((1, 1, 1, 4), strides=(-1, -1, -1, 1), dilation=(1, 1, 1, 2)).tile((1, 1, 1, 2))
        x.dtype = x.dtype.squeeze((0, 1, 2))
        x.dtype.dtype = x.dtype.dtype.squeeze((0, 1, 2))
        return x

    def application(x):
        even = x[0]
        odd = x[1]
        x[0] = even - odd
        x[1] = even + odd

    x = torch.randn(2, 1, 3, 8)
    expected = torch.stack([x[..., ::2] - x[..., 1::2], x[..., ::2] + x[..., 1::2]], -1).reshape(x.shape)
    ninetoothed.make(arrangement, application, (Tensor(4),))(x)
    assert torch.equal(x, expected)


def test_two_passes_over_a_middle_level():
    def arrangement(*tensors):
        results = []
        for t in tensors:
            t = t.tile((1, 4)).tile((1, -1))
            t.dtype = t.dtype.squeeze(0)
            t.dtype.dtype = t.dtype.dtype.squeeze(0)
            results.append(t)
        return tuple(results)

    def application(x, y):
        total = ntl.cast(0, ntl.float32)
        for i in range(x.shape[0]):
            total += ntl.sum(x[i])
        for i in range(x.shape[0]):
            y[i] = x[i] - total

    x, y = torch.arange(14.0).reshape(2, 7), torch.full((2, 7), float("nan"))
    ninetoothed.make(arrangement, application, (Tensor(2), Tensor(2)))(x, y)
    assert torch.equal(y, x - x.sum(-1, keepdim=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_max_pool(dtype):
    def arrangement(x, y):
        x = x.tile((1, 1, 3, 3), floor_mode=True).ravel().flatten(end_dim=4).flatten(start_dim=1).tile((4, -1))
        return x, y.flatten().tile((4,)).unsqueeze(1)

    def application(x, y):
        y = ntl.max(x, axis=1)

    x, y = torch.randn(2, 3, 8, 9).to(dtype), torch.full((2, 3, 2, 3), float("nan"), dtype=dtype)
    ninetoothed.make(arrangement, application, (Tensor(4, other=float("-inf")), Tensor(4)))(x, y)
    assert torch.equal(y, F.max_pool2d(x, 3))


def test_convolution_is_matmul():
    bm, bn, bk = block_size(), block_size(), block_size()

    def mm(lhs, rhs, output):
        output = output.tile((bm, bn))
        lhs = lhs.tile((bm, bk)).tile((1, -1)).expand((-1, output.shape[1]))
        lhs.dtype = lhs.dtype.squeeze(0)
        rhs = rhs.tile((bk, bn)).tile((-1, 1)).expand((output.shape[0], -1))
        rhs.dtype = rhs.dtype.squeeze(1)
        return lhs, rhs, output

    def arrangement(input, filter, output):
        input = input.tile((1, *filter.shape[1:]), strides=(-1, -1, 1, 1)).squeeze(1)
        input.dtype = input.dtype.squeeze(0)
        input = input.ravel().flatten(end_dim=3).flatten(start_dim=1)
        filter = filter.flatten(start_dim=1).permute((1, 0))
        return mm(input, filter, output.permute((0, 2, 3, 1)).flatten(end_dim=3))

    def application(input, filter, output):
        accumulator = ntl.zeros(output.shape, dtype=ntl.float32)
        for k in range(input.shape[0]):
            accumulator += ntl.dot(input[k], filter[k])
        output = accumulator

    tensors = tuple(Tensor(4, shape_options={"constexpr": True}) for _ in range(3))
    kernel = ninetoothed.make(arrangement, application, tensors)
    input, filter = torch.randn(2, 3, 8, 7), torch.randn(5, 3, 3, 2)
    output = torch.full((2, 5, 6, 6), float("nan"))
    kernel(input, filter, output)
    # 3 x 3 x 2 terms, as in bounds.product
    unit = bounds.UNITS[torch.float32] * (4 if input.is_cuda else 1)
    size = F.conv2d(factor(input).abs(), factor(filter).abs())
    bounds.within(output, (F.conv2d(factor(input), factor(filter)), 1.01 * (18 + 2) * unit * size))


def test_attention():
    M, N = Symbol("M", constexpr=True), Symbol("N", constexpr=True)

    def arrangement(q, k, v, o):
        def rows(t):
            t = t.tile((1, 1, M, -1))
            t.dtype = t.dtype.squeeze((0, 1))
            return t

        def columns(t):
            t = t.tile((1, 1, N, -1)).tile((1, 1, -1, -1)).expand((-1, -1, q_rows.shape[-2], -1))
            t.dtype = t.dtype.squeeze((0, 1, 3))
            t.dtype.dtype = t.dtype.dtype.squeeze((0, 1))
            return t

        q_rows = rows(q)
        return q_rows, columns(k), columns(v), rows(o)

    def application(q, k, v, o):
        query = (ntl.cast(q, ntl.float32) * 1.44269504089).to(q.dtype)
        total = ntl.zeros((q.shape[-2], v.dtype.shape[-1]), dtype=ntl.float32)
        norm = ntl.full((q.shape[-2],), 1, dtype=ntl.float32)
        most = ntl.full((q.shape[-2],), float("-inf"), dtype=ntl.float32)
        for i in range(k.shape[0]):
            scores = ntl.dot(query, ntl.trans(k[i]))
            scores = ntl.where(k[i].offsets(-2) < k.source.shape[-2], scores, float("-inf"))
            new_most = ntl.maximum(most, ntl.max(scores, 1))
            p = ntl.exp2(scores - new_most[:, None])
            alpha = ntl.exp2(most - new_most)
            total = total * alpha[:, None] + ntl.dot(p.to(v.dtype.dtype), v[i])
            most = new_most
            norm = norm * alpha + ntl.sum(p, 1)
        norm -= ntl.where(most == most, 0.0, 0.0)
        o = total / norm[:, None]

    q, k, v = (torch.randn(1, 2, 21, 8) for _ in range(3))
    o = torch.full_like(q, float("nan"))
    kernel = ninetoothed.make(arrangement, application, (Tensor(4),) * 4)
    kernel(q, k, v, o, M=16, N=8)
    # The running norm starts at 1 and is scaled by exp2(-inf) = 0 in the first step.
    expected, bound = attention_with_bound(q, k, v, block=8)
    assert ((o.double() - expected).abs() <= bound).all()
    assert bound.max() < (0.15 if q.is_cuda else 1e-3)  # the bound says something


def test_one_level_is_one_element_a_program():
    def application(x, y):
        y = x * 2

    x, y = torch.arange(6.0), torch.zeros(2)
    ninetoothed.make(lambda x, y: (x[1:5:2], y), application, (Tensor(1), Tensor(1)))(x, y)
    assert y.tolist() == [2, 6]


def test_padding_reads_other():
    def application(x, y):
        y = x

    x, y = torch.arange(1.0, 6.0), torch.full((9,), float("nan"))
    ninetoothed.make(lambda x, y: (x.pad(((2, 2),)).tile((3,)), y.tile((3,))), application, (Tensor(1, other=-1), Tensor(1)))(
        x, y
    )
    assert y.tolist() == [-1, -1, 1, 2, 3, 4, 5, -1, -1]


def test_four_dimensional_grid():
    def application(x, y):
        y = x + 1

    x = torch.randn(2, 3, 4, 5, 6)
    y = torch.full_like(x, float("nan"))
    ninetoothed.make(lambda x, y: (x.tile((1, 2, 3, 2, 4)), y.tile((1, 2, 3, 2, 4))), application, (Tensor(5), Tensor(5)))(x, y)
    assert torch.equal(y, x + 1)


def test_a_mention_reads_again_after_a_store():
    def application(x, y):
        y = x
        y = y + x
        y += x

    assert elementwise(application, 2)().tolist() == [0, 3, 6, 9, 12, 15]


def double_into(value, result):
    result = value * 2  # noqa: F841


def halve(value):
    value = value / 2
    return value + 1


def test_helpers_assign_what_they_are_given():
    def application(x, y):
        local = x
        double_into(x, local)
        halve(local)
        double_into(local, result=y)

    assert elementwise(application, 2)().tolist() == [0, 2, 4, 6, 8, 10]


def test_helpers_assign_inside_run_time_loops_and_branches():
    def application(x, y, n):
        local = x
        for _ in range(n):
            double_into(local, local)
        if n > 2:
            double_into(local, local)
        y = local

    run = elementwise(application, 2, tensors=(Tensor(1), Tensor(1), Tensor(0)))
    assert torch.equal(run(2), 4 * torch.arange(6.0))
    assert torch.equal(run(3), 16 * torch.arange(6.0))


def swap(x, y):
    x, y = y, x  # noqa: F841


def swap_by_names(x, y):
    both = (x, y)
    y, x = both  # noqa: F841


@pytest.mark.parametrize("application", [swap, swap_by_names])
def test_tuples_are_read_before_their_names_are_assigned(application, device):
    kernel = ninetoothed.make(lambda x, y: (x.tile((4,)), y.tile((4,))), application, (Tensor(1), Tensor(1)))
    x, y = torch.arange(6.0, device=device), torch.arange(6.0, 12, device=device)
    kernel(x, y)
    assert x.tolist() == [6, 7, 8, 9, 10, 11] and y.tolist() == [0, 1, 2, 3, 4, 5]


def greater(a, b):
    return ntl.maximum(a, b)


def running_and_whole(x, y):
    y = ntl.associative_scan(x, 0, greater) + ntl.reduce(x, 0, greater)  # noqa: F841


def test_parameters_go_into_scans_and_reductions_by_functions(device):
    kernel = ninetoothed.make(lambda x, y: (x.tile((8,)), y.tile((8,))), running_and_whole, (Tensor(1), Tensor(1)))
    x, y = torch.randn(24, device=device), torch.full((24,), float("nan"), device=device)
    kernel(x, y)
    rows = x.reshape(3, 8)
    assert torch.equal(y.reshape(3, 8), rows.cummax(1).values + rows.amax(1, keepdim=True))


def scaled(x: Tensor(1).tile((4,)), y: Tensor(1).tile((4,)), factor=3.0, *, offset=0.5):
    y = x * factor + offset  # noqa: F841


def test_parameters_that_get_no_tensor_keep_their_defaults():
    x, y = torch.arange(6.0), torch.full((6,), float("nan"))
    ninetoothed.jit(scaled)(x, y)
    assert torch.equal(y, 3 * x + 0.5)
    assert torch.equal(elementwise(scaled, 2)(), 3 * x + 0.5)
    assert torch.equal(elementwise(scaled, 2, tensors=(Tensor(1), Tensor(1), Tensor(0)))(2), 2 * x + 0.5)


def test_scalars_constants_and_captures():
    offset = 0.5

    def application(x, y, scale, negate):
        if negate:
            y = -(x * scale + offset) * FACTOR
        else:
            y = x * scale

    tensors = (Tensor(1), Tensor(1), Tensor(0), Tensor(0, constexpr=True))
    run = elementwise(application, 2, tensors=tensors)
    assert torch.equal(run(2, True), -(torch.arange(6.0) * 2 + 0.5) * 3)
    assert torch.equal(run(0.5, False), torch.arange(6.0) / 2)


@pytest.mark.parametrize("debug", [False, True])
def test_a_tensor_of_no_dimensions_is_the_number_it_holds_at_the_launch(debug):
    def application(x, y, scale, n):
        y = x * scale + n

    tensors = (Tensor(1), Tensor(1), Tensor(0), Tensor(0))
    kernel = ninetoothed.make(lambda x, y, s, n: (x.tile((4,)), y.tile((4,)), s, n), application, tensors)
    x = torch.arange(6.0)

    def run(scale, n):
        y = torch.full((6,), float("nan"))
        kernel(x, y, scale, n, debug=debug)
        return y

    scale = torch.tensor(0.5)
    assert torch.equal(run(scale, torch.tensor(-3, dtype=torch.int8)), x * 0.5 - 3)
    scale.fill_(4)
    assert torch.equal(run(scale, np.array(200, np.uint8)), x * 4 + 200)
    assert torch.equal(run(torch.tensor(1.5, dtype=torch.bfloat16), torch.tensor(True)), x * 1.5 + 1)
    assert torch.equal(run(x[2], 7), x * 2 + 7)


def test_meta_bounds_and_pinned_values():
    B = block_size(lower_bound=64, upper_bound=64)

    def application(x, y):
        y = x + x.shape[0]

    kernel = ninetoothed.make(lambda x, y: (x.tile((B,)), y.tile((B,))), application, (Tensor(1), Tensor(1)))
    x, y = torch.zeros(100), torch.full((100,), float("nan"))
    kernel(x, y)
    assert (y == 64).all()
    kernel(x, y, **{B.label: 100})
    assert (y == 100).all()


def test_libdevice_and_other_arrays():
    def application(x, y):
        y = libdevice.pow(x, 2.0) + libdevice.round(x) + ntl.program_id(0)

    kernel = ninetoothed.make(lambda x, y: (x.tile((4,)), y.tile((4,))), application, (Tensor(1), Tensor(1)))
    x, y = np.arange(6, dtype=np.float32), np.full(6, np.nan, np.float32)
    kernel(x, y)
    np.testing.assert_allclose(y, x**2 + x + np.array([0, 0, 0, 0, 1, 1]), rtol=1e-6)


def test_equal_kernels_are_compiled_once():
    def application(x, y):
        y = x

    kernel = ninetoothed.make(lambda x, y: (x.tile((4,)), y.tile((4,))), application, (Tensor(1), Tensor(1)))
    for n in (16, 32, 16):
        kernel(torch.zeros(n), torch.zeros(n))
    assert len(kernel.compiled) == 1


def test_keywords_options_and_symbols_by_position():
    B = Symbol("B", constexpr=True)

    def application(x, y):
        y = x + x.shape[0]

    kernel = ninetoothed.make(lambda x, y: (x.tile((B,)), y.tile((B,))), application, (Tensor(1), Tensor(1)), num_warps=4)
    x, y = torch.zeros(10), torch.full((10,), float("nan"))
    for call in (
        lambda: kernel(x, y=y, B=3),
        lambda: kernel(y=y, x=x, B=3, num_warps=2),
        lambda: kernel(x, y, 3),
        lambda: kernel(x, y, B=3, debug=True),
    ):
        y.fill_(float("nan"))
        call()
        assert (y == 3).all()


def test_debug_finds_two_programs_that_write_one_element():
    def application(x, y):
        y = x

    kernel = ninetoothed.make(
        lambda x, y: (x.tile((4,)), y.tile((4,)).expand((x.tile((4,)).shape[0],))), application, (Tensor(1), Tensor(1))
    )
    with pytest.raises(Error, match="which program 0 also writes"):
        kernel(torch.arange(8.0), torch.zeros(4), debug=True)
    kernel(torch.ones(8), torch.zeros(4), debug=True)  # whoever runs last: the values are the same


def test_conditional_expressions_read():
    def application(x, y, n):
        y = x if n > 2 else x * 2

    run = elementwise(application, 2, tensors=(Tensor(1), Tensor(1), Tensor(0)))
    assert torch.equal(run(2), 2 * torch.arange(6.0))
    assert torch.equal(run(3), torch.arange(6.0))


def test_a_cast_to_the_type_of_a_tile_takes_its_elements(device):
    def chunks(t):
        t = t.tile((1, 4)).tile((1, -1))
        t.dtype = t.dtype.squeeze(0)
        t.dtype.dtype = t.dtype.dtype.squeeze(0)
        return t

    def application(x, y):
        for i in range(y.shape[0]):
            whole = x[i].to(y.dtype)
            total = ntl.zeros((4,), dtype=whole.type)
            y[i] = ntl.cast(7.75, y.dtype.scalar) + whole.to(total.type) + total + ntl.sum(x[i]).to(y.dtype) * 0

    x, y = torch.tensor([[1.5, -2.5, 300.25, 4, 5.75]], device=device), torch.zeros(1, 5, dtype=torch.int16, device=device)
    ninetoothed.make(lambda *ts: tuple(map(chunks, ts)), application, (Tensor(2), Tensor(2)))(x, y)
    assert y.tolist() == [[8, 5, 307, 11, 12]]
