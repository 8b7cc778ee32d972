"""CUDA's own device functions, which kernels call by name: `T.call_extern("float32", "__fdividef", x, y)`. Those of libdevice are
rows of the table of functions or functions of the builder."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tilery import _native

from ...core.functions.row import Row
from ...errors import error
from ...frontend.wording import counted
from ..tracing.operations import Operations, _fast
from ..tracing.values import Expr, cast, read

Function = Callable[..., Any]

# {CUDA's name: (libdevice's, the type of its operands)} where the names differ by more than `__` in front and `f` behind.
_RENAMED = {
    "__fdividef": ("fast_dividef", "float32"),
    "__expf": ("fast_expf", "float32"),
    "__exp10f": ("fast_exp10f", "float32"),
    "__logf": ("fast_logf", "float32"),
    "__log2f": ("fast_log2f", "float32"),
    "__log10f": ("fast_log10f", "float32"),
    "__sinf": ("fast_sinf", "float32"),
    "__cosf": ("fast_cosf", "float32"),
    "__tanf": ("fast_tanf", "float32"),
    "__powf": ("fast_powf", "float32"),
    "__saturatef": ("saturatef", "float32"),
    "__popc": ("popc", "uint32"),
    "__popcll": ("popc", "uint64"),
    "__clz": ("clz", "int32"),
    "__clzll": ("clz", "int64"),
    "__ffs": ("ffs", "int32"),
    "__ffsll": ("ffs", "int64"),
    "__brev": ("brev", "uint32"),
    "__brevll": ("brev", "uint64"),
    "__mulhi": ("mulhi", "int32"),
    "__umulhi": ("mulhi", "uint32"),
    "__mul64hi": ("mulhi", "int64"),
    "__umul64hi": ("mulhi", "uint64"),
    "__mul24": ("mul24", "int32"),
    "__umul24": ("mul24", "uint32"),
    "__sad": ("sad", "int32"),
    "__usad": ("sad", "uint32"),
    "__hadd": ("hadd", "int32"),
    "__uhadd": ("hadd", "uint32"),
    "__rhadd": ("rhadd", "int32"),
    "__urhadd": ("rhadd", "uint32"),
}
# Functions of floats, whose names end in f where they are of float32.
_FLOATS = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc exp exp10 exp2 expm1 fabs floor fma
fmax fmin fmod hypot log log10 log1p log2 nearbyint pow remainder rint round rsqrt sin sinh sinpi sqrt tan tanh trunc""".split()
_BITS = ("__float_as_int", "__float_as_uint", "__int_as_float", "__uint_as_float")


@functools.cache
def _rows() -> dict[str, Row]:
    from ...core.functions.table import ROWS

    return {name: row for row in ROWS for name, _ in row.spelled("libdevice")}


def find(name: str) -> Function | None:
    """The device function of a name; None where CUDA has none."""
    if name in _RENAMED:
        return _of_row(name, *_RENAMED[name])
    for suffix, kind in (("f", "float32"), ("", "float64")):
        plain = name.removesuffix("f") if suffix else name
        if plain in _FLOATS and name == plain + suffix:
            return _of_row(name, plain if plain in _rows() else plain.removeprefix("f"), kind)
    if name in _BITS:
        return _bits(name)
    return _of_parts(name)


def _of_row(name: str, libdevice: str, kind: str) -> Function | None:
    row = _rows().get(libdevice)
    if row is None:
        return None

    def function(*operands: Any) -> Any:
        _check(name, operands, len(row.parameters))
        values = tuple(cast(read(operand), kind) for operand in operands)
        return _fast(row, values) if libdevice.startswith("fast_") else row.call(Operations, *values, *row.defaults)

    return function


def _check(name: str, operands: Sequence[Any], count: int) -> None:
    if len(operands) != count:
        raise error(TypeError, f"{name} takes {counted(count, 'number')}, got {len(operands)}")


def _bits(name: str) -> Function:
    to = {"int": "int32", "uint": "uint32", "float": "float32"}
    source, wanted = (to[word] for word in name.strip("_").split("_as_"))

    def function(*operands: Any) -> Any:
        from .tir.op import reinterpret

        _check(name, operands, 1)
        return reinterpret(cast(read(operands[0]), source), wanted)

    return function


def _of_parts(name: str) -> Function | None:
    """The functions of two numbers of 16 bits, or four of 8, in a word: `__vmaxu2`, `__vcmpeq2`, `__vadd4`."""
    if not name.startswith("__v") or not _native.is_function(name[2:]):
        return None

    def function(*operands: Any) -> Any:
        _check(name, operands, 2)
        return Operations.function(name[2:], *(cast(read(operand), "uint32") for operand in operands))

    return function


def call(dtype: Any, name: str, operands: Sequence[Any]) -> Any:
    """The result of a device function, in the type the program names."""
    function = find(name)
    assert function is not None
    for operand in operands:
        if not isinstance(operand, (int, float)) and not isinstance(read(operand), Expr):
            raise error(TypeError, f"{name} takes numbers, got {operand!r}")
    result = function(*operands)
    return result if dtype is None else cast(result, dtype)
