"""Kernels compiled ahead of time, for programs in C that link the runtime library alone:

    python -m tilery.tileon.tools.compile add.py --kernel-name add --signature "*fp32:16, *fp32:16, i32, 1024" \\
        --grid "(n + 1023) / 1024, 1, 1" --out-name add

writes NAME.h, NAME.c and the bundle NAME.tilery, with `int NAME(void *stream, void *x, void *y, int32_t n)`. `tools.link`
makes one function of several of them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ... import aot
from ...aot.kernels import image_for
from ...aot.program import load
from ...aot.targets import targets_of
from ...errors import error
from ...frontend.fingerprint import sha256
from ...frontend.wording import counted, did_you_mean
from ..compiler import ASTSource
from ..compiler import compile as compile_source

LINE = "tilery-linker"  # begins what `link` reads of a header
_C_TYPES = set("char short int long signed unsigned float double sizeof size_t int32_t int64_t uint32_t uint64_t".split())


class Hints:
    """A signature's parts: a type, `:16` where the value divides by 16, `:1` where it is 1, or a number that is known."""

    def __init__(self, kernel: Any, text: str) -> None:
        parts = [part.strip() for part in text.split(",")] if text.strip() else []
        if len(parts) != len(kernel.arg_names):
            raise error(
                ValueError,
                f"the signature has {counted(len(parts), 'part')}, "
                f"{kernel.__name__}() has the parameters {', '.join(kernel.arg_names)}",
                hint="a part a parameter: *fp32 is a pointer, i32 a number, 1024 a compile-time value",
            )
        self.types: dict[str, str] = {}
        self.constants: dict[str, Any] = {}
        self.attrs: dict[tuple[int, ...], Any] = {}
        self.line: list[str] = []  # NAME=TYPE:HINT of what a C caller gives
        for position, (name, part) in enumerate(zip(kernel.arg_names, parts)):
            kind, _, hint = part.partition(":")
            if "=" in kind:
                value = kind.partition("=")[2].strip()
                message = f"`{part}`: a signature has a part for each parameter, in their order, without names"
                raise error(ValueError, message, hint=f"write `{value}` for `{name}`: it is the parameter at this place")
            known = _number(kind)
            if known is not None:
                self.types[name], self.constants[name] = "constexpr", known
                continue
            if hint not in ("", "1", "16"):
                raise error(ValueError, f"`{part}`: an argument divides by 16 (`:16`), or is 1 (`:1`)")
            self.line.append(f"{name}={kind}:{hint}")
            self.types[name] = "constexpr" if hint == "1" else kind
            if hint == "1":
                self.constants[name] = 1
            elif hint:
                self.attrs[(position,)] = [["tt.divisibility", 16]]


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"True": True, "False": False, "None": None}.get(text)


class PointerStyle(aot.Style):
    """Pointers are C's, and the grid is computed where its expressions are known."""

    tensor = "void *"

    def __init__(self, grid: tuple[str, ...] | None) -> None:
        self.grid = grid

    def argument(self, parameter: aot.Parameter) -> str:
        if parameter.rank is None:
            return super().argument(parameter)
        return f"{{{parameter.name}, 0, 0}}"


class _LinkedStyle(PointerStyle):
    """There is a line for the linker."""

    def __init__(self, grid: tuple[str, ...], line: str) -> None:
        super().__init__(grid)
        self.line = line

    def beside(self, entry: aot.Entry) -> str:
        loads = "".join(f"static inline void {verb}_{entry.name}(void) {{}}\n" for verb in ("load", "unload"))
        return f"/* {LINE}: {self.line} */\n{loads}"


def compile_kernel(
    kernel: Any,
    signature: str,
    grid: str,
    out_name: str | None = None,
    out_path: str | Path = ".",
    device: str = "cpu",
    num_warps: int = 4,
    num_stages: int = 3,
) -> str:
    """Writes the files of one kind of call and returns the C function's name, under which they are.

    :param signature: one part a parameter: "*fp32:16, i32, 1024".
    :param grid: three C expressions of the arguments.
    :param device: "cpu", "cuda" (code for every GPU that is known), or a target of the compiler.
    """
    kernel = innermost(kernel)
    hints = Hints(kernel, signature)
    extents = extents_of(grid, hints)
    chosen = [value for name, value in hints.constants.items() if not any(part.startswith(f"{name}=") for part in hints.line)]
    algorithm = f"warps{num_warps}xstages{num_stages}" + "".join(f"x{value}" for value in chosen)
    digest = sha256(f"{kernel.cache_key} {signature} {algorithm} {grid}".encode()).hexdigest()[:8]
    base = out_name or kernel.__name__
    name = f"{base}_{digest}"
    style = _LinkedStyle(extents, f"{base}|{name}|{_words(algorithm)}|{','.join(hints.line)}")
    options = {"num_warps": num_warps, "num_stages": num_stages}
    entry = entry_of(kernel, name, hints, targets_of(device), options)
    aot.write(Path(out_path), name, [entry], "cpu" if device == "cpu" else "cuda", style)
    return name


def _words(text: str) -> str:
    return re.sub(r"\W", "_", text)


def innermost(kernel: Any) -> Any:
    """The kernel below autotuners and heuristics."""
    while not hasattr(kernel, "launch_plainly"):
        kernel = kernel.fn
    return kernel


def extents_of(grid: str, hints: Hints) -> tuple[str, ...]:
    """The three C expressions of a grid, of what a C caller gives.

    :raises tilery.ValueError: there are not three, or one has a name that C does not know there."""
    extents = tuple(part.strip() for part in grid.split(","))
    if len(extents) != 3:
        raise error(ValueError, f"the grid {grid!r} has {counted(len(extents), 'expression')}; three are expected")
    for extent in extents:
        if not extent or extent.count("(") != extent.count(")"):
            raise error(ValueError, f"the grid {grid!r} has `{extent}`, which is no expression of C")
    given = [part.partition("=")[0] for part in hints.line]
    for name in re.findall(r"\b[A-Za-z_]\w*\b(?!\s*\()", grid):
        if name in given or name in _C_TYPES:
            continue
        known = f"write its value, {hints.constants[name]}" if name in hints.constants else None
        hint = known or did_you_mean(name, given) or f"its arguments: {', '.join(given)}"
        raise error(ValueError, f"the grid {grid!r} names `{name}`, which is no argument of the C function", hint=hint)
    return extents


def entry_of(kernel: Any, name: str, hints: Hints, targets: Iterable[str], options: dict[str, Any]) -> aot.Entry:
    """Code of one kind of call, for tensors that lie apart and, behind it, for those that may overlap."""
    source = ASTSource(kernel, hints.types, hints.constants, hints.attrs)
    compiled = compile_source(source, options=options)
    arguments = [compiled.arguments[slot] for slot in compiled.slots]
    conditions = [
        ("address divisible" if is_pointer else "number divisible", i, 0, 16)
        for i, (_, _, is_pointer, _, divisor, *_) in enumerate(arguments)
        if divisor >= 16
    ]
    variants = []
    for target in targets:
        for disjoint in (True, False):
            compiled.options["disjoint"] = disjoint
            variants.append(image_for(compiled, target, conditions))
    parameters = aot.entry_of(name, variants[0].image).parameters
    return aot.Entry(name, parameters, variants, takes_grid=True)


def main(arguments: list[str] | None = None) -> None:
    """The command line, with upstream's options."""
    parser = argparse.ArgumentParser(description="Compiles a kernel ahead of time for programs in C.")
    parser.add_argument("path", help="the file that defines the kernel")
    parser.add_argument("--kernel-name", "-n", required=True)
    parser.add_argument("--num-warps", "-w", type=int, default=4)
    parser.add_argument("--num-stages", "-ns", type=int, default=3)
    parser.add_argument("--out-name", "-on", help="of the C function; the kernel's by default")
    parser.add_argument("--out-path", "-o", type=Path, default=Path("."), help="an existing folder")
    parser.add_argument("--signature", "-s", required=True, help='types and known values: "*fp32:16, i32, 1024"')
    parser.add_argument("--grid", "-g", required=True, help='C expressions of the arguments: "(n + 255) / 256, 1, 1"')
    parser.add_argument("--target", "-t", default="cpu", help='"cpu", "cuda", or cuda:90:32')
    found = parser.parse_args(arguments)
    target = found.target
    if re.fullmatch(r"cuda:\d+(:\d+)?", target):
        arch = target.split(":")[1]
        target = f"sm_{arch}{'a' if arch == '90' else ''}"
    kernel = load(found.path, found.kernel_name)
    print(
        compile_kernel(
            kernel, found.signature, found.grid, found.out_name, found.out_path, target, found.num_warps, found.num_stages
        )
    )


if __name__ == "__main__":
    main()
