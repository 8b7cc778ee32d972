"""Wrong launches are refused before anything runs, each with exactly its message."""

import numpy as np
import pytest
import torch
from errors import messages
from language.tileon.kernels import add

from tilery import tileon
from tilery.core.compile import interpreted
from tilery.errors import Error
from tilery.tileon import language as tl

X = np.ones(32, np.float32)


def frozen():
    array = np.ones(32, np.float32)
    array.flags.writeable = False
    return array


WRONG = {
    "float extent": (
        lambda: add[(32 / 32,)](X, X, X, 32, 32),
        TypeError,
        "the grid of add has a float as extent of axis 0; an int is expected\n  hint: divide with // or cdiv",
    ),
    "four extents": (
        lambda: add[(1, 1, 1, 2)](X, X, X, 32, 32),
        ValueError,
        "the grid of add has 4 extents; one to three are expected",
    ),
    "no extents": (lambda: add[()](X, X, X, 32, 32), ValueError, "the grid of add has 0 extents; one to three are expected"),
    "grid of None": (
        lambda: add[None](X, X, X, 32, 32),
        TypeError,
        "the grid of add has a NoneType as extent of axis 0; an int is expected",
    ),
    "callable grid": (
        lambda: add[lambda meta: "abc"](X, X, X, 32, 32),
        TypeError,
        "the grid of add has a str as extent of axis 0; an int is expected",
    ),
    "no grid": (
        lambda: add(X, X, X, 32, 32),
        RuntimeError,
        "`add` is a kernel: give it a grid\n  hint: launch it with add[grid](...)",
    ),
    "complex": (
        lambda: add[(1,)](torch.zeros(32, dtype=torch.complex64), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' has complex elements, which tile programs do not know\n"
        "  hint: pass its real and imaginary parts: torch.view_as_real(x_ptr)",
    ),
    "complex array": (
        lambda: add[(1,)](np.zeros(32, np.complex64), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' has elements of a type that tile programs do not know (buffer format 'Zf')\n"
        "  hint: pass its real and imaginary parts, x_ptr.view() of their type",
    ),
    "masked array": (
        lambda: add[(1,)](np.ma.masked_array(X, X > 0), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' is a masked array, and kernels know no masks of NumPy\n"
        "  hint: pass x_ptr.filled(0), or x_ptr.data and its mask as another argument",
    ),
    "array of objects": (
        lambda: add[(1,)](np.zeros(32, object), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' has elements of a type that tile programs do not know (buffer format 'O')\n"
        "  hint: convert them to numbers: x_ptr.astype(numpy.float32), say",
    ),
    "array of bytes in another order": (
        lambda: add[(1,)](np.zeros(32, ">f4"), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' has elements of a type that tile programs do not know (buffer format '>f')\n"
        "  hint: pass x_ptr.astype(x_ptr.dtype.newbyteorder('='))",
    ),
    "bits": (
        lambda: add[(1,)](torch.zeros(32, dtype=torch.uint8).view(torch.bits8), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' cannot be read: Bit types are not supported by dlpack\n"
        "  hint: convert its elements to a type of numbers that kernels take, or pass their bytes: x_ptr.view() of uint8",
    ),
    "another layout": (
        lambda: add[(1,)](torch.zeros(32).to_mkldnn(), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' is a tensor in a layout of oneDNN's own\n  hint: pass x_ptr.to_dense()",
    ),
    "device": (
        lambda: add[(1,)](torch.zeros(32, device="meta"), X, X, 32, 32),
        Error,
        "argument 'x_ptr' has no memory: it is a tensor on the meta device\n  hint: pass a tensor on a device that has some",
    ),
    "sparse": (
        lambda: add[(1,)](torch.eye(3).to_sparse(), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' is a sparse tensor\n  hint: pass x_ptr.to_dense(), or its indices and values",
    ),
    "sparse rows": (
        lambda: add[(1,)](torch.eye(3).to_sparse_csr(), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' is a sparse tensor\n  hint: pass x_ptr.to_dense(), or its indices and values",
    ),
    "nested": (
        lambda: add[(1,)](torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' is a nested tensor\n  hint: pass x_ptr.to_padded_tensor(0.0), or its parts",
    ),
    "quantized": (
        lambda: add[(1,)](torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' is a quantized tensor\n  hint: pass x_ptr.int_repr(), or x_ptr.dequantize()",
    ),
    "text": (
        lambda: add[(1,)]("x", X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' is a str; a tensor, int, float, bool or None is expected",
    ),
    "list": (
        lambda: add[(1,)]([1.0], X, X, 32, 32),
        TypeError,
        "argument 'x_ptr' is a list; a tensor, int, float, bool or None is expected\n"
        "  hint: pass torch.tensor(x_ptr) or a NumPy array",
    ),
    "missing": (lambda: add[(1,)](X, X, X, 32), TypeError, "add() is missing the argument 'BLOCK_SIZE'"),
    "too many": (lambda: add[(1,)](X, X, X, 32, 32, 1), TypeError, "add() takes 5 arguments, got 6"),
    "a tensor for a constexpr": (
        lambda: add[(1,)](X, X, X, 32, torch.tensor(32)),
        TypeError,
        "compile-time argument 'BLOCK_SIZE' is a Tensor; a number is expected\n  hint: pass BLOCK_SIZE.item()",
    ),
    "twice": (lambda: add[(1,)](X, X, X, 32, 32, BLOCK_SIZE=32), TypeError, "add() got argument 'BLOCK_SIZE' twice"),
    "unknown keyword": (
        lambda: add[(1,)](X, X, X, 32, BLOCK=32),
        TypeError,
        "add() got an unexpected argument 'BLOCK'\n  hint: did you mean BLOCK_SIZE?",
    ),
    "number for a pointer": (
        lambda: add[(1,)](3, X, X, 32, 32),
        TypeError,
        "line +6:9: at 6:8: in `add`\n    x = tl.load(x_ptr + offsets, mask=mask)\n        ^\n"
        "load needs a pointer or a tile of pointers, got int32[32]\n"
        "  hint: add the offsets to a pointer argument of the kernel",
    ),
    "number too large": (
        lambda: add[(1,)](X, X, X, 1 << 70, 32),
        Error,
        "argument 'n_elements' is an int that does not fit into 64 bits",
    ),
    "read-only": (
        lambda: add[(1,)](X, X, frozen(), 32, 32),
        ValueError,
        "argument 'output_ptr' is a read-only array, and add writes to it\n  hint: pass a copy of it",
    ),
    "negative": (lambda: add[(-1,)](X, X, X, 32, 32), Error, "the grid of add has the negative extent -1 on axis 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_message(case):
    if case == "read-only" and interpreted(False):
        pytest.skip("the oracle does not know what a kernel writes before it runs")
    launch, builtin, text = WRONG[case]
    with pytest.raises(Error) as caught:
        launch()
    assert isinstance(caught.value, builtin)
    in_kernel = [place for place in caught.value.chain if place[3] == "add"]  # else the line is that of the launch
    told = messages.relative(str(caught.value), add.fn) if in_kernel else messages.without_place(caught.value)
    assert told == text


@pytest.mark.parametrize(
    "launch, wrong",
    [
        (lambda: add[(1,)](X, X, X, 32, 32, BLOCK_SIZE=32), "add() got argument 'BLOCK_SIZE' twice"),
        (lambda: add[(-1,)](X, X, X, 32, 32), "the grid of add has the negative extent -1 on axis 0"),
        (lambda: add(X, X, X, 32, 32), "`add` is a kernel: give it a grid"),
    ],
)
def test_a_wrong_call_shows_its_line(launch, wrong):
    with pytest.raises(Error) as caught:
        launch()
    first, code, caret, *_ = messages.relative(str(caught.value), launch).splitlines()
    assert first.startswith("line +") and first.endswith(f": {wrong}") and code[caret.index("^") :].startswith("add")


@tileon.jit
def stores(x_ptr, n, factor, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), n)


def test_none_for_a_number_is_named():
    with pytest.raises(TypeError, match="tile or a number, got None\n.*`n` and `factor` are None: pass a number, or"):
        stores[(1,)](X, None, None, 4)
