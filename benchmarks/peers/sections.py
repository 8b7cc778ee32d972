"""What is measured on GPUs: the sections, in order, their workloads, and the rows of each."""

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


@dataclass(frozen=True)
class Section:
    """workloads: what a line of the short table stands for -> {row: a function that yields Results}.
    note: where the notebook says how the figures came about."""

    title: str
    workloads: dict
    note: str

    @property
    def rows(self):
        return {name: row for rows in self.workloads.values() for name, row in rows.items()}

    @property
    def anchor(self):
        """Of the title on a page of the web."""
        kept = (letter for letter in self.title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")
        return "".join(kept)


SECTIONS = (
    Section("Matrix products", matmuls.WORKLOADS, "hopper-matmul"),
    Section("Attention", attention.WORKLOADS, "attention-on-hopper"),
    Section("Attention backward", attention_backward.WORKLOADS, "attention-backward-on-hopper"),
    Section("Attention of one query a sequence", decode.WORKLOADS, "few-queries-on-hopper"),
    Section("Loops over chunks", chunks.WORKLOADS, "loops-over-chunks"),
    Section("One product in ten spellings", spellings.WORKLOADS, "programs-around-a-product"),
    Section("Programs around a product", products.WORKLOADS, "programs-around-a-product"),
    Section("Batches, and 8-bit floats", batches.WORKLOADS, "batches-and-8-bit-floats-in-pointer-style"),
    Section("Few rows, and sizes that tiles do not divide", shapes.WORKLOADS, "products-of-few-rows-and-of-few-programs"),
    Section("Convolution", convolution.WORKLOADS, "operands-that-threads-fetch"),
    Section("Rows on a GPU", over_rows.WORKLOADS, "rows-in-loops-and-in-pieces"),
    Section("Copies and sums of memory", copies.WORKLOADS, "copies-that-turn-tiles"),
    Section("The host's time", host.WORKLOADS, "the-driver-on-hopper"),
)
ROWS = {name: row for section in SECTIONS for name, row in section.rows.items()}
