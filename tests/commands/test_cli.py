"""What all subcommands have in common."""

import subprocess
import sys
import time

import pytest

import tilery
from tilery.commands import COMMANDS

DEAR = {"torch", "numpy", "tilery.frontend", "tilery.core", "tilery.tileon", "tilery.aot", "tilery.compat"}


def test_version(python):
    done = python("-m", "tilery", "--version")
    assert (done.returncode, done.stdout) == (0, f"tilery {tilery.__version__}\n")


def test_version_is_quick():
    code = "import sys; from tilery import cli; cli.main(['--version']); print(sorted(DEAR & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", f"DEAR = {DEAR}; {code}"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    took = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "tilery", "--version"], capture_output=True, check=True)
        took.append(time.perf_counter() - start)
    assert min(took) < 0.5  # 50 ms on an idle machine; others may be at work here


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name, python):
    done = python("-m", "tilery", name, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"usage: tilery {name}") and not done.stderr
    assert "tilery.commands" not in done.stdout


def test_help_names_all_commands(python):
    done = python("-m", "tilery", "--help")
    assert done.returncode == 0 and all(f"  {name}" in done.stdout for name in COMMANDS)


def test_usage(python):
    done = python("-m", "tilery")
    assert done.returncode == 2 and done.stderr.startswith("usage: ")
    done = python("-m", "tilery", "bensh", "x.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tilery: there is no command 'bensh'; did you mean bench?\n  hint: tilery --help\n"
    for word in ("help", "version"):
        assert f"did you mean --{word}?" in python("-m", "tilery", word).stderr
    done = python("-m", "tilery", "--versoin")
    assert done.returncode == 2 and "--versoin" in done.stderr
