"""What `tilery bench` and `tilery explain` share: a program is run, and its launches are recorded and timed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from . import run as runs


def add_arguments(parser: argparse.ArgumentParser, usage: str) -> None:
    parser.usage = usage
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S", help="for each kind of launch (0.2), 3 calls at least")
    runs.add_program(parser)


def run(arguments: argparse.Namespace, recorder_of: Callable[[float], Any], say: Callable[[Any], None]) -> int:
    """The program's exit status. recorder_of: of the seconds for each kind of launch; say: prints what was recorded, also of a
    program that ends by an exception."""
    if not arguments.seconds >= 0:
        arguments.parser.error(f"--seconds is {arguments.seconds}; a number that is not negative is expected")
    program = runs.program_of(arguments)
    from tilery import _native

    recorder = recorder_of(arguments.seconds)
    before = _native.record_launches(recorder)
    try:
        status = program.run()
    finally:
        _native.record_launches(before)
        sys.stdout.flush()
        say(recorder)
    return status
