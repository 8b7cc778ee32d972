"""Pictures of tensors and arrangements: nested grids in which each element shows its place in the source.

As SVG without any other library; with matplotlib, where it is installed, as its figures and file formats."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilery._native.arrange import Tensor

from ..errors import error
from .eval import eval

_CELL, _TEXT_HEIGHT = 1.0, 0.8
_COLORS = ("#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5", "#d9d9d9", "#bc80bd")
_MOST_ELEMENTS = 20_000


@dataclass
class Cell:
    """A rectangle of a drawing, in cells of the innermost level.

    :param label: an element's number in the source, or a title; None: a frame.
    """

    x: float
    y: float
    width: float
    height: float
    label: str | None = None
    fill: str | None = None
    frame: bool = True


class Drawing:
    """Rectangles with texts. ``svg`` is the picture; notebooks show it."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = tuple(cells)
        self.width = max((c.x + c.width for c in cells), default=0.0)
        self.height = max((c.y + c.height for c in cells), default=0.0)

    @property
    def svg(self) -> str:
        size, margin = 28, 4
        width, height = self.width * size + 2 * margin, self.height * size + 2 * margin
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="{-margin} {-margin} {width:g} {height:g}" font-family="sans-serif" font-size="11">',
            f'<rect x="{-margin}" y="{-margin}" width="{width:g}" height="{height:g}" fill="white"/>',
        ]
        for cell in self.cells:
            x, y, w, h = (v * size for v in (cell.x, cell.y, cell.width, cell.height))
            if cell.frame:
                lines.append(
                    f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{cell.fill or "none"}" '
                    f'stroke="{"#444" if cell.label is None or cell.fill else "#bbb"}"/>'
                )
            if cell.label:
                text = html.escape(cell.label)
                if cell.frame:
                    place = f'x="{x + w / 2:g}" y="{y + h / 2 + 4:g}" text-anchor="middle"'
                else:
                    place = f'x="{x:g}" y="{y + h / 2 + 4:g}"'
                lines.append(f"<text {place}>{text}</text>")

        return "\n".join([*lines, "</svg>", ""])

    def _repr_svg_(self) -> str:
        return self.svg

    def figure(self) -> Any:
        """The same as a figure of matplotlib."""
        try:
            from matplotlib.figure import Figure
            from matplotlib.patches import Rectangle
        except ImportError:
            hint = "save the picture as .svg, which needs nothing"
            raise error(ImportError, "matplotlib is not installed", hint=hint) from None
        figure = Figure(figsize=(max(self.width, 1) * 0.35, max(self.height, 1) * 0.35))
        axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
        for cell in self.cells:
            if cell.frame:
                edge = "#444444" if cell.label is None or cell.fill else "#bbbbbb"
                box = Rectangle((cell.x, cell.y), cell.width, cell.height, facecolor=cell.fill or "none", edgecolor=edge)
                axes.add_patch(box)
            if cell.label:
                x = cell.x + cell.width / 2 if cell.frame else cell.x
                align = "center" if cell.frame else "left"
                axes.text(x, cell.y + cell.height / 2, cell.label, ha=align, va="center", fontsize=7)
        axes.set_xlim(-0.1, self.width + 0.1)
        axes.set_ylim(self.height + 0.1, -0.1)
        axes.set_aspect("equal")
        axes.axis("off")

        return figure

    def save(self, path: str | Path) -> None:
        """As SVG if the file's name ends so, else in a format of matplotlib (png, pdf, ...)."""
        if Path(path).suffix.lower() == ".svg":
            Path(path).write_text(self.svg)
        else:
            self.figure().savefig(path)


def visualize(tensor: Tensor, color: str | None = None, save_path: str | Path | None = None) -> Drawing:
    """Draws all levels of a tensor of known sizes, each inside the elements of the one around it.

    Of a level's dimensions the last runs to the right, the one before it down, the others alternately further out. An element
    shows its number in the source, row-major; one that lies outside is left blank.

    :param color: of elements that exist, as SVG and matplotlib know it.
    :param save_path: a file to write, ``.svg`` or, with matplotlib, any of its formats.
    :raises ValueError: if a size is not known, or there are more than 20,000 elements.
    """
    shapes, table = _levels(tensor)
    drawing = Drawing(_nested(shapes, table.reshape(-1).tolist(), lambda _program: color or _COLORS[4]))
    if save_path is not None:
        drawing.save(save_path)

    return drawing


def visualize_arrangement(
    arrangement: Callable[..., Any], tensors: Iterable[Tensor], save_path: str | Path | None = None
) -> Drawing:
    """Draws what each program of an arrangement gets: for every argument the source, each element in the colour of the first
    program that has it, and beside it the arranged tensor, each program in its colour.

    :raises ValueError: as `visualize` does.
    """
    arranged = arrangement(*tensors)
    arranged = arranged if isinstance(arranged, tuple) else (arranged,)
    cells: list[Cell] = []
    top = 0.0
    for tensor in (t for t in arranged if isinstance(t, Tensor) and t.source.ndim):
        shapes, table = _levels(tensor)
        programs = math.prod(shapes[0])
        flat = table.reshape(programs, -1).tolist()
        owner: dict[int, int] = {}
        for program, elements in enumerate(flat):
            for element in elements:
                owner.setdefault(element, program)
        source_shape = [size.constant for size in tensor.source.sizes]

        def color(element: int, owner: dict[int, int] = owner) -> str | None:
            return _color(owner[element]) if element in owner else None

        source = _nested([source_shape], list(range(math.prod(source_shape))), color, by_element=True)
        own = _nested(shapes, [e for row in flat for e in row], _color)
        title = f"{tensor.source.name}: {tuple(source_shape)} as {' of '.join(str(tuple(s)) for s in shapes)}"
        cells.append(Cell(0, top, 0.3 * len(title), _TEXT_HEIGHT, title, frame=False))
        top += _TEXT_HEIGHT
        offset = Drawing(source).width + 1
        for x, part in ((0.0, source), (offset, own)):
            cells += [Cell(c.x + x, c.y + top, c.width, c.height, c.label, c.fill, c.frame) for c in part]
        top = max(c.y + c.height for c in cells) + 0.5
    drawing = Drawing(cells)
    if save_path is not None:
        drawing.save(save_path)

    return drawing


def _color(program: int) -> str:
    return _COLORS[program % len(_COLORS)]


def _levels(tensor: Tensor) -> tuple[list[list[int]], Any]:
    """(shape of each level, the number of every element)."""
    sizes = {repr(n) for size in tensor.source.sizes for n in size.names()}
    symbols = {repr(n): n.label or repr(n) for n in tensor.names() if repr(n) not in sizes}
    if sizes or symbols:
        unknown = ", ".join([*sorted(sizes), *sorted(symbols.values())])
        numbers = ", ".join(f"{label}: 4" for label in sorted(symbols.values()))
        hints = ["sizes: Tensor(shape=(4, 8)), or tensor.subs({tensor: {'shape': (4, 8)}})"] * bool(sizes)
        hints += [f"symbols their values: tensor.subs({{{numbers}}})"] * bool(symbols)
        raise error(
            ValueError, f"`{tensor.source.name}` cannot be drawn: {unknown} not known", hint="give " + ", and ".join(hints)
        )
    table = eval(tensor)
    if table.size > _MOST_ELEMENTS:
        raise error(ValueError, f"`{tensor.source.name}` has {table.size} elements, too many to draw", hint="draw a smaller one")
    shapes, shape, level = [], list(table.shape), tensor
    while True:
        shapes.append(shape[: level.ndim])
        shape = shape[level.ndim :]
        if not isinstance(level.dtype, Tensor):
            return shapes, table
        level = level.dtype


def _nested(
    shapes: Sequence[Sequence[int]], numbers: Sequence[int], color: Callable[[int], str | None], by_element: bool = False
) -> list[Cell]:
    """Cells of all levels; `color` of the index into the first level, or of the element."""
    extents: list[tuple[Any, Any]] = []  # of an element of each level, outermost first
    width = height = _CELL
    for depth in reversed(range(len(shapes))):
        extents.insert(0, (width, height))
        across, down = _grid(shapes[depth])
        gap = _gap(shapes, depth)
        width, height = across * width + gap, down * height + gap
    cells = [Cell(0, 0, width, height)] if numbers else []
    frames: list[Cell] = []
    counts = [math.prod(shape) for shape in shapes]
    for at, indices in enumerate(itertools.product(*(range(n) for n in counts))):
        x = y = 0.0
        for depth, index in enumerate(indices):
            column, row = _place(shapes[depth], index)
            x += column * extents[depth][0] + _gap(shapes, depth) / 2
            y += row * extents[depth][1] + _gap(shapes, depth) / 2
            if depth + 1 < len(indices) and not any(indices[depth + 1 :]):
                frames.append(Cell(x, y, *extents[depth]))
        number = numbers[at]
        fill = color(number if by_element else indices[0]) if number >= 0 else None
        cells.append(Cell(x, y, _CELL, _CELL, str(number) if number >= 0 else "", fill))

    return cells + frames


def _gap(shapes: Sequence[Sequence[int]], depth: int) -> float:
    """Room around the elements of a level within its frame."""
    return 0.2 if depth else 0.0


def _grid(shape: Sequence[int]) -> tuple[int, int]:
    """(columns, rows) of the cells of a level."""
    return math.prod(shape[-1::-2]), math.prod(shape[-2::-2])


def _place(shape: Sequence[int], index: int) -> tuple[int, int]:
    """(column, row) of the element with this row-major index."""
    place, scale = [0, 0], [1, 1]
    for k, size in enumerate(reversed(shape)):
        place[k % 2] += index % size * scale[k % 2]
        scale[k % 2] *= size
        index //= size

    return place[0], place[1]
