"""Tilery: NineToothed, TileLang and Tileon/Triton programs on CPUs and NVIDIA GPUs."""

import os
import sys

# The native module is built into another folder than the sources; both are on the path.
# (pkgutil does the same, and takes long to import.)
__path__ += [p for p in (os.path.join(entry, "tilery") for entry in sys.path) if p not in __path__ and os.path.isdir(p)]


def __getattr__(name):  # type: ignore[no-untyped-def]  # typed, it would hide the module _native
    if name != "__version__":  # the native module takes milliseconds, and not every command needs it
        raise AttributeError(f"module 'tilery' has no attribute '{name}'")
    from tilery import _native

    return _native.version
