"""A kernel of any language as an entry of a bundle, by a signature as its users write it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from .. import aot
from ..core.present import present
from ..errors import Error, error
from ..frontend.wording import counted, did_you_mean


def language_of(kernel: Any) -> str | None:
    """ "tileon", "ninetoothed" or "tilelang"; None: it is no kernel. A language that its file did not import has none in it."""
    tileon, ninetoothed = present("tilery.tileon.runtime.jit"), present("tilery.ninetoothed.jit")
    tilelang, builder = present("tilery.tilelang.jit"), present("tilery.tilelang.language.eager.builder")
    inner = kernel
    while tileon and not isinstance(inner, tileon.JITFunction) and isinstance(inner, tileon.KernelInterface):
        inner = getattr(inner, "fn", None)
    if tileon and isinstance(inner, tileon.JITFunction):
        return "tileon"
    if ninetoothed and isinstance(kernel, ninetoothed.Kernel):
        return "ninetoothed"
    kinds = (tilelang.JITImpl, tilelang.JITKernel) if tilelang else ()
    if isinstance(getattr(kernel, "jit_impl", kernel), kinds) or builder and isinstance(kernel, builder.PrimFunc):
        return "tilelang"
    return None


def of_tileon(
    kernel: Any, name: str, signature: str, targets: Sequence[str], grid: str | None, options: dict[str, Any]
) -> tuple[aot.Entry, aot.Style]:
    from ..tileon.tools.compile import Hints, PointerStyle, entry_of, innermost
    from ..tileon.tools.grid import extents_of

    kernel = innermost(kernel)
    hints = Hints(kernel, signature)
    style = PointerStyle(None if grid is None else extents_of(grid, hints.given, hints.constants))
    return entry_of(kernel, name, hints, targets, options), style


def of_ninetoothed(kernel: Any, name: str, signature: str, targets: Sequence[str]) -> tuple[aot.Entry, aot.Style]:
    from ..ninetoothed.aot import Style, compiled_for

    parts = [part.strip() for part in signature.split(",") if part.strip()]
    plain = [part for part in parts if "=" not in part]
    untyped = [n for n, tensor in zip(kernel.names, kernel.tensors) if tensor.source.dtype is None and not tensor.constexpr]
    if len(plain) != len(untyped):
        takes = f"types of {', '.join(untyped)}" if untyped else "no types: all arguments declare theirs"
        raise error(
            ValueError,
            f"the signature has {counted(len(plain), 'type')}; `{name}` takes {takes}",
            hint=f"write {', '.join(['float32'] * len(untyped))}, or what their elements are" if untyped else None,
        )
    sizes = {}
    for part in parts:
        if "=" in part:
            label, _, number = map(str.strip, part.partition("="))
            if label not in kernel.symbols:
                named = [symbol for symbol in kernel.symbols if not symbol.startswith("ninetoothed_")]  # others are block_size()
                near = did_you_mean(label, named) or f"its symbols: {', '.join(named) or 'none that has a name'}"
                raise error(ValueError, f"`{part}`: `{name}` has no symbol `{label}`", hint=near)
            if label in sizes:
                raise error(ValueError, f"the signature gives `{label}` twice")
            if not number.isdecimal() or int(number) < 1:
                raise error(ValueError, f"`{part}`: a positive number is expected")
            sizes[label] = int(number)
    parameters, variants = compiled_for(kernel, targets, dict(zip(untyped, plain)), sizes)
    return aot.Entry(name, parameters, variants), Style()


def of_tilelang(kernel: Any, name: str, signature: str, targets: Sequence[str]) -> tuple[aot.Entry, aot.Style]:
    from ..tilelang.jit import JITKernel

    kernel = getattr(kernel, "jit_impl", kernel)
    if hasattr(kernel, "get_tir"):
        args, named = _call(signature)
        try:
            kernel = JITKernel(kernel.get_tir(*args, **named), None, kernel.options)
        except Error as wrong:
            wrong.hint = _with_example(wrong)
            raise
    elif signature:
        hint = "leave --signature out"
        raise error(ValueError, f"`{name}` takes no signature: a @T.prim_func says all that it is compiled for", hint=hint)
    elif not isinstance(kernel, JITKernel):
        kernel = JITKernel(kernel)
    return kernel.library_entry(name, targets), aot.Style()


def _with_example(wrong: Error) -> str | None:
    """The hint of a call whose arguments are wrong, with a signature as it may be written."""
    if wrong.hint is None or not wrong.hint.startswith(("its parameters: ", "it takes ")):
        return wrong.hint
    missing = re.search(r"argument: '(\w+)'", wrong.message) or re.search(r": (\w+)[\w, ]*$", wrong.hint)
    return f'{wrong.hint}; as in --signature "{missing[1] if missing else "N"}=1024"'


def _call(signature: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call that are written as in Python."""
    named: dict[str, Any] = {}
    try:
        call = ast.parse(f"f({signature}\n)", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        args = [ast.literal_eval(value) for value in call.args]
        for keyword in call.keywords:
            if keyword.arg in named:
                raise error(ValueError, f"the signature gives `{keyword.arg}` twice")
            if keyword.arg is None:
                raise ValueError
            named[keyword.arg] = ast.literal_eval(keyword.value)
    except Error:
        raise
    except (SyntaxError, ValueError):
        message = f"the signature {signature!r} is no list of arguments"
        hint = "write numbers, texts in quotes and NAME=VALUE, as in 1024, dtype='float16'"
        raise error(ValueError, message, hint=hint) from None
    return args, named
