"""Products of half-empty matrices."""
