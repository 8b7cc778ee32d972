"""Runs a program as `tilery run` does, and explains its launches, each kind once: bytes and operations, the time beside this
machine's limits, the plan of its code, and what in the source holds it back, with the line and what to change. Times are of
repetitions on copies of the launch's tensors, as `tilery bench` takes them. `--html FILE` writes a page of it, too."""

from __future__ import annotations

import argparse
import os
import sys

from . import run as runs

_USAGE = "tilery explain [--seconds S] [--html FILE] [-c CODE | -m MODULE | PROGRAM | -] [ARGUMENT ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = _USAGE
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S", help="for each kind of launch (0.2), 3 calls at least")
    parser.add_argument("--html", metavar="FILE", help="where to write the page")
    runs.add_program(parser)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.seconds >= 0:
        arguments.parser.error(f"--seconds is {arguments.seconds}; a number that is not negative is expected")
    if arguments.html:
        folder = os.path.dirname(os.path.abspath(arguments.html))
        if not os.access(folder, os.W_OK) or os.path.isdir(arguments.html):
            arguments.parser.error(f"--html is {arguments.html}; a file in a folder that can be written is expected")
    program = runs.program_of(arguments)
    from tilery import _native

    from ..core.explain import Recorder

    recorder = Recorder(arguments.seconds)
    before = _native.record_launches(recorder)
    try:
        status = program.run()
    finally:
        _native.record_launches(before)
        sys.stdout.flush()
        if recorder.kinds:
            report = recorder.report()
            print(report)
            if arguments.html:
                report.save(arguments.html)
        else:
            print("tilery explain: the program launched no kernel in its main thread")
    return status
