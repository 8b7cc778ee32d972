"""The tables of docs/performance.md's part on GPUs: their order, and the rows of each."""

from dataclasses import dataclass

import attention
import attention_backward
import batches
import chunks
import convolution
import copies
import decode
import host
import matmuls
import over_rows
import products
import shapes
import spellings
import table


@dataclass(frozen=True)
class Section:
    """rows: name -> a function that yields Results. note: where the notebook says how the figures came about."""

    title: str
    rows: dict
    note: str


SECTIONS = (
    Section("Matrix products", matmuls.ROWS, "hopper-matmul"),
    Section("Attention", attention.ROWS, "attention-on-hopper"),
    Section("Attention backward", attention_backward.ROWS, "attention-backward-on-hopper"),
    Section("Attention of one query a sequence", decode.ROWS, "few-queries-on-hopper"),
    Section("Loops over chunks", chunks.ROWS, "loops-over-chunks"),
    Section("One product in ten spellings", spellings.ROWS, "programs-around-a-product"),
    Section("Programs around a product", products.ROWS, "programs-around-a-product"),
    Section("Batches, and 8-bit floats", batches.ROWS, "batches-and-8-bit-floats-in-pointer-style"),
    Section("Few rows, and sizes that tiles do not divide", shapes.ROWS, "products-of-few-rows-and-of-few-programs"),
    Section("Convolution", convolution.ROWS, "operands-that-threads-fetch"),
    Section("Rows on a GPU", over_rows.ROWS, "rows-in-loops-and-in-pieces"),
    Section("Copies and sums of memory", copies.ROWS, "copies-that-turn-tiles"),
    Section("The host's time", host.ROWS, "what-falls-short-in-todays-tables"),
)
ROWS = {name: row for section in SECTIONS for name, row in section.rows.items()}


def markdown(measured):
    """The tables of what was measured: {row: Results}."""
    parts = []
    for section in SECTIONS:
        if results := [result for name in section.rows for result in measured.get(name, ())]:
            parts.append(f"### {section.title}\n[Notebook](notebook.md#{section.note}).\n\n{table.markdown(results)}")
    return "\n\n".join(parts)
