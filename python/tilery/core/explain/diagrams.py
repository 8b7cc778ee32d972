"""Pictures of what code does, drawn of the plan in words: the pipeline over time, and elements dealt to threads."""

from __future__ import annotations

import re
from typing import Any

from .pictures import svg

_SCHEDULE = re.compile(r"\bstages=(\d+)\b.*?: (\d+) cycles of (\d+) steps, bound by ([\w ]+)")
_DEALT = re.compile(r"loops over ([\dx ]+) elements, dealt to (\d+) threads, (\d+) vectors? of (\d+) each")
_MOST_SLOTS, _MOST_DEALINGS = 8, 3


def pipeline(step: Any) -> str:
    """The slots of a product's ring over its first steps, where the step of the plan says how many there are; else empty.

    A factor's copy may be on its way from when its slot is free until its product begins; that is all that is known of it."""
    found = _SCHEDULE.search(step.message)
    if not found:
        return ""
    stages, cycles, steps = (int(number) for number in found.groups()[:3])
    slots, each = min(stages, _MOST_SLOTS), cycles / max(steps, 1)
    turns = min(steps, 2 * slots)
    left, height, width = 60, 18, 420 / (turns + 1)  # one step's width for the first copies
    lines = []
    for slot in range(slots):
        lines.append(f'<text x="{left - 8}" y="{slot * (height + 4) + 13}" text-anchor="end">slot {slot}</text>')
    for turn in range(turns):
        y, begins = turn % slots * (height + 4), turn + 1
        free = 0 if turn < slots else begins - slots + 1  # a slot is free when its last product has ended
        for kind, name, start, end in (("least", "copy", free, begins), ("taken", "product", begins, begins + 1)):
            if end > start:
                box = f'x="{left + start * width:.1f}" y="{y}" width="{(end - start) * width - 1:.1f}" height="{height}"'
                lines.append(f'<rect class="{kind}" {box} rx="2"><title>{name} {turn}</title></rect>')
    y = slots * (height + 4) + 12
    shown = f"{slots} of {stages} slots, " if slots < stages else ""
    text = f"{shown}the first {turns} of {steps} steps, {each:.0f} cycles each by the price; bound by {found[4]}"
    lines.append(f'<text x="{left}" y="{y}">{text}</text>')
    lines.append(f'<text x="{left}" y="{y + 16}">light: a copy may be on its way; dark: its product</text>')
    return svg(left + 440, y + 22, lines, "the pipeline over time")


def dealings(steps: Any) -> list[str]:
    """Which thread has which elements, for each way in which the plan deals a tile, a few at most."""
    found = {match.groups(): None for step in steps if (match := _DEALT.search(step.message))}
    return [_dealing(*groups) for groups in list(found)[:_MOST_DEALINGS]]


def _dealing(shape: str, threads: str, vectors: str, width: str) -> str:
    count, each, lanes = int(threads), int(vectors), int(width)
    elements = 1
    for size in shape.split(" x "):
        elements *= int(size)
    total = elements // lanes
    left, cell, height = 70, 74, 32
    lines = []
    for row in range(min(each, 4)):
        last = min(count, total - row * count) - 1  # a last row may not be every thread's
        y = row * (height + 4)
        lines.append(f'<text x="{left - 8}" y="{y + 20}" text-anchor="end">vector {row}</text>')
        for place, thread in enumerate(sorted({0, 1, 2, last} & set(range(last + 1)))):
            first = (row * count + thread) * lanes
            x = left + place * (cell + 4) + (20 if place == 3 and last > 3 else 0)
            end = f" to {first + lanes - 1}" if lanes > 1 else ""
            lines.append(f'<rect class="least" x="{x}" y="{y}" width="{cell}" height="{height}" rx="2"/>')
            lines.append(f'<text x="{x + cell / 2}" y="{y + 13}" text-anchor="middle">thread {thread}</text>')
            lines.append(f'<text x="{x + cell / 2}" y="{y + 27}" text-anchor="middle">{first}{end}</text>')
    y = min(each, 4) * (height + 4) + 12
    lines.append(f'<text x="{left}" y="{y}">elements of a tile of {shape}, row by row: {lanes} of a vector to one thread</text>')
    return svg(left + 4 * (cell + 4) + 60, y + 8, lines, f"a tile of {shape} dealt to {threads} threads")
