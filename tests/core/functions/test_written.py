"""Functions of tl that are written out, on every type: those that move elements bit for bit, reductions and scans against
NumPy, the others against their definition. (Atomics, products and random numbers have files of their own.)"""

import numpy as np
import pytest
from core.functions import kernels, references
from core.functions.tiles import ARITHMETIC, COLUMNS, ROWS, bits, small, wide

from tilery.core.functions.row import ALL, INTEGERS

SMALL = ("int8", "int16", "uint8", "uint16")

# Expressions over tiles x and y at pointers p, a condition c and column numbers k, in tl and in NumPy.
MOVES = {
    "x": lambda x, y, c, k: x,
    "tl.trans(x)": lambda x, y, c, k: x.T,
    "tl.permute(x, 1, 0)": lambda x, y, c, k: x.T,
    "tl.transpose(x)": lambda x, y, c, k: x.T,
    "tl.reshape(x, 4, 32)": lambda x, y, c, k: x.reshape(4, 32),
    "tl.view(x, 2, 64)": lambda x, y, c, k: x.reshape(2, 64),
    "tl.ravel(x)": lambda x, y, c, k: x.ravel(),
    "tl.squeeze(tl.expand_dims(x, 1), 1)": lambda x, y, c, k: x,
    "tl.unsqueeze(x, 0)": lambda x, y, c, k: x[None],
    "tl.broadcast_to(tl.expand_dims(x, 1), 8, 2, 16)": lambda x, y, c, k: np.stack([x, x], 1),
    "tl.broadcast(tl.expand_dims(x, 1), tl.join(x, y).permute(0, 2, 1))[0]": lambda x, y, c, k: np.stack([x, x], 1),
    "tl.flip(x)": lambda x, y, c, k: x[:, ::-1],
    "tl.flip(x, 0)": lambda x, y, c, k: x[::-1],
    "tl.join(x, y)": lambda x, y, c, k: np.stack([x, y], -1),
    "tl.split(tl.join(x, y))[1]": lambda x, y, c, k: y,
    "tl.interleave(x, y)": lambda x, y, c, k: np.stack([x, y], -1).reshape(8, 32),
    "tl.cat(x, y, dim=0)": lambda x, y, c, k: np.concatenate([x, y]),
    "tl.cat(x, y, dim=1)": lambda x, y, c, k: np.concatenate([x, y], 1),
    "tl.gather(x, k, 1)": lambda x, y, c, k: np.take_along_axis(x, k, 1),
    "tl.where(c, x, y)": lambda x, y, c, k: np.where(c, x, y),
    "tl.zeros_like(x)": lambda x, y, c, k: np.zeros_like(x),
    "tl.full((8, 16), 1, x.dtype)": lambda x, y, c, k: np.ones_like(x),
    "tl.load(p, c, other=0)": lambda x, y, c, k: np.where(c, x, np.zeros_like(x)),
}


def same(dtype):
    return dtype


def summed(dtype):
    return {"int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}.get(dtype, dtype)


def scanned(dtype):
    return "float32" if dtype == "bfloat16" else summed(dtype)


def multiplied(dtype):
    return "float32" if dtype == "bfloat16" else dtype


def ordered(dtype):
    return "int32" if dtype in SMALL else "float32" if dtype in ("float16", "bfloat16") else dtype


def numbered(dtype):
    return "int32"


def _last_largest(x):
    columns = (np.arange(COLUMNS) * 5 + 3) % COLUMNS
    return np.where(x == x.max(1, keepdims=True), columns, -1).max(1, keepdims=True)


def _largest_behind(x):
    return np.maximum.accumulate(x[:, ::-1], 1)[:, ::-1]


def _affine(x):
    """The running composition of y -> a y + b, at 0."""
    found, so_far = np.zeros_like(x), np.zeros_like(x[:, 0])
    for k in range(COLUMNS):
        found[:, k] = so_far = x[:, k] * so_far + x[:, k]
    return found


ACROSS, DOWN = "tl.arange(0, 16)[None, :]", "tl.arange(0, 8)[:, None]"  # with tie_break_left off it is any index of several
# Expressions in tl: NumPy's on wide numbers, the type of the result, the types taken.
REDUCTIONS = {
    "tl.sum(x, 1)": (lambda x: x.sum(1), summed, ARITHMETIC),
    "tl.sum(x)": (lambda x: x.sum(), summed, ARITHMETIC),
    "tl.sum(x, 0, keep_dims=True)": (lambda x: x.sum(0, keepdims=True), summed, ARITHMETIC),
    "tl.sum(x, 1, dtype=tl.float64)": (lambda x: x.sum(1), lambda dtype: "float64", ARITHMETIC),
    "tl.max(x, 1)": (lambda x: x.max(1), ordered, ARITHMETIC),
    "tl.min(x, 0)": (lambda x: x.min(0), ordered, ARITHMETIC),
    "tl.max(x, 1, return_indices=True)[0]": (lambda x: x.max(1), ordered, ARITHMETIC),
    "tl.min(x, 0, return_indices=True)[1]": (lambda x: x.argmin(0), numbered, ARITHMETIC),
    f"tl.sum(tl.where({ACROSS} == tl.max(x, 1, True, False)[1][:, None], x, 0), 1)": (lambda x: x.max(1), summed, ARITHMETIC),
    f"tl.sum(tl.where({DOWN} == tl.argmin(x, 0, False)[None, :], x, 0), 0)": (lambda x: x.min(0), summed, ARITHMETIC),
    "tl.argmax(x, 1)": (lambda x: x.argmax(1), numbered, ARITHMETIC),
    "tl.argmin(x, 0)": (lambda x: x.argmin(0), numbered, ARITHMETIC),
    "tl.xor_sum(x, 1)": (lambda x: np.bitwise_xor.reduce(x, 1), same, INTEGERS),
    "tl.reduce_or(x, 1)": (lambda x: np.bitwise_or.reduce(x, 1), same, INTEGERS),
    "tl.cumsum(x, 1)": (lambda x: x.cumsum(1), scanned, ARITHMETIC),
    "tl.cumsum(x, 0, reverse=True)": (lambda x: x[::-1].cumsum(0)[::-1], scanned, ARITHMETIC),
    "tl.cumprod(x, 1)": (lambda x: x.cumprod(1), multiplied, ARITHMETIC),
    "tl.cumprod(x, 0, reverse=True)": (lambda x: x[::-1].cumprod(0)[::-1], multiplied, ARITHMETIC),
    "tl.reduce(x, 1, plus)": (lambda x: x.sum(1), same, ARITHMETIC),
    "tl.reduce(x, None, larger)": (lambda x: x.max(), same, ARITHMETIC),
    "tl.reduce((x, k), 1, last_largest, keep_dims=True)[1]": (_last_largest, numbered, ARITHMETIC),
    "tl.associative_scan(x, 0, plus)": (lambda x: x.cumsum(0), same, ARITHMETIC),
    "tl.associative_scan(x, 1, larger, reverse=True)": (_largest_behind, same, ARITHMETIC),
    "tl.associative_scan((x, x), 1, affine)[1]": (_affine, same, ARITHMETIC),
    "tl.sort(x, 0)": (lambda x: np.sort(x, 0), same, ARITHMETIC),
    "tl.sort(x)": (lambda x: np.sort(x, 1), same, ARITHMETIC),
    "tl.sort(x, descending=True)": (lambda x: np.sort(x, 1)[:, ::-1], same, ARITHMETIC),
    "tl.topk(x, 4)": (lambda x: np.sort(x, 1)[:, :-5:-1], same, ARITHMETIC),
}

def results(folder, device, expressions, inputs, outputs):
    """What expressions of tl give over tiles x and y."""
    text = f"""@tileon.jit
def plus(a, b):
    return a + b

@tileon.jit
def larger(a, b):
    return tl.where(a > b, a, b)

@tileon.jit
def last_largest(a, k, b, n):
    first = (a > b) | (a == b) & (k > n)
    return tl.where(first, a, b), tl.where(first, k, n)

@tileon.jit
def affine(a, b, c, d):
    return a * c, c * b + d

@tileon.jit
def kernel(x_ptr, y_ptr, {", ".join(f"o{n}" for n in range(len(outputs)))}):
    k = tl.arange(0, {COLUMNS})[None, :] + tl.zeros(({ROWS}, 1), tl.int32)
    at = tl.arange(0, {ROWS})[:, None] * {COLUMNS} + k
    p, c = x_ptr + at, (k + 1) % 3 == 0
    x, y = tl.load(p), tl.load(y_ptr + at)
    k = (k * 5 + 3) % {COLUMNS}
"""
    for n, (expression, out) in enumerate(zip(expressions, outputs)):
        place = f" + tl.arange(0, {out.size}).reshape({', '.join(map(str, out.shape))})" if out.ndim else ""
        text += f"    tl.store(o{n}{place}, {expression})\n"
    made = [kernels.to_torch(np.zeros_like(out), device) for out in outputs]
    kernels.load(folder, text)[(1,)](*(kernels.to_torch(x, device) for x in inputs), *made)
    return made


@pytest.mark.parametrize("dtype", ALL)
def test_moves(device, dtype, tmp_path):
    x, y, columns = bits(dtype, 1), bits(dtype, 2), np.tile(np.arange(COLUMNS), (ROWS, 1))
    lanes = x, y, (columns + 1) % 3 == 0, (columns * 5 + 3) % COLUMNS
    expected = [np.ascontiguousarray(function(*lanes)) for function in MOVES.values()]
    for expression, want, got in zip(MOVES, expected, results(tmp_path, device, MOVES, [x, y], expected)):
        assert kernels.to_numpy(got, dtype).tobytes() == want.tobytes(), expression


@pytest.mark.parametrize("dtype", ARITHMETIC)
def test_reductions(device, dtype, tmp_path):
    x, rows = small(dtype), {text: row for text, row in REDUCTIONS.items() if dtype in row[2]}
    types = [result(dtype) for _, result, _ in rows.values()]
    expected = [np.asarray(row[0](wide(x))).astype(references.numpy_type(t)) for row, t in zip(rows.values(), types)]
    for expression, result, want, got in zip(rows, types, expected, results(tmp_path, device, rows, [x, x], expected)):
        assert kernels.to_numpy(got, result).tolist() == want.tolist(), expression


# A window that leaves its tensor on both sides: what block pointers and descriptors read and write.
WINDOWS = """@tileon.jit
def kernel(x_ptr, a, b, c, d):
    at = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    block = tl.make_block_ptr(x_ptr, (5, 11), (16, 1), (0, 0), (8, 16), (1, 0))
    tl.store(a + at, tl.load(block, boundary_check=(0, 1), padding_option="zero"))
    block = tl.advance(block, (2, -3))
    tl.store(b + at, tl.load(block, boundary_check=(0, 1)))
    described = tl.make_tensor_descriptor(x_ptr, (5, 11), (16, 1), (8, 16))
    tl.store(c + at, tl.load_tensor_descriptor(described, (-1, 4)))
    out = tl.make_block_ptr(d, (6, 13), (16, 1), (1, 2), (8, 16), (1, 0))
    tl.store(out, tl.load(x_ptr + at), boundary_check=(0, 1))
    out = tl.make_tensor_descriptor(d, (8, 16), (16, 1), (1, 16))
    tl.store_tensor_descriptor(out, (7, 0), tl.load(x_ptr + tl.arange(0, 16)[None, :]))
"""


@pytest.mark.parametrize("dtype", ALL)
def test_windows(device, dtype, tmp_path):
    x = bits(dtype, 3)
    made, zero = [kernels.to_torch(np.zeros_like(x), device) for _ in range(4)], np.zeros((), x.dtype)
    kernels.load(tmp_path, WINDOWS)[(1,)](kernels.to_torch(x, device), *made)
    around = np.full((24, 48), zero)
    around[8:13, 16:27] = x[:5, :11]
    written = np.full((8, 16), zero)
    written[1:6, 2:13], written[7] = x[:5, :11], x[0]
    wanted = around[8:16, 16:32], around[10:18, 13:29], around[7:15, 20:36], written
    for got, want in zip(made, wanted):
        assert kernels.to_numpy(got, dtype).tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax(device, dtype, tmp_path):
    """A difference from the maximum is rounded, once more where exp is exp2 of it times log2 e, which exp magnifies; sums of n
    terms, a function for exp and one for the quotient."""
    x = np.random.default_rng(4).normal(size=(ROWS, COLUMNS)).astype(dtype) * 5
    for axis, got in enumerate(results(tmp_path, device, ["tl.softmax(x)", "tl.softmax(x, 1)"], [x, x], [x, x])):
        far = x.max(axis, keepdims=True) - x.astype(np.longdouble)
        exact = np.exp(-far) / np.exp(-far).sum(axis, keepdims=True)
        relative = 2 * (2 * far.max() + 4) + x.shape[axis] + 5
        assert (np.abs(got.cpu().numpy() - exact) <= 1.01 * relative * np.finfo(dtype).eps / 2 * exact).all()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_whole_quotients_and_swizzles(device, dtype, tmp_path):
    """swizzle2d: tiles in row-major order become groups of rows, in each of which columns come first."""
    x, y = np.arange(1, 120, dtype=dtype), np.arange(1, 9, dtype=dtype)
    x, y = (np.resize(t, (ROWS, COLUMNS)) for t in (x, y))
    rows, columns, group = 7, 12, 3
    swizzled = f"tl.swizzle2d(x // {columns}, x % {columns}, {rows}, {columns}, {group})"
    inside = np.minimum(x, rows * columns - 1).astype(dtype)
    expressions = ["tl.cdiv(x, y)", f"{swizzled}[0]", f"{swizzled}[1]"]
    (whole,) = results(tmp_path, device, expressions[:1], [x, y], [x])
    assert kernels.to_numpy(whole, dtype).tolist() == (-(-x.astype(int) // y)).tolist()
    order = [(g + r, c) for g in range(0, rows, group) for c in range(columns) for r in range(min(group, rows - g))]
    first, second = (kernels.to_numpy(got, dtype) for got in results(tmp_path, device, expressions[1:], [inside, y], [x, x]))
    assert list(zip(first.ravel().tolist(), second.ravel().tolist())) == [order[k] for k in inside.ravel()]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_histogram(device, dtype, tmp_path):
    """Numbers without a bin are not counted."""
    info, random = np.iinfo(references.numpy_type(dtype)), np.random.default_rng(5)
    x = np.where(random.random(512) < 0.8, random.integers(0, 128, 512), random.integers(info.min, info.max, 512, dtype, True))
    x = x.astype(references.numpy_type(dtype))
    x[:4] = info.min, info.max, 127, 128 if info.max > 127 else 0
    made = [kernels.to_torch(np.zeros(bins, np.int32), device) for bins in (256, 128, 128)]
    text = """@tileon.jit
def kernel(x_ptr, a, b, c):
    k = tl.arange(0, 512)
    x = tl.load(x_ptr + k)
    tl.store(a + tl.arange(0, 256), tl.histogram(x, 256))
    tl.store(b + tl.arange(0, 128), tl.histogram(x, 128))
    tl.store(c + tl.arange(0, 128), tl.histogram(x, num_bins=128, mask=k % 3 == 0))
"""
    kernels.load(tmp_path, text)[(1,)](kernels.to_torch(x, device), *made)
    for got, counted in zip(made, (x, x, x[::3])):
        wide = [int(n) for n in counted if 0 <= n < len(got)]
        assert got.tolist() == np.bincount(np.array(wide), minlength=len(got)).tolist()
