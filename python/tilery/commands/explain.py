"""Runs a program as `tilery run` does, and explains its launches, each kind once, as soon as it was made: bytes and operations,
the time beside this machine's limits, the plan of its code, and what in the source holds it back, with the line and what to
change. Times are of repetitions on copies of the launch's tensors, as `tilery bench` takes them. `--html FILE` writes a
page of it, too."""

from __future__ import annotations

import argparse
import os
from typing import Any

from . import recorded

_USAGE = "tilery explain [--seconds S] [--html FILE] [-c CODE | -m MODULE | PROGRAM | -] [ARGUMENT ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", metavar="FILE", help="where to write the page")
    recorded.add_arguments(parser, _USAGE)


def run(arguments: argparse.Namespace) -> int:
    if arguments.html:
        folder = os.path.dirname(os.path.abspath(arguments.html))
        if not os.access(folder, os.W_OK) or os.path.isdir(arguments.html):
            arguments.parser.error(f"--html is {arguments.html}; a file in a folder that can be written is expected")

    def recorder(seconds: float) -> Any:
        from ..core.explain import Recorder, Report

        return Recorder(seconds, lambda entry: print(Report([entry]), end="\n\n", flush=True))

    def say(launches: Any) -> None:
        if not launches.kinds:
            return print("tilery explain: the program launched no kernel in its main thread")
        if arguments.html:
            launches.report().save(arguments.html)

    return recorded.run(arguments, recorder, say)
