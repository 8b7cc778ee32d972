"""The command line of tilery-fuzz: what it does not know it refuses, and runs nothing."""

import os
import subprocess
from pathlib import Path

import pytest

FUZZ = Path(os.environ["TILERY_BUILD_DIR"]) / "tests" / "fuzz" / "tilery-fuzz"


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("--seed 3", "unknown option --seed"),
        ("--count 1 verbose", "unknown option verbose"),
        ("--count", "--count takes a number, not ``"),
        ("--first x1", "--first takes a number, not `x1`"),
        ("--step 0", "--step takes a number, not `0`"),
        ("--jobs 0", "--jobs takes a number, not `0`"),
        ("--against oracle", "--against takes passes, block-passes, machine, blocks, assembler or gpu, not `oracle`"),
    ],
)
def test_wrong_options_are_refused(arguments, message):
    done = subprocess.run([FUZZ, *arguments.split()], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tilery-fuzz: {message}\n")


def test_options():
    def run(*arguments):
        return subprocess.run([FUZZ, *arguments], capture_output=True, text=True, check=True).stdout

    assert run("--print", "7").startswith("module")
    assert "(seeds 5 to 6)" in run("--count", "2", "--first", "5", "--jobs", "1", "--against", "passes")
    assert "(seeds 3 to 14)" in run("--count", "2", "--first", "3", "--step", "11", "--against", "passes")
