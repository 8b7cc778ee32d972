"""Runs a program as `tilery run` does, and times its launches. Each kind of launch (a kernel with its grid, shapes and numbers)
is made once as the program makes it (`first`: compiling, or reading the disk cache, is part of it), then again on copies of its
tensors, so that the program's results stay what they are. A time is what a caller waits, from the call to the end of the work, a
GPU's too, with what fits in caches there. Launches of other threads and processes and those that tuners time are not counted."""

from __future__ import annotations

import argparse
from typing import Any

from . import recorded

_USAGE = "tilery bench [--seconds S] [-c CODE | -m MODULE | PROGRAM | -] [ARGUMENT ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    recorded.add_arguments(parser, _USAGE)


def run(arguments: argparse.Namespace) -> int:
    def recorder(seconds: float) -> Any:
        from ..core.launches import Launches

        return Launches(seconds)

    return recorded.run(arguments, recorder, lambda launches: print(launches.table()))
