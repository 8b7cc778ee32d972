"""Forks while other threads launch and compile: children, which have the forking thread alone, do both, with right numbers, and
end; so does the parent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
CHILD = """
def child(number):
    faulthandler.dump_traceback_later(60, exit=True)  # which hangs otherwise
    launch(), multiply(), launch(2.0e6 + number), multiply()
    thread = threading.Thread(target=launch)
    thread.start(), thread.join()
"""
FORKS = (
    """
import faulthandler, os, sys, threading
from busy import *
"""
    + CHILD
    + """
launch(), multiply()
threads = others()
for number in range(ROUNDS):
    pid = os.fork()
    if pid == 0:
        child(number)
        sys.stdout.flush()
        ENDS
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5, number
    launch()
stop.set()
for thread in threads:
    thread.join()
print("right")
"""
)
POOLS = (
    """
import faulthandler, multiprocessing, threading
from busy import *
"""
    + CHILD
    + """
launch(), multiply()
threads = others()
context = multiprocessing.get_context("fork")
with context.Pool(3) as pool:
    pool.map(child, range(6))
    processes = [context.Process(target=child, args=(number,)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
stop.set()
for thread in threads:
    thread.join()
print("right")
"""
)
# Forks while a thread compiles and launches for the first time in its process, and imports what that takes.
FIRST = """
import faulthandler, os, random, threading, time
from busy import launch

def first(delay):
    thread = threading.Thread(target=launch)
    thread.start()
    time.sleep(delay)
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(20, exit=True)
        launch(1.0)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    thread.join()
    os._exit(os.waitstatus_to_exitcode(status))

for number in range(ROUNDS):
    pid = os.fork()
    if pid == 0:
        first(random.Random(number).uniform(0, 0.15))
    assert os.waitpid(pid, 0)[1] == 0, number
print("right")
"""


def run(program, tmp_path, rounds, **variables):
    (tmp_path / "program.py").write_text(program.replace("ROUNDS", str(rounds)))
    paths = os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "TILERY_CACHE_DIR": "", "TILERY_NUM_THREADS": "4", **variables}
    command = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=580)
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", ""), done.stderr


@pytest.mark.parametrize("ends", ["os._exit(5)", "sys.exit(5)"])
def test_forks_beside_launches_and_compilations(tmp_path, ends):
    run(FORKS.replace("ENDS", ends), tmp_path, 6)


def test_processes_and_pools(tmp_path):
    run(POOLS, tmp_path, 1)


def test_the_disk_cache_survives_a_fork(tmp_path):
    run(FORKS.replace("ENDS", "os._exit(5)"), tmp_path, 4, TILERY_CACHE_DIR=str(tmp_path / "cache"))


def test_forks_amid_the_first_compilation(tmp_path):
    run(FIRST, tmp_path, 12)


@pytest.mark.long
def test_many_forks(tmp_path):
    run(FORKS.replace("ENDS", "os._exit(5)"), tmp_path, 200)
    run(FIRST, tmp_path, 300)

