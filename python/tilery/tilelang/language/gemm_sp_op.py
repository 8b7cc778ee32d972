"""Products whose left operand keeps half of its elements: two of each four, or one of each two of 32 bits."""

from __future__ import annotations

from typing import Any

from ...errors import error
from ..tracing.memory import Element, Memory, Region, tile_op
from ..tracing.values import Val, binary, cast, select
from .allocate import alloc_fragment
from .gemm_op import GemmWarpPolicy, check_options, multiply

_NIBBLE = 4  # bits of a group's positions


def group_of(element_bits: int) -> int:
    """Elements of a group, of which half are kept."""
    return 2 if element_bits == 32 else 4


def _matrix(side: Any, name: str) -> Region:
    if isinstance(side, Memory):
        side = side.whole()
    if not isinstance(side, Region) or len(side.extents) < 2 or not all(isinstance(n, int) for n in side.extents):
        raise error(AssertionError, f"T.gemm_sp takes matrices of known extents, `{name}` is {side!r}")
    return side


def gemm_sp(
    A_sparse: Any,
    E: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_E: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
    k_pack: int = 1,
    wg_wait: int = 0,
) -> None:
    """C += A @ op(B), A given by the kept elements A_sparse (M x K / 2) and their places E: 4 bits a group, two bits an
    element, the first in the lowest bits. Of 32-bit elements a group is 2, and its bits are those of their halves: 0100 keeps
    the first, 1110 the second."""
    check_options("T.gemm_sp", policy, k_pack, wg_wait)
    _multiply(A_sparse, E, B, C, transpose_A, transpose_E, transpose_B, clear_accum)


def _multiply(
    A_sparse: Any, E: Any, B: Any, C: Any, transpose_A: bool, transpose_E: bool, transpose_B: bool, clear_accum: Any
) -> None:
    trace = tile_op("T.gemm_sp")
    kept, places = _matrix(A_sparse, "A_sparse"), _matrix(E, "E")
    bits, code_bits = kept.dtype.bits, places.dtype.bits
    m, half = kept.extents[-2:] if not transpose_A else kept.extents[:-3:-1]
    group = group_of(bits)
    groups = 2 * half // group
    rows, words = places.extents[-2:] if not transpose_E else places.extents[:-3:-1]
    if rows != m or words * code_bits != groups * _NIBBLE:
        raise error(
            AssertionError,
            f"T.gemm_sp: `E` {tuple(places.extents)} of {places.dtype} does not say where the elements of `A_sparse` "
            f"{tuple(kept.extents)} of {kept.dtype} lie",
            hint=f"{groups} groups a row take {_NIBBLE} bits each",
        )
    dense = alloc_fragment((m, 2 * half), kept.dtype)
    native = trace.native
    i, k = (Val(index) for index in native.parallel_begin([native.constant(n, "int32") for n in (m, 2 * half)]))
    number, within = binary("//", k, group), binary("%", k, group)
    codes = code_bits // _NIBBLE  # of a word
    word = _at(places, i, binary("//", k, group * codes), transpose_E)
    unsigned = cast(cast(word, f"uint{code_bits}"), "int32" if code_bits < 32 else "uint32")
    code = binary(">>", unsigned, binary("*", binary("%", number, codes), _NIBBLE))
    first, second = binary("&", code, 3), binary("&", binary(">>", code, 2), 3)
    if group == 2:
        hit = binary("==", binary("//", first, 2), within)
        value = select(hit, _at(kept, i, number, transpose_A), cast(0, kept.dtype))
    else:
        zero = cast(0, kept.dtype)
        left = select(binary("==", first, within), _at(kept, i, binary("*", number, 2), transpose_A), zero)
        right = _at(kept, i, binary("+", binary("*", number, 2), 1), transpose_A)
        value = select(binary("==", second, within), right, left)
    Element(dense, [i, k]).store(value)
    native.parallel_end()
    multiply(dense, B, C, False, transpose_B, clear_accum)


def _at(region: Region, row: Any, column: Any, transposed: bool) -> Val:
    place = [column, row] if transposed else [row, column]
    *outer, y, x = region.starts
    return Element(region.memory, [*outer, binary("+", y, place[0]), binary("+", x, place[1])]).read()


def wgmma_gemm_sp(
    A_sparse: Any,
    E: Any,
    B: Any,
    C: Any,
    transpose_A: bool = False,
    transpose_E: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy = GemmWarpPolicy.Square,
    clear_accum: Any = False,
) -> None:
    """T.gemm_sp by Hopper's matrix unit; T.wait_wgmma stands before C is read."""
    check_options("T.wgmma_gemm_sp", policy)
    _multiply(A_sparse, E, B, C, transpose_A, transpose_E, transpose_B, clear_accum)
