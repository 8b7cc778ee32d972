"""Tilery: NineToothed, TileLang and Tileon/Triton programs on CPUs."""
from pkgutil import extend_path

# The native module is built into another folder than the sources; both are on the path.
__path__ = extend_path(__path__, __name__)
