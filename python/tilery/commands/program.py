"""A program of the user's, run as `__main__` in this process, as `python` would."""

from __future__ import annotations

import linecache
import os
import runpy
import signal
import sys
import types

from ..core import frames


class Program:
    """kind: "program": a file by its name, "-": standard input; "code": a text; "module": by its name."""

    def __init__(self, kind: str, name: str, *arguments: str) -> None:
        self.kind, self.name, self.arguments = kind, name, arguments

    def run(self) -> int:
        """Runs it and returns its exit status: 1 after an exception, whose traceback shows the program's frames alone.

        :raises SystemExit: the program does."""
        from tilery import compat

        compat.install()
        sys.argv = ["-c" if self.kind == "code" else self.name, *self.arguments]
        sys.path.insert(0, self._folder())
        try:
            if self.kind == "module":
                runpy.run_module(self.name, run_name="__main__", alter_sys=True)
            else:
                self._run_text()
        except (Exception, KeyboardInterrupt) as error:
            trace = frames.of_program(error)
            if trace is None and isinstance(error, ImportError):  # runpy found no such module
                print(f"tilery: cannot run the module {self.name!r}: {error}", file=sys.stderr)
            else:
                sys.excepthook(type(error), error, trace)
            return 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
        return 0

    def _folder(self) -> str:
        """What comes first on the program's path."""
        if self.kind == "module":
            return os.getcwd()
        return "" if self.kind == "code" or self.name == "-" else os.path.dirname(os.path.abspath(self.name))

    def _run_text(self) -> None:
        main_module = types.ModuleType("__main__")
        setattr(main_module, "__builtins__", __builtins__)
        sys.modules["__main__"] = main_module
        if self.kind == "code":
            name, text = "<string>", self.name.encode()
        elif self.name == "-":
            name, text = "<stdin>", sys.stdin.buffer.read()
        else:
            name = main_module.__file__ = self.name
            with open(name, "rb") as file:
                text = file.read()
        code = compile(text, name, "exec", dont_inherit=True)  # not this file's `from __future__`
        if name.startswith("<"):  # kernels are compiled from their text, which nobody could find again
            lines = text.decode(errors="replace").splitlines(keepends=True)
            linecache.cache[name] = (len(text), None, lines, name)
        exec(code, main_module.__dict__)
