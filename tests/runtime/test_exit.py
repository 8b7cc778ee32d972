"""A process ends while threads launch and compile: with the status that the program says, and without a word."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
PROGRAM = """
import atexit, os, random, sys, time
from busy import *
launch(), multiply()
{before}
others(daemon=True)
time.sleep({delay})
print("ready", flush=True)
{ending}
"""
# With NumPy's arrays: torch itself aborts where Python ends in the midst of a call of its own.
TILELANG = """
from tilery import tilelang
from tilery.tilelang import language as T

def build(factor):
    @T.prim_func
    def kernel(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                Y[i] = X[i] * factor
    return tilelang.compile(kernel)

def compile_tilelang():
    factor = 0.0
    while True:
        factor += 1
        build(factor)(np.ones(64, "f"), np.zeros(64, "f"))

threading.Thread(target=compile_tilelang, daemon=True).start()
"""
ENDINGS = {
    "end": ("", 0),
    "exit": ("sys.exit(3)", 3),
    "exception": ("raise KeyError('mine')", 1),
    "os._exit": ("os._exit(4)", 4),
}


def run(tmp_path, ending, delay, before=""):
    (tmp_path / "program.py").write_text(PROGRAM.format(ending=ending, delay=delay, before=before))
    paths = os.pathsep.join([str(FOLDER), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "TILERY_CACHE_DIR": "", "TILERY_NUM_THREADS": "4"}
    command = [sys.executable, str(tmp_path / "program.py")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("ending", ENDINGS)
def test_status(tmp_path, ending):
    statement, status = ENDINGS[ending]
    for delay in (0.0, 0.13, 0.29):
        done = run(tmp_path, statement, delay)
        assert (done.returncode, done.stdout) == (status, "ready\n"), done.stderr
        assert "mine" in done.stderr if ending == "exception" else not done.stderr


def test_other_languages_threads(tmp_path):
    for delay in (0.05, 0.2, 0.4):
        done = run(tmp_path, "", delay, TILELANG)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ready\n", "")


def test_what_is_done_at_the_end_may_launch_and_compile(tmp_path):
    """Functions of atexit, which run while the other threads still do."""
    done = run(tmp_path, "", 0.1, "atexit.register(lambda: (launch(), launch(3e6), multiply(), print('at the end')))")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ready\nat the end\n", "")


def test_threads_that_are_waited_for_finish(tmp_path):
    """Of a program whose main thread has nothing more to do."""
    before = "threading.Thread(target=lambda: (time.sleep(0.3), launch(4e6), multiply(), print('done'))).start()"
    done = run(tmp_path, "", 0.05, before)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ready\ndone\n", "")


def test_a_signal_ends_it(tmp_path):
    done = run(tmp_path, f"os.kill(os.getpid(), {int(signal.SIGTERM)}); time.sleep(60)", 0.1)
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")


@pytest.mark.long
def test_many_moments(tmp_path):
    for number in range(150):
        done = run(tmp_path, "", number * 0.003, TILELANG if number % 3 == 0 else "")
        assert (done.returncode, done.stdout, done.stderr) == (0, "ready\n", ""), number
