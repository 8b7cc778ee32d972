"""Runs a Python program unchanged: the names ninetoothed, tilelang, tileon and triton mean Tilery's languages, in Python
processes that it starts, too. What stands before PROGRAM or behind it means what it means to `python`."""

from __future__ import annotations

import argparse
import os
import sys

from .program import Program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tilery run [-c CODE | -m MODULE | PROGRAM | -] [ARGUMENT ...]"
    add_program(parser)


def add_program(parser: argparse.ArgumentParser) -> None:
    """The arguments that say which program; all behind them are the program's."""
    rest = argparse.REMAINDER
    parser.add_argument("-c", dest="code", nargs=rest, metavar="CODE", help="the program is this text")
    parser.add_argument("-m", dest="module", nargs=rest, metavar="MODULE", help="it is a module, or a package's __main__")
    parser.add_argument("program", nargs=rest, metavar="PROGRAM", help="a file; -: standard input. What is behind it is its own")
    parser.set_defaults(parser=parser)


def program_of(arguments: argparse.Namespace) -> Program:
    """The program that the arguments name; the process ends, with status 2, where they name none."""
    if arguments.code or arguments.module:  # argparse takes `--` and what is behind it for the program
        (arguments.code or arguments.module).extend(arguments.program)
    elif arguments.program[:1] == ["--"]:
        del arguments.program[0]
    for kind in ("code", "module", "program"):
        given = getattr(arguments, kind)
        if given:
            if kind == "program" and given[0] != "-" and not os.path.isfile(given[0]):
                what = "it is a folder" if os.path.isdir(given[0]) else "no such file"
                arguments.parser.exit(2, f"tilery: cannot run {given[0]!r}: {what}\n")
            return Program(kind, *given)
        if given is not None and kind != "program":
            option, what = ("-c", "a program's text") if kind == "code" else ("-m", "a module's name")
            arguments.parser.error(f"{option} takes {what}")
    arguments.parser.print_usage(sys.stderr)
    arguments.parser.exit(2)
    raise AssertionError  # exit does not return


def run(arguments: argparse.Namespace) -> int:
    return program_of(arguments).run()
