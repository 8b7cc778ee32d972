"""Jagged tensors: nested tensors of PyTorch whose rows differ in length, read and written, against PyTorch and `eval`."""

import numpy as np
import pytest
import torch

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl

LENGTHS = [(5, 1, 0, 13), (0, 0), (7,), (3, 3, 3)]
BLOCK = Symbol("BLOCK", constexpr=True)


def rows_of(lengths, jagged_dim, other, device, dtype=torch.float32):
    return [torch.randn((n, other) if jagged_dim == 1 else (other, n), device=device).to(dtype) for n in lengths]


def nested(rows, jagged_dim=1):
    offsets = torch.tensor([0] + [row.shape[jagged_dim - 1] for row in rows]).cumsum(0).to(rows[0].device)
    return torch.nested.nested_tensor_from_jagged(torch.cat(rows, jagged_dim - 1), offsets, jagged_dim=jagged_dim)


def padded(rows, jagged_dim, fill):
    longest = max(row.shape[jagged_dim - 1] for row in rows)
    result = []
    for row in rows:
        missing = longest - row.shape[jagged_dim - 1]
        result.append(torch.nn.functional.pad(row, (0, 0, 0, missing) if jagged_dim == 1 else (0, missing), value=fill))
    return torch.stack(result)


def copy(x, y):
    y = x  # noqa: F841


@pytest.mark.parametrize("jagged_dim", [1, 2, -1])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_read_as_padded(lengths, jagged_dim, device):
    def arrangement(x, y):
        return x.tile((1, BLOCK, BLOCK)), y.tile((1, BLOCK, BLOCK))

    dim = jagged_dim % 3
    rows = rows_of(lengths, dim, 6, device)
    kernel = ninetoothed.make(arrangement, copy, (Tensor(3, jagged_dim=jagged_dim, other=-3), Tensor(3)))
    expected = padded(rows, dim, -3.0)
    output = torch.empty_like(expected)
    kernel(nested(rows, dim), output, BLOCK=4)
    assert torch.equal(output, expected)


@pytest.mark.parametrize("jagged_dim", [1, 2])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_written_within_its_rows(lengths, jagged_dim, device):
    def arrangement(y, x):
        sizes = tuple(-1 if dim != jagged_dim else y.shape[dim] for dim in range(3))
        return y.tile((1, BLOCK, BLOCK)), x.expand(sizes).tile((1, BLOCK, BLOCK))

    def application(y, x):
        y = x * 2  # noqa: F841

    rows = rows_of(lengths, jagged_dim, 6, device)
    output = nested(rows, jagged_dim)
    source = torch.randn((len(rows), 1, 6) if jagged_dim == 1 else (len(rows), 6, 1), device=device)
    ninetoothed.make(arrangement, application, (Tensor(3, jagged_dim=jagged_dim), Tensor(3)))(output, source, BLOCK=4)
    for row, given, old in zip(output.unbind(), source, rows):
        assert torch.equal(row, (given * 2).expand_as(old))


def test_elementwise_on_two_of_one_structure(device):
    def arrangement(*tensors):
        return tuple(t.flatten().tile((BLOCK,)) for t in tensors)  # across rows: as if they were padded

    def application(x, y, z):
        z = x + y * 2  # noqa: F841

    rows = rows_of((5, 1, 0, 13), 1, 3, device)
    x = nested(rows)
    y, z = x * 1.5, x * 0
    ninetoothed.make(arrangement, application, tuple(Tensor(3, jagged_dim=1) for _ in range(3)))(x, y, z, BLOCK=8)
    assert torch.equal(z.values(), x.values() + y.values() * 2)


def test_lengths_of_a_view(device):
    """`narrow` gives rows that end before the next one begins."""
    base = torch.randn(3, 7, 2, device=device)
    lengths = torch.tensor([7, 2, 4], device=device)
    x = torch.nested.narrow(base, 1, torch.tensor([0, 1, 2], device=device), lengths, layout=torch.jagged)
    output = torch.empty(3, 7, 2, device=device)
    arrangement = lambda x, y: (x.tile((1, 4, -1)), y.tile((1, 4, -1)))  # noqa: E731
    ninetoothed.make(arrangement, copy, (Tensor(3, jagged_dim=1, other=9), Tensor(3)))(x, output)
    expected = torch.full_like(output, 9)
    for i, (start, length) in enumerate([(0, 7), (1, 2), (2, 4)]):
        expected[i, :length] = base[i, start : start + length]
    assert torch.equal(output, expected)


def test_a_program_knows_its_row(device):
    """Sizes and indices in the application are those of the program's own row."""

    def arrangement(x, length, total, last):
        x = x.tile((1, 2, -1)).tile((1, -1, -1))
        x.dtype = x.dtype.squeeze((0, 2))
        x.dtype.dtype = x.dtype.dtype.squeeze(0)
        return x.squeeze((1, 2)), length.tile((1,)), total.tile((1,)), last.tile((1,))

    def application(x, length, total, last):
        accumulator = ntl.zeros((1,), dtype=ntl.float32)
        for i in range(x.shape[0]):
            accumulator += ntl.sum(x[i])
        total = accumulator  # noqa: F841
        length = x.source.shape[1]  # noqa: F841
        last = x.source[0, x.source.shape[1] - 1, 0]  # noqa: F841

    rows = rows_of((5, 1, 4, 13), 1, 3, device)
    x = nested(rows)
    length, total = torch.zeros(4, dtype=torch.int64, device=device), torch.zeros(4, device=device)
    last = torch.zeros(4, device=device)
    kernel = ninetoothed.make(arrangement, application, (Tensor(3, jagged_dim=1), Tensor(1), Tensor(1), Tensor(1)))
    kernel(x, length, total, last)
    assert length.tolist() == [5, 1, 4, 13]
    torch.testing.assert_close(total.double(), torch.stack([r.double().sum() for r in rows]), rtol=1e-6, atol=1e-5)
    # Row 0 by its own index: the source is the whole tensor.
    assert torch.equal(last[0], rows[0][-1, 0])


ARRANGEMENTS = {
    "rows in a loop": lambda x: x.tile((1, 3, -1)).tile((-1, 1, 1)),
    "several rows a tile": lambda x: x.tile((3, 2, -1)),
    "backwards": lambda x: x[:, ::-1].tile((1, 4, 2)),
    "every second": lambda x: x[:, 1::2].tile((1, 2, -1)),
    "whole tiles only": lambda x: x.tile((1, 3, 2), floor_mode=True),
    "overlapping": lambda x: x.tile((1, 3, 2), strides=(1, 2, 2)),
    "padded at the ends": lambda x: x.pad(((0, 0), (1, 2), (0, 1))).tile((1, 4, -1)),
    "within a row": lambda x: x.flatten(1).tile((1, 5)),
    "across rows": lambda x: x.flatten(0, 2).tile((4, -1)),
    "permuted": lambda x: x.permute((2, 0, 1)).tile((1, 1, 4)),
    "expanded": lambda x: x.unsqueeze(0).expand((2, -1, -1, -1)).tile((1, 1, 4, 2)),
    "the longest row at once": lambda x: x.tile((1, -1, -1)),
}


@pytest.mark.parametrize("name", ARRANGEMENTS)
@pytest.mark.parametrize("lengths", LENGTHS[:1] + LENGTHS[2:])
def test_what_eval_says(name, lengths, device):
    def arrangement(x, y):
        arranged = ARRANGEMENTS[name](x)
        levels = [arranged, arranged.dtype]
        if arranged.levels == 3:
            levels.append(arranged.dtype.dtype)
        total = sum(level.ndim for level in levels)
        start, y_levels = total, y
        for level in reversed(levels[1:]):
            own = range(start - level.ndim, start)
            y_levels = y_levels.tile(tuple(-1 if d in own else 1 for d in range(total)))
            start -= level.ndim
        inner, own_end = y_levels, levels[0].ndim
        y_levels = y_levels.squeeze(tuple(range(own_end, total)))
        inner = y_levels
        for level in levels[1:]:
            inner.dtype = inner.dtype.squeeze(
                tuple(d for d in range(total) if not own_end <= d < own_end + level.ndim)
            )
            own_end += level.ndim
            inner = inner.dtype
        return arranged, y_levels

    def application(x, y):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for k in range(x.shape[2]):
                    y[i, j, k] = x[i, j, k]

    rows = rows_of(lengths, 1, 5, device)
    x = Tensor(3, jagged_dim=1, other=-3)
    arranged = ARRANGEMENTS[name](x)
    table = arranged.eval({x: {"shape": (len(lengths), lengths, 5)}})
    values = torch.cat(rows).cpu().numpy().reshape(-1)
    expected = np.where(table < 0, np.float32(-3), values[np.maximum(table, 0)])
    output = torch.full(table.shape, float("nan"), device=device)
    kernel = ninetoothed.make(arrangement, application if arranged.levels == 3 else copy, (x, Tensor(table.ndim)))
    kernel(nested(rows), output)
    np.testing.assert_array_equal(output.cpu().numpy(), expected)


def test_offsets_count_from_the_first_row(device):
    def arrangement(x, y):
        return x.tile((1, 4, -1)), y.tile((1, 4, -1))

    def application(x, y):
        y = x.offsets() * 100 + x.offsets(1)[None, :, None]  # noqa: F841

    rows = rows_of((2, 3), 1, 2, device)
    output = torch.zeros((2, 3, 2), dtype=torch.int64, device=device)
    ninetoothed.make(arrangement, application, (Tensor(3, jagged_dim=1), Tensor(3)))(nested(rows), output)
    expected = [[[0, 100], [201, 301]], [[400, 500], [601, 701], [802, 902]]]
    assert output[0, :2].tolist() == expected[0] and output[1].tolist() == expected[1]


def test_debug_finds_no_access_beyond_a_row(device):
    rows = rows_of((5, 1, 0, 13), 2, 6, device)
    arrangement = lambda y, x: (y.tile((1, 4, 4)), x.tile((1, 4, 4)))  # noqa: E731
    x, y = nested(rows, 2), nested([torch.zeros_like(r) for r in rows], 2)
    ninetoothed.make(arrangement, copy, (Tensor(3, jagged_dim=2), Tensor(3, jagged_dim=2)))(x, y, debug=True)
    assert torch.equal(y.values(), x.values())


def test_wrong_arguments(device):
    arrangement = lambda x, y: (x.tile((1, 4, 4)), y.tile((1, 4, 4)))  # noqa: E731
    kernel = ninetoothed.make(arrangement, copy, (Tensor(3, jagged_dim=1), Tensor(3)))
    dense = torch.zeros(2, 3, 4, device=device)
    with pytest.raises(Error, match="`x` of kernel `test_jagged.copy` must be a jagged nested tensor, got Tensor"):
        kernel(dense, dense)
    with pytest.raises(Error, match="rows that differ in dimension 2"):
        kernel(nested(rows_of((1, 2), 2, 4, device), 2), dense)
    plain = ninetoothed.make(arrangement, copy, (Tensor(3), Tensor(3)))
    with pytest.raises((Error, TypeError, ValueError)):
        plain(nested(rows_of((1, 2), 1, 4, device)), dense)
    with pytest.raises(IndexError, match="`jagged_dim` must be a dimension behind the first"):
        Tensor(3, jagged_dim=0)
    with pytest.raises(ValueError, match="size of the jagged dimension cannot be given"):
        Tensor(shape=(None, 4), jagged_dim=1)
    x = Tensor(2, jagged_dim=1)
    with pytest.raises(ValueError, match="has no value"):
        x.tile((1, 2)).eval({})
    with pytest.raises(ValueError, match="has 2 rows, 3 lengths were given"):
        x.tile((1, 2)).eval({x: {"shape": (2, (1, 2, 3))}})
