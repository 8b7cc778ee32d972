"""One C function of several that `tools.compile` made of a kernel, for calls of different kinds:

    python -m tilery.tileon.tools.link add_*.h --out add

writes NAME.h and NAME.c with `int KERNEL(void *stream, ..., int algo_id)`, which takes the first that fits the arguments, and
KERNEL_default, KERNEL_get_num_algos, load_KERNEL, unload_KERNEL. An algorithm is a choice of known values and options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...aot.sources import _C_TYPES
from ...errors import error
from ..compiler.source import _ELEMENTS
from .compile import LINE


class Part(NamedTuple):
    """A function that `tools.compile` made."""

    kernel: str
    function: str
    algorithm: str
    arguments: tuple[tuple[str, str, str], ...]  # (name, type, hint)
    header: str


def read(header: str | Path) -> list[Part]:
    """The parts that a header declares."""
    text = Path(header).read_text(encoding="utf-8")
    parts = []
    for line in re.findall(rf"/\* {LINE}: (.*) \*/", text):
        kernel, function, algorithm, arguments = line.split("|")
        triples = [(a.split("=")[0], *a.split("=")[1].split(":")) for a in arguments.split(",") if a]
        parts.append(Part(kernel, function, algorithm, tuple(triples), Path(header).name))  # type: ignore[arg-type]
    return parts


def _c_type(kind: str) -> str:
    return "void *" if kind.startswith("*") else _C_TYPES[_ELEMENTS[kind] or ""]


def _condition(name: str, kind: str, hint: str) -> str:
    if kind.startswith("*"):
        return f"(uintptr_t){name} % 16 == 0"
    return f"{name} == 1" if hint == "1" else f"{name} % 16 == 0"


def _dispatch(parts: Sequence[Part]) -> str:
    """The body that takes the first part that fits; those that ask for most come first."""
    lines = []
    for part in sorted(parts, key=lambda p: -sum(bool(hint) for _, _, hint in p.arguments)):
        conditions = [_condition(*argument) for argument in part.arguments if argument[2]]
        given = ", ".join(["stream", *(name for name, _, hint in part.arguments if hint != "1")])
        lines.append(f"  if ({' && '.join(conditions) or '1'})\n    return {part.function}({given});")
    return "\n".join([*lines, "  return TILERY_NO_VARIANT;"])


def link(headers: Sequence[str | Path], out: str | Path) -> None:
    """Writes OUT.h and OUT.c over the functions that the headers declare.

    :raises tilery.ValueError: no header declares one, or those of one kernel take different arguments."""
    parts = [part for header in headers for part in read(header)]
    if not parts:
        raise error(ValueError, "no header declares a kernel", hint="give it the headers that tools.compile wrote")
    out = Path(out)
    kernels: dict[str, list[Part]] = {}
    for part in parts:
        kernels.setdefault(part.kernel, []).append(part)
    declarations, definitions = [], []
    for kernel, same in kernels.items():
        taken = {tuple((name, kind) for name, kind, _ in part.arguments) for part in same}
        if len(taken) > 1:
            raise error(ValueError, f"functions of {kernel} take different arguments", hint="link what has one signature")
        typed = ", ".join(["void *stream", *(f"{_c_type(kind)} {name}" for name, kind in taken.pop())])
        names = ", ".join(["stream", *(name for name, _, _ in same[0].arguments)])
        algorithms: dict[str, list[Part]] = {}
        for part in same:
            algorithms.setdefault(part.algorithm, []).append(part)
        for number, members in enumerate(algorithms.values()):
            definitions.append(f"static int {kernel}_algorithm{number}({typed}) {{\n{_dispatch(members)}\n}}")
        table = ", ".join(f"{kernel}_algorithm{number}" for number in range(len(algorithms)))
        definitions.append(
            f"int {kernel}({typed}, int algo_id) {{\n"
            f"  static int (*const algorithms[])({typed}) = {{{table}}};\n"
            f"  if (algo_id < 0 || algo_id >= {len(algorithms)})\n    return TILERY_NO_VARIANT;\n"
            f"  return algorithms[algo_id]({names});\n}}\n"
            f"int {kernel}_default({typed}) {{ return {kernel}({names}, 0); }}\n"
            f"int {kernel}_get_num_algos(void) {{ return {len(algorithms)}; }}\n"
            f"void load_{kernel}(void) {{}}\nvoid unload_{kernel}(void) {{}}"
        )
        declarations.append(
            f"int {kernel}({typed}, int algo_id);\nint {kernel}_default({typed});\n"
            f"int {kernel}_get_num_algos(void);\nvoid load_{kernel}(void);\nvoid unload_{kernel}(void);"
        )
    guard = re.sub(r"\W", "_", out.name.upper()) + "_H"
    text = "\n".join(declarations)
    opening = '#ifdef __cplusplus\nextern "C" {\n#endif'
    out.with_suffix(".h").write_text(
        f"#ifndef {guard}\n#define {guard}\n#include <stdint.h>\n{opening}\n{text}\n#ifdef __cplusplus\n}}\n#endif\n#endif\n"
    )
    includes = "".join(f'#include "{name}"\n' for name in dict.fromkeys([f"{out.name}.h", *(part.header for part in parts)]))
    out.with_suffix(".c").write_text(f"{includes}\n" + "\n\n".join(definitions) + "\n")


def main(arguments: list[str] | None = None) -> None:
    """The command line, with upstream's options."""
    parser = argparse.ArgumentParser(description="Makes one C function of several that were compiled from a kernel.")
    parser.add_argument("headers", nargs="+", help="that tools.compile wrote")
    parser.add_argument("--out", "-o", type=Path, required=True, help="the new files without their ending")
    parser.add_argument("--prefix", default="", help="of the headers that are taken")
    found = parser.parse_args(arguments)
    link([h for h in found.headers if Path(h).name.startswith(found.prefix)], found.out)


if __name__ == "__main__":
    main()
