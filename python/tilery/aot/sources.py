"""The C side of a bundle: a header with a function for each entry, and a C file that holds the bundle."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from .bundle import Entry, Parameter, packed

_C_TYPES = {
    "bool": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
}


class Style:
    """How C callers write a call: a tensor as a TileryArgument, numbers as C's numbers (f16 and bf16 as their bits). A language
    with an interface of its own overrides this."""

    headers: tuple[str, ...] = ()  # included by the bundle's header
    result = "int"
    stream = "void *"
    tensor = "TileryArgument"
    # Of entries that take a grid: C expressions of their arguments. None: the caller gives it.
    grid: tuple[str, str, str] | None = None

    def declared(self, parameter: Parameter) -> str:
        if parameter.only_chooses:
            return f"int64_t {parameter.name}"
        if parameter.rank is None:
            return f"{_C_TYPES[parameter.in_c or parameter.dtype]} {parameter.name}"
        return f"{self.tensor} {parameter.name}"

    def argument(self, parameter: Parameter) -> str:
        """An initialiser of a TileryArgument."""
        if parameter.rank is None:
            return f"{{(void *)&{parameter.name}, 0, 0}}"
        return parameter.name

    def beside(self, entry: Entry) -> str:
        """What the header says beside an entry's function."""
        return ""

    def files(self) -> dict[str, str]:
        """Further files beside the bundle: {name: text}."""
        return {}


# {device: [(what ends a function's name, where it runs)]}
_PLACES = {
    "cpu": [("", "TILERY_CPU")],
    "cuda": [("", "TILERY_CURRENT_GPU")],
    "both": [("_cpu", "TILERY_CPU"), ("_cuda", "TILERY_CURRENT_GPU")],
}


def signature(entry: Entry, style: Style, ending: str = "") -> str:
    grid = ["uint32_t grid_x, uint32_t grid_y, uint32_t grid_z"] if entry.takes_grid and style.grid is None else []
    parameters = [f"{style.stream}stream" if style.stream.endswith("*") else f"{style.stream} stream", *grid]

    return f"{style.result} {entry.name}{ending}({', '.join(parameters + [style.declared(p) for p in entry.parameters])})"


def functions_of(entries: Sequence[Entry]) -> list[list[tuple[int, Entry]]]:
    """[[(number, entry)] of one name]: entries of one name are one function, of the first one's parameters."""
    named: dict[str, list[tuple[int, Entry]]] = {}
    for number, entry in enumerate(entries):
        named.setdefault(entry.name, []).append((number, entry))

    return list(named.values())


def header(name: str, entries: Sequence[Entry], device: str, style: Style) -> str:
    guard = f"{name.upper()}_H"
    includes = "".join(f'#include "{h}"\n' for h in ("tilery/aot.h", *style.headers))
    functions = "".join(
        "".join(f"{signature(e, style, ending)};\n" for ending, _ in _PLACES[device]) + style.beside(e)
        for (_, e), *_ in functions_of(entries)
    )

    return (
        f"/* Compiled ahead of time by Tilery. 0: done; otherwise see tilery_aot_error(). "
        f"Links libtilery_rt, which is C++: see tilery_rt.pc. */\n"
        f"#ifndef {guard}\n#define {guard}\n#include <stdint.h>\n{includes}\n"
        f'#ifdef __cplusplus\nextern "C" {{\n#endif\n{functions}#ifdef __cplusplus\n}}\n#endif\n#endif\n'
    )


def source(name: str, entries: Sequence[Entry], device: str, style: Style) -> str:
    """:param device: where the functions run: "cpu" or "cuda" (that of the thread's CUDA context); "both": two functions of each
    entry, NAME_cpu and NAME_cuda."""
    data = packed(entries)
    rows = [data[i : i + 32] for i in range(0, len(data), 32)]
    lines = [f'#include "{name}.h"', "", "static TileryBundle *opened;", "static const unsigned char bundle[] = {"]
    lines += [",".join(map(str, row)) + "," for row in rows]
    lines += ["};", ""]
    for same, (ending, place) in itertools.product(functions_of(entries), _PLACES[device]):
        entry = same[0][1]
        arguments = ", ".join(style.argument(p) for p in entry.taken) or "{0, 0, 0}"
        lines += [f"{signature(entry, style, ending)} {{", f"  const TileryArgument arguments[] = {{{arguments}}};"]
        if entry.takes_grid:
            lines.append(f"  const int64_t grid[] = {{{', '.join(style.grid or ('grid_x', 'grid_y', 'grid_z'))}}};")
        grid = "grid" if entry.takes_grid else "0"
        lines.append("  int result = TILERY_NO_VARIANT;")
        for number, one in same:
            call = f"&opened, bundle, sizeof bundle, {number}, arguments, {len(one.taken)}, {grid}, {place}, (void *)stream"
            lines += ["  if (result == TILERY_NO_VARIANT)", f"    result = tilery_aot_call({call});"]
        lines += ["  return result;", "}"]

    return "\n".join(lines) + "\n"


def write(folder: str | Path, name: str, entries: Sequence[Entry], device: str = "cpu", style: Style | None = None) -> Path:
    """Writes NAME.tilery (the bundle), NAME.h and NAME.c into an existing folder and returns the bundle's path.

    :param device: where the C functions run: "cpu", "cuda", or "both" (see `source`).
    """
    style, folder = style or Style(), Path(folder)
    path = folder / f"{name}.tilery"
    path.write_bytes(packed(entries))
    (folder / f"{name}.h").write_text(header(name, entries, device, style))
    (folder / f"{name}.c").write_text(source(name, entries, device, style))
    for file, text in style.files().items():
        (folder / file).write_text(text)

    return path
