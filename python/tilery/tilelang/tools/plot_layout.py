"""A layout as a picture: SVG, which every browser shows."""

from __future__ import annotations

import colorsys
import os
from collections.abc import Sequence

from ...errors import error
from ..layout import Fragment, Layout

_CELL = 40


def _color(number: int, count: int) -> str:
    r, g, b = colorsys.hsv_to_rgb(number / max(count, 1), 0.35, 0.95)
    return f"#{int(r * 255):02x}{int(g * 255):02x}{int(b * 255):02x}"


def plot_layout(
    layout: Layout,
    save_directory: str = "./tmp",
    name: str = "layout",
    formats: str | Sequence[str] = "svg",
    view: str = "input",
    colormap: str | None = None,
    verbose: bool = False,
) -> str:
    """Writes save_directory/name.svg and gives its path. A cell is an element; it says where it lies, or of a Fragment which
    thread holds it and as which of its own.

    :raises tilery.NotImplementedError: SVG is not among the formats (text with commas, or a list), or another view is wanted."""
    wanted = formats.replace(" ", "").split(",") if isinstance(formats, str) else list(formats)
    if not {"svg", "all"} & set(wanted):
        raise error(NotImplementedError, f"plot_layout writes SVG, not {', '.join(map(str, wanted))}", hint='write formats="svg"')
    if view != "input":
        raise error(NotImplementedError, f"plot_layout draws elements and where they lie, not view={view!r}", hint="leave it out")
    shape = layout.get_input_shape()
    if not 1 <= len(shape) <= 2 or not all(isinstance(size, int) for size in shape):
        raise error(ValueError, f"plot_layout draws one or two known dimensions, got the shape {tuple(shape)}")
    rows, columns = (1, shape[0]) if len(shape) == 1 else shape
    cells = []
    threads = layout.get_thread_size() if isinstance(layout, Fragment) else 0
    for element in layout.elements():
        row, column = (0, *element) if len(shape) == 1 else element
        places = layout.map_forward_index(element)
        if isinstance(layout, Fragment):
            thread = layout.map_forward_thread(element)
            words, color = [f"T{thread}", f"L{places[0] if places else 0}"], _color(thread, threads)
        else:
            words, color = [",".join(map(str, places))], _color(places[-1] % 32, 32)
        x, y = column * _CELL, row * _CELL
        cells.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{color}" stroke="#555"/>')
        for line, word in enumerate(words):
            at = y + _CELL * (line + 1) / (len(words) + 1) + 4
            cells.append(f'<text x="{x + _CELL / 2}" y="{at}" font-size="11" text-anchor="middle">{word}</text>')
    width, height = columns * _CELL, rows * _CELL
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">'
    os.makedirs(save_directory, exist_ok=True)
    path = os.path.join(save_directory, f"{name}.svg")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([head, *cells, "</svg>\n"]))
    return path
