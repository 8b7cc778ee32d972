"""Results as lines of a table, on a terminal and in docs/performance.md."""

from datetime import date
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
HEADER = ["work", "Tilery", "rival", "rival's", "ratio (10% to 90%)", "goal", "reached"]
WIDTHS = [44, 14, 8, 14, 20, 5, 7]


def figure(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def cells(result):
    return [
        result.work,
        f"{figure(result.ours)} {result.unit}",
        result.rival,
        f"{figure(result.theirs)} {result.unit}",
        f"{result.ratio:.2f} ({result.low:.2f} to {result.high:.2f})",
        f"{result.goal:.2f}",
        "yes" if result.reached else "no",
    ]


def line(texts):
    return "  ".join(text.ljust(width) for text, width in zip(texts, WIDTHS, strict=True)).rstrip()


def show(results):
    print(line(HEADER))
    for result in results:
        print(line(cells(result)))


def markdown(results, machine, command):
    lines = [f"{date.today()}, `{command}`. {machine}.", "", "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    return "\n".join(lines + ["| " + " | ".join(cells(result)) + " |" for result in results])


def write(name, results, machine, command):
    """Puts the table between the page's comments `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(f"{before}{begin}\n{markdown(results, machine, command)}\n{end}{rest.split(end)[1]}")
