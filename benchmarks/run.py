"""Speed against other libraries, in interleaved rounds of one process.

usage: ./run bench [--list] [--write] [--threads N] [NAME ...]
"""

import argparse
import os
import sys

import table


def arguments():
    parser = argparse.ArgumentParser(prog="./run bench", description="speed against other libraries")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to measure (default: all)")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{table.PAGE.name}")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def main():
    options = arguments()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TILERY_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    import library_rows  # noqa: F401 its rows
    import model_rows  # noqa: F401 its rows
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
            print(table.line(table.cells(result)), flush=True)
    table.show(results)
    if options.write:
        table.write(table.PAGE, "measured", table.markdown(results), machine, " ".join(["./run bench", *sys.argv[1:]]))


main()
