"""Functions of T that are written out, on every type: those that move elements bit for bit, reductions and scans of buffers
against NumPy, conversions and numbers against Python's. (Atomics and products have files of their own.)"""

import functools
import math

import numpy as np
import pytest
from core.functions import kernels, references
from core.functions.tiles import ARITHMETIC, COLUMNS, ROWS, bits, small, wide
from language import exact

from tilery import tilelang
from tilery.core.functions.row import ALL, FLOAT8, FLOATS, INTEGERS
from tilery.tilelang import language as T

TILE = (ROWS, COLUMNS)


def launch(folder, device, lines, inputs, outputs):
    """What statements over tensors X0, X1, ... and O0, O1, ... leave in these: inputs and outputs are [(array, dtype)]."""
    parameters = [
        f'{letter}{k}: T.Tensor({array.shape}, "{dtype}")'
        for letter, items in (("X", inputs), ("O", outputs))
        for k, (array, dtype) in enumerate(items)
    ]
    text = f"@T.prim_func\ndef kernel({', '.join(parameters)}):\n    with T.Kernel(1):\n"
    text += "".join(f"        {line}\n" for line in "\n".join(lines).splitlines())
    made = [kernels.to_torch(array, device) for array, _ in outputs]
    kernel = tilelang.compile(kernels.load(folder, text))
    kernel(*(kernels.to_torch(array, device) for array, _ in inputs), *made)
    return [kernels.to_numpy(tensor, dtype) for tensor, (_, dtype) in zip(made, outputs)]


# Calls over a buffer x and a buffer o, and what they leave in o in NumPy, which held `f` before.
REGIONS = {
    "T.reduce_sum(x, o, dim=1)": (lambda x, f: x.sum(1), ARITHMETIC),
    'T.reduce(x, o, "sum", dim=0)': (lambda x, f: x.sum(0), ARITHMETIC),
    "T.reduce_sum(x, o, dim=0, clear=False)": (lambda x, f: x.sum(0) + f, ARITHMETIC),
    "T.reduce_max(x, o, dim=1)": (lambda x, f: x.max(1), ARITHMETIC),
    "T.reduce_max(x, o, dim=-1, clear=False)": (lambda x, f: np.maximum(x.max(1), f), ARITHMETIC),
    "T.reduce_min(x, o, dim=1)": (lambda x, f: x.min(1), ARITHMETIC),
    "T.reduce_min(x, o, dim=0, clear=False)": (lambda x, f: np.minimum(x.min(0), f), ARITHMETIC),
    "T.reduce_absmax(x, o, dim=1)": (lambda x, f: np.abs(x).max(1), ARITHMETIC),
    "T.reduce_absmax(x, o, dim=1, clear=False)": (lambda x, f: np.maximum(np.abs(x).max(1), f), ARITHMETIC),
    "T.reduce_abssum(x, o, dim=1)": (lambda x, f: np.abs(x).sum(1), ARITHMETIC),
    "T.reduce_bitand(x, o, dim=1)": (lambda x, f: np.bitwise_and.reduce(x, 1), INTEGERS),
    "T.reduce_bitand(x, o, dim=1, clear=False)": (lambda x, f: np.bitwise_and.reduce(x, 1) & f, INTEGERS),
    "T.reduce_bitor(x, o, dim=1)": (lambda x, f: np.bitwise_or.reduce(x, 1), INTEGERS),
    "T.reduce_bitor(x, o, dim=0, clear=False)": (lambda x, f: np.bitwise_or.reduce(x, 0) | f, INTEGERS),
    "T.reduce_bitxor(x, o, dim=1)": (lambda x, f: np.bitwise_xor.reduce(x, 1), INTEGERS),
    "T.reduce_bitxor(x, o, dim=0, clear=False)": (lambda x, f: np.bitwise_xor.reduce(x, 0) ^ f, INTEGERS),
    "T.cumsum(x, o, dim=1)": (lambda x, f: x.cumsum(1), ARITHMETIC),
    "T.cumsum(x, o, reverse=True)": (lambda x, f: x[::-1].cumsum(0)[::-1], ARITHMETIC),
    "T.cummax(x, o, dim=1)": (lambda x, f: np.maximum.accumulate(x, 1), ARITHMETIC),
    "T.cummax(x, o, dim=0, reverse=True)": (lambda x, f: np.maximum.accumulate(x[::-1])[::-1], ARITHMETIC),
}


@pytest.mark.parametrize("dtype", ARITHMETIC)
def test_regions(device, dtype, tmp_path):
    x, kind = small(dtype), references.numpy_type(dtype)
    calls = {call: function for call, (function, types) in REGIONS.items() if dtype in types}
    shapes = [function(wide(x), 0).shape for function in calls.values()]
    first = [np.resize([3, 0, 1], shape).astype(kind) for shape in shapes]
    lines = [f'x = T.alloc_shared({TILE}, "{dtype}")\nT.copy(X0, x)']
    for k, (call, shape) in enumerate(zip(calls, shapes)):
        own = call.replace("o, ", f"o{k}, ")
        lines.append(f'o{k} = T.alloc_fragment({shape}, "{dtype}")\nT.copy(O{k}, o{k})\n{own}\nT.copy(o{k}, O{k})')
    found = launch(tmp_path, device, lines, [(x, dtype)], [(array, dtype) for array in first])
    for (call, function), array, got in zip(calls.items(), first, found):
        assert got.tolist() == function(wide(x), wide(array)).astype(kind).tolist(), call


@pytest.mark.parametrize("dtype", FLOATS)
def test_bitwise_reductions_of_floats_are_refused(dtype, tmp_path):
    for name in ("bitand", "bitor", "bitxor"):
        lines = [f'x, o = T.alloc_shared({TILE}, "{dtype}"), T.alloc_shared(({ROWS},), "{dtype}")\nT.reduce_{name}(x, o)']
        with pytest.raises(ValueError, match="a bitwise reduction needs an integer or bool output"):
            launch(tmp_path, "cpu", lines, [], [])


@pytest.mark.parametrize("dtype", FLOATS)
def test_reductions_with_nan(device, dtype, tmp_path):
    """NaN loses, unless it shall win."""
    x = small(dtype)
    x[::2, 3] = x[1] = math.nan
    lines, calls = [f'x = T.alloc_shared({TILE}, "{dtype}")\nT.copy(X0, x)'], []
    for name, loses, wins in (("max", np.fmax, np.maximum), ("min", np.fmin, np.minimum)):
        calls += [(f"T.reduce_{name}(x, o)", loses), (f"T.reduce_{name}(x, o, nan_propagate=True)", wins)]
    for k, (call, _) in enumerate(calls):
        lines.append(f'o{k} = T.alloc_shared(({ROWS},), "{dtype}")\n{call.replace(", o", f", o{k}")}\nT.copy(o{k}, O{k})')
    found = launch(tmp_path, device, lines, [(x, dtype)], [(np.zeros(ROWS, x.dtype), dtype)] * 4)
    for (call, function), got in zip(calls, found):
        with np.errstate(all="ignore"):
            assert np.array_equal(wide(got), function.reduce(wide(x), 1), equal_nan=True), call


# Statements over tensors X0 and X1 and buffers x and y of their elements, which write `o`; what they write in NumPy.
EACH = "for i, j in T.Parallel(8, 16):\n    "
MOVES = {
    "T.copy(x, o)": lambda x, y: x,
    "T.async_copy(X0, o)": lambda x, y: x,
    "T.copy(X0[3, 5], x)\nT.copy(x, o)\nT.copy(X0, x)": lambda x, y: np.pad(x[3:, 5:], ((0, 3), (0, 5))),
    "T.copy(y, o)\nT.copy(x[2:6, 1:9], o[1:5, 8:16])": lambda x, y: _pasted(y, x[2:6, 1:9], 1, 8),
    "T.copy(x, o[1, 8])": lambda x, y: _pasted(np.zeros_like(x), x[:7, :8], 1, 8),
    "T.transpose(x, xt)\nT.transpose(xt, z)\nT.copy(z, o)": lambda x, y: x,
    "T.transpose(x, xt)\nT.copy(T.reshape(xt, (8, 16)), o)": lambda x, y: x.T.reshape(8, 16),
    "T.copy(T.view(T.reshape(x, (128,)), (16, 8)), xt)\nT.transpose(xt, z)\nT.copy(z, o)": lambda x, y: x.reshape(16, 8).T,
    EACH + "o[i, j] = T.if_then_else((i + j) % 3 == 0, x[i, j], y[i, j])": lambda x, y: np.where(THIRDS, x, y),
    EACH + "o[i, j] = T.Select((i + j) % 3 == 0, X0[i, j], X1[i, j])": lambda x, y: np.where(THIRDS, x, y),
    "for i, j in T.grid(8, 16):\n    v = x[i, j]\n    o[7 - i, j] = v": lambda x, y: x[::-1],
    "w = T.alloc_var({dtype}, init=0)\nfor i, j in T.grid(8, 16):\n    o[i, j] = w\n    w = x[i, j]": lambda x, y: _late(x),
    "T.clear(x)\nT.copy(x, o)\nT.copy(X0, x)": lambda x, y: np.zeros_like(x),
    "T.fill(x, 1)\nT.fill(x[2:4, 0:8], 0)\nT.copy(x, o)\nT.copy(X0, x)": lambda x, y: _pasted(
        np.ones_like(x), np.zeros_like(x[:2, :8]), 2, 0
    ),
    "T.fill(o, X0[2, 3])": lambda x, y: np.full_like(x, x[2, 3]),
}
THIRDS = np.add.outer(np.arange(ROWS), np.arange(COLUMNS)) % 3 == 0


def _pasted(into, part, row, column):
    into = into.copy()
    into[row : row + part.shape[0], column : column + part.shape[1]] = part
    return into


def _late(x):
    return np.concatenate([np.zeros_like(x.ravel()[:1]), x.ravel()[:-1]]).reshape(x.shape)


@pytest.mark.parametrize("dtype", ALL)
def test_moves(device, dtype, tmp_path):
    x, y = bits(dtype, 1), bits(dtype, 2)
    lines = [f'x, y = T.alloc_shared({TILE}, "{dtype}"), T.alloc_fragment({TILE}, "{dtype}")']
    lines += [f'z, xt = T.alloc_local({TILE}, "{dtype}"), T.alloc_shared({TILE[::-1]}, "{dtype}")']
    lines += ["T.copy(X0, x)", "T.copy(X1, y)"]
    for k, text in enumerate(MOVES):
        own = text.replace("(o, ", f"(O{k}, ").replace(", o)", f", O{k})").replace(", o[", f", O{k}[").replace(" o[", f" O{k}[")
        lines.append(own.replace(" w", f" w{k}").replace("w = ", f"w{k} = ").replace("{dtype}", repr(dtype)))
    found = launch(tmp_path, device, lines, [(x, dtype), (y, dtype)], [(np.zeros_like(x), dtype)] * len(MOVES))
    for (text, function), got in zip(MOVES.items(), found):
        assert got.tobytes() == np.ascontiguousarray(function(x, y)).tobytes(), text


@pytest.mark.parametrize("dtype", ALL)
def test_strided_tensors(device, dtype, tmp_path):
    text = f"""@T.prim_func
def kernel(X: T.StridedTensor((4, 5), (33, 3), "{dtype}"), O: T.StridedTensor((5, 4), (2, 10), "{dtype}")):
    with T.Kernel(1):
        for i, j in T.Parallel(4, 5):
            O[j, i] = X[i, j]
"""
    x, o = (kernels.to_torch(bits(dtype, seed).ravel(), device) for seed in (1, 2))
    wanted, strided = kernels.to_numpy(o, dtype).copy(), kernels.to_numpy(x, dtype)
    for i in range(4):
        for j in range(5):
            wanted[2 * j + 10 * i] = strided[33 * i + 3 * j]
    tilelang.compile(kernels.load(tmp_path, text))(x.as_strided((4, 5), (33, 3)), o.as_strided((5, 4), (2, 10)))
    assert kernels.to_numpy(o, dtype).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype != "bool"])
def test_bits_as_another_type(device, dtype, tmp_path):
    """Of elements, and of buffers, where the sizes of elements may differ."""
    x = bits(dtype, 1)
    equal = [other for other in ALL if other != "bool" and references.bits(other) == references.bits(dtype)]
    lines, outputs = [f'x = T.alloc_shared({TILE}, "{dtype}")\nT.copy(X0, x)'], []
    for k, other in enumerate(equal):
        lines.append(EACH + f'O{k}[i, j] = T.reinterpret(X0[i, j], "{other}")')
        outputs.append((np.zeros(TILE, references.numpy_type(other)), other))
    for other in ("uint8", "int16", "float32", "float64"):
        shape = (ROWS, x.nbytes // ROWS // np.dtype(other).itemsize)
        lines.append(f'T.copy(T.view(x, {shape}, "{other}"), O{len(outputs)})')
        outputs.append((np.zeros(shape, other), other))
    for got, (_, other) in zip(launch(tmp_path, device, lines, [(x, dtype)], outputs), outputs):
        assert got.tobytes() == x.tobytes(), other
    uneven = "int64" if references.bits(dtype) < 64 else "int32"
    with pytest.raises((TypeError, ValueError), match="bit"):
        launch(tmp_path, "cpu", [EACH + f'O0[i, j] = T.reinterpret(X0[i, j], "{uneven}")'], [(x, dtype)], [(x, dtype)])


SOURCES, COUNT = [*exact.TYPES, "bool"], 256


@functools.lru_cache(maxsize=None)
def operand(dtype):
    return [False, True] * (COUNT // 2) if dtype == "bool" else exact.operand(dtype, COUNT, exact.TYPES.index(dtype))


def saturated(value, target):
    """The nearest finite number of 8 bits; NaN stays."""
    if target not in FLOAT8 or math.isnan(value):
        return exact.converted(value, target)
    greatest = exact.FLOATS[target].greatest
    return exact.FLOATS[target].rounded(min(max(value, -greatest), greatest))


def cut(value, target):
    """Towards zero."""
    if target in exact.FLOATS:
        greatest = exact.FLOATS[target].greatest
        value = min(max(value, -greatest), greatest) if target in FLOAT8 and not math.isnan(value) else value
        return exact.FLOATS[target].rounded(value, toward_zero=True)
    return exact.converted(value, target)


CONVERSIONS = {
    'T.cast(X0[i], "{to}")': saturated,
    'T.Cast("{to}", X0[i])': saturated,
    "T.{to}(X0[i])": saturated,
    'T.cast(X0[i], "{to}", sat=False)': exact.converted,
    "X0[i]": saturated,
    'T.cast(X0[i], "{to}", "rz")': cut,
}


def same(got, want):
    if isinstance(want, float) and not isinstance(got, bool):
        return math.isnan(got) if math.isnan(want) else got == want and math.copysign(1, got) == math.copysign(1, want)
    return got == want


def conversions():
    for expression in CONVERSIONS:
        for source in SOURCES:
            marks = []
            if list(CONVERSIONS).index(expression) in (1, 2) and source not in ("float32", "int32"):
                marks = [pytest.mark.long]  # the first one in other words
            yield pytest.param(expression, source, marks=marks)


@pytest.mark.parametrize("expression, source", list(conversions()))
def test_conversions(device, expression, source, tmp_path):
    values, outputs = operand(source), [(np.zeros(COUNT, references.numpy_type(t)), t) for t in SOURCES]
    lines = [f"for i in T.Parallel({COUNT}):"]
    lines += [f"    O{k}[i] = {expression.format(to=target)}" for k, target in enumerate(SOURCES)]
    x = np.array(values) if source == "bool" else kernels.to_numpy(exact.tensor(values, source), source)
    for target, got in zip(SOURCES, launch(tmp_path, device, lines, [(x, source)], outputs)):
        meaning = exact.converted if target == source else CONVERSIONS[expression]
        wanted = [meaning(value, target) for value in values]
        got = got.astype(np.float64).tolist() if target in exact.FLOATS else got.tolist()
        wrong = [f"{v} -> {g}, not {w}" for v, g, w in zip(values, got, wanted) if w is not None and not same(g, w)]
        assert not wrong, f"{target}: {len(wrong)}: " + "; ".join(wrong[:5])


# Of elements x and y of one type, and what they are in Python.
NUMBERS = {
    "T.min(x, y)": (min, ARITHMETIC),
    "T.max(x, y, 3)": (lambda x, y: max(x, y, 3), ARITHMETIC),
    "T.ceildiv(x, y)": (lambda x, y: -(-x // y), INTEGERS),
    "T.align_up(x, y)": (lambda x, y: -(-x // y) * y, INTEGERS),
    "T.if_then_else(T.logical_and(x > y, y > 2, x < 7), 1, 0)": (lambda x, y: x > y > 2 and x < 7, ARITHMETIC),
    "T.if_then_else(T.Or(x > y, x < 2), 1, 0)": (lambda x, y: x > y or x < 2, ARITHMETIC),
    "T.if_then_else(T.Not(T.And(x > 1, T.logical_or(y > 5, y < 3))), 1, 0)": (lambda x, y: x <= 1 or 3 <= y <= 5, ARITHMETIC),
    'T.if_then_else(T.logical_not(x == y), x, 1, dtype="{dtype}")': (lambda x, y: x if x != y else 1, ARITHMETIC),
}


@pytest.mark.parametrize("dtype", ARITHMETIC)
def test_numbers(device, dtype, tmp_path):
    x, y = (t.ravel() for t in np.mgrid[0:9, 1:9].astype(references.numpy_type(dtype)))
    texts = {text: function for text, (function, types) in NUMBERS.items() if dtype in types}
    lines = [f"for i in T.Parallel({len(x)}):\n    x, y = X0[i], X1[i]"]
    lines += [f"    O{k}[i] = {text.format(dtype=dtype)}" for k, text in enumerate(texts)]
    found = launch(tmp_path, device, lines, [(x, dtype), (y, dtype)], [(np.zeros_like(x), dtype)] * len(texts))
    for (text, function), got in zip(texts.items(), found):
        assert got.tolist() == [function(int(a), int(b)) for a, b in zip(x, y)], text


@pytest.mark.parametrize("dtype", ALL)
def test_limits(device, dtype, tmp_path):
    kind = references.numpy_type(dtype)
    is_float = references.is_float(dtype)
    info = references.ml_dtypes.finfo(kind) if is_float else None if dtype == "bool" else np.iinfo(kind)
    limits = [False, True] if info is None else [info.min, info.max]
    lines = [f'O0[0] = T.min_value("{dtype}")\nO0[1] = T.max_value("{dtype}")']
    if is_float and dtype != "float8_e4m3fn":
        lines, limits = [*lines, f'O0[2] = T.infinity("{dtype}")'], [*limits, math.inf]
    (got,) = launch(tmp_path, device, lines, [], [(np.zeros(len(limits), kind), dtype)])
    assert got.tolist() == [kind.type(x) for x in limits]
    assert [T.min_value(dtype), T.max_value(dtype)] == [float(x) if is_float else int(x) for x in limits[:2]]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bounds_of_loops(device, dtype, tmp_path):
    loops = "T.serial(X0[0])", "T.unroll(X0[0])", "T.serial(1, X0[0], X0[1])", "T.Pipelined(X0[0])", "T.Parallel(X0[0])"
    lines = [f"for i in {loop}:\n    O{k}[i] = i + 1" for k, loop in enumerate(loops)]
    x, outputs = np.array([11, 3], dtype), [(np.zeros(16, "int32"), "int32")] * len(loops)
    for loop, got in zip(loops, launch(tmp_path, device, lines, [(x, dtype)], outputs)):
        steps = range(1, 11, 3) if "1, " in loop else range(11)
        assert got.tolist() == [k + 1 if k in steps else 0 for k in range(16)], loop
