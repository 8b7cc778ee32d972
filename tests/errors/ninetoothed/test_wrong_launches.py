"""Wrong arrangements and launches are refused before anything runs, each with exactly its message."""

import copy as copies
import pickle
import traceback

import numpy as np
import pytest
import torch
from errors import messages

from tilery import ninetoothed
from tilery.errors import Error
from tilery.ninetoothed import Symbol, Tensor, block_size

SIZE, WIDTH = Symbol("SIZE", meta=True), Symbol("WIDTH", constexpr=True)
X = torch.ones(32)


def copy(x, y):
    y = x  # noqa: F841


def scaled(x, y, scale):
    y = x * scale  # noqa: F841


def summed(x, y, z):
    z = x + y  # noqa: F841


def vectors(*tensors):
    return tuple(t.tile((4,)) if t.ndim else t for t in tensors)


def gathering(x, *rest):
    x = rest[0]  # noqa: F841


class Doubler:
    def apply(self, x, y):
        y = 2 * x  # noqa: F841


plain = ninetoothed.make(vectors, copy, (Tensor(1), Tensor(1)))
by_width = ninetoothed.make(lambda *ts: tuple(t.tile((WIDTH,)) for t in ts), copy, (Tensor(1), Tensor(1)))
by_size = ninetoothed.make(lambda *ts: tuple(t.tile((SIZE,)) for t in ts), copy, (Tensor(1), Tensor(1)))
with_scalar = ninetoothed.make(vectors, scaled, (Tensor(1), Tensor(1), Tensor(0)))
specialised = ninetoothed.make(vectors, copy, (Tensor(shape=(32,)), Tensor(1)))
three = ninetoothed.make(vectors, summed, (Tensor(1), Tensor(1), Tensor(1)))
flat = ninetoothed.make(lambda x, y: (x.tile((1, 4)), y.tile((1, 4)).flatten()), copy, (Tensor(2), Tensor(2)))
huge = ninetoothed.make(lambda *ts: tuple(t.tile((block_size(2**16, 2**16),)) for t in ts), copy, (Tensor(1), Tensor(1)))
unknown = ninetoothed.make(lambda *ts: tuple(t.tile((Symbol("n"),)) for t in ts), copy, (Tensor(1), Tensor(1)))

OPTIONS = {
    "num_warps": [(3, "`num_warps` must be a power of 2, got 3"), ("4", "`num_warps` is '4'; a power of 2 is expected"),
                  ((4, 6), "`num_warps` must be a power of 2, got 6")],
    "num_stages": [("3", "`num_stages` is '3'; an int of at least 0 is expected"),
                   (-1, "`num_stages` is -1; an int of at least 0 is expected")],
    "max_num_configs": [(2.5, "`max_num_configs` is 2.5; an int that is positive is expected")],
    "kernel_name": [("a b", "`kernel_name` is 'a b', which is no name of a function"),
                    (3, "`kernel_name` is 3; text is expected"),
                    ("class", "`kernel_name` is 'class', which is no name of a function")],
}  # fmt: skip


@pytest.mark.parametrize("option, value, message", [(o, *case) for o, cases in OPTIONS.items() for case in cases])
def test_options(option, value, message, tmp_path):
    def annotated(x: Tensor(1).tile((4,)), y: Tensor(1).tile((4,))):
        y = x  # noqa: F841

    made = vectors, copy, (Tensor(1), Tensor(1))
    calls = [lambda given: ninetoothed.make(*made, **given), lambda given: ninetoothed.jit(annotated, **given)]
    if option != "kernel_name":
        calls.append(lambda given: plain(X, torch.empty(32), **given))
    else:
        calls.append(lambda given: ninetoothed.make(*made, caller="cpu", output_dir=tmp_path, **given))
        calls.append(lambda given: ninetoothed.build(lambda: made, [((), {}, {})], caller="cpu", output_dir=tmp_path, **given))
    for call in calls:
        with pytest.raises(Error) as caught:
            call({option: value})
        assert messages.without_place(caught.value).startswith(message)


def test_options_of_numpy():
    y = torch.empty(32)
    kernel = ninetoothed.make(vectors, copy, (Tensor(1), Tensor(1)), num_warps=np.int64(4), num_stages=[np.int32(2), 3])
    kernel(X, y, max_num_configs=np.int8(3))
    assert torch.equal(y, X)


@ninetoothed.jit
def by_its_name(x: Tensor(1).tile((4,)), y: Tensor(1).tile((4,))):
    y = x  # noqa: F841


def test_kernels_are_pickled_by_their_names_and_copied_as_themselves():
    kernel = by_its_name
    assert pickle.loads(pickle.dumps(kernel)) is copies.copy(kernel) is copies.deepcopy([kernel])[0] is kernel
    with pytest.raises(TypeError, match="the kernel `copy` cannot be pickled: it holds code of this process"):
        pickle.dumps(plain)


WRONG = {
    "missing constexpr": (
        lambda: by_width(X, X),
        TypeError,
        "kernel `copy` needs a value for `WIDTH`\n  hint: pass it by keyword: copy(..., WIDTH=...)",
    ),
    "gathered arguments": (
        lambda: ninetoothed.make(vectors, gathering, (Tensor(1), Tensor(1))),
        TypeError,
        "`gathering` gathers arguments in `*rest`: an application has a parameter for each tensor",
    ),
    "method": (
        lambda: ninetoothed.make(vectors, Doubler().apply, (Tensor(1), Tensor(1))),
        TypeError,
        "the application must be a function, got apply (method)\n"
        "  hint: write `def application(x, y): ...`, with what else it needs as constexpr tensors",
    ),
    "float meta": (lambda: by_size(X, X, SIZE=4.0), TypeError, "`SIZE` of kernel `copy` must be an int, got 4.0"),
    "negative meta": (lambda: by_size(X, X, SIZE=-4), ValueError, "`SIZE` of kernel `copy` must be at least 1, got -4"),
    "unknown keyword": (
        lambda: by_size(X, X, BLOCK=4),
        TypeError,
        "copy() got an unexpected argument 'BLOCK'\n  hint: it takes x, y, SIZE, num_warps, num_stages, max_num_configs, debug",
    ),
    "a symbol that is no argument": (
        lambda: unknown(X, X, n=4),
        TypeError,
        "copy() got an unexpected argument 'n'\n"
        '  hint: its arrangement has the symbol: Symbol("n", constexpr=True) makes it an argument',
    ),
    "missing argument": (lambda: plain(X), TypeError, "copy() is missing the argument 'y'"),
    "too many arguments": (lambda: plain(X, X, X), TypeError, "kernel `copy` takes 2 arguments, got 3"),
    "a number for a size that is chosen": (lambda: huge(X, X, 3), TypeError, "kernel `copy` takes 2 arguments, got 3"),
    "a tensor too many": (
        lambda: huge(torch.ones(32), torch.ones(32), torch.ones(32)),
        TypeError,
        "kernel `copy` takes 2 arguments, got 3",
    ),
    "two too many": (lambda: by_width(X, X, 4, 5), TypeError, "kernel `copy` takes 3 arguments, got 4"),
    "no arguments": (lambda: by_width(), TypeError, "copy() is missing the argument 'x'"),
    "a tensor for a symbol": (
        lambda: by_width(X, X, WIDTH=torch.tensor(4)),
        TypeError,
        "compile-time argument 'WIDTH' is a Tensor; a number is expected\n  hint: pass WIDTH.item()",
    ),
    "a tensor for a size": (
        lambda: by_size(X, X, SIZE=torch.tensor(4)),
        TypeError,
        "compile-time argument 'SIZE' is a Tensor; a number is expected\n  hint: pass SIZE.item()",
    ),
    "different grids": (
        lambda: three(X, X, torch.ones(20), debug=True),
        ValueError,
        "arguments `x` and `z` are arranged for different grids: 8 and 5 programs in dimension 0 of the outermost level\n"
        "  hint: `x` has shape (32,), `z` has shape (20,); an arrangement gives each argument as many tiles, by their sizes or "
        "by expand()",
    ),
    "grids of other ranks": (
        lambda: flat(torch.ones(2, 8), torch.ones(1, 12), debug=True),
        ValueError,
        "arguments `x` and `y` are arranged for different grids: 4 and 3 programs\n"
        "  hint: `x` has shape (2, 8), `y` has shape (1, 12); an arrangement gives each argument as many tiles, by their sizes "
        "or by expand()",
    ),
    "tile of size 0": (lambda: by_width(X, X, WIDTH=0), ValueError, "the innermost tile of `x` has size 0"),
    "tile of negative size": (
        lambda: by_width(X, X, WIDTH=-4),
        ValueError,
        "the innermost tile of `x` has size -4",
    ),
    "rank": (
        lambda: plain(torch.ones(4, 8), X),
        ValueError,
        "argument `x` of kernel `copy` must have 1 dimension, got 2\n  hint: its arrangement starts from Tensor(1)",
    ),
    "rank before the choice of meta symbols": (
        lambda: by_size(torch.ones(4, 8), X),
        ValueError,
        "argument `x` of kernel `copy` must have 1 dimension, got 2\n  hint: its arrangement starts from Tensor(1)",
    ),
    "list for a tensor": (
        lambda: by_size([1.0, 2.0], X),
        TypeError,
        "argument `x` of kernel `copy` must be a tensor, got a list\n  hint: pass a NumPy array or torch.tensor(x)",
    ),
    "number for a tensor of any block size": (
        lambda: by_size(X, 3),
        TypeError,
        "argument `y` of kernel `copy` must be a tensor, got a number\n  hint: pass a NumPy array or torch.tensor(y)",
    ),
    "number for a tensor": (lambda: plain(X, 3), TypeError, "argument `y` of kernel `copy` must be a tensor, got a number"),
    "tensor for a number": (
        lambda: with_scalar(X, X, X),
        TypeError,
        "argument `scale` of kernel `scaled` must be a number or a tensor of no dimensions, got a tensor of 1 dimension\n"
        "  hint: pass one of its numbers, as scale[0].item()",
    ),
    "tensor of one element for a number": (
        lambda: with_scalar(X, X, torch.ones(1, 1)),
        TypeError,
        "argument `scale` of kernel `scaled` must be a number or a tensor of no dimensions, got a tensor of 2 dimensions\n"
        "  hint: pass scale.item()",
    ),
    "specialised size": (
        lambda: specialised(torch.ones(31), torch.ones(31)),
        ValueError,
        "argument `x` has size 31 in dimension 0, its arrangement was made for 32",
    ),
    "complex": (
        lambda: plain(np.zeros(8, np.complex64), X),
        TypeError,
        "argument 'x' has elements of a type that tile programs do not know (buffer format 'Zf')\n"
        "  hint: pass its real and imaginary parts, x.view() of their type",
    ),
    "fnuz": (
        lambda: plain(torch.zeros(8).to(torch.float8_e4m3fnuz), X),
        TypeError,
        "argument 'x' has 8-bit floats of a type (e4m3fnuz, e5m2fnuz, e8m0) that this kernel does not take\n"
        "  hint: its bytes are a tensor that kernels take: x.view(torch.uint8)",
    ),
    "no candidate": (
        lambda: huge(X, X),
        ValueError,
        "Failed to generate auto-tuning. Please check the upper and lower bounds of the symbols.",
    ),
    "plain symbol": (
        lambda: unknown(X, X),
        ValueError,
        "the innermost tile of `x` has size `n`, which is not known when the kernel is compiled\n"
        "  hint: use numbers, meta or constexpr symbols, or sizes of the arguments",
    ),
    "no annotation": (
        lambda: ninetoothed.jit(copy),
        TypeError,
        "parameter `x` of `copy` must be annotated with an arranged tensor\n  hint: write `x: Tensor(1).tile((BLOCK_SIZE,))`",
    ),
    "nothing arranged": (
        lambda: ninetoothed.make(lambda x, y: None, copy, (Tensor(1), Tensor(1))),
        TypeError,
        "the arrangement returns nothing\n  hint: return the arranged tensors: `return x.tile(...), y.tile(...)`",
    ),
    "too few arranged": (
        lambda: ninetoothed.make(lambda x: x, copy, (Tensor(1),)),
        TypeError,
        "the arrangement gives 1 tensor, `copy` also takes `y`\n  hint: return a tensor for each parameter: x, y",
    ),
    "an arrangement of one tensor": (
        lambda: ninetoothed.make(lambda x: x.tile((4,)), copy, (Tensor(1), Tensor(1))),
        TypeError,
        "the arrangement takes (x), and `make` has 2 tensors for it: too many positional arguments\n"
        "  hint: give it a parameter for each tensor, in the order of `make`'s list",
    ),
    "a number twice": (
        lambda: by_width(X, X, 4, WIDTH=4),
        TypeError,
        "kernel `copy` got argument 'WIDTH' twice",
    ),
    "a tensor twice": (lambda: plain(X, X, x=X), TypeError, "kernel `copy` got argument 'x' twice"),
    "no tuple of tensors": (
        lambda: ninetoothed.make(vectors, copy, 2),
        TypeError,
        "`make` has 2 as its tensors; a tuple of them is expected\n  hint: write (Tensor(1), Tensor(1))",
    ),
    "other sizes": (
        lambda: plain(torch.ones(6), torch.ones(7), debug=True),
        ValueError,
        "arguments `x` and `y` are cut into the same tiles, and have 6 and 7 elements there (in their dimensions 0 and 0)\n"
        "  hint: `x` has shape (6,), `y` has shape (7,); give both one size, or say by Tensor(..., other=0) what lies outside of "
        "the smaller one",
    ),
    "not a tensor": (
        lambda: ninetoothed.make(lambda x: (x, 3), copy, (Tensor(1),)),
        TypeError,
        "the arrangement gives 3 for `y` of `copy`; a Tensor is expected",
    ),
    "caller": (
        lambda: ninetoothed.make(vectors, copy, (Tensor(1), Tensor(1)), caller="opencl"),
        ValueError,
        "Unsupported caller: `opencl`.",
    ),
    "scalars only": (
        lambda: ninetoothed.make(lambda *ts: ts, copy, (Tensor(0), Tensor(0)))(1, 2),
        TypeError,
        "`copy` has no tensor argument: its grid is the outermost level of the first one",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name):
    launch, builtin, text = WRONG[name]
    with pytest.raises(Error) as caught:
        launch()
    assert isinstance(caught.value, builtin)
    assert messages.without_place(caught.value).replace("test_wrong_launches.", "") == text


def test_a_debug_launch_of_different_grids_shows_the_arrangement():
    with pytest.raises(ValueError) as caught:
        three(X, X, torch.ones(20), debug=True)
    assert "line +0:1: arguments `x` and `z`" in messages.relative(str(caught.value), vectors)
    assert "    def vectors(*tensors):\n    ^\n" in str(caught.value)


@pytest.mark.parametrize("name", ["missing argument", "too many arguments", "a number twice", "rank", "complex"])
def test_a_wrong_call_shows_its_line(name):
    launch = WRONG[name][0]
    with pytest.raises(Error) as caught:
        launch()
    assert messages.relative(str(caught.value), launch).startswith("line +0:") and caught.value.chain[0][0] == __file__


@pytest.mark.parametrize("name", ["too few arranged", "an arrangement of one tensor", "nothing arranged", "no annotation"])
def test_a_wrong_arrangement_shows_its_function(name):
    with pytest.raises(Error) as caught:
        WRONG[name][0]()
    assert caught.value.chain[0][0] == __file__


def test_a_misspelt_operation_shows_its_line():
    def arrangement(x):
        return x.tlie((4,))

    with pytest.raises(AttributeError) as caught:
        ninetoothed.make(arrangement, copy, (Tensor(1),))
    text = messages.relative(str(caught.value), arrangement)
    assert text.startswith("line +1:16: a Tensor has no attribute 'tlie'\n    return x.tlie((4,))\n           ^\n")


def test_sizes_without_a_name_are_told_by_their_dimension():
    with pytest.raises(ValueError, match=r"for a tensor of shape `\(size_0,\)`"):
        Tensor(1).tile((4, 4))
    with pytest.raises(ValueError, match=r"for a tensor of shape `\(x_size_0, N\)`"):
        Tensor(shape=(None, Symbol("N", constexpr=True)), name="x").tile((4,))


def test_one_exception_where_a_call_of_other_grids_is_wrong_too():
    """The launch is tried again for the grids it has: what that raises has not happened in handling the first."""

    def unwritable(x, y):
        y = x.shape[0][0]  # noqa: F841

    kernel = ninetoothed.make(vectors, unwritable, (Tensor(1), Tensor(1)))
    with pytest.raises(Error) as caught:
        kernel(X, torch.ones(20))
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_frames_of_a_refused_call_are_the_programs():
    with pytest.raises(Error) as caught:
        plain(X, 3)
    assert frames_of_ours(caught.value) == ["__call__"]


def frames_of_ours(wrong):
    return [entry.name for entry in traceback.extract_tb(wrong.__traceback__) if entry.filename != __file__]


@pytest.mark.parametrize("name", ["too few arranged", "nothing arranged", "no annotation", "caller", "no tuple of tensors"])
def test_frames_of_a_refused_arrangement_are_the_programs(name):
    with pytest.raises(Error) as caught:
        WRONG[name][0]()
    assert len(frames_of_ours(caught.value)) == 1 and caught.value.chain[0][0] == __file__


@pytest.mark.parametrize(
    "dtype, hint",
    [
        ("flaot32", "did you mean float32?"),
        ("fp33", "did you mean fp32?"),
        ("complex", "there are int8, int16, "),
        ("*fp32", "write `fp32`: "),
    ],
)
def test_element_types(dtype, hint):
    def declared():
        return Tensor(1, dtype=dtype)

    with pytest.raises(ValueError) as caught:
        declared()
    assert messages.relative(str(caught.value), declared).startswith(f"line +1:16: there is no element type `{dtype}`\n")
    assert f"  hint: {hint}" in str(caught.value)
    x = Tensor(1)
    with pytest.raises(ValueError, match="there is no element type"):
        x.dtype = dtype


@pytest.mark.parametrize("dtype", ["fp32", "float32", "ninetoothed.float32", "fp8e5", "int1", int, torch.float32, None])
def test_element_types_that_are_taken(dtype):
    assert Tensor(1, dtype=dtype).source.dtype == (None if dtype is None else str(dtype))


def test_kernels_are_named_with_their_module():
    with pytest.raises(TypeError, match=r"kernel `test_wrong_launches\.copy` takes 2 arguments, got 3"):
        plain(X, X, X)


@pytest.mark.parametrize("number", [Tensor(0), Tensor(0, dtype="float32"), Tensor(0, constexpr=True)])
def test_none_for_a_number_is_named_where_it_is_used(number):
    y = torch.zeros(8)
    with pytest.raises(TypeError) as caught:
        ninetoothed.make(vectors, scaled, (Tensor(1), Tensor(1), number))(torch.ones(8), y, None)
    assert messages.relative(str(caught.value), scaled) == (
        "line +1:9: operator * takes tiles and numbers, got None\n    y = x * scale  # noqa: F841\n        ^\n"
        "  hint: `scale` is None: pass a number, or ask `is not None`"
    )
    assert y.tolist() == [0] * 8
