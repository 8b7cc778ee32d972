"""`build`: one function for many configurations of a kernel, compiled ahead of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..core.names import takes_options

if TYPE_CHECKING:
    from pathlib import Path

    from .configurations import Config


@takes_options
def build(
    premake: Callable[..., Any],
    configs: Iterable[Config],
    *,
    meta_parameters: Iterable[str] | None = None,
    caller: str | None = None,
    kernel_name: str | None = None,
    output_dir: str | Path | None = None,
    lazy: bool = False,
) -> Callable[..., None]:
    """A function that takes the tensors of a kernel, then the parameters of `premake`, then the compile options that
    configurations name, and runs the code of that configuration. Writes NAME.tilery, NAME.c, NAME.h and NAME.fingerprint.

    :param premake: ``premake(*args, **kwargs)`` gives (arrangement, application, tensors).
    :param configs: (args, kwargs, compile options) each; options: `num_warps`, `num_stages`.
    :param meta_parameters: parameters of `premake` that timing chooses: of configurations that differ only in these and in
        compile options the fastest is kept, and callers give neither. A call that fits no configuration runs the code of
        another one, if its types and sizes fit.
    :param caller: where it runs, "cpu" or "cuda" (as if not given).
    :param output_dir: an existing folder; that of cached files by default.
    :param lazy: compile when it is first called.
    """
    # Few programs compile ahead of time, and its files and tables take milliseconds to import.
    from .configurations import Configurations
    from .options import checked_name

    options = {
        "meta_parameters": tuple(meta_parameters or ()),
        "caller": caller or "cuda",
        "kernel_name": checked_name(kernel_name) or getattr(premake, "__name__", "kernel"),
        "output_dir": output_dir,
    }
    configured = Configurations(premake, tuple(configs), options)

    return configured if lazy else configured.launcher()
