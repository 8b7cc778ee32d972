"""Tiles as values: element types, Triton's promotion, and the functions that Tileon and NineToothed have in common. What a trace
needs is imported when the first one begins (`methods`)."""
