"""Programs compiled ahead of time: a bundle of machine code, a C file and a header to call it from C, and a library to call
it from Python. Running one takes the runtime library alone (`libtilery_rt`): no compiler, no toolkit, no Python.

    entry = aot.Entry("launch_add", parameters, variants)
    aot.write(folder, "add", [entry])       # add.tilery, add.h, add.c
    aot.Library.open(folder / "add.tilery").call("launch_add", x, y, out)

What languages add is how an entry is made from a kernel."""

from .bundle import Entry, Library, Parameter, Variant
from .kernels import entry_of, image_for
from .sources import Style, write

__all__ = ["Entry", "Library", "Parameter", "Style", "Variant", "entry_of", "image_for", "write"]
