"""How Tilery's kernels run: python3 benchmarks/examples/ways.py NAME=OUT [NAME=OUT ...]

A table of cases: right or wrong in each folder OUT of `run.py`, the seconds it took to compile, and of the kernels with products
how they run on blocks of threads (price and bound) or what kept them off, as TILERY_EXPLAIN=1 wrote it to OUT/log.
"""

import json
import re
import sys
from pathlib import Path

KERNEL = re.compile(r"^(?P<name>\S+) \((?P<file>[^()]*?):(?P<line>\d+)\): (?P<way>.*)$", re.M)


def rows(out):
    """{name: row} of a folder's rows, or of its first calls where it has no others; a later row of a name counts."""
    files = [Path(out) / name for name in ("warm.jsonl", "rows.jsonl")]
    lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
    return {row["name"]: row for row in map(json.loads, lines)}


def verdict(row):
    if row is None:
        return "-"
    if "failed" in row:
        return "FAILED: " + row["failed"].replace("\n", " ").replace("|", "/")[:110]
    if row.get("ok"):
        return "right"
    return f"WRONG {row['errors']} {row.get('flag', '')}".strip() if "ok" in row else "ran"


def ways(out, name):
    """{kernel: way} as the log of a case has it."""
    logs = [Path(out) / "log" / f"{name}{end}.txt" for end in (".warm", "")]
    found = [match for log in logs if log.exists() for match in KERNEL.finditer(log.read_text(errors="replace"))]
    return {match["name"]: match["way"].split("; next ")[0] for match in found}


def short(way):
    """Of a schedule its price and bound alone."""
    return re.sub(r"^(\w+=\S+ ?)+: ", "blocks: ", way)


def table(folders):
    every = {name: rows(out) for name, out in folders.items()}
    names = list(dict.fromkeys(case for part in every.values() for case in part))
    lines = ["| case | family | " + " | ".join(f"{name} | s" for name in folders) + " | ways |"]
    lines.append("|---" * (2 * len(folders) + 3) + "|")
    for case in names:
        found = [part.get(case) for part in every.values()]
        family = next(row.get("family", "") for row in found if row)
        cells = [f"{verdict(row)} | {(row or {}).get('compile_s', '')}" for row in found]
        kernels = dict.fromkeys(
            f"{kernel} ({name}): {short(way)}" for name, out in folders.items() for kernel, way in ways(out, case).items()
        )
        lines.append(f"| {case} | {family} | {' | '.join(cells)} | {'<br>'.join(kernels)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table(dict(argument.split("=", 1) for argument in sys.argv[1:]))))
