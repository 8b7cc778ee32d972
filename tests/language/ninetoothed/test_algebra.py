"""Symbol and Tensor as Python sees them: operators, upstream's error texts, eval and subs."""

import ast
import copy

import numpy as np
import pytest

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Symbol, Tensor, block_size, naming


def test_symbol_prints_and_folds():
    x = Symbol("x")
    assert repr(0 + x) == repr(x - 0) == repr(1 * x) == repr(x // 1) == "x"
    assert repr(0 * x) == "0 * x"
    assert repr((3 - x) * (x % 4)) == "(3 - x) * (x % 4)"
    assert repr(-x) == "-x" and repr(7 // x) == "7 // x" and repr(x**2) == "x ** 2"
    assert repr(Symbol("a+b")) == "a + b"
    assert int(Symbol(7) // 2) == 3


def test_symbol_identity_is_by_name():
    assert Symbol("B", meta=True) == Symbol("B", meta=True)
    assert Symbol("B", meta=True) != Symbol("B", constexpr=True)
    assert Symbol(3) == 3 and Symbol("x") != 3 and Symbol("x") + 1 != Symbol("x") + 2
    assert len({Symbol("a"), Symbol("a"), Symbol("a") + 1}) == 2
    assert (Symbol("a") * 2 + Symbol("b")).names() == {Symbol("a"), Symbol("b")}
    assert block_size() != block_size()


def test_symbol_roles():
    meta, constant = Symbol("B", meta=True), Symbol("C", constexpr=True)
    assert repr(meta) == naming.make_meta("B") and repr(constant) == naming.make_constexpr("C")
    assert (meta.lower_bound, meta.upper_bound, meta.power_of_two) == (32, 1024, True)
    assert (constant.lower_bound, constant.upper_bound, constant.power_of_two) == (1, 2**20, False)
    assert block_size(lower_bound=64, upper_bound=128).lower_bound == 64


def test_symbols_have_items_and_are_made_of_tuples():
    x, y = Symbol("x"), Symbol("y")
    assert repr(x[0]) == "x[0]" and repr(x[y, 1] * 2) == "x[y, 1] * 2" and x[y].names() == {x, y}
    assert repr(Symbol((x, y + 1))) == "(x, y + 1)" and repr(Symbol((x,))) == "(x,)" and Symbol((x, y))[1] == y
    assert list(Symbol((x, 3))) == [x, 3] and Symbol("x[y]") == x[y]
    assert repr(x[1:]) == "x[slice(1, None, None)]" and ast.unparse(x[1:].node) == "x[1:]"
    assert repr(Symbol("x[y] + 1").find_and_replace(x, Symbol((y, 5)))) == "(y, 5)[y] + 1"
    with pytest.raises(TypeError, match="`x` cannot be iterated over"):
        list(x)
    with pytest.raises(IndexError, match="Index 2 is out of range for `\\(x, y\\)`"):
        Symbol((x, y))[2]
    with pytest.raises(ValueError, match="`\\(x, 2\\)` is not an integer expression"):
        Tensor(1).tile(((x, 2),))


def test_an_item_of_no_known_sequence_is_refused_where_a_kernel_needs_its_value():
    def application(x, y):
        y = x  # noqa: F841

    def tiled(size):
        return ninetoothed.make(lambda *tensors: tuple(t.tile((size,)) for t in tensors), application, (Tensor(1), Tensor(1)))

    x, y = np.arange(10, dtype=np.float32), np.zeros(10, np.float32)
    tiled(Symbol((Symbol("B", constexpr=True), 1))[0])(x, y, B=4)
    np.testing.assert_array_equal(x, y)
    with pytest.raises((TypeError, ValueError), match=r"`table\[0\]|`table`"):
        tiled(Symbol("table")[0])(x, y)


def test_symbol_replaces_in_place():
    e = Symbol("a + b") * 2
    e.find_and_replace(Symbol("a + b"), Symbol("c"))
    assert repr(e) == "c * 2"


def test_truth_of_a_comparison_is_not_known():
    with pytest.raises(ValueError, match="not known until the kernel is launched"):
        bool(Symbol("a") < 3)


@pytest.mark.parametrize(
    "make, kind, message",
    [
        (lambda: Symbol("a+b", meta=True), ValueError, "`constexpr` and `meta` are properties of name symbols."),
        (lambda: Symbol("a", meta=True, constexpr=False), ValueError, "Non-constexpr meta symbol is not supported."),
        (lambda: Symbol("a.b"), ValueError, "`a.b` is not an integer expression."),
        (lambda: Tensor(), AssertionError, "Either `ndim` or `shape` must be provided."),
        (lambda: Tensor(1, constexpr=True), ValueError, "`constexpr` can only be set for zero-dimensional tensors."),
        (lambda: Tensor(0, value=1), ValueError, "`value` can only be set for constexpr tensors."),
        (lambda: Tensor(1)[..., ...], ValueError, "Only one `Ellipsis` is allowed."),
        (lambda: Tensor(shape=(2, 3))[1, 2, 3], IndexError, "Index `(1, 2, 3)` is out of bounds for tensor of shape `(2, 3)`."),
        (lambda: Tensor(1)["a"], TypeError, "Index `'a'` must be an `int`, `slice`, or `None`, not `str`."),
        (
            lambda: Tensor(shape=(2, 3)).tile((2,)),
            ValueError,
            "`tile` got 1 size for a tensor of shape `(2, 3)`: one per dimension is needed.",
        ),
        (lambda: Tensor(-1), ValueError, "`ndim` must not be negative, got -1."),
        (
            lambda: Tensor(1, shape_options={"constexp": True}),
            TypeError,
            "`shape_options` has no option 'constexp': constexpr, meta, lower_bound, upper_bound and power_of_two are known.",
        ),
        (lambda: Tensor(1).tile((0,)), ValueError, "`tile`: a size is positive, or -1 for the whole dimension, got 0."),
        (
            lambda: Tensor(1).tile((4,), strides=(-2,)),
            ValueError,
            "`tile`: a stride is positive, or -1 for the tile's size, got -2.",
        ),
        (lambda: Tensor(1).tile((4,), dilation=(0,)), ValueError, "`tile`: a dilation is positive (1: neighbours), got 0."),
        (lambda: Tensor(1).tile(4), TypeError, "a tuple with an entry for each dimension is expected, got `4`."),
        (lambda: Tensor(1).pad((1, 1)), TypeError, "`pad` takes a pair (before, after) for each dimension, got `1`."),
        (lambda: block_size(lower_bound=2.5), TypeError, "`lower_bound` must be an integer, got `2.5`."),
        (lambda: Symbol("n", meta=True, upper_bound=2**70), OverflowError, f"`upper_bound` must fit in 64 bits, got `{2**70}`."),
        (lambda: Symbol("n", power_of_two="yes"), TypeError, "`power_of_two` must be True or False, got `'yes'`."),
        (lambda: Tensor(2.5), TypeError, "`ndim` must be an integer, got `2.5`."),
        (lambda: Tensor(1, name=4), TypeError, "`name` must be a string, got `4`."),
        (lambda: Tensor(1, other="x"), TypeError, "`other` must be a number, got `'x'`."),
        (lambda: Tensor(1, shape_options={"upper_bound": 2.5}), TypeError, "`upper_bound` must be an integer, got `2.5`."),
        (lambda: Tensor(2, shape_options=(1, 2)), TypeError, "`shape_options` has a dict or None for each dimension, got `1`."),
        (
            lambda: Tensor(2, shape_options=5),
            TypeError,
            "`shape_options` is a dict, or a tuple with one for each dimension, got `5`.",
        ),
        (lambda: Tensor(2).tile((1, 1), floor_mode="no"), TypeError, "`floor_mode` must be True or False, got `'no'`."),
        (lambda: Tensor(2).permute((0.5, 1)), TypeError, "`dims` must be an integer, got `0.5`."),
        (lambda: Tensor(2).squeeze(0.5), TypeError, "`dim` must be an integer or a tuple of integers, got `0.5`."),
        (lambda: Tensor(2).unsqueeze("a"), TypeError, "`dim` must be an integer, got `'a'`."),
        (lambda: list(Tensor(shape=(3, 4))), TypeError, "A symbolic tensor, of shape `(3, 4)` here, cannot be iterated over."),
        (
            lambda: ninetoothed.make(lambda x: (x,), lambda x: None, Tensor(shape=(3, 4))),
            TypeError,
            "A symbolic tensor, of shape `(3, 4)` here, cannot be iterated over.",
        ),
        (lambda: Tensor(2).flatten("a"), TypeError, "`start_dim` must be an integer, got `'a'`."),
        (lambda: Tensor(2).squeeze(2), IndexError, "`squeeze`: dimension 2 is out of range for 2 dimensions."),
        (
            lambda: Tensor(2).tile((4, 1)).dtype.squeeze((1, 0)),
            ValueError,
            "`squeeze`: dimension 0 has size 4; only those of size 1 can be left out",
        ),
        (lambda: Tensor(shape=(4,)).tile((2,)).dtype.dtype.shape, AttributeError, "'NoneType' object has no attribute 'shape'"),
    ],
)
def test_error_texts(make, kind, message):
    with pytest.raises(kind) as caught:
        make()
    assert getattr(caught.value, "message", str(caught.value)) == message


def test_errors_say_where():
    with pytest.raises(Error) as caught:
        Tensor(2).permute((0, 0))
    assert isinstance(caught.value, ValueError)
    ((file, line, column, function),) = caught.value.chain
    assert (file, column, function) == (__file__, 9, "test_errors_say_where")
    text = str(caught.value).splitlines()
    assert text == [
        f"{__file__}:{line}:9: `permute`: dimension 0 is named twice.",
        "    Tensor(2).permute((0, 0))",
        "    ^",
    ]


def test_errors_in_what_we_call_say_where_the_program_called_us():
    x = Tensor(1)
    with pytest.raises(Error, match="has no value. Give it one in `subs`") as caught:
        x.eval()
    assert caught.value.chain[0][::3] == (__file__, "test_errors_in_what_we_call_say_where_the_program_called_us")


def test_squeezed_are_sizes_of_one_and_those_that_are_not_known():
    block = Symbol("B", constexpr=True)
    assert [Tensor(2).tile((block, 1)).dtype.squeeze(dim).ndim for dim in (0, -1, (0, 1))] == [1, 1, 0]
    assert Tensor(2).squeeze(dim=0).ndim == 1


def test_numbers_of_numpy_are_numbers():
    symbol = Symbol("n", constexpr=np.bool_(True), lower_bound=np.int64(2), upper_bound=np.uint8(8))
    assert (symbol.constexpr, symbol.lower_bound, symbol.upper_bound) == (True, 2, 8)
    tensor = Tensor(np.int32(2), other=np.float32(0.5), shape_options={"constexpr": 1})
    assert tensor.ndim == 2 and tensor.other == 0.5
    assert [size.constexpr for size in tensor.sizes] == [True, True]
    assert tensor.permute((np.int64(1), np.int8(0))).sizes == tensor.sizes[::-1]



def test_dtype_is_the_next_level_and_assignments_reach_the_tensor():
    x = Tensor(shape=(4, 6)).tile((2, 3)).tile((1, -1))
    assert x.dtype.shape == (1, 2) and x.dtype.dtype.shape == (2, 3) and x.dtype.dtype.dtype is None
    x.dtype = x.dtype.squeeze(0)
    x.dtype.dtype = x.dtype.dtype.unsqueeze(0)
    assert x.shape == (2, 1) and x.dtype.shape == (2,) and x.dtype.dtype.shape == (1, 2, 3)
    assert x.innermost().shape == (1, 2, 3)
    x.dtype.dtype.dtype = ninetoothed.float16
    assert x.source.dtype == "fp16" and x.source.shape == (4, 6)


def test_a_root_is_arranged_many_times():
    x = Tensor(1)
    a, b = x.tile((2,)), x.tile((3,))
    assert a.dtype.shape == (2,) and b.dtype.shape == (3,) and x.ndim == 1
    assert copy.deepcopy(a).source.shape == x.shape


def test_shape_assignment_specialises():
    x = Tensor(2)
    x.shape = x.shape[:-1] + (64,)
    assert x.tile((1, -1)).dtype.shape == (1, 64)


def test_eval_gives_offsets_and_minus_one():
    x = Tensor(2)
    B = Symbol("B", constexpr=True)
    table = x.tile((1, B)).eval({x: {"shape": (2, 3)}, B: 2})
    assert table.dtype == np.intp
    assert table.tolist() == [[[[0, 1]], [[2, -1]]], [[[3, 4]], [[5, -1]]]]
    assert ninetoothed.eval(Tensor(0)).shape == ()


def test_eval_needs_every_value():
    with pytest.raises(ValueError, match="has no value. Give it one in `subs`"):
        Tensor(1).tile((2,)).eval()


def test_subs_keeps_the_arrangement():
    x = Tensor(2, other=3)
    y = x.tile((2, 2)).subs({x: Tensor(shape=(4, 6))})
    assert y.shape == (2, 3) and y.other == 3


@pytest.mark.parametrize(
    "key",
    [
        slice(1, 3),
        slice(None, None, 2),
        slice(None, None, -1),
        slice(5, 1, -2),
        (slice(None), slice(1, 4, 2)),
        2,
        -2,
        (0, slice(1, None)),
        None,
        (Ellipsis, 1),
        (None, Ellipsis, None),
        (slice(None), -1),
    ],
)
def test_getitem_follows_numpy(key):
    expected = np.arange(30).reshape(6, 5)[key]
    actual = Tensor(shape=(6, 5))[key].eval()
    assert actual.shape == expected.shape and (actual == expected).all()
