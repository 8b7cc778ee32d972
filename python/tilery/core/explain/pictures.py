"""Pictures of explanations, as SVG that takes its colours from the page."""

from __future__ import annotations

import math

from . import roofline as machines
from .entry import Entry


def limits(entry: Entry) -> str:
    """A bar for the time taken and one for what each limit of the machine allows; empty: nothing was timed."""
    time = entry.judged
    if time is None or not entry.limits:
        return ""
    bars = [("taken", time), *((f"{what} at least", least) for what, least in entry.limits)]
    longest = max(value for _, value in bars)
    width, height, left = 360, 18, 130
    lines = []
    for i, (what, value) in enumerate(bars):
        y = i * (height + 6)
        length = max(1.0, width * value / longest)
        kind = "taken" if i == 0 else "least"
        lines.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{what}</text>')
        lines.append(f'<rect class="{kind}" x="{left}" y="{y}" width="{length:.1f}" height="{height}" rx="2"/>')
        lines.append(f'<text x="{left + length + 6:.1f}" y="{y + 13}">{value:.4f} ms</text>')
    return svg(left + width + 90, len(bars) * (height + 6), lines, "time taken beside the limits of this machine")


def roofline(entry: Entry) -> str:
    """Operations a second over operations a byte, the machine's limits and this launch; empty: it has no operations or bytes."""
    work, time = entry.products + entry.operations, entry.judged
    if not work or not time or not entry.bytes_least:
        return ""
    machine = machines.of(entry.device)
    roof = machine.products if entry.products > entry.operations else machine.operations
    intensity, speed, knee = work / entry.bytes_least, work / time * 1e3, roof / machine.bytes
    low, high = math.log10(min(intensity, knee)) - 1, math.log10(max(intensity, knee)) + 1
    bottom = math.log10(min(speed, 10**low * machine.bytes)) - 0.2
    top = math.log10(max(roof, speed)) + 0.3
    width, height = 420, 200

    def at(x: float, y: float) -> tuple[float, float]:
        return (math.log10(x) - low) / (high - low) * width, height - (math.log10(y) - bottom) / (top - bottom) * height

    corners = [at(10**low, 10**low * machine.bytes), at(knee, roof), at(10**high, roof)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    x, y = at(intensity, speed)
    anchor = "end" if x > width * 0.7 else "start"
    lines = [
        f'<polyline class="roof" points="{points}"/>',
        f'<circle class="taken" cx="{x:.1f}" cy="{y:.1f}" r="5"/>',
        f'<text x="{x + (-9 if anchor == "end" else 9):.1f}" y="{y + 14:.1f}" text-anchor="{anchor}">{entry.name}</text>',
        f'<text x="4" y="{height + 14}">operations a byte, from {10**low:.2g} to {10**high:.2g}</text>',
        f'<text x="{corners[2][0]:.1f}" y="{corners[2][1] - 6:.1f}" text-anchor="end">{roof / 1e9:.3g} GFLOP/s</text>',
    ]
    return svg(width + 10, height + 20, lines, "the roofline of this machine, and this launch")


def svg(width: float, height: float, lines: list[str], title: str) -> str:
    """A picture of what stands in the lines."""
    inside = "".join(lines)
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><title>{title}</title>{inside}</svg>'
