"""Speed on an NVIDIA GPU beside cuBLAS, cuDNN, Triton and TileLang, in interleaved rounds of one process.

usage: ./run peers [--list] [--write] [--resume] [--rounds N] [--milliseconds N] [--ahead SECONDS] [NAME ...]
Rivals that are not installed are left out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))


def arguments():
    parser = argparse.ArgumentParser(prog="./run peers", description="speed on a GPU against other libraries")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to measure, or how their names begin (default: all)")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--write", action="store_true", help="put the tables into the pages of docs, row by row")
    parser.add_argument("--resume", action="store_true", help="go on with the run that was cut off")
    parser.add_argument("--rounds", type=int, default=12, help="of each contest (12)")
    parser.add_argument("--milliseconds", type=float, default=10, help="of a contestant in a round (10)")
    parser.add_argument("--ahead", type=float, default=180, help="most seconds in which all is compiled before it is timed (180)")
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("--write is for all rows: their tables are of one run")
    return options


def machine(torch):
    """What was measured on, with the rivals' versions."""
    from importlib import metadata

    versions = [f"torch {torch.__version__}", f"cuDNN {torch.backends.cudnn.version()}"]
    for name in ("triton", "tilelang"):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    if program := shutil.which("nvidia-smi"):
        command = [program, "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
        versions.append(f"driver {subprocess.run(command, capture_output=True, text=True).stdout.strip()}")
    return f"{torch.cuda.get_device_name()}, {', '.join(versions)}, CUDA {torch.version.cuda}"


def measure(names, rows, done):
    """Calls done(name, results) behind each row; one that fails does not stop the others. The names of those that failed."""
    import torch

    failed = []
    for name in names:
        torch.manual_seed(0)
        start = time.monotonic()
        try:
            done(name, list(rows[name]()))
        except Exception:
            failed.append(name)
            traceback.print_exc()
        print(f"({name}: {time.monotonic() - start:.1f} s)", file=sys.stderr, flush=True)
        torch.cuda.empty_cache()
    return failed


def main():
    options = arguments()
    import gpu_rounds
    import pages
    import sections
    import table
    import torch
    from compile_ahead import compile_ahead
    from journal import Journal

    if options.list:
        print("\n".join(sections.ROWS))
        return
    if not torch.cuda.is_available():
        sys.exit("run peers: this needs an NVIDIA GPU and a torch that sees it")
    names = [name for name in sections.ROWS if not options.names or name.startswith(tuple(options.names))]
    if not names:
        sys.exit(f"run peers: no row {options.names[0]!r}; there are {', '.join(sections.ROWS)}")
    gpu_rounds.settings.rounds, gpu_rounds.settings.milliseconds = options.rounds, options.milliseconds
    what = f"{machine(torch)}; {options.rounds} rounds of {options.milliseconds:g} ms"
    print(what, flush=True)
    folder = Path(os.environ["TILERY_BUILD_DIR"]) / "benchmarks"
    journal = Journal(folder / "peers.jsonl", what, options.resume)
    names = [name for name in names if name not in journal.measured]
    if options.ahead:
        start = time.monotonic()
        compile_ahead(names, options.ahead, folder / "peers-compile.log")
        print(f"(compiled ahead in {time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)

    def done(name, results):
        journal.add(name, results)
        for result in results:
            print(table.line(table.cells(result)), flush=True)
        if options.write:
            pages.write(journal.measured, what, " ".join(["./run peers", *sys.argv[1:]]))

    failed = measure(names, sections.ROWS, done)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


main()
