"""Speed against other libraries, in interleaved rounds of one process.

usage: ./run bench [--list] [--write] [--threads N] [NAME ...]
"""

import argparse
import os
import sys
from datetime import date
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def arguments():
    parser = argparse.ArgumentParser(prog="./run bench", description="speed against other libraries")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to measure (default: all)")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{PAGE.name}")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


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


HEADER = ["work", "Tilery", "rival", "rival's", "ratio (10% to 90%)", "goal", "reached"]


WIDTHS = [44, 14, 8, 14, 20, 5, 7]


def line(texts):
    return "  ".join(text.ljust(width) for text, width in zip(texts, WIDTHS, strict=True)).rstrip()


def markdown(results, machine, command):
    lines = [f"{date.today()}, `{command}`. {machine}.", "", "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    return "\n".join(lines + ["| " + " | ".join(cells(result)) + " |" for result in results])


def main():
    options = arguments()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TILERY_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    import rows
    import torch
    from machine import describe

    torch.set_num_threads(options.threads)
    if options.list:
        for name, function in rows.ROWS.items():
            print(f"{name:18} {function.__doc__.splitlines()[0]}")
        return
    unknown = [name for name in options.names if name not in rows.ROWS]
    if unknown:
        sys.exit(f"run bench: no row {unknown[0]!r}; there are {', '.join(rows.ROWS)}")
    machine = describe(options.threads)
    print(machine, flush=True)
    results = []
    for name in options.names or rows.ROWS:
        for result in rows.ROWS[name](options.threads):
            results.append(result)
            print(line(cells(result)), flush=True)
    print(line(HEADER))
    for result in results:
        print(line(cells(result)))
    if options.write:
        text = PAGE.read_text()
        before, rest = text.split(BEGIN)
        command = " ".join(["./run bench", *sys.argv[1:]])
        PAGE.write_text(f"{before}{BEGIN}\n{markdown(results, machine, command)}\n{END}{rest.split(END)[1]}")


main()
