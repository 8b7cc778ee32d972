"""Results as lines of a table, on a terminal and in pages of docs."""

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


def rows(results):
    """What the same work of ours is set beside stands in one row."""
    return [list(group) for _, group in itertools.groupby(results, key=lambda result: cells(result)[:2])]


def reached(row):
    """Whether it reaches all of its goals."""
    return all(result.reached for result in row)


def row(texts):
    return f"| {' | '.join(texts)} |"


def header(titles):
    return [row(titles), "|" + "---|" * len(titles)]


def markdown(results):
    lines = header(HEADER)
    for group in rows(results):
        texts = [cells(result) for result in group]
        rivals = ["; ".join(column) for column in zip(*(each[2:] for each in texts), strict=True)]
        lines.append(row([*texts[0][:2], *rivals]))
    return "\n".join(lines)


def write(page, name, text, machine, command):
    """Puts tables and the texts between them, behind a line that says of what they are, between the comments
    `<!-- NAME: begin -->` and `<!-- NAME: end -->` of a page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text().split(begin)
    said = f"{date.today()}, `{command}`. {machine}."
    page.write_text(f"{before}{begin}\n{said}\n\n{text}\n{end}{rest.split(end)[1]}")
