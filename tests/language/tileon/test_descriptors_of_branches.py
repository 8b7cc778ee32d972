"""Tensor descriptors and block pointers that come from the branches of an `if`."""

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl
from tilery.tileon.compiler import CompilationError
from tilery.tileon.tools.tensor_descriptor import TensorDescriptor


@tileon.jit
def pick(X, out, w, B: tl.constexpr):
    if w > 3:
        d = tl.make_tensor_descriptor(X, [8, 16], [16, 1], [B, B], padding_option="nan")
    else:
        d = tl.make_tensor_descriptor(X + 16, [7, 16], [16, 1], [B, B])
    i = tl.arange(0, B)
    tl.store(out + i[:, None] * B + i[None, :], d.load([0, 0]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("w", [5, 2])
def test_paddings_differ(engine, dtype, w):
    x, out = torch.randn(8, 16).to(dtype), torch.zeros(16, 16, dtype=dtype)
    pick[(1,)](x, out, w, B=16)
    rows = x if w > 3 else x[1:]
    assert torch.equal(out[: len(rows)], rows)
    rest = out[len(rows) :]
    assert rest.isnan().all() if w > 3 else (rest == 0).all()


@tileon.jit
def gathers(X, other, rows, out, w, B: tl.constexpr):
    d = tl.make_tensor_descriptor(X, [8, 16], [16, 1], [1, B])
    for k in range(3):
        if k == w:
            d = other
        i = tl.arange(0, 8)
        tl.store(out + k * 8 * B + i[:, None] * B + tl.arange(0, B)[None, :], d.gather(tl.load(rows + i), 0))


def test_a_loop_takes_another_padding_on_its_way(engine):
    x, y, out = torch.randn(8, 16), torch.randn(8, 16), torch.zeros(3, 8, 16)
    rows = torch.tensor([0, 3, 9, 1, 2, 8, 7, 30], dtype=torch.int32)
    gathers[(1,)](x, TensorDescriptor(y, [8, 16], [16, 1], [1, 16], "nan"), rows, out, 1, B=16)
    inside = rows < 8
    for k, (from_, pads) in enumerate([(x, 0.0), (y, float("nan")), (y, float("nan"))]):
        right = torch.full((8, 16), pads)
        right[inside] = from_[rows[inside].long()]
        torch.testing.assert_close(out[k], right, equal_nan=True, rtol=0, atol=0)


@tileon.jit
def differs(X, Y, out, w, kind: tl.constexpr):
    if w > 3:
        d = tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16])
    elif kind == 0:
        d = tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 8])
    elif kind == 1:
        d = tl.make_tensor_descriptor(Y, [8, 16], [16, 1], [8, 16])
    elif kind == 2:
        d = tl.make_tensor_descriptor(X, [128], [1], [16])
    elif kind == 3:
        d = tl.make_block_ptr(X, (8, 16), (16, 1), (0, 0), (8, 16), (1, 0))
    else:
        d = 7
    tl.store(out, tl.sum(d.load([0, 0])))


OTHERS = [
    "a tensor descriptor of fp32 with blocks [8, 8]",
    "a tensor descriptor of fp16 with blocks [8, 16]",
    "a tensor descriptor of fp32 with blocks [16]",
    "a block pointer of fp32 with blocks [8, 16]",
    "",
]


@pytest.mark.parametrize("kind", range(len(OTHERS)))
def test_the_message_names_the_difference(kind):
    with pytest.raises(CompilationError) as caught:
        differs[(1,)](torch.zeros(8, 16), torch.zeros(8, 16).half(), torch.zeros(1), 4, kind)
    assert isinstance(caught.value, TypeError) and not isinstance(caught.value, NameError)
    text = str(caught.value)
    assert "Mismatched type for d: a tensor descriptor of fp32 with blocks [8, 16] in one branch" in text
    assert f"and {OTHERS[kind]}" in text and "a host tensor" not in text
