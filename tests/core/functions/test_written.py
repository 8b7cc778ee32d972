"""Functions that are written out, on every type: those that move elements bit for bit, reductions and scans against NumPy."""

import numpy as np
import pytest
from core.functions import kernels, references

from tilery import tilelang
from tilery.core.functions.row import ALL, FLOATS, INTEGERS

ROWS, COLUMNS = 8, 16
PLACES = ["oracle", "machine"]
ARITHMETIC = (*INTEGERS, *FLOATS)
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


# Expressions in tl: NumPy's on wide numbers, the type of the result, the types taken.
REDUCTIONS = {
    "tl.sum(x, 1)": (lambda x: x.sum(1), summed, ARITHMETIC),
    "tl.sum(x)": (lambda x: x.sum(), summed, ARITHMETIC),
    "tl.max(x, 1)": (lambda x: x.max(1), ordered, ARITHMETIC),
    "tl.min(x, 0)": (lambda x: x.min(0), ordered, ARITHMETIC),
    "tl.argmax(x, 1)": (lambda x: x.argmax(1), numbered, ARITHMETIC),
    "tl.argmin(x, 0)": (lambda x: x.argmin(0), numbered, ARITHMETIC),
    "tl.xor_sum(x, 1)": (lambda x: np.bitwise_xor.reduce(x, 1), same, INTEGERS),
    "tl.reduce_or(x, 1)": (lambda x: np.bitwise_or.reduce(x, 1), same, INTEGERS),
    "tl.cumsum(x, 1)": (lambda x: x.cumsum(1), scanned, ARITHMETIC),
    "tl.cumsum(x, 0, reverse=True)": (lambda x: x[::-1].cumsum(0)[::-1], scanned, ARITHMETIC),
    "tl.cumprod(x, 1)": (lambda x: x.cumprod(1), multiplied, ARITHMETIC),
    "tl.sort(x)": (lambda x: np.sort(x, 1), same, ARITHMETIC),
    "tl.sort(x, descending=True)": (lambda x: np.sort(x, 1)[:, ::-1], same, ARITHMETIC),
    "tl.topk(x, 4)": (lambda x: np.sort(x, 1)[:, :-5:-1], same, ARITHMETIC),
}
# Functions of T over rows of a buffer.
REGIONS = {
    "reduce_sum": (lambda x: x.sum(1), ARITHMETIC),
    "reduce_max": (lambda x: x.max(1), ARITHMETIC),
    "reduce_min": (lambda x: x.min(1), ARITHMETIC),
    "reduce_absmax": (lambda x: np.abs(x).max(1), ARITHMETIC),
    "reduce_abssum": (lambda x: np.abs(x).sum(1), ARITHMETIC),
    "reduce_bitand": (lambda x: np.bitwise_and.reduce(x, 1), INTEGERS),
    "reduce_bitor": (lambda x: np.bitwise_or.reduce(x, 1), INTEGERS),
    "reduce_bitxor": (lambda x: np.bitwise_xor.reduce(x, 1), INTEGERS),
    "cumsum": (lambda x: x.cumsum(1), ARITHMETIC),
    "cummax": (lambda x: np.maximum.accumulate(x, 1), ARITHMETIC),
}


def bits(dtype, seed):
    """A tile of any bits."""
    random, kind = np.random.default_rng(seed), references.numpy_type(dtype)
    if dtype == "bool":
        return random.integers(0, 2, (ROWS, COLUMNS)).astype(bool)
    return random.integers(0, 256, (ROWS, COLUMNS * kind.itemsize), dtype=np.uint8).view(kind)


def small(dtype):
    """A tile of small integers, with ties: sums and products are exact in any order."""
    numbers = np.random.default_rng(3).choice([-1, 1, 2, -2] if not dtype.startswith("u") else [0, 1, 2], (ROWS, COLUMNS))
    numbers[:, 4:12] = np.clip(numbers[:, 4:12], -1 if not dtype.startswith("u") else 0, 1)
    return numbers.astype(references.numpy_type(dtype))


def wide(x):
    return x.astype({"i": np.int64, "u": np.uint64}.get(x.dtype.kind, np.float64))


@pytest.fixture(params=PLACES)
def place(request, monkeypatch):
    monkeypatch.setenv("TILERY_ORACLE", "1" if request.param == "oracle" else "0")


def results(folder, expressions, inputs, outputs):
    """What expressions of tl give over tiles x and y."""
    text = f"""@tileon.jit
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
    made = [kernels.to_torch(np.zeros_like(out)) for out in outputs]
    kernels.load(folder, text)[(1,)](*map(kernels.to_torch, inputs), *made)
    return made


@pytest.mark.parametrize("dtype", ALL)
def test_moves(place, dtype, tmp_path):
    x, y, columns = bits(dtype, 1), bits(dtype, 2), np.tile(np.arange(COLUMNS), (ROWS, 1))
    lanes = x, y, (columns + 1) % 3 == 0, (columns * 5 + 3) % COLUMNS
    expected = [np.ascontiguousarray(function(*lanes)) for function in MOVES.values()]
    for expression, want, got in zip(MOVES, expected, results(tmp_path, MOVES, [x, y], expected)):
        assert kernels.to_numpy(got, dtype).tobytes() == want.tobytes(), expression


@pytest.mark.parametrize("dtype", ARITHMETIC)
def test_reductions(place, dtype, tmp_path):
    x, rows = small(dtype), {text: row for text, row in REDUCTIONS.items() if dtype in row[2]}
    types = [result(dtype) for _, result, _ in rows.values()]
    expected = [np.asarray(row[0](wide(x))).astype(references.numpy_type(t)) for row, t in zip(rows.values(), types)]
    for expression, result, want, got in zip(rows, types, expected, results(tmp_path, rows, [x, x], expected)):
        assert kernels.to_numpy(got, result).tolist() == want.tolist(), expression


@pytest.mark.parametrize("dtype", ARITHMETIC)
@pytest.mark.parametrize("name", REGIONS)
def test_regions(place, name, dtype, tmp_path):
    function, types = REGIONS[name]
    if dtype not in types:
        with pytest.raises((TypeError, ValueError)):
            region(tmp_path, name, dtype, (ROWS,))(kernels.to_torch(small(dtype)))
        return
    want = function(wide(small(dtype))).astype(references.numpy_type(dtype))
    got = region(tmp_path, name, dtype, want.shape)(kernels.to_torch(small(dtype)))
    assert kernels.to_numpy(got, dtype).tolist() == want.tolist()


def region(folder, name, dtype, shape):
    text = f"""@T.prim_func
def kernel(X: T.Tensor(({ROWS}, {COLUMNS}), "{dtype}"), O: T.Tensor({shape}, "{dtype}")):
    with T.Kernel(1):
        x = T.alloc_shared(({ROWS}, {COLUMNS}), "{dtype}")
        o = T.alloc_shared({shape}, "{dtype}")
        T.copy(X, x)
        T.{name}(x, o, dim=1)
        T.copy(o, O)
"""
    return tilelang.compile(kernels.load(folder, text), out_idx=1)
