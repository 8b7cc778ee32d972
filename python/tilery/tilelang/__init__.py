"""TileLang: tile programs with explicit buffers."""
