"""Compiles a kernel ahead of time. Writes NAME.h (a C function), NAME.c and NAME.tilery (the machine code) into a folder; a C
program includes the header, compiles NAME.c and links libtilery_rt (`tilery --prefix`).

  tilery compile add.py:add --signature "*fp32:16, *fp32:16, i32, 1024" --grid "(n + 1023) / 1024, 1, 1" -o build
  tilery compile product.py:matmul --signature "fp32, fp32, fp32, BLOCK=64" --target x86-64-v3,x86-64-v4 -o build
  tilery compile rows.py:softmax --signature "1024, 4096, dtype='float16'" --target sm_80,sm_90a -o build

The signature is that of the kernel's language:
  Tileon, Triton   a part a parameter: a type (*fp32: a pointer), `:16` where the value divides by 16, or a compile-time value
                   (1024, True, None, 'text'); those at the end that have defaults may be left out
  NineToothed      the element type of each argument that declares none; NAME=NUMBER for symbols (block sizes else are chosen)
  TileLang         the arguments of the function of @tilelang.jit, as Python writes them; none for a @T.prim_func;
                   of a kernel whose tensors its body declares, the sizes of T.const by name: N=1024.
                   Callers give results, too: what T.empty makes behind the other tensors
The file is imported, not run as a program: what stands under `if __name__ == "__main__"` does not run."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

_KEYWORDS = set(  # of C
    "auto bool break case char const continue default do double else enum extern float for goto if inline int long main register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while".split()
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "tilery compile FILE.py:KERNEL [--signature TEXT] [--target NAMES] [--grid TEXT] [--name NAME] [-o FOLDER]"
    parser.add_argument("kernel", metavar="FILE.py:KERNEL", help="a kernel at the top of a file")
    parser.add_argument("--signature", "-s", default="", metavar="TEXT", help="what it is compiled for, see above")
    parser.add_argument(
        "--target",
        "-t",
        default="cpu",
        metavar="NAMES",
        help="machines, with commas: cpu (this one, the default), cuda, x86-64-v3, x86-64-v4, avx2, avx512, sapphirerapids, "
        "aarch64-neon, aarch64-dotprod, sm_80, sm_90a, ... With CPUs and GPUs there are two functions, NAME_cpu and NAME_cuda",
    )
    parser.add_argument(
        "--grid",
        "-g",
        metavar="TEXT",
        help="Tileon: three expressions of the arguments: integers, + - * / // %%, (), min, max, cdiv; "
        "without, the caller gives the grid",
    )
    parser.add_argument("--name", "-n", help="of the C function and the files (the kernel's)")
    parser.add_argument("--output", "-o", type=Path, default=Path("."), metavar="FOLDER", help="is made where there is none (.)")
    parser.add_argument("--num-warps", type=int, metavar="N", help="Tileon: warps of a GPU's block")
    parser.add_argument("--num-stages", type=int, metavar="N", help="Tileon: stages of a GPU's pipeline")
    parser.set_defaults(parser=parser)


def run(arguments: argparse.Namespace) -> int:
    file, separator, name = arguments.kernel.rpartition(":")
    if not separator or not name.isidentifier():
        arguments.parser.error(f"{arguments.kernel!r} names no kernel; FILE.py:KERNEL is expected")
    function = arguments.name or name
    if not re.fullmatch(r"[A-Za-z_]\w*", function, re.ASCII) or function in _KEYWORDS:
        why = "a word of C's own, and " if function in _KEYWORDS else ""
        arguments.parser.error(f"{function!r} is {why}no name of a C function; give another one by --name")
    from tilery import aot, compat

    from ..aot.program import load
    from ..aot.targets import on_gpu, targets_named
    from ..core import frames
    from ..errors import Error

    targets = targets_named(part.strip() for part in arguments.target.split(","))
    places = {on_gpu(target) for target in targets}
    device = "both" if len(places) == 2 else "cuda" if True in places else "cpu"
    compat.install()
    try:
        kernel = load(file, name)
    except Error:
        raise
    except Exception as wrong:  # the file's own
        sys.excepthook(type(wrong), wrong, frames.of_program(wrong))
        return 1
    entry, style = _entry(kernel, function, targets, arguments)
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        arguments.parser.error(f"--output is {arguments.output}, which is no folder and cannot be made one: {wrong.strerror}")
    path = aot.write(arguments.output, function, [entry], device, style)
    for written in (path, path.with_suffix(".h"), path.with_suffix(".c"), *(path.parent / other for other in style.files())):
        print(written)
    return 0


def _entry(kernel: Any, name: str, targets: list[str], arguments: argparse.Namespace) -> tuple[Any, Any]:
    """(the entry of a bundle, how C callers write its arguments)."""
    from ..errors import with_article
    from . import entries

    options = {option: getattr(arguments, option) for option in ("num_warps", "num_stages")}
    given = {option: value for option, value in options.items() if value is not None}
    language = entries.language_of(kernel)
    if language is None:
        arguments.parser.error(f"{arguments.kernel} is {with_article(type(kernel).__name__)}, no kernel")
    if language != "tileon" and (given or arguments.grid is not None):
        option = "--grid" if arguments.grid is not None else "--" + next(iter(given)).replace("_", "-")
        arguments.parser.error(f"{option} is for kernels of Tileon; {arguments.kernel} is one of another language")
    if language == "tileon":
        return entries.of_tileon(kernel, name, arguments.signature, targets, arguments.grid, given)
    make = entries.of_ninetoothed if language == "ninetoothed" else entries.of_tilelang
    return make(kernel, name, arguments.signature, targets)
