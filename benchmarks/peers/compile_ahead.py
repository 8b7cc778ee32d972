"""Compiles what rows race, in parallel processes, before anything is timed: every compiler keeps on disk what it made.

usage: compile_ahead.py FOLDER ROW ...   (one of those processes; it marks in FOLDER what it takes on)
"""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHARES = 3  # of a row's contestants, for processes of their own


def compile_ahead(names, seconds, log):
    """A process for each processor, for so long at most: the race compiles what is missing. They write to the file `log`."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as claims, log.open("w") as said:
        command = [sys.executable, __file__, claims, *names]
        workers = [subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True) for _ in os.sched_getaffinity(0)]
        for worker in workers:
            try:
                worker.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(worker.pid, signal.SIGKILL)  # with the compilers that it has called
                worker.wait()


def take(claims, names):
    """Parts of rows (name, share) that no other process has taken."""
    for share, name in itertools.product(range(SHARES), names):
        with contextlib.suppress(FileExistsError):
            (claims / f"{name}.{share}").touch(exist_ok=False)
            yield name, share


def main():
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    import gpu_rounds
    import sections
    import torch

    start = time.monotonic()
    for name, share in take(Path(sys.argv[1]), sys.argv[2:]):
        begun = time.monotonic()
        gpu_rounds.settings.share = share, SHARES
        with contextlib.suppress(Exception):  # the race says what is wrong
            list(sections.ROWS[name]())
        torch.cuda.empty_cache()
        print(f"{os.getpid()} {name} {share}: from {begun - start:.1f} to {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
