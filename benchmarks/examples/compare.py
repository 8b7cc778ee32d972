"""TileLang beside Tilery: python3 benchmarks/examples/compare.py OUT_OF_TILELANG OUT_OF_TILERY [--short]
On a CPU torch's references beside Tilery: python3 benchmarks/examples/compare.py OUT_OF_TILERY [--short]

Ratio: TileLang's time / ours, more is better for us; a case where we fail or are wrong counts as 0.05, one where TileLang does
is left out of the means and listed. --short: the ratios below 0.8 and above 1.2 alone. First calls are those of the warm passes.
"""

import json
import math
import sys
from pathlib import Path

FAILED = 0.05


def rows(out, file="rows.jsonl"):
    path = Path(out) / file
    lines = path.read_text().splitlines() if path.exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def good(row):
    return bool(row and row.get("ok") and row.get("us"))


def trouble(row):
    if row is None:
        return "absent"
    if "failed" in row:
        return "failed: " + row["failed"].replace("\n", " ")[:90]
    if row.get("ok"):
        return "" if row.get("us") else "not timed"
    return f"wrong {row.get('errors')} {row.get('flag', '')}".strip()


def ratio(theirs, ours):
    """None: TileLang's own result is no measure."""
    if not good(theirs):
        return None
    return theirs["us"] / ours["us"] if good(ours) else FAILED


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def number(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


def report(theirs, ours, first_of_theirs=None, first_of_ours=None, short=False, rival="TileLang"):
    """The lines of the table, then the families'."""
    first_of_theirs, first_of_ours = first_of_theirs or {}, first_of_ours or {}
    names = list(dict.fromkeys([*ours, *theirs]))
    families: dict[str, list[float]] = {}
    lines = [f"{'case':36} {rival + ' us':>12} {'Tilery us':>12} {'ratio':>6} {'first s':>8} {'ours':>6}"]
    for name in sorted(names, key=lambda name: (ours.get(name) or theirs[name])["family"]):
        a, b = theirs.get(name), ours.get(name)
        value = ratio(a, b)
        if value is not None:
            families.setdefault((a or b)["family"], []).append(value)
        notes = [f"{who} {trouble(row)}" for who, row in ((rival, a), ("Tilery", b)) if trouble(row)]
        if short and not notes and 0.8 <= value <= 1.2:
            continue
        times = [number((row or {}).get("us"), "{:.1f}") for row in (a, b)]
        firsts = [number((part.get(name) or {}).get("first_s"), "{:.1f}") for part in (first_of_theirs, first_of_ours)]
        figures = f"{times[0]:>12} {times[1]:>12} {number(value):>6} {firsts[0]:>8} {firsts[1]:>6}"
        lines.append(f"{name:36} {figures}  {'; '.join(notes)}".rstrip())
    lines.append(f"{'family':16} {'cases':>5} {'mean':>6} {'least':>6} {'most':>6} {'<0.8':>5}")
    for family, values in [*families.items(), ("all", [value for part in families.values() for value in part])]:
        if values:
            below = sum(value < 0.8 for value in values)
            lines.append(f"{family:16} {len(values):5} {mean(values):6.2f} {min(values):6.2f} {max(values):6.2f} {below:5}")
    return lines


if __name__ == "__main__":
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    parts = [rows(out) for out in folders] + [rows(out, "warm.jsonl") for out in folders]
    alone = len(folders) == 1
    if alone:
        parts = [{name: {**row, "ok": True, "us": row.get("torch_us")} for name, row in parts[0].items()}, parts[0]]
    print("\n".join(report(*parts, short="--short" in sys.argv, rival="torch" if alone else "TileLang")))
