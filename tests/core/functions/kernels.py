"""Programs that call one elementwise function on operands of every type it takes."""

import itertools
import zlib
from pathlib import Path

import numpy as np
import torch
from core.functions import references

from tilery import tilelang, tileon
from tilery.core.functions.row import NUMBERS
from tilery.core.functions.table import ROWS
from tilery.tilelang import language as T
from tilery.tileon import language as tl

N = 160
TRITON = {"float16": "float16", "float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5", "bool": "int1"}
CALLS = {"tl": "tl", "libdevice": "tl.extra.libdevice", "T": "T"}


def cases():
    """(language, row) of every elementwise function."""
    return [(language, row) for row in ROWS for language in CALLS if row.spelled(language)]


def types_of(language, row):
    return getattr(row.takes, language) or NUMBERS


FLOAT_EDGES = [
    0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 2, 3, -3, 10, 0.1, 0.999, -0.999,
    17.0, 88.7, -87.4, -103.5, 709.0, -745.0, 1e4, 123456.7, -2.5e-4,
]  # fmt: skip


def operand(dtype, seed):
    """N values: edges in some order, then random ones of every size."""
    random = np.random.default_rng(seed)
    kind = references.numpy_type(dtype)
    if dtype == "bool":
        return random.integers(0, 2, N).astype(bool)
    if references.is_float(dtype):
        info = references.ml_dtypes.finfo(kind)
        limits = [float(v) for v in (info.max, info.tiny, info.smallest_subnormal, info.tiny * 0.75)]
        edges = np.array([*FLOAT_EDGES, *limits, *(-v for v in limits)])
        wide = random.normal(size=N) * np.exp(random.uniform(-12, 12, N))
        values = np.where(random.random(N) < 0.5, wide, random.uniform(-3, 3, N))
    else:
        info = np.iinfo(kind)
        edges = np.array([0, 1, 2, 3, info.max, info.min, info.max - 1, info.min + 1, 7, 8, 100], dtype=object)
        small = random.integers(-20 if info.min else 0, 21, N).astype(object)
        large = random.integers(info.min, info.max, N, dtype=kind, endpoint=True).astype(object)
        values = np.where(random.random(N) < 0.5, small, large)
    values[: len(edges)] = random.permutation(edges)
    with np.errstate(all="ignore"):
        return values.astype(np.float64).astype(kind) if references.is_float(dtype) else values.astype(kind)


def operands(row, dtype, seed=0):
    """The operands' values; lanes on which the row has no meaning are taken out of play."""
    values = [operand(dtype, zlib.crc32(f"{row.name} {dtype} {k} {seed}".encode())) for k in range(len(row.parameters))]
    defined = references.condition(row, dtype)
    for lane in range(N):
        if not defined(*(v[lane] for v in values)):
            for v in values:
                v[lane] = 1
    if row.where != "True":
        assert all(defined(*lanes) for lanes in zip(*values))
    return values


def to_torch(array, device="cpu"):
    if array.dtype in references.NUMPY.values() and array.dtype != bool:  # ml_dtypes' own
        bits = {1: np.uint8, 2: np.int16}[array.dtype.itemsize]
        return torch.from_numpy(array.view(bits).copy()).view(getattr(torch, array.dtype.name)).to(device)
    return torch.from_numpy(array.copy()).to(device)


def to_numpy(tensor, dtype):
    kind = references.numpy_type(dtype)
    plain = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[kind.itemsize]
    return tensor.cpu().view(plain).numpy().view(kind)


def _names(row, dtype):
    return [f"x{k}_{dtype}" for k in range(len(row.parameters))]


def _tl(language, row, name, types):
    pointers = [p for t in types for p in (*_names(row, t), f"o_{t}")]
    lines = [f"@tileon.jit\ndef kernel({', '.join(pointers)}):\n    i = tl.arange(0, {N})\n"]
    for t in types:
        result = row.result.of(t)
        loads = ", ".join(f"tl.load({x} + i)" for x in _names(row, t))
        lines.append(
            f"    r = {CALLS[language]}.{name}({loads})\n"
            f"    tl.static_assert(r.dtype == tl.{TRITON.get(result, result)}, f'{{r.dtype}} of {t}')\n"
            f"    tl.store(o_{t} + i, r)\n"
        )
    return "".join(lines)


def _tilelang(row, name, types):
    pairs = [(p, t) for t in types for p in _names(row, t)] + [(f"o_{t}", row.result.of(t)) for t in types]
    parameters = ", ".join(f"{p}: T.Tensor(({N},), '{t}')" for p, t in pairs)
    lines = [f"@T.prim_func\ndef kernel({parameters}):\n    with T.Kernel(1):\n        for i in T.Parallel({N}):\n"]
    for t in types:
        result = row.result.of(t)
        loads = ", ".join(f"{x}[i]" for x in _names(row, t))
        lines.append(
            f"            r_{t} = T.{name}({loads})\n"
            f"            assert r_{t}.dtype == '{result}', f'{{r_{t}.dtype}} of {t}'\n"
            f"            o_{t}[i] = r_{t}\n"
        )
    return "".join(lines)


_count = itertools.count()


def load(folder, text):
    """The kernel of a program's text."""
    path = Path(folder) / f"kernel{next(_count)}.py"
    path.write_text(text)
    space = {"tileon": tileon, "tl": tl, "T": T, "__name__": "kernels"}
    exec(compile(text, str(path), "exec"), space)
    return space["kernel"]


def run(language, row, folder, device="cpu", seed=0):
    """{type: (operands, results)}, by the program that the environment asks for."""
    name, types = row.spelled(language)[0][0], types_of(language, row)
    kernel = load(folder, _tilelang(row, name, types) if language == "T" else _tl(language, row, name, types))
    inputs = {t: operands(row, t, seed) for t in types}
    outputs = {t: torch.zeros(N, dtype=getattr(torch, row.result.of(t)), device=device) for t in types}
    arguments = {t: [to_torch(x, device) for x in inputs[t]] for t in types}
    if language == "T":
        tilelang.compile(kernel)(*(x for t in types for x in arguments[t]), *outputs.values())
    else:
        kernel[(1,)](*(x for t in types for x in (*arguments[t], outputs[t])))
    return {t: (inputs[t], to_numpy(outputs[t], row.result.of(t))) for t in types}
