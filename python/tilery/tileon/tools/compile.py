"""Kernels compiled ahead of time, for programs in C that link the runtime library alone:

    python -m tilery.tileon.tools.compile add.py --kernel-name add --signature "*fp32:16, *fp32:16, i32, 1024" \\
        --grid "(n + 1023) / 1024, 1, 1" --out-name add

writes NAME.h, NAME.c and the bundle NAME.tilery, with `int NAME(void *stream, void *x, void *y, int32_t n)`. `tools.link`
makes one function of several of them."""

from __future__ import annotations

import argparse
import ast
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
from ...frontend.wording import counted
from ..compiler import ASTSource
from ..compiler import compile as compile_source
from .grid import extents_of

LINE = "tilery-linker"  # begins what `link` reads of a header
_UNKNOWN = object()  # no compile-time value is written there


class Hints:
    """A signature's parts: a type, `:16` where the value divides by 16, `:1` where it is 1, or a value that is known. Parameters
    at the end that are known when it is compiled and have defaults may be left out."""

    def __init__(self, kernel: Any, text: str) -> None:
        parts = _parts(text)
        left_out = kernel.params[len(parts) :]
        if len(parts) > len(kernel.params) or not all(each.is_constexpr and each.has_default for each in left_out):
            raise error(
                ValueError,
                f"the signature has {counted(len(parts), 'part')}, "
                f"{kernel.__name__}() has the parameters {', '.join(kernel.arg_names)}",
                hint="a part a parameter: *fp32 is a pointer, i32 a number; 1024, True, None or 'text' a compile-time value",
            )
        self.types: dict[str, str] = {each.name: "constexpr" for each in left_out}
        self.constants: dict[str, Any] = {each.name: each.default for each in left_out}
        self.attrs: dict[tuple[int, ...], Any] = {}
        self.given: dict[str, str] = {}  # of what a C caller gives: its type
        self.line: list[str] = []  # NAME=TYPE:HINT of that
        for position, (parameter, part) in enumerate(zip(kernel.params, parts)):
            self._read(position, parameter, part)

    def _read(self, position: int, parameter: Any, part: str) -> None:
        name = parameter.name
        known = _known(part)
        if known is not _UNKNOWN:
            self.types[name], self.constants[name] = "constexpr", known
            return
        kind, colon, hint = map(str.strip, part.partition(":"))
        if "=" in kind:
            value = kind.partition("=")[2].strip()
            message = f"`{part}`: a signature has a part for each parameter, in their order, without names"
            raise error(ValueError, message, hint=f"write `{value}` for `{name}`: it is the parameter at this place")
        if parameter.is_constexpr:
            message = f"`{part}`: `{name}` is a compile-time parameter; its value is expected"
            raise error(ValueError, message, hint="write a number, True, False, None or a text in quotes")
        if hint not in ("1", "16") if colon else hint:
            raise error(ValueError, f"`{part}`: an argument divides by 16 (`:16`), or is 1 (`:1`)")
        self.given[name] = kind
        self.line.append(f"{name}={kind}:{hint}")
        self.types[name] = "constexpr" if hint == "1" else kind
        if hint == "1":
            self.constants[name] = 1
        elif hint:
            self.attrs[(position,)] = [["tt.divisibility", 16]]


def _parts(text: str) -> list[str]:
    """What stands between commas; those of texts in quotes separate nothing."""
    if not text.strip():
        return []
    found = re.findall(r"""((?:'[^']*'|"[^"]*"|[^,])*),""", text + ",")
    return [part.strip() for part in found]


def _known(text: str) -> Any:
    """A compile-time value as Python writes it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return _UNKNOWN
    return value if value is None or isinstance(value, (bool, str)) else _UNKNOWN


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
    :param grid: three expressions of the arguments (`tools.grid`).
    :param device: "cpu", "cuda" (code for every GPU that is known), or a target of the compiler.
    """
    kernel = innermost(kernel)
    hints = Hints(kernel, signature)
    extents = extents_of(grid, hints.given, hints.constants)
    chosen = [value for name, value in hints.constants.items() if name not in hints.given]
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
    parser.add_argument("--grid", "-g", required=True, help='three expressions of the arguments: "(n + 255) / 256, 1, 1"')
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
