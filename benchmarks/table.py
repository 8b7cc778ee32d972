"""Results as lines of a table, on a terminal and in docs/performance.md."""

import itertools
from datetime import date
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
HEADER = ["work", "Tilery", "rival", "rival's", "ratio (10% to 90%)", "goal", "reached"]
WIDTHS = [44, 14, 8, 14, 20, 5, 7]


def figure(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def cells(result):
    """A rival that is missing has no figures: -."""
    missing = result.ratio is None
    return [
        result.work,
        f"{figure(result.ours)} {result.unit}",
        result.rival,
        "-" if missing else f"{figure(result.theirs)} {result.unit}",
        "-" if missing else f"{result.ratio:.2f} ({result.low:.2f} to {result.high:.2f})",
        f"{result.goal:.2f}",
        "-" if missing else "yes" if result.reached else "no",
    ]


def line(texts):
    return "  ".join(text.ljust(width) for text, width in zip(texts, WIDTHS, strict=True)).rstrip()


def show(results):
    print(line(HEADER))
    for result in results:
        print(line(cells(result)))


def markdown(results):
    """A table; what the same work of ours is set beside stands in one line."""
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    for ours, group in itertools.groupby(map(cells, results), key=lambda texts: texts[:2]):
        rivals = ["; ".join(texts) for texts in zip(*(texts[2:] for texts in group), strict=True)]
        lines.append("| " + " | ".join([*ours, *rivals]) + " |")
    return "\n".join(lines)


def write(name, text, machine, command):
    """Puts tables and the texts between them, behind a line that says of what they are, between the page's comments
    `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = PAGE.read_text().split(begin)
    said = f"{date.today()}, `{command}`. {machine}."
    PAGE.write_text(f"{before}{begin}\n{said}\n\n{text}\n{end}{rest.split(end)[1]}")
