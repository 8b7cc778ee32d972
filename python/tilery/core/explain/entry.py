"""One kind of launch: its work, its time beside the machine's limits, its plan and its faults."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

from ..launches import Kind
from ..timing import quantile
from . import roofline
from .dealing import ENOUGH, FEW_UPDATES, LARGE, LAUNCH, NEAR, SHORT, idle, processors_of, small
from .found import Found, line


@dataclass
class Entry:
    """One kind of launch."""

    kind: Kind
    found: Found

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def device(self) -> int:
        return self.found.kernel.device if self.found.kernel else -1

    @property
    def milliseconds(self) -> float | None:
        """The median of its repetitions; None: it was not repeated."""
        return quantile(self.kind.times, 0.5) if self.kind.times else None

    @property
    def is_disturbed(self) -> bool:
        """Did its threads wait for processors that other programs had?"""
        return self.kind.waited >= roofline.BUSY

    @property
    def judged(self) -> float | None:
        """The milliseconds that are compared with what the machine allows: the median, of a disturbed launch the least."""
        return min(self.kind.times) if self.kind.times and self.is_disturbed else self.milliseconds

    @property
    def bytes_asked(self) -> float:
        return sum(asked for _, asked, _ in self.found.moved())

    @property
    def bytes_least(self) -> float:
        return sum(least for _, _, least in self.found.moved())

    @property
    def products(self) -> float:
        """Operations of products of tiles, two for each multiplication with its sum."""
        return sum(work.products for work in self.found.works)

    @property
    def padding(self) -> float:
        """The share of what products' tiles multiply that is no element of their tensors."""
        whole = sum(work.padded_products for work in self.found.works)
        return 1 - self.products / whole if whole else 0.0

    @property
    def operations(self) -> float:
        """Operations of data beside products."""
        return sum(work.operations for work in self.found.works)

    @property
    def limits(self) -> list[tuple[str, float]]:
        """(what, the milliseconds that this machine takes for it at least), the slowest first."""
        machine = roofline.of(self.device)
        known = [
            ("memory", self.bytes_least, machine.bytes),
            ("products", self.products, machine.products),
            ("operations", self.operations, machine.operations),
        ]
        return sorted(((what, amount / rate * 1e3) for what, amount, rate in known if amount), key=lambda limit: -limit[1])

    @property
    def reached(self) -> float | None:
        """The share of the roofline: the least time that it allows by the time taken. Above 1: data came from caches, or the
        limit was measured on a busier machine, though it was measured again."""
        if self._share is not None and self._share > 1 and not self.is_cached:
            roofline.again(self.device)
        return self._share

    @property
    def _share(self) -> float | None:
        return self.limits[0][1] / self.judged if self.limits and self.judged else None

    @property
    def is_cached(self) -> bool:
        """Is memory its limit, with data that caches hold? Memory's rate says nothing of those."""
        caches = roofline.last_caches() if self.device < 0 else 0
        return bool(self.limits) and self.limits[0][0] == "memory" and self.bytes_least <= caches

    @property
    def is_mostly_launch(self) -> bool:
        """Is so short, and so far from what the machine allows, that launching itself must be most of it?"""
        time, reached = self.judged, self.reached
        return time is not None and time < LAUNCH[self.device >= 0] and reached is not None and reached < NEAR

    @property
    def findings(self) -> list[Any]:
        """What holds it back: fault, message, hint, chain of source places. Where programs begin and end for next to no work,
        that alone; else first what bounds the whole launch, whatever its programs do. What the others cost is not known but of
        functions."""
        grids = [work.grid for work in self.found.works]
        kernel = self.found.kernel
        unfilled = idle(grids, processors_of(self.device), self.judged, self.device, kernel)
        programs, operations = sum(math.prod(grid) for grid in grids), self.products + self.operations
        unhurried = self.is_far or (self.is_cached and not self.is_short)
        begun = small(programs, self.bytes_asked, operations, self.device, kernel) if unhurried else []
        made = [each for each in self.found.findings if self._counts(each)]
        return begun or [*unfilled, *([] if self.is_near else [*made, *self._functions])]

    def _counts(self, finding: Any) -> bool:
        """Does larger tiles' advice help, where elements do not lie apart; are there more than a few updates?"""
        if finding.fault == "small":
            apart = {line(each) for each in self.found.findings if each.fault in ("gather", "scatter")}
            return not self.is_read_once and line(finding) not in apart
        if finding.fault == "rows":  # caches answer as fast for short ones; a tile that is turned has long ones on its other side
            return not self.is_cached and all(each.fault != "transpose" for each in self.found.findings)
        updated = sum(argument.updated for work in self.found.works for argument in work.arguments)
        return finding.fault != "atomics" or updated >= FEW_UPDATES * self.bytes_asked

    @property
    def _functions(self) -> list[Any]:
        """Where functions take a good part of the time, as their elements at the machine's rate of fused products say: the
        costliest, that take half of it together."""
        rate = roofline.of(self.device).operations / 2
        costly = sorted((each for work in self.found.works for each in work.functions), key=lambda each: -each.products)
        total = sum(each.products for each in costly)
        if not self.judged or total / rate * 1e3 < LARGE * self.judged:
            return []
        before = itertools.accumulate((each.products for each in costly), initial=0.0)
        return [each.finding for each, others in zip(costly, before) if 2 * others < total]

    @property
    def is_near(self) -> bool:
        """Does it take about what the machine needs?"""
        return self.reached is not None and self.reached >= ENOUGH and not self.is_cached

    @property
    def is_read_once(self) -> bool:
        """Is it a product of which programs read hardly anything that others read? Larger tiles are then none of its tensors."""
        return self.products > 0 and self.bytes_asked < 2 * self.bytes_least

    @property
    def is_far(self) -> bool:
        """Is not short, and far from what the machine allows?"""
        reached = self.reached
        return not self.is_short and reached is not None and reached < NEAR

    @property
    def is_short(self) -> bool:
        """Is launching itself a large part of it, or is its time not known?"""
        time = self.judged
        return time is None or time <= SHORT

    @property
    def without_findings(self) -> str:
        """What is said where there is no finding."""
        if not self.is_far:
            return "nothing is known to hold it back"
        return "what holds it back is not known" + (": time it while no other program runs" if self.is_disturbed else "")

    @property
    def unsure(self) -> list[Any]:
        """Why counts are no exact ones."""
        return [each for work in self.found.works for each in work.unsure]
