"""TileLang: tile programs with explicit buffers."""
from . import language
