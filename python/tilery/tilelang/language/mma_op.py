"""Products of 16-row tiles that the threads of a warp hold in parts, by upstream's names of the instructions. Which thread has
which element is tile.warp_dot's: PTX's layout of mma."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ...errors import error
from ..tracing.context import threads
from ..tracing.dtypes import dtype as element_type
from ..tracing.memory import Data, Element, Memory, Region
from ..tracing.values import Val, binary, cast
from .pointer import Pointer
from .tir.op import reinterpret
from .warp import get_lane_idx, shfl_sync

_NAMES = {
    "fp16": "float16",
    "f16": "float16",
    "bf16": "bfloat16",
    "tf32": "float32",
    "fp32": "float32",
    "f32": "float32",
    "fp64": "float64",
    "f64": "float64",
    "int8": "int8",
    "uint8": "uint8",
    "s8": "int8",
    "u8": "uint8",
    "int4": "int4",
    "uint4": "uint4",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "int32": "int32",
    "s32": "int32",
}
_SUMS = {"float64": "float64", "int8": "int32", "uint8": "int32"}  # else float32
_WIDER = {4: "int8", 8: "float16"}


def _per_word(kind: Any) -> int:
    """Elements in 32 bits."""
    return max(1, 32 // kind.bits)


def _word_size(kind: Any) -> int:
    return 1 if kind == "float64" else 2


def _multiplied(trace: Any, a: list[Any], b: list[Any], c: list[Any]) -> list[Any]:
    """c + a * b of factors whose type the machine multiplies; of narrower ones in parts, each of other places along k."""
    kind = a[0].dtype
    if str(kind) not in ("float16", "bfloat16", "float32", "float64", "int8", "uint8"):
        w, wider = _per_word(kind), _WIDER[kind.bits] if kind != "uint4" else "uint8"
        for part in range(2):
            own = [[cast(v, wider) for i, v in enumerate(values) if i % w // (w // 2) == part] for values in (a, b)]
            c = _multiplied(trace, *own, c)
        return c
    sums = _SUMS.get(str(kind), "float32")
    native, result = trace.native, c[0].dtype
    values = native.warp_dot(*([native.materialize(v) for v in part] for part in (a, b, [cast(v, sums) for v in c])))
    return [cast(Val(value), result) for value in values]


def warp_product(a: Sequence[Any], b: Sequence[Any], c: Sequence[Any], what: str) -> list[Any]:
    """c + a * b, of which each thread of a warp holds these elements; factors may have half the depth of an instruction."""
    trace = threads(what)
    kind = a[0].dtype
    full = _word_size(kind) * _per_word(kind)
    zero, none = cast(0, kind), cast(0, c[0].dtype)
    if len(b) not in (full, full // 2) or len(a) not in (2 * len(b), len(b)) or len(c) != 2 * len(a) // len(b):
        raise error(
            ValueError,
            f"{what} of {kind} takes {2 * full}, {full} and 4 elements a thread, or half of the factors, "
            f"got {len(a)}, {len(b)} and {len(c)}",
        )
    rows, a, c = len(c), list(a), list(c)
    if len(a) == len(b):  # eight rows: the others are nobody's
        a, c = [v for x in a for v in (x, zero)], [*c, none, none]
    a, b = [*a, *[zero] * (2 * full - len(a))], [*b, *[zero] * (full - len(b))]
    return _multiplied(trace, a, b, c)[:rows]


def place_at(where: Any, offset: Any, what: str) -> tuple[Memory, Any]:
    """The memory, and the number of an element in it counted row by row: `offset` behind a buffer's first one or an address."""
    if isinstance(where, Data):
        where = where.memory
    if isinstance(where, Pointer):
        where = where.element
    if isinstance(where, Region):
        where = Element(where.memory, list(where.starts))
    if isinstance(where, Memory):
        return where, offset
    if not isinstance(where, Element):
        raise error(TypeError, f"{what} takes addresses, got {where!r}", hint="T.access_ptr and buffer.data give them")
    memory, first = where.memory, 0
    for index, size in zip(where.indices, memory.shape):
        first = binary("+", binary("*", first, size), index)
    return memory, binary("+", first, offset)


def element_at(memory: Memory, number: Any) -> Element:
    """The element that is this many behind the first one, row by row."""
    indices, sizes = [], memory.shape
    for d in range(len(sizes)):
        inner = math.prod(sizes[d + 1 :])
        index = binary("//", number, inner) if inner > 1 else number
        indices.append(binary("%", index, sizes[d]) if d else index)
    return Element(memory, indices)


def _elements(where: Any, offset: Any, count: int, what: str) -> list[Element]:
    memory, first = place_at(where, offset, what)
    return [element_at(memory, binary("+", first, i)) for i in range(count)]


def ptx_mma(
    dtype: Any,
    shape: str,
    A_layout: str,
    B_layout: str,
    A_dtype: str,
    B_dtype: str,
    C_dtype: str,
    multiplicand_a: Any,
    a_index: Any,
    multiplicand_b: Any,
    b_index: Any,
    accumulator: Any,
    c_index: Any,
    saturate: Any = False,
    operator: Any = None,
) -> None:
    """accumulator += a * b of m16n8k.. (f64: m8n8k4) over the threads of a warp, each with its elements in memory of its own."""
    what = "T.ptx_mma"
    threads(what)
    sizes = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", shape)
    if sizes is None or (A_layout, B_layout) != ("row", "col"):
        raise error(ValueError, f"{what} takes shapes such as m16n8k16, and row, col; got {shape}, {A_layout}, {B_layout}")
    m, n, k = map(int, sizes.groups())
    if m not in (8, 16) or n != 8 or (m == 8 and k != 4):
        raise error(ValueError, f"{what} does not know {shape}", hint="it has m16n8k.., and m8n8k4 of float64")
    if operator is not None or _constant(saturate):
        raise error(NotImplementedError, f"{what} that saturates or counts bits")
    for name in (A_dtype, B_dtype, C_dtype):
        if name not in _NAMES and name not in _NAMES.values():
            raise error(ValueError, f"{what} does not know the type {name!r}", hint="known: " + ", ".join(_NAMES))
    a = _factor(multiplicand_a, a_index, m * k // 32, A_dtype)
    b = _factor(multiplicand_b, b_index, n * k // 32, B_dtype)
    sums = _elements(accumulator, c_index, m * n // 32, what)
    for name in (dtype, C_dtype):
        _check_type(what, name, sums[0].dtype)
    for element, value in zip(sums, warp_product(a, b, [element.read() for element in sums], what)):
        element.store(value)


def _check_type(what: str, named: Any, kind: Any) -> None:
    """Refuses a type that is not that of the memory it is said of."""
    if named != "handle" and element_type(_NAMES.get(named, named)) != kind:
        raise error(ValueError, f"{what} is said to be of {named}, and its memory holds {kind}", hint=f"name {kind}")


def _factor(where: Any, index: Any, count: int, name: str) -> list[Any]:
    """Elements of a factor, as the type that the instruction takes them for."""
    kind = element_type(_NAMES.get(name, name))
    first = _elements(where, index, 1, "T.ptx_mma")[0]
    parts = first.dtype.bits // kind.bits
    if parts > 1 and count % parts == 0:  # words that hold several
        words = [cast(reinterpret(element.read(), f"uint{first.dtype.bits}"), "uint64")
                 for element in _elements(where, index, count // parts, "T.ptx_mma")]
        pieces = [binary(">>", word, cast(part * kind.bits, "uint64")) for word in words for part in range(parts)]
        return [reinterpret(cast(piece, f"uint{kind.bits}"), kind) for piece in pieces]
    values = [element.read() for element in _elements(where, index, count, "T.ptx_mma")]
    return [value if value.dtype == kind else reinterpret(value, kind) for value in values]


def _place(first: Any, matrix: int, part: int, transposed: bool, lane: Any) -> Any:
    """The element of an 8 x 8 matrix that is part 0 or 1 of the thread's: row lane // 4, column 2 * (lane % 4) + part, or the
    reverse. Thread 8 * matrix + r says where row r begins."""
    long, short = lane // 4, lane % 4 * 2 + part
    row, column = (short, long) if transposed else (long, short)
    return binary("+", shfl_sync(first, binary("+", row, 8 * matrix)), column)


def _matrices(what: str, num: int, where: Any, offset: Any) -> tuple[Any, Memory, Any, Any]:
    trace = threads(what)
    if num not in (1, 2, 4):
        raise error(ValueError, f"{what} moves 1, 2 or 4 matrices, got {num!r}")
    memory, first = place_at(where, offset, what)
    if memory.dtype.bits != 16:
        raise error(
            NotImplementedError, f"{what} of {memory.dtype}", hint="its matrices have elements of 16 bits; load others one by one"
        )
    return trace, memory, cast(first, "int32"), get_lane_idx()


def ptx_ldmatrix(
    dtype: Any, trans: Any, num: int, type: str, local_ptr: Any, local_offset: Any, smem_ptr: Any, smem_offset: Any
) -> None:
    """8 x 8 matrices of 16-bit elements from shared memory to memory of a warp's threads, transposed or not; thread 8 * i + r
    brings the address of row r of matrix i."""
    what = "T.ptx_ldmatrix"
    _, memory, first, lane = _matrices(what, num, smem_ptr, smem_offset)
    if type.lstrip(".") != "b16":
        raise error(ValueError, f"{what} has no type {type!r}", hint='it moves elements of ".b16"')
    into = _elements(local_ptr, local_offset, 2 * num, what)
    _check_type(what, dtype, into[0].dtype)
    for i, element in enumerate(into):
        value = element_at(memory, _place(first, i // 2, i % 2, bool(_constant(trans)), lane)).read()
        element.store(value if value.dtype == element.dtype else reinterpret(value, element.dtype))


def ptx_stmatrix(trans: Any, num: int, smem_ptr: Any, *words: Any) -> None:
    """8 x 8 matrices of 16-bit elements to shared memory: of each, every thread of the warp gives two elements in 32 bits; thread
    8 * i + r brings the address of row r of matrix i."""
    what = "T.ptx_stmatrix"
    _, memory, first, lane = _matrices(what, num, smem_ptr, 0)
    if len(words) != num:
        raise error(ValueError, f"{what} of {num} matrices takes {num} words, got {len(words)}")
    for i in range(2 * num):
        word = cast(words[i // 2], "uint32")
        half = cast(binary("&", binary(">>", word, 16 * (i % 2)), 0xFFFF), "uint16")
        element_at(memory, _place(first, i // 2, i % 2, bool(_constant(trans)), lane)).store(reinterpret(half, memory.dtype))


def _constant(value: Any) -> Any:
    """A flag that is known."""
    if not isinstance(value, (bool, int)):
        raise error(TypeError, f"a flag of an instruction must be known when it is compiled, got {value!r}")
    return value


def mma_fill(dtype: Any, local_size: int, local_ptr: Any, offset: Any) -> None:
    """Zeros in so many elements of a thread's own."""
    for element in _elements(local_ptr, offset, local_size, "T.mma_fill"):
        _check_type("T.mma_fill", dtype, element.dtype)
        element.store(cast(0, element.dtype))


def mma_store(dtype: Any, m: int, n: int, dst_ptr: Any, src_ptr: Any, src_offset: Any, dst_stride: Any) -> None:
    """The sums of a 16 x 16 product that the threads of a warp hold in parts, to rows `dst_stride` elements apart."""
    what = "T.mma_store"
    threads(what)
    if (m, n) != (16, 16):
        raise error(ValueError, f"{what} stores 16 x 16 elements, got {m} x {n}")
    (memory, first), lane = place_at(dst_ptr, 0, what), get_lane_idx()
    for i, element in enumerate(_elements(src_ptr, src_offset, 8, what)):
        _check_type(what, dtype, element.dtype)
        row, column = binary("+", lane // 4, 8 * (i // 2 % 2)), binary("+", lane % 4 * 2, 8 * (i // 4) + i % 2)
        element_at(memory, binary("+", first, binary("+", binary("*", row, dst_stride), column))).store(element.read())
