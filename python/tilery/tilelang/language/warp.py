"""What the threads of a block say to each other: shuffles, votes, reductions of warps, and where a thread stands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.ignored import ignore
from ...core.names import named
from ...errors import error
from ..tracing.context import kernel, threads
from ..tracing.thread_index import ThreadIndex
from ..tracing.values import Expr, Val, binary, cast, is_number, read, select

WARP = 32
GROUP = 4  # warps
FULL = 0xFFFFFFFF  # a mask of all threads of a warp


def _count(trace: Any) -> int:
    return math.prod(trace.open.threads)


def _place(what: str, divisor: int, remainder: bool) -> Any:
    if not isinstance(divisor, int) or divisor <= 0:
        raise error(ValueError, f"{what} takes a positive number of threads, got {divisor!r}")
    trace = kernel(what)
    thread = threads(what).open.thread if trace.parallel or trace.open.thread is not None else None
    if thread is None:  # where it only tells warps apart, the kernel is one of roles
        thread = ThreadIndex(_count(trace), lambda: threads(what).open.thread)
    return thread % divisor if remainder else thread // divisor


def get_lane_idx(warp_size: int | None = None) -> Any:
    """The thread's place in its warp."""
    return _place("T.get_lane_idx", WARP if warp_size is None else warp_size, True)


def get_warp_idx(warp_size: int | None = None) -> Any:
    """The number of the thread's warp."""
    return _place("T.get_warp_idx", WARP if warp_size is None else warp_size, False)


def get_warp_idx_sync(warp_size: int | None = None) -> Any:
    """The number of the thread's warp, the same in all of its threads."""
    return _place("T.get_warp_idx_sync", WARP if warp_size is None else warp_size, False)


def get_warp_group_idx(warp_size: int | None = None, warps_per_group: int | None = None) -> Any:
    """The number of the thread's group of warps."""
    warp = WARP if warp_size is None else warp_size
    group = GROUP if warps_per_group is None else warps_per_group
    return _place("T.get_warp_group_idx", warp * group, False)


def _operand(trace: Any, value: Any, what: str) -> Any:
    value = read(value)
    if not isinstance(value, Expr) and not is_number(value):
        raise error(TypeError, f"{what} takes a number, got {value!r}")
    return trace.native.materialize(value)


def _shuffle(name: str, mode: str, text: str) -> Callable[..., Val]:
    what = f"T.{name}"

    def function(value: Any, lane: Any, width: int = WARP, mask: Any = None) -> Val:
        trace = threads(what)
        ignore(what, mask=mask)
        if not isinstance(width, int) or width not in (1, 2, 4, 8, 16, 32):
            raise error(ValueError, f"{what} takes a width of 1, 2, 4, 8, 16 or 32 threads, got {width!r}")
        value, lane = _operand(trace, value, what), read(lane)
        if mode == "idx":  # a place beyond the group wraps around in it
            lane = lane % width if isinstance(lane, int) else binary("&", lane, width - 1)
        if mode == "xor" and width < WARP and not (isinstance(lane, int) and 0 <= lane < width):
            return _crossed(trace, value, lane, width)
        return Val(trace.native.shuffle(mode, value, lane, width))

    return named(function, name, text)


def _crossed(trace: Any, value: Any, lane: Any, width: int) -> Any:
    """What `xor` gives where it may leave the group: the value of an earlier group, but the own one for that of a later group."""
    own = get_lane_idx()
    later = binary("^", own, lane) // width > own // width
    return select(later, Val(value), Val(trace.native.shuffle("xor", value, lane, WARP)))


shfl_sync = _shuffle("shfl_sync", "idx", "The value of the thread at a place of the group.")
shfl_up = _shuffle("shfl_up", "up", "The value of the thread that many places before; the own one where there is none.")
shfl_down = _shuffle("shfl_down", "down", "The value of the thread that many places after; the own one where there is none.")
shfl_xor = _shuffle("shfl_xor", "xor", "The value of the thread whose place differs in these bits.")


def _check_warp(what: str, mask: Any, warp_size: Any) -> None:
    if warp_size != WARP:
        raise error(ValueError, f"{what} has warps of {warp_size!r} threads", hint=f"a warp is {WARP} threads")
    ignore(what, mask=mask)


def tvm_warp_shuffle(mask: Any, value: Any, lane: Any, width: int = WARP, warp_size: int = WARP) -> Val:
    """The value of the thread at a place of the group."""
    _check_warp("T.tvm_warp_shuffle", mask, warp_size)
    return shfl_sync(value, lane, width)


def tvm_warp_shuffle_up(mask: Any, value: Any, offset: Any, width: int = WARP, warp_size: int = WARP) -> Val:
    """The value of the thread that many places before."""
    _check_warp("T.tvm_warp_shuffle_up", mask, warp_size)
    return shfl_up(value, offset, width)


def tvm_warp_shuffle_down(mask: Any, value: Any, offset: Any, width: int = WARP, warp_size: int = WARP) -> Val:
    """The value of the thread that many places after."""
    _check_warp("T.tvm_warp_shuffle_down", mask, warp_size)
    return shfl_down(value, offset, width)


def _predicate(what: str, predicate: Any) -> Any:
    predicate = read(predicate)
    kind = "float" if isinstance(predicate, float) else getattr(predicate, "dtype", "int32")
    if "int" not in kind and kind != "bool":
        raise error(TypeError, f"{what} requires an integer or boolean predicate, got {kind}")
    return predicate


def _voted(what: str, mode: str, predicate: Any, width: int) -> Val:
    predicate = _predicate(what, predicate)
    trace = threads(what)
    return Val(trace.native.vote(mode, trace.native.cast(predicate, "bool"), width))


def _masked(mask: Any) -> Any:
    """The bits of the threads that a mask names; None: all."""
    mask = read(mask)
    if mask is None or (isinstance(mask, int) and mask & FULL == FULL):
        return None
    return cast(mask & FULL, "uint64") if isinstance(mask, int) else cast(cast(mask, "uint32"), "uint64")


def _ballot(what: str, predicate: Any, mask: Any) -> Any:
    """Bit l: the predicate of place l, of those that the mask names."""
    bits, named = cast(_voted(what, "ballot", predicate, WARP), "uint64"), _masked(mask)
    return bits if named is None else bits & named


def any_sync(predicate: Any, mask: Any = None) -> Any:
    """1 if the predicate holds in some thread of the warp, or of those in the mask, else 0."""
    if _masked(mask) is None:
        return cast(_voted("T.any_sync", "any", predicate, WARP), "int32")
    return cast(_ballot("T.any_sync", predicate, mask) != 0, "int32")


def all_sync(predicate: Any, mask: Any = None) -> Any:
    """1 if the predicate holds in all threads of the warp, or of those in the mask, else 0."""
    named = _masked(mask)
    if named is None:
        return cast(_voted("T.all_sync", "all", predicate, WARP), "int32")
    return cast(_ballot("T.all_sync", predicate, mask) == named, "int32")


def ballot(predicate: Any, mask: Any = None) -> Any:
    """Bit l: the predicate of place l of the warp; 0 where the mask leaves it out."""
    return _ballot("T.ballot", predicate, mask)


def ballot_sync(predicate: Any, mask: Any = None) -> Any:
    """Bit l: the predicate of place l of the warp; 0 where the mask leaves it out."""
    return _ballot("T.ballot_sync", predicate, mask)


def _of_block(name: str, mode: str, text: str) -> Callable[[Any], Any]:
    def function(predicate: Any) -> Any:
        return cast(_voted(f"T.{name}", mode, predicate, 0), "int32")

    return named(function, name, text)


syncthreads_count = _of_block("syncthreads_count", "count", "In how many threads of the block the predicate holds.")
syncthreads_and = _of_block("syncthreads_and", "all", "1 if the predicate holds in all threads of the block, else 0.")
syncthreads_or = _of_block("syncthreads_or", "any", "1 if the predicate holds in some thread of the block, else 0.")


def activemask() -> Any:
    """Bit l: place l of the warp runs this."""
    return ballot(True)


def match_any_sync(value: Any, mask: Any = None) -> Any:
    """Bit l: place l of the warp, which the mask does not leave out, has the same value."""
    trace = threads("T.match_any_sync")
    own = Val(_operand(trace, value, "T.match_any_sync"))
    same = cast(0, "uint32")
    for lane in range(WARP):
        there = shfl_sync(own, lane) == own
        same = same | select(there, cast(1 << lane, "uint32"), cast(0, "uint32"))
    named = _masked(mask)
    return cast(same, "uint64") if named is None else cast(same, "uint64") & named


def match_all_sync(value: Any, mask: Any = None) -> Any:
    """All bits, or those of the mask, where all of these threads have the same value, else 0."""
    trace = threads("T.match_all_sync")
    named = _masked(mask)
    if named is not None:
        return select(match_any_sync(value, mask) == named, named, cast(0, "uint64"))
    own = Val(_operand(trace, value, "T.match_all_sync"))
    alike = all_sync(shfl_sync(own, 0) == own)
    return select(alike != 0, cast(FULL, "uint64"), cast(0, "uint64"))


def _warp_reduce(name: str, combine: Callable[[Any, Any], Any], text: str) -> Callable[[Any], Any]:
    def function(value: Any) -> Any:
        trace = threads(f"T.warp_reduce_{name}")
        value = Val(_operand(trace, value, f"T.warp_reduce_{name}"))
        distance = WARP // 2
        while distance:
            value = combine(value, shfl_xor(value, distance))
            distance //= 2
        return value

    return named(function, f"warp_reduce_{name}", text)


def _fold(op: str) -> Callable[[Any, Any], Any]:
    return lambda x, y: binary(op, x, y)


warp_reduce_sum = _warp_reduce("sum", _fold("+"), "The sum over the warp, in all of its threads.")
warp_reduce_max = _warp_reduce("max", _fold("max"), "The greatest value of the warp, in all of its threads.")
warp_reduce_min = _warp_reduce("min", _fold("min"), "The least value of the warp, in all of its threads.")
warp_reduce_bitand = _warp_reduce("bitand", _fold("&"), "The bits that all threads of the warp have.")
warp_reduce_bitor = _warp_reduce("bitor", _fold("|"), "The bits that some thread of the warp has.")
