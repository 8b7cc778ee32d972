"""Random numbers of a block: the counters of Philox 4x32 with ten rounds, as curand numbers them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.context import kernel
from ..tracing.memory import LocalVar
from ..tracing.values import Expr, Val, binary, cast, read
from .allocate import alloc_var

GENERATORS = ("curandStateMRG32k3a_t", "curandStatePhilox4_32_10_t", "curandStateXORWOW_t")
_ROUNDS = 10


class State:
    """A seed and a sequence, and how many numbers were drawn."""

    def __init__(self, seed: Any, sequence: Any, drawn: LocalVar) -> None:
        self.seed, self.sequence, self.drawn = seed, sequence, drawn


def rng_init(seed: Any, seq: Any = None, off: Any = 0, generator: str = "curandStatePhilox4_32_10_t") -> None:
    """Numbers from here on are those of a seed and a sequence (without one: of the block), the first `off` left out. All
    generators draw from Philox, as curandStatePhilox4_32_10_t does: a number depends on nothing but seed, sequence and place."""
    trace = kernel("T.rng_init")
    if generator not in GENERATORS:
        raise error(ValueError, f"T.rng_init has no generator {generator!r}", hint="known: " + ", ".join(GENERATORS))
    ignore("T.rng_init", generator=generator)
    for what, value in (("seed", seed), ("seq", seq), ("off", off)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, Expr))):
            raise error(TypeError, f"{what} of T.rng_init is an integer, got {value!r}")
    if seq is None:
        seq = Val(trace.native.program_id(0))
    state = trace.open.random
    if state is None:
        variables = [alloc_var("int64") for _ in range(3)]
        for variable, name in zip(variables, ("seed", "sequence", "drawn")):
            variable.bound, variable.name = True, f"random_{name}"
        state = trace.open.random = State(*variables)
    for variable, value in ((state.seed, seed), (state.sequence, seq), (state.drawn, off)):
        variable.store(cast(read(value), "int64") if isinstance(value, Expr) else value)


def _words(value: Any) -> list[Any]:
    """A number of 64 bits as two of 32, the lower one first."""
    if isinstance(value, int):
        return [cast(value & 0xFFFFFFFF, "uint32"), cast(value >> 32 & 0xFFFFFFFF, "uint32")]
    return [cast(value, "uint32"), cast(binary(">>", value, 32), "uint32")]


def _draw(trace: Any, count: int) -> list[Any]:
    """The next numbers of the stream, as uint32. In a parallel loop all iterations draw for one call, in the order of a
    serial loop, then all for the next."""
    state = trace.open.random
    if state is None:
        raise error(RuntimeError, "random numbers are drawn before T.rng_init", hint="call T.rng_init(seed) before")
    first = read(state.drawn)
    if trace.lanes:
        place: Any = 0
        for indices, extents in trace.lanes:
            for index, extent in zip(indices, extents):
                place = binary("+", binary("*", place, _wide(extent)), _wide(index))
        before = binary("*", _turns(trace.lanes), trace.draws)
        trace.draws += count
        first = binary("+", first, binary("+", before, binary("*", place, count)))
    else:
        state.drawn.store(binary("+", first, count))
    return [_number(read(state.seed), read(state.sequence), binary("+", first, lane) if lane else first) for lane in range(count)]


def _wide(number: Any) -> Any:
    return cast(number, "int64") if isinstance(number, Expr) else number


def _turns(lanes: Sequence[Any]) -> Any:
    """How many iterations some parallel loops have."""
    count: Any = 1
    for _, extents in lanes:
        for extent in extents:
            count = binary("*", count, _wide(extent))
    return count


def after_loop(trace: Any, lanes: Sequence[Any]) -> None:
    """Counts what the iterations of a parallel loop have drawn."""
    if trace.draws:
        drawn = trace.open.random.drawn
        drawn.store(binary("+", read(drawn), binary("*", _turns(lanes), trace.draws)))
        trace.draws = 0


def _number(seed: Any, sequence: Any, place: Any) -> Any:
    """Number `place` of a sequence: one of the four words of the counter place // 4."""
    counter, key = [*_words(binary(">>", place, 2)), *_words(sequence)], _words(seed)
    builder, lane = kernel("random numbers").native, binary("&", place, 3)
    *words, chosen = map(Val, builder.philox(counter, key, _ROUNDS))
    for number in (2, 1, 0):
        chosen = Val(builder.select(binary("==", lane, number), words[number], chosen))
    return chosen


def rng_rand() -> Any:
    """The next number, a uint32."""
    trace = kernel("T.rng_rand")
    return _draw(trace, 1)[0]


def rng_rand_float(bit: int = 32, dist: str = "uniform") -> Any:
    """The next float of 32 or 64 bits: uniform in (0, 1], or normal with mean 0 and variance 1."""
    trace = kernel("T.rng_rand_float")
    if bit not in (32, 64):
        raise error(ValueError, f"T.rng_rand_float has 32 or 64 bits, got {bit!r}")
    if dist not in ("uniform", "normal"):
        raise error(ValueError, f"T.rng_rand_float has no distribution {dist!r}", hint="known: uniform, normal")
    kind = f"float{bit}"
    if dist == "uniform":
        return _uniform(_draw(trace, bit // 32), kind)
    words = _draw(trace, bit // 16)
    radius, angle = _uniform(words[: bit // 32], kind), _uniform(words[bit // 32 :], kind)
    builder = trace.native
    length = Val(builder.math("sqrt", binary("*", Val(builder.math("log", radius)), cast(-2.0, kind))))
    return binary("*", length, Val(builder.math("sin", binary("*", angle, cast(2 * math.pi, kind)))))


def _uniform(words: list[Any], kind: str) -> Any:
    if kind == "float32":
        scale = 2.0**-32
        return binary("+", binary("*", cast(words[0], kind), cast(scale, kind)), cast(scale / 2, kind))
    bits = binary("^", cast(words[0], "uint64"), binary("<<", cast(words[1], "uint64"), 21))
    return binary("+", binary("*", cast(bits, kind), cast(2.0**-53, kind)), cast(2.0**-54, kind))
