"""Layouts of tiles: a permutation of each row, in which a column of 16-byte units meets every bank; hints for kernels."""

import ast
import itertools
import re
from types import SimpleNamespace

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T
from tilery.tilelang import layout


def tile(shape, dtype):
    return SimpleNamespace(shape=shape, dtype=dtype)


@pytest.mark.parametrize(
    "shape, dtype, group",
    [((8, 64), "float16", 8), ((16, 32), "float16", 4), ((8, 16), "float16", 2), ((8, 128), "int8", 8), ((2, 8, 32), "float", 8)],
)
def test_swizzles(shape, dtype, group):
    """Rows keep their elements, units stay whole, and 8 units of a column lie in 8 groups of banks."""
    made = layout.make_swizzled_layout(tile(shape, dtype))
    unit = 16 * 8 // T.dtype(dtype).bits
    places = {element: tuple(made.map_forward_index(element)) for element in itertools.product(*map(range, shape))}
    assert len(set(places.values())) == len(places)
    for (*row, column), (*to_row, to_column) in places.items():
        assert row == to_row and column % unit == to_column % unit
    banks = {(row * shape[-1] // unit + places[(*[0] * (len(shape) - 2), row, 0)][-1] // unit) % 8 for row in range(8)}
    assert len(banks) == 8
    names = {8: "full", 4: "half", 2: "quarter"}
    assert made.is_equal(getattr(layout, f"make_{names[group]}_bank_swizzled_layout")(tile(shape, dtype)))
    assert not made.is_equal(layout.make_linear_layout(tile(shape, dtype)))


def test_the_layout_of_products_operands():
    from tilery.tilelang.cuda.intrinsics import get_swizzle_layout, make_mma_swizzle_layout

    made = make_mma_swizzle_layout(tile((16, 64), "float16"))
    known = layout.make_swizzled_layout(tile((16, 64), "float16"))
    for row, column in itertools.product(range(16), range(64)):
        place = tuple(made.map_forward_index([row, column]))
        assert place == tuple(known.map_forward_index([row, column])) == get_swizzle_layout(row, column, 64, "float16")
    smooth = make_mma_swizzle_layout(tile((16, 64), "float16"), is_smooth=True)
    assert tuple(smooth.map_forward_index([5, 17])) == (5, 17)


def test_rows_without_a_swizzle():
    odd = tile((8, 24), "float16")  # three units
    assert layout.make_swizzled_layout(odd).is_equal(layout.make_linear_layout(odd))
    with pytest.raises(ValueError, match="rows of 24 elements of float16 have no full-bank swizzle\n  hint: .* multiple of 128"):
        layout.make_full_bank_swizzled_layout(odd)
    with pytest.raises(ValueError, match="two known dimensions"):
        layout.make_swizzled_layout(tile((64,), "float16"))
    with pytest.raises(AttributeError, match="tilelang.layout.make_volta_layout is not supported"):
        layout.make_volta_layout
    with pytest.raises(ValueError, match="a layout of 2 dimensions takes as many indices, got 1"):
        T.Layout((4, 4), lambda i, j: [j, i]).map_forward_index([1])
    assert T.Layout((4, 4), lambda i, j: j * 4 + i).map_forward_index([1, 2]) == [9]


def test_results_do_not_depend_on_layouts(engine):
    @T.prim_func
    def main(A: T.Tensor((32, 64), "float16"), B: T.Tensor((64, 32), "float16"), C: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=128):
            a, b = T.alloc_shared((32, 64), "float16"), T.alloc_shared((64, 32), "float16")
            c = T.alloc_fragment((32, 32), "float32")
            T.annotate_layout({a: layout.make_swizzled_layout(a), b: T.Layout(b.shape, lambda i, j: [i, j ^ (i % 8)])})
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, clear_accum=True)
            T.copy(c, C)

    a, b, c = torch.randint(-3, 4, (32, 64)).half(), torch.randint(-3, 4, (64, 32)).half(), torch.zeros(32, 32)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(c, a.float() @ b.float())


def permuted(layout, rows, columns):
    """A matrix as the layout has it in memory: by Python's integers."""
    places = [layout.map_forward_index((i, j)) for i in range(rows) for j in range(columns)]
    width = 1 + max(place[-1] for place in places)
    return [place[0] * width + place[1] if len(place) == 2 else place[0] for place in places]


@pytest.mark.parametrize(
    "make",
    [
        lambda: T.Layout((16, 64), lambda i, j: [i, (j // 8 ^ i % 8) * 8 + j % 8]),
        lambda: T.Layout((16, 64), lambda i, j: [j, i]),
        lambda: T.Layout((16, 64), lambda i, j: i // 8 * 512 + j * 8 + i % 8),
    ],
    ids=["swizzle", "transposed", "blocks"],
)
def test_a_parameter_lies_as_its_layout_says(make, engine):
    layout = make()

    @T.prim_func
    def main(A: T.Tensor((16, 64), "float32"), B: T.Tensor((16, 64), "float32"), C: T.Tensor((16, 64), "float32")):
        with T.Kernel(3, threads=128) as bx:
            T.annotate_layout({A: layout, C: layout})
            tile = T.alloc_shared((16, 24), "float32")
            T.copy(A[0, bx * 24], tile)  # the last block reads beyond the end
            for i, j in T.Parallel(16, 24):
                if bx * 24 + j < 64:
                    B[i, bx * 24 + j] = A[i, bx * 24 + j] * 2
            T.copy(tile, C[0, bx * 24])

    order = permuted(layout, 16, 64)
    a, b, c = torch.arange(1024.0).reshape(16, 64), torch.zeros(16, 64), torch.zeros(16, 64)
    tilelang.compile(main)(a, b, c)
    assert torch.equal(c, a)
    assert (b.flatten() / 2).tolist() == [float(place) for place in order]


@pytest.mark.parametrize("update", ["elements", "region", "number", "vectors", "parts of a region"])
def test_updates_of_a_parameter_with_a_layout(update, engine):
    """As attention's backward adds to dQ: each program its part, in the order of the fragments that hold it."""
    shape = (2, 16, 2, 16)

    def places(tensor):
        return T.Layout(tensor.shape, lambda b, n, h, d: [b, n // 8, h, d // 8, d % 2, 4 * (n % 8) + d % 8 // 2])

    @T.prim_func
    def add(X: T.Tensor(shape, "float32"), Y: T.Tensor(shape, "float32")):
        with T.Kernel(2, 2, 3, threads=128) as (h, b, _):
            T.annotate_layout({Y: places(Y)})
            tile = T.alloc_fragment((16, 16), "float32")
            T.copy(X[b, 0:16, h, :], tile)
            if update == "elements":
                for i, j in T.Parallel(16, 16):
                    T.atomic_add(Y[b, i, h, j], tile[i, j])
            elif update == "region":
                T.atomic_add(Y[b, 0:16, h, :], tile)
            elif update == "number":
                T.atomic_add(Y[b, 0:16, h, 3:7], 2.0)
            elif update == "vectors":
                for i, j in T.Parallel(16, 4):
                    T.atomic_addx4(Y[b, i, h, j * 4], X[b, i, h, j * 4])
            else:
                T.atomic_add(Y[b, 4:12, h, 0:8], tile[8:16, 8:16])

    x, y = torch.randint(-9, 10, shape).float(), torch.zeros(shape)
    tilelang.compile(add)(x, y)
    b, n, h, d = torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    where = ((((b * 2 + n // 8) * 2 + h) * 2 + d // 8) * 2 + d % 2) * 32 + 4 * (n % 8) + d % 8 // 2
    expected = torch.zeros(shape)
    if update == "number":
        expected[..., 3:7] = 6
    elif update == "parts of a region":
        expected[:, 4:12, :, :8] = 3 * x[:, 8:, :, 8:]
    else:
        expected = 3 * x
    assert torch.equal(y.flatten()[where], expected)


def test_two_elements_in_one_place_are_refused():
    @T.macro
    def body(layout):
        tile = T.alloc_shared((16,), "float32")
        T.annotate_layout({tile: layout})

    layout = T.Layout((16,), lambda i: i % 8)

    def main(A: T.Tensor((16,), "float32")):
        with T.Kernel(1):
            body(layout)

    with pytest.raises(ValueError, match=r"shared buffer `tile` must be injective: elements \(0,\) and \(8,\) both map"):
        T.prim_func(main)


def test_dimensions_that_no_place_ties_together_are_maps_side_by_side():
    """A tensor of 16 million elements is checked by the few that differ in each group."""
    made = T.Layout((8, 1024, 32, 64), lambda b, s, h, d: [b, s // 8, h, d // 8, d % 2, 4 * (s % 8) + (d % 8) // 2])
    assert list(made.groups()) == [([0], [0]), ([1, 3], [1, 3, 4, 5]), ([2], [2])]
    assert made.get_output_shape() == (8, 128, 32, 8, 2, 32)
    assert not made.is_identity()
    assert T.Layout((3, 4), lambda i, j: [i, j]).is_identity()
    assert not T.Layout((3, 4), lambda i, j: [j, i]).is_identity()
    assert not T.Layout((4, 4), lambda i, j: [i, (i + j) % 4]).is_identity()


MAPS = {
    "turned": lambda i, j, k: [k, i, j],
    "swizzled": lambda i, j, k: [i, j, k ^ (j % 4)],
    "a line": lambda i, j, k: [(i * 4 + j) * 8 + k],
    "apart": lambda i, j, k: [i * 2, j + 7, k * k],
    "one is dropped": lambda i, j, k: [i, k],
    "two meet": lambda i, j, k: [i + j, k],
    "halved": lambda i, j, k: [i, j, k // 2],
    "halves": lambda i, j, k: [k // 2, j, i * 2 + k % 2],
    "a constant": lambda i, j, k: [0, i, j, k],
    "below zero": lambda i, j, k: [i, j, -k],
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("shape", [(2, 4, 8), (1, 4, 8), (2, 1, 8), (2, 4, 1), (1, 1, 1)])
def test_layouts_are_injective_where_a_list_of_their_places_says_so(name, shape):
    from tilery.tilelang.tracing.layouts import check_injective

    made = T.Layout(shape, MAPS[name])
    places = {}
    for element in itertools.product(*map(range, shape)):
        places.setdefault(tuple(made.map_forward_index(element)), []).append(element)
    buffer = SimpleNamespace(is_global=False, scope_name="shared", label=lambda: "tile")
    if all(len(each) == 1 for each in places.values()):
        check_injective(buffer, made)
        return
    with pytest.raises(ValueError, match="must be injective") as caught:
        check_injective(buffer, made)
    a, b, place = map(ast.literal_eval, re.findall(r"\([-\d, ]*\)", str(caught.value)))
    assert {a, b} <= set(places[place])
