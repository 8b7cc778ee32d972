"""TileLang's own examples as they are, under TileLang or under Tilery: each checked against torch, and timed on a GPU.

python3 benchmarks/examples/run.py OUT --examples FOLDER [options]                        TileLang
python3 -m tilery run benchmarks/examples/run.py OUT --examples FOLDER [options]          Tilery

FOLDER is `examples` of TileLang's source archive (on PyPI); some of them import einops. Each case has a process of its own: a
crash or a hang costs that case. A JSON line a case goes to OUT/rows.jsonl (OUT/warm.jsonl with --warm), what a case prints to
OUT/log/NAME.txt (NAME.warm.txt). SMALL=1: small shapes, for a CPU, where torch's reference is timed beside them, and for the
emulated GPU, where nothing is. `compare.py` sets rows of two folders side by side, `ways.py` says how kernels run.
"""

import argparse
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import case as cases  # noqa: E402
import one  # noqa: E402


def arguments(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--examples", type=Path, help="the folder of TileLang's examples")
    parser.add_argument("--only", type=re.compile, default="", metavar="REGEX", help="cases whose name has a match")
    parser.add_argument("--group", type=re.compile, default="", metavar="REGEX", help="families whose name has a match")
    parser.add_argument("--warm", action="store_true", help="first calls only, side by side: fills the compilers' caches")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="of a case (60; 200 with --warm)")
    parser.add_argument("--jobs", type=int, help="processes; without --warm all but one import ahead (4; all CPUs with --warm)")
    parser.add_argument("--redo", action="store_true", help="cases that OUT has a row of, too")
    parser.add_argument("--list", action="store_true", help="names and families only")
    parser.add_argument("--programs", type=Path, default=HERE / "programs", help=argparse.SUPPRESS)
    parser.add_argument("--child", nargs=2, metavar=("NAME", "FD"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    options.limit = options.limit or (200 if options.warm else 60)
    options.jobs = options.jobs or (os.cpu_count() or 1 if options.warm else 4)
    return options


def chosen(options):
    return [
        name for name, (family, _) in cases.CASES.items() if re.search(options.only, name) and re.search(options.group, family)
    ]


def line(descriptor, seconds):
    """A line from a pipe, or None where the time is over or the other end is closed."""
    text, end = b"", time.monotonic() + seconds
    while not text.endswith(b"\n"):
        if not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
            return None
        part = os.read(descriptor, 65536)
        if not part:
            return None
        text += part
    return text.decode()


def in_process(name, options, device):
    """The row of a case. `device` is held while it uses the GPU."""
    inner, outer = os.pipe()
    command = [sys.executable, str(HERE / "run.py"), str(options.out), "--programs", str(options.programs)]
    command += ["--examples", str(options.examples)] * bool(options.examples) + ["--warm"] * options.warm
    with open(options.out / "log" / f"{name}{'.warm' * options.warm}.txt", "w") as log:
        process = subprocess.Popen(
            [*command, "--child", name, str(outer)], stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=[outer], text=True
        )
    os.close(outer)
    try:
        answer = line(inner, options.limit)
        if answer:
            with device:
                process.stdin.write("\n")
                process.stdin.flush()
                answer = line(inner, options.limit)
        if answer:
            return json.loads(answer)
        code = process.poll() if line(inner, 0) is None else None
        code = process.wait(2) if code is None else code
        return {"name": name, "failed": f"the process ended with {code}"}
    except (subprocess.TimeoutExpired, BrokenPipeError):
        return {"name": name, "failed": f"over {options.limit:g} s"}
    finally:
        process.kill()
        process.wait()
        os.close(inner)


def shown(row):
    if "failed" in row:
        return "FAILED " + row["failed"].replace("\n", " | ")[:200]
    if "ok" not in row:
        return f"first call {row['first_s']} s"
    verdict = "ok" if row["ok"] else "WRONG"
    return f"{verdict} {row['errors']} {row.get('flag', '')} {row.get('us', '')} us, compiled in {row['compile_s']} s"


def main():
    options = arguments()
    cases.load(options.programs, options.examples)
    if options.child:
        name, reply = options.child
        one.child(name, cases.CASES[name][1], options.warm, cases.SMALL, int(reply), sys.stdin)
    names = chosen(options)
    if options.list:
        print("\n".join(f"{name:40} {cases.CASES[name][0]}" for name in names))
        return
    (options.out / "log").mkdir(parents=True, exist_ok=True)
    file = options.out / ("warm.jsonl" if options.warm else "rows.jsonl")
    if file.exists() and not options.redo:
        done = {json.loads(text)["name"] for text in file.read_text().splitlines()}
        names = [name for name in names if name not in done]
    device, writing = threading.Semaphore(options.jobs if options.warm else 1), threading.Lock()

    def run(name):
        row = {**in_process(name, options, device), "family": cases.CASES[name][0]}
        with writing, open(file, "a") as rows:
            rows.write(json.dumps(row) + "\n")
            print(f"{name}: {shown(row)}", flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run, names))


if __name__ == "__main__":
    main()
