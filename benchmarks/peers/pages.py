"""The pages of a run: docs/performance.md with a line a workload, docs/measurements.md with all rows, from the same Results."""

import table
from sections import SECTIONS

SHORT, WHOLE = table.PAGE, table.PAGE.with_name("measurements.md")
NAME = "measured on a GPU"  # of the tables, on both pages
HEADER = ["work", "Tilery", "rival", "rival's", "ratios", "goal", "rows that reach their goals"]


def span(values, form):
    """The least to the largest."""
    return " to ".join(dict.fromkeys([form(min(values)), form(max(values))]))


def short_name(rival):
    """Without its tiles, stages and warps."""
    return rival.split(",")[0]


def verdict(workload, rows):
    """How many rows reach all of their goals, and which one stays farthest behind."""
    counted = f"{sum(map(table.reached, rows))} of {len(rows)}"
    behind = [result for row in rows for result in row if not result.reached]
    if not behind:
        return counted
    worst = min(behind, key=lambda result: 0 if result.ratio is None else result.ratio / result.goal)
    work = f"worst: {worst.work.removeprefix(workload).lstrip(', ')}, " if len(rows) > 1 else ""
    ratio = "no figures" if worst.ratio is None else f"{worst.ratio:.2f}"
    return f"{counted}; {work}{ratio} of {short_name(worst.rival)} (goal {worst.goal:.2f})"


def cells(workload, results):
    """A line of the short table; a rival that is missing has no figures: -."""
    rivals = {}
    for result in results:
        rivals.setdefault(short_name(result.rival), []).append(result)
    (unit,) = {result.unit for result in results}

    def each(values, form):
        found = ([value for value in map(values, group) if value is not None] for group in rivals.values())
        return "; ".join(span(some, form) if some else "-" for some in found)

    return [
        workload,
        f"{span([result.ours for result in results], table.figure)} {unit}",
        "; ".join(rivals),
        each(lambda result: result.theirs, table.figure),
        each(lambda result: result.ratio, "{:.2f}".format),
        each(lambda result: result.goal, "{:.2f}".format),
        verdict(workload, table.rows(results)),
    ]


def found(names, measured):
    return [result for name in names for result in measured.get(name, ())]


def short(measured):
    """A line a workload, behind a line that counts them."""
    lines, counts = [], []
    for section in SECTIONS:
        for workload, names in section.workloads.items():
            if results := found(names, measured):
                first, *others = cells(workload, results)
                lines.append(table.row([f"[{first}]({WHOLE.name}#{section.anchor})", *others]))
                counts.append([table.reached(row) for row in table.rows(results)])
    rows = [row for each in counts for row in each]
    said = f"{sum(map(all, counts))} of {len(counts)} workloads and {sum(rows)} of {len(rows)} rows reach all of their goals."
    return "\n".join([said, "", *table.header(HEADER), *lines])


def whole(measured):
    """A table a section, a line a row."""
    parts = []
    for section in SECTIONS:
        if results := found(section.rows, measured):
            parts.append(f"## {section.title}\n[Notebook](notebook.md#{section.note}).\n\n{table.markdown(results)}")
    return "\n\n".join(parts)


def write(measured, machine, command):
    """Replaces the tables of both pages by those of one run."""
    for page, text in ((SHORT, short(measured)), (WHOLE, whole(measured))):
        table.write(page, NAME, text, machine, command)
