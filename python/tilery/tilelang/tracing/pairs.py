"""Stores to memory that has two elements a byte, in loops whose iterations run side by side: two of them must not share a byte.
A loop whose neighbours do is traced again in pairs, each of which is one iteration that stores twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import error
from .context import NeedsPairs
from .values import Expr, Val, binary


class Pairs:
    """The part of a trace that knows which loops run in pairs."""

    native: Any
    open: Any
    launches: Any
    threaded: Any
    parallel: list[list[int]]
    ranges: dict[int, tuple[int, int]]
    loops: dict[int, tuple[int, str]]  # {variable of a T.Parallel: the loop's place}
    halves: set[int]  # variables that count the two of a pair

    def paired(self, extents: Sequence[Any], line: int) -> list[bool]:
        """Which variables of a T.Parallel run in pairs."""
        return [(len(self.launches), f"pairs {line} {dim}") in self.threaded for dim in range(len(extents))]

    def begin_parallel(self, variables: Sequence[Val], line: int) -> None:
        self.loops |= {variable.uid: (len(self.launches), f"pairs {line} {dim}") for dim, variable in enumerate(variables)}

    def in_pairs(
        self, indices: Sequence[Any], extents: Sequence[Any], paired: Sequence[bool], body: Callable[[Sequence[Any]], Any]
    ) -> None:
        """The body, with the indices that those of pairs stand for."""
        if True not in paired:
            return body(indices)
        dim = paired.index(True)
        first, extent = binary("*", indices[dim], 2), extents[dim]
        count = 2 if isinstance(extent, int) and extent % 2 == 0 else binary("min", 2, binary("-", extent, first))
        bounds = [self.native.cast(bound, "int32") for bound in (0, count, 1)]
        step = Val(self.native.for_begin(*bounds, [], {})[0])
        self.halves.add(step.uid)
        chosen = [binary("+", first, step) if place == dim else index for place, index in enumerate(indices)]
        rest = [pair and place != dim for place, pair in enumerate(paired)]
        self.in_pairs(chosen, extents, rest, body)
        self.native.for_end([])

    def check_pairs(self, element: Any) -> None:
        """Refuses a store by which two iterations, or two threads, would share a byte."""
        form, constant = _affine(element.indices[-1])
        thread = self.open.thread
        if thread is not None and not self.parallel:
            if form.get(thread.uid, 0) % 2:
                raise _shared(element, "threads")
            return
        if not self.parallel:
            return
        variables = {uid for loop in self.parallel for uid in loop}
        odd = [uid for uid, factor in form.items() if uid in variables and factor % 2]
        if odd:
            if len(odd) > 1 or abs(form[odd[0]]) != 1 or odd[0] not in self.parallel[-1] or self.loops[odd[0]] in self.threaded:
                raise _shared(element, "iterations")
            raise NeedsPairs(self.loops[odd[0]])
        # What an iteration stores lies `apart` elements, or multiples of that, from what another one does.
        apart = math.gcd(*(factor for factor in form.values() if factor % 2 == 0))
        least = greatest = constant
        for uid, factor in form.items():
            if factor % 2 == 0:
                continue
            ends = (0, 1) if uid in self.halves else self.ranges.get(uid)
            if ends is None:
                raise _shared(element, "iterations")
            least, greatest = least + min(factor * end for end in ends), greatest + max(factor * end for end in ends)
        if apart and greatest // 2 - least // 2 >= apart // 2:
            raise _shared(element, "iterations")


def halved(extents: Sequence[Any], paired: Sequence[bool]) -> list[Any]:
    """How often each variable of a T.Parallel counts, in pairs where it is said so."""
    return [binary("//", binary("+", n, 1), 2) if pair else n for n, pair in zip(extents, paired)]


def _affine(index: Any) -> Any:
    return index.affine() if isinstance(index, Expr) else ({}, index)


def _shared(element: Any, who: str) -> Exception:
    return error(
        NotImplementedError,
        f"`{element.memory.label()}` has two elements a byte, which {who} side by side cannot write here",
        hint="index its last dimension by one loop variable from an even place on, or store in a T.serial loop",
    )
