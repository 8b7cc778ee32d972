"""Drawings of arrangements: every element once at its place, in SVG and in matplotlib."""

import re
from xml.etree import ElementTree

import pytest

from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed.visualization import visualize, visualize_arrangement


def texts(drawing):
    return [node.text for node in ElementTree.fromstring(drawing.svg).iter("{http://www.w3.org/2000/svg}text")]


def places(drawing):
    """{label: (x, y)} of the elements."""
    return {cell.label: (cell.x, cell.y) for cell in drawing.cells if cell.label and cell.frame}


def test_elements_lie_where_they_belong():
    drawing = visualize(Tensor(shape=(2, 3)))
    assert places(drawing) == {"0": (0, 0), "1": (1, 0), "2": (2, 0), "3": (0, 1), "4": (1, 1), "5": (2, 1)}
    assert texts(drawing) == ["0", "1", "2", "3", "4", "5"]


def test_levels_are_nested():
    drawing = visualize(Tensor(shape=(5, 6)).tile((2, 3)).tile((1, 2)))
    assert sorted(map(int, texts(drawing))) == list(range(30))  # those outside have no text
    at = places(drawing)
    frames = [cell for cell in drawing.cells if cell.label is None]
    assert len(frames) == 1 + 3 * 1 + 3 * 2  # the whole, three programs, two tiles in each

    def around(label):
        x, y = at[label]
        return [f for f in frames if f.x <= x < f.x + f.width and f.y <= y < f.y + f.height]

    assert all(len(around(label)) == 3 for label in at)
    assert around("0") == around("7") != around("3")
    assert len(drawing.cells) - len(frames) == 36


def test_further_dimensions_alternate():
    at = places(visualize(Tensor(shape=(2, 2, 2, 2))))
    assert [at[str(n)] for n in (1, 2, 4, 8)] == [(1, 0), (0, 1), (2, 0), (0, 2)]


def test_an_arrangement_in_the_colours_of_its_programs():
    def arrangement(x, y, scale):
        return x.tile((2,)), y.tile((2,)), scale

    drawing = visualize_arrangement(arrangement, (Tensor(shape=(3,), name="x"), Tensor(shape=(3,), name="y"), Tensor(0)))
    assert [t for t in texts(drawing) if not t.isdigit()] == ["x: (3,) as (2,) of (2,)", "y: (3,) as (2,) of (2,)"]
    fills = [cell.fill for cell in drawing.cells if cell.label and cell.frame]
    first, second = fills[0], fills[2]
    assert first != second and fills == [first, first, second] * 4


def test_colour_and_files(tmp_path):
    path = tmp_path / "tile.svg"
    drawing = visualize(Tensor(shape=(3,)).tile((2,)), color="#123456", save_path=path)
    assert path.read_text() == drawing.svg == drawing._repr_svg_()
    assert len(re.findall('fill="#123456"', drawing.svg)) == 3


def test_matplotlib(tmp_path):
    pytest.importorskip("matplotlib")
    visualize(Tensor(shape=(2, 3)), save_path=tmp_path / "tile.png")
    assert (tmp_path / "tile.png").read_bytes().startswith(b"\x89PNG")
    assert len(visualize(Tensor(shape=(2, 3))).figure().axes[0].texts) == 6


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="cannot be drawn: BLOCK not known") as caught:
        visualize(Tensor(shape=(5,)).tile((Symbol("BLOCK", constexpr=True),)))
    assert caught.value.hint == "give symbols their values: tensor.subs({BLOCK: 4})"
    with pytest.raises(ValueError, match="cannot be drawn"):
        visualize(Tensor(2))
    with pytest.raises(ValueError, match="has 40000 elements, too many to draw"):
        visualize(Tensor(shape=(200, 200)))
