"""Compilations that outlive a crash of the compiler (LLVM included). What crashed may hold locks, so this process compiles no
more: the program that crashed it is tried once more in a process of its own, without the optimisations that did, and later ones
are compiled in such processes."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import Any

from tilery import _native

from ..errors import error

_CHILD = """
import pickle, sys
path, *work = pickle.load(sys.stdin.buffer)
sys.path[:] = path
from tilery.core import apart
apart.serve(*work)
"""


@dataclass
class Compiled:
    """As _native.Compiled."""

    image: _native.CodeImage
    tile: str
    llvm: str
    asm: str
    plan: str
    findings: list[Any] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)


def compiled(module: _native.Module, text: str | None = None, **options: Any) -> _native.Compiled | Compiled:
    """_native.compile(module, **options). text: the module's, where it is known."""
    text = text or module.text(locations=True)  # before: what crashed may hold the module's locks
    try:
        return _native.compile(module, **options)
    except _native.Crashed as crash:
        message, step = crash.args
    if not step:  # an earlier compilation crashed; this one is like any other
        answer = _elsewhere(text, options)
        if not isinstance(answer, tuple):
            return answer
        message, step = answer
    left_out = "LLVM's optimisations" if step.startswith("LLVM: ") else "the optimisations of tile IR"
    plainer = {**options, "plain_llvm" if step.startswith("LLVM: ") else "plain_tile": True}
    path = _reproducer(text, options)
    report = f"please report it with {path}, which `tilery-translate{_flags(options)} {path}` (of a build) repeats"
    try:
        second = _elsewhere(text, plainer)
    except Exception as refusal:  # what is left out may be what the target needs
        raise error(RuntimeError, f"{message}, and without {left_out} the program is refused: {refusal}", report) from None
    if isinstance(second, tuple):
        raise error(RuntimeError, f"{message}, and again without {left_out}: {second[0]}", report)
    import warnings

    warnings.warn(f"{message}; it was compiled without {left_out}, so it may be slow; {report}", RuntimeWarning, stacklevel=2)
    return second


def _elsewhere(text: str, options: dict[str, Any]) -> Compiled | tuple[str, str]:
    """What another process makes of the module; (message, step): it crashed. Raises what that process raises."""
    import pickle
    import subprocess

    if not sys.executable:
        return "there is no Python to start another compiler with (sys.executable)", ""
    work = pickle.dumps((sys.path, text, options))
    child = subprocess.run([sys.executable, "-c", _CHILD], input=work, stdout=subprocess.PIPE)
    try:
        kind, answer = pickle.loads(child.stdout)
    except (EOFError, pickle.UnpicklingError):
        return f"the process that was to compile it ended with {child.returncode}", ""
    if kind == "refused":
        raise answer
    return Compiled(_native.CodeImage(answer[0]), *answer[1:]) if kind == "compiled" else answer


def serve(text: str, options: dict[str, Any]) -> None:
    """The other process: compiles, and writes what came of it to stdout."""
    import pickle

    reply = os.dup(1)
    os.dup2(2, 1)  # what else is printed
    answer: tuple[str, Any]
    try:
        made = _native.compile(_native.Module.parse(text), **options)
        answer = "compiled", (made.image.to_bytes(), made.tile, made.llvm, made.asm, made.plan)
    except _native.Crashed as crash:
        answer = "crashed", crash.args
    except Exception as refusal:
        answer = "refused", refusal
    with os.fdopen(reply, "wb") as stream:
        pickle.dump(answer, stream)
    os._exit(0)  # where the compiler crashed, nothing of it is torn down


def _flags(options: dict[str, Any]) -> str:
    flags = f" --target={options.get('target', 'host')} --print=asm"
    return flags + " --disjoint" * bool(options.get("disjoint")) + " --exact" * (not options.get("fp_contract", True))


def _reproducer(text: str, options: dict[str, Any]) -> str:
    """The path of a file with the module, as TILERY_RECORD writes them."""
    import re
    import tempfile

    kernel = re.search(r"tile\.kernel @(\w+)", text)
    words = [name for name, on in (("disjoint", options.get("disjoint")), ("contract", options.get("fp_contract", True))) if on]
    try:
        handle, path = tempfile.mkstemp(prefix=f"tilery-crash-{kernel[1] if kernel else 'host'}-", suffix=".mlir")
        with os.fdopen(handle, "w") as file:
            file.write(f"// options: {' '.join(words)} passes\n{text}\n")
    except OSError as problem:
        return f"the tile IR (which could not be written: {problem})"
    return path
