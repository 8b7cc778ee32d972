"""TileLang programs as their users write them: blocks of rows or columns, products, threads, flat indices."""

from programs.tilelang_flat import write_flat
from programs.tilelang_products import write_product
from programs.tilelang_rows import write_rows
from programs.tilelang_threads import write_threads


def write(rng, seed):
    kind = rng.random()
    writer = write_rows if kind < 0.5 else write_product if kind < 0.72 else write_threads if kind < 0.87 else write_flat
    return writer(rng, seed)
