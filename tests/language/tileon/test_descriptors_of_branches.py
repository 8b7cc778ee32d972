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


# What a window is before the region, what it is at its end, as a message says it.
BLOCKS = {
    "descriptor": (
        "tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16])",
        "tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 8])",
        "a tensor descriptor of fp32 with blocks [8, 16]",
        "a tensor descriptor of fp32 with blocks [8, 8]",
    ),
    "rank": (
        "tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16])",
        "tl.make_tensor_descriptor(X, [128], [1], [16])",
        "a tensor descriptor of fp32 with blocks [8, 16]",
        "a tensor descriptor of fp32 with blocks [16]",
    ),
    "elements": (
        "tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16])",
        "tl.make_tensor_descriptor(X.to(tl.pointer_type(tl.int32)), [8, 16], [16, 1], [8, 16])",
        "a tensor descriptor of fp32 with blocks [8, 16]",
        "a tensor descriptor of int32 with blocks [8, 16]",
    ),
    "block pointer": (
        "tl.make_block_ptr(X, (8, 16), (16, 1), (0, 0), (8, 16), (1, 0))",
        "tl.make_block_ptr(X, (8, 16), (16, 1), (0, 0), (8, 4), (1, 0))",
        "a block pointer of fp32 with blocks [8, 16]",
        "a block pointer of fp32 with blocks [8, 4]",
    ),
    "kind": (
        "tl.make_block_ptr(X, (8, 16), (16, 1), (0, 0), (8, 16), (1, 0))",
        "tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16])",
        "a block pointer of fp32 with blocks [8, 16]",
        "a tensor descriptor of fp32 with blocks [8, 16]",
    ),
    "tile": (
        "tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16])",
        "tl.zeros((8, 16), tl.float32)",
        "a tensor descriptor of fp32 with blocks [8, 16]",
        "float32[8, 16]",
    ),
    "tuple": (
        "(tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16]), n)",
        "(tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 8]), n)",
        "a tuple of 2 (a tensor descriptor of fp32 with blocks [8, 16], int32)",
        "a tuple of 2 (a tensor descriptor of fp32 with blocks [8, 8], int32)",
    ),
    "length": ("(n, 2)", "(n, 2, 3.5)", "a tuple of 2 (int32, 2)", "a tuple of 3 (int32, 2, 3.5)"),
    "inner length": (
        "(n, (2, 3))",
        "(n, (n,))",
        "a tuple of 2 (int32, a tuple of 2 (2, 3))",
        "a tuple of 2 (int32, a tuple of 1 (int32))",
    ),
    "tuple and number": ("(n, 2)", "n", "a tuple of 2 (int32, 2)", "int32"),
    "nothing": ("None", "n", "None", "int32"),
    "text": ("'a'", "'b'", "the text 'a'", "the text 'b'"),
}
REGIONS = {
    "for": "    for _ in range(n):\n        d = {after}\n",
    "while": "    i = 0\n    while i < n:\n        i += 1\n        d = {after}\n",
    "nested": "    for _ in range(n):\n        for _ in range(n):\n            d = {after}\n",
    "if": "    if n > 3:\n        d = {after}\n",
    "else": "    if n > 3:\n        d = {after}\n    else:\n        d = {before}\n",
    "elif": "    if n > 3:\n        pass\n    elif n > 2:\n        d = {after}\n",
}


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("region", REGIONS)
def test_what_a_region_changes_is_named_with_its_lines(tmp_path, kind, region):
    before, after, was, becomes = BLOCKS[kind]
    text = "from tilery import tileon\nfrom tilery.tileon import language as tl\n\n@tileon.jit\ndef f(X, out, n):\n"
    text += f"    d = {before}\n" + REGIONS[region].format(before=before, after=after) + "    used = d\n    tl.store(out, 1.0)\n"
    path = tmp_path / "changes.py"
    path.write_text(text)
    names = {}
    exec(compile(text, str(path), "exec"), names)  # noqa: S102
    with pytest.raises(CompilationError) as caught:
        names["f"][(1,)](torch.zeros(8, 16), torch.zeros(1), 4)
    assert isinstance(caught.value, TypeError) and not isinstance(caught.value, NameError)
    lines = text.splitlines()
    last, use = max(i for i, line in enumerate(lines, 1) if f"d = {after}" in line), lines.index("    used = d") + 1
    message = str(caught.value)
    assert message.startswith(f"{path}:{use}:")
    if region in ("for", "while", "nested"):
        keyword = "while" if region == "while" else "for"
        begin = max(i for i, line in enumerate(lines, 1) if line.strip().startswith(keyword))
        change = f"from {was} to {becomes} (line {last}), and used in line {use}"
        outer = begin - (region == "nested")
        assert any(f"`d` is changed by the `{keyword}` in line {line} {change}" in message for line in (begin, outer))
    else:
        other = f" (line {last + 2})" if region == "else" else ""
        assert f"{becomes} in one branch (line {last}) and {was} in the other{other} (`if` in line {last - 1})" in message


def test_what_is_not_used_afterwards_may_change(engine):
    x, out = torch.arange(128.0).view(8, 16), torch.zeros(3)
    reuses[(1,)](x, out, 3)
    assert out.tolist() == [x[:, :8].sum(), x.sum(), x.sum()]


@tileon.jit
def reuses(X, out, n):
    d = tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16])
    tl.store(out + 1, tl.sum(d.load([0, 0])))
    for i in range(n):
        d = tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 8])
        tl.store(out, tl.sum(d.load([0, 0])))
        d = tl.make_tensor_descriptor(X, [8, 16], [16, 1], [8, 16])
        tl.store(out + 2, tl.sum(d.load([0, 0])))
