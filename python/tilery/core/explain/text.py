"""An explanation as text."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from typing import Any

from ..timing import quantile
from . import roofline
from .dealing import definition
from .entry import Entry
from .found import Block


def amount(number: float, unit: str) -> str:
    """4.2 MB, 17 FLOP."""
    for prefix in ("", "k", "M", "G", "T"):
        if abs(number) < 1000 or prefix == "T":
            break
        number /= 1000
    return f"{number:.3g} {prefix}{unit}"


def place(chain: Sequence[Any]) -> str:
    """file:line:column of the innermost place; empty: unknown."""
    if not chain:
        return ""
    here = chain[0]
    return f"{here.file}:{here.line}" + (f":{here.col}" if here.col else "")


def source(chain: Sequence[Any]) -> str:
    """The source line there."""
    return linecache.getline(chain[0].file, chain[0].line).strip() if chain else ""


def head(entry: Entry) -> str:
    grids = ", ".join(" x ".join(map(str, _shown(work.grid))) + " programs" for work in entry.found.works)
    where = f", {defined[0].file}:{defined[0].line}" if (defined := definition(entry.found.kernel)) else ""
    return f"{entry.name}" + (f": {grids}" if grids else "") + f" ({entry.kind.given}){where}"


def _shown(grid: Sequence[int]) -> list[int]:
    last = max((axis for axis in range(3) if grid[axis] != 1), default=0)
    return list(grid[: last + 1])


def facts(entry: Entry) -> list[tuple[str, str]]:
    """(what, what is known of it): time, memory, operations."""
    rows = [*_time(entry), *_memory(entry)]
    machine = roofline.of(entry.device)
    padding = f", {100 * entry.padding:.0f} % of the tiles is padding" if entry.padding > 0.005 else ""
    for what, number, most, more in (
        ("products", entry.products, machine.products, padding),
        ("operations", entry.operations, machine.operations, ""),
    ):
        if number:
            rows.append((what, amount(number, "FLOP") + more + _speed(entry, number, most, "FLOP/s")))
    rows += [("block", _block(block)) for block in entry.found.blocks]
    if entry.found.why:
        rows.append(("not known", entry.found.why))
    if any(argument.updated for work in entry.found.works for argument in work.arguments):
        rows.append(("not exact", "updates may meet in the same places: memory then moves less"))
    if machine.others >= roofline.BUSY:
        share = f"other programs had {100 * machine.others:.0f} % of the processors while they were measured"
        rows.append(("not exact", f"the machine's limits: {share}"))
    unsure = (each.message + (f" ({place(each.chain)})" if each.chain else "") for each in entry.unsure)
    rows += [("not exact", said) for said in dict.fromkeys(unsure)]  # unrolled loops and kernels of one launch have it often
    return rows


def _block(block: Block) -> str:
    """What a GPU's block takes."""
    each = f" with {block.registers} registers each" if block.registers else ""
    shared = f", {amount(block.shared_bytes, 'B')} of shared memory" if block.shared_bytes else ""
    return f"{block.threads} threads{each}{shared}"


def _time(entry: Entry) -> list[tuple[str, str]]:
    time = entry.milliseconds
    if time is None:
        return [("time", entry.kind.why or "not measured")]
    low, high = (quantile(entry.kind.times, q) for q in (0.25, 0.75))
    rows = [("time", f"{time:.4f} ms (middle half {low:.4f} .. {high:.4f}), the first call {entry.kind.first:.1f} ms")]
    if entry.is_disturbed:
        waited = f"for {100 * entry.kind.waited:.0f} % of that time its threads waited for processors that others had"
        rows.append(("disturbed", f"{waited}; the quickest launch, {entry.judged:.4f} ms, is compared below"))
    if entry.limits and entry.reached is not None:
        reached = entry.reached
        what, least = entry.limits[0]
        verb = "takes" if what == "memory" else "take"
        limit = f"{what} {verb} {least:.4f} ms"
        said = f"{100 * reached:.0f} % of the roofline: {limit} at least"
        if reached > 1:
            said = f"the roofline and more: {limit} there; {_beyond(entry, what)}"
        rows.append(("reached", said))
    if entry.is_mostly_launch:
        rows.append(("short", "the launch itself is most of so short a time: give it more work, or launch less often"))
    return rows


def _beyond(entry: Entry, what: str) -> str:
    """Why a launch may take less than the machine's limit."""
    if entry.is_cached:
        return "data that stay in caches are faster"
    busier = "the machine was busier when it was measured"
    if what != "products":
        return busier
    return f"the limit is that of {'f16' if entry.device >= 0 else 'f32'}: narrower elements may be faster; or {busier}"


def _memory(entry: Entry) -> list[tuple[str, str]]:
    if not entry.bytes_asked:
        return []
    each = ", ".join(f"{name} {amount(least, 'B')}" for name, _, least in entry.found.moved())
    speed = _speed(entry, entry.bytes_least, roofline.of(entry.device).bytes, "B/s")
    asked = f"programs ask for {amount(entry.bytes_asked, 'B')}"
    return [("memory", f"{amount(entry.bytes_least, 'B')} at least ({each}); {asked}{speed}")]


def _speed(entry: Entry, number: float, most: float, unit: str) -> str:
    time = entry.judged
    return f"; {amount(number / time * 1e3, unit)} of {amount(most, unit)}" if time else ""


def text(entry: Entry) -> str:
    """All that is known of a launch, a line a fact."""
    lines = [head(entry)]
    lines += [f"  {what:10}  {said}" for what, said in facts(entry)]
    if entry.found.steps:
        lines.append("  plan")
        lines += [f"    {_with_line(each)}" for each in entry.found.steps]
    findings = entry.findings
    lines.append("  what holds it back" if findings else f"  {entry.without_findings}")
    for each, *others in alike(findings):
        where = f"{place(each.chain)}: " if each.chain else ""
        lines.append(f"    {where}{each.fault}: {each.message}")
        if source(each.chain):
            lines.append(f"      {source(each.chain)}")
        lines += [f"      {place(other.chain)}: {source(other.chain)}" for other in others if other.chain]
        lines.append(f"      change: {each.hint}")
    return "\n".join(lines)


def alike(findings: Sequence[Any]) -> list[list[Any]]:
    """Those that say the same of several lines together, in the order of the first."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for each in findings:
        groups.setdefault((each.fault, each.message, each.hint), []).append(each)
    return list(groups.values())


def _with_line(step: Any) -> str:
    return f"line {step.chain[0].line}: {step.message}" if step.chain else step.message
