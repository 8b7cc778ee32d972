"""Tileon, which is also Triton: tile programs over pointers."""
