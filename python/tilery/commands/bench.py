"""Runs a program as `tilery run` does, and times its launches. Each kind of launch (a kernel with its grid, shapes and numbers)
is made once as the program makes it (`first`: compiling, or reading the disk cache, is part of it), then again on copies of its
tensors, so that the program's results stay what they are. A time is what a caller waits, from the call to the end of the work, a
GPU's too, with what fits in caches there. Launches of other threads and processes and those that tuners time are not counted."""

from __future__ import annotations

import argparse
import sys

from . import run as runs

_USAGE = "tilery bench [--seconds S] [-c CODE | -m MODULE | PROGRAM | -] [ARGUMENT ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _USAGE
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S", help="for each kind of launch (0.2), 3 calls at least")
    runs.add_program(parser)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.seconds >= 0:
        arguments.parser.error(f"--seconds is {arguments.seconds}; a number that is not negative is expected")
    program = runs.program_of(arguments)
    from tilery import _native

    from ..core.launches import Launches

    launches = Launches(arguments.seconds)
    before = _native.record_launches(launches)
    try:
        status = program.run()
    finally:
        _native.record_launches(before)
        sys.stdout.flush()
        print(launches.table())
    return status
