"""Builds of Tilery in turns: each has a process of its own, and a round asks every process once for a kernel."""

import os
import statistics
import subprocess
import sys
import time

SECONDS = 0.01  # of each measurement


class Build:
    """A process that imports Tilery from `folders` and runs `program --work ARGS`, which calls work()."""

    def __init__(self, name, folders, program, *args):
        self.name = name
        own = {"PYTHONPATH": os.pathsep.join(map(str, folders)), "TILERY_NUM_THREADS": "1", "TILERY_CACHE_DIR": ""}
        pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        command = [sys.executable, program, "--work", *args]
        self.process = subprocess.Popen(command, env={**os.environ, **own}, **pipe)
        self.notes = dict(self._notes())

    def _notes(self):
        while (line := self.process.stdout.readline()) != "\n":
            if not line:
                sys.exit(f"{self.name} ended before it had run every kernel")
            yield line.rstrip("\n").split("\t")

    def seconds(self, kernel):
        """Of a call."""
        print(kernel, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def work(launches, clock=time.thread_time, note=lambda: ""):
    """A build's side: runs each of `launches` (name -> callable) and writes what note() says of it; then for each name on stdin
    the seconds of a call. CPU time of the thread counts, so that other work on the machine matters little."""
    repeats = {}
    for name, launch in launches.items():
        launch()
        start = clock()
        launch()
        repeats[name] = max(1, int(SECONDS / max(clock() - start, 1e-7)))
        print(name, note(), sep="\t", flush=True)
    print(flush=True)
    for line in sys.stdin:
        launch, count = launches[line.strip()], repeats[line.strip()]
        launch()
        start = clock()
        for _ in range(count):
            launch()
        print((clock() - start) / count, flush=True)


def spread(values):
    """(median, 10th, 90th percentile)."""
    values, cut = sorted(values), len(values) // 10
    return statistics.median(values), values[cut], values[-1 - cut]
