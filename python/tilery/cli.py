"""The command `tilery`: finds the subcommand, and says in one line what a user got wrong."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys

import tilery

from .commands import COMMANDS

EPILOG = """\
environment:
  TILERY_DEVICE=cpu   the device "cuda" means the CPU (the default where there is no GPU)

`tilery COMMAND --help` says more of each.
"""


class _Parser(argparse.ArgumentParser):
    """One line for a mistake, and where help is."""

    def error(self, message: str) -> None:  # type: ignore[override]  # it does not return
        option = re.match(r"argument (--[\w-]+).*: expected one argument", message)
        behind = f"; what begins with - is given as {option[1]}=TEXT" if option else ""
        self.exit(2, f"{self.prog}: {message}\n  hint: {self.prog} --help{behind}\n")


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status: 0, 1 where something went wrong, 2 for a call that is not understood."""
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] in COMMANDS:
        return _run(argv[0], argv[1:])
    listed = "".join(f"  {name:10}{what}\n" for name, what in COMMANDS.items())
    parser = _Parser(
        prog="tilery",
        usage="tilery COMMAND [ARGUMENT ...]\n       tilery --prefix | --version | --help",
        description=f"commands:\n{listed}",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="the version of Tilery")
    prefix = "the folder of what C and C++ programs are built with: include, lib, lib/cmake, lib/pkgconfig"
    parser.add_argument("--prefix", action="store_true", help=prefix)
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    found, _ = parser.parse_known_args(argv)
    if found.command is not None:
        from .frontend.wording import did_you_mean

        options = {"help", "version", "prefix"} & {found.command.lstrip("-")}
        near = f"did you mean --{options.pop()}?" if options else did_you_mean(found.command, COMMANDS)
        near = near or "known: " + ", ".join(COMMANDS)
        parser.error(f"there is no command {found.command!r}; {near}")
    found = parser.parse_args(argv)
    if found.version:
        print(f"tilery {tilery.__version__}")
        return 0
    if found.prefix:
        return _print_prefix()
    parser.print_usage(sys.stderr)
    return 2


def _run(name: str, argv: list[str]) -> int:
    command = importlib.import_module(f"tilery.commands.{name}")
    parser = _Parser(
        prog=f"tilery {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    from .errors import Error

    try:
        status: int = command.run(parser.parse_args(argv))
        return status
    except Error as wrong:
        print(f"tilery {name}: {wrong}", file=sys.stderr)
        return 1


def _print_prefix() -> int:
    prefix = os.path.dirname(os.path.abspath(__file__))
    if not os.path.isdir(os.path.join(prefix, "include")):
        print("tilery: these are sources; cmake --install puts headers and libraries where you say", file=sys.stderr)
        return 1
    print(prefix)
    return 0
