"""What is said of a tensor's operations: in their documentation, in the stub, and of calls that they do not take."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from tilery import errors, ninetoothed
from tilery.ninetoothed import Symbol, Tensor, block_size, operations

OPERATIONS = ("tile", "expand", "squeeze", "unsqueeze", "permute", "flatten", "ravel", "pad")
STUB = ast.parse(Path(ninetoothed.__file__).with_name("tensor.pyi").read_text())
MEMBERS = {node.name: node for node in next(n for n in STUB.body if isinstance(n, ast.ClassDef)).body if hasattr(node, "name")}


def test_everything_that_programs_call_is_documented():
    assert set(OPERATIONS) == {n for n, f in vars(operations).items() if inspect.isfunction(f) and f.__doc__ and n[:1] != "_"} - {
        "in_words",
        "error",
        "of_caller",
        "takes_options",
    }
    for name in OPERATIONS:
        assert getattr(Tensor, name).__doc__, name
        assert getattr(Tensor, name).__module__ == operations.__name__


@pytest.mark.parametrize("name", MEMBERS)
def test_the_stub_has_what_there_is(name):
    assert hasattr(Tensor, name)
    if name in OPERATIONS:
        real = inspect.signature(getattr(Tensor, name))
        stub = MEMBERS[name].args
        assert [a.arg for a in stub.args] == list(real.parameters)
        defaults = [p.default for p in real.parameters.values() if p.default is not p.empty]
        assert [ast.literal_eval(d) for d in stub.defaults] == defaults


@pytest.mark.parametrize(
    "call, message, hint",
    [
        (
            lambda: Tensor(1).tile((7,), stride=(1,)),
            "tile() got an unexpected keyword argument 'stride'",
            "did you mean strides?",
        ),
        (
            lambda: Tensor(1).tile(),
            "Tensor.tile() missing 1 required positional argument: 'tile_shape'",
            "it is Tensor.tile(tile_shape, strides=None, dilation=None, floor_mode=False)",
        ),
        (lambda: Tensor(1).ravel(3), "Tensor.ravel() takes 1 positional argument but 2 were given", "it is Tensor.ravel()"),
        (
            lambda: Tensor(1).permute(None),
            "Tensor.permute() takes no arguments of such types: Tensor, None",
            "it is Tensor.permute(dims)",
        ),
        (
            lambda: Tensor(shape=(8,)).tile((2, 2)),
            "`tile` got 2 sizes for a tensor of shape `(8,)`: one per dimension is needed.",
            "unsqueeze adds a dimension",
        ),
        (
            lambda: Tensor(shape=(8, 8)).tile((2,)),
            "`tile` got 1 size for a tensor of shape `(8, 8)`: one per dimension is needed.",
            "-1 leaves a dimension whole",
        ),
        (lambda: Tensor(1, dype="fp16"), "Tensor() got an unexpected argument 'dype'", "did you mean dtype?"),
        (
            lambda: Tensor(1, None, "fp16", None, 0, None, None, None, "x", 7, 8),
            "Tensor() takes at most 9 arguments, got 11",
            "it takes ndim, shape, dtype, jagged_dim, other, shape_options, constexpr, value, name",
        ),
        (
            lambda: Symbol("n", True, None, 1, 2, True, 7),
            "Symbol() takes at most 6 arguments, got 7",
            "it takes expr, constexpr, meta, lower_bound, upper_bound, power_of_two",
        ),
        (
            lambda: block_size(lower=3),
            "block_size() got an unexpected keyword argument 'lower'",
            "its options: lower_bound, upper_bound",
        ),
    ],
)
def test_calls_that_do_not_fit_are_refused_with_their_line(call, message, hint):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert isinstance(caught.value, errors.Error)
    assert (caught.value.message, caught.value.hint) == (message, hint)
    if "block_size" not in message:
        assert caught.value.chain[0][0] == __file__


def _levels(text):
    """The shapes of "(2, 2) of (4, 3)", or of "(2, 12), (6, 4)"."""
    return [tuple(int(n) for n in re.findall(r"\d+", shape)) for shape in re.findall(r"\([\d, ]+\)", text)]


def test_the_page_of_operations_says_what_they_make():
    """Every row of its table, and every operation."""
    page = (Path(__file__).parents[3] / "docs/reference/api.md").read_text()
    rows = [row.split(" | ") for row in page.splitlines() if re.match(r"\| `\w+\(.*\)` \| \(", row)]
    checked = set()
    for written, source, made, *_ in rows:
        calls = re.findall(r"`(\w+\(.*?\))`(?=,| |$)", written)
        outer, *inner = _levels(source)
        tensor = Tensor(shape=outer)
        if inner:  # tiles of such a shape
            tensor = Tensor(shape=tuple(n * m for n, m in zip(outer, inner[0]))).tile(inner[0])
        expected = _levels(made.partition(":")[0])
        found = []
        for call in calls:
            result = eval(f"tensor.{call}", {"tensor": tensor})
            checked.add(call.partition("(")[0])
            while isinstance(result, Tensor):
                found.append(tuple(int(str(n)) for n in result.shape))
                result = result.dtype
        assert expected[: len(found)] == found, (written, found)
    assert checked == set(OPERATIONS)
