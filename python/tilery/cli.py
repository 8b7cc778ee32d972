"""The command `tilery`."""

from __future__ import annotations

import os
import runpy
import sys
import types

import tilery

USAGE = """\
usage: tilery run [-m] PROGRAM [ARGUMENT ...]
       tilery demo
       tilery --prefix | --version

  run             runs a Python program in which the names ninetoothed, tilelang, tileon and triton mean Tilery's languages
    -m            PROGRAM is a module name, as for python -m
  demo            a matmul in each language, checked and timed; needs NumPy
  --prefix        the folder of what C and C++ programs are built with: include, lib, lib/cmake, lib/pkgconfig
environment:
  TILERY_DEVICE=cpu   the device "cuda" means the CPU (the default where there is no GPU)
"""


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    argv = sys.argv[1:] if argv is None else argv
    match argv:
        case ["-h" | "--help"]:
            print(USAGE, end="")
            return 0
        case ["--version"]:
            print(f"tilery {tilery.__version__}")
            return 0
        case ["--prefix"]:
            return print_prefix()
        case ["demo"]:
            from tilery import demo

            return demo.main()
        case ["run", "-m", _, *_]:
            return run(argv[2:], as_module=True)
        case ["run", program, *_] if program != "-m":
            return run(argv[1:])
    print(USAGE, end="", file=sys.stderr)
    return 2


def print_prefix() -> int:
    prefix = os.path.dirname(os.path.abspath(__file__))
    if not os.path.isdir(os.path.join(prefix, "include")):
        print("tilery: these are sources; cmake --install puts headers and libraries where you say", file=sys.stderr)
        return 1
    print(prefix)
    return 0


def run(argv: list[str], as_module: bool = False) -> int:
    """Runs argv[0] as `__main__`, as `python argv...` would."""
    from tilery import compat

    program = argv[0]
    if not as_module and not os.path.isfile(program):
        print(f"tilery: cannot run {program!r}: no such file", file=sys.stderr)
        return 2
    compat.install()
    sys.argv = list(argv)
    # The program sees what `python program` shows: its own folder first on the path, no frame of ours in its traceback.
    sys.path.insert(0, os.getcwd() if as_module else os.path.dirname(os.path.abspath(program)))
    try:
        if as_module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            _run_file(program)
    except Exception as error:
        trace = _own_frames(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def _run_file(path: str) -> None:
    main_module = types.ModuleType("__main__")
    main_module.__file__ = path
    setattr(main_module, "__builtins__", __builtins__)
    sys.modules["__main__"] = main_module
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)  # not this file's `from __future__`
    exec(code, main_module.__dict__)


def _own_frames(trace: types.TracebackType | None) -> types.TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    return trace
