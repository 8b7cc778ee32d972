"""The lists of passes keep the order that docs/reference/passes.md gives reasons for, in which the pages describe them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "passes.md"
BLOCKS = PAGE.with_name("block.md")
OF_MLIR = {"canonicalizer-pass", "csepass", "loop-invariant-code-motion-pass"}


def kebab(name):
    """`LowerViews` as lower-views."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def passes_of(text):
    """The passes that a file adds to managers, in order, but for what it adds for programs without optimisations."""
    text = re.sub(r"if \(plain\)\s*return [^;]*;", "", text)
    rows = re.findall(r'addPass\(create(\w+)\(|^    \{(?:"([\w-]+)",|create(\w+)\})', text, re.M)
    return [name or kebab(added or made) for added, name, made in rows]


def listed(folder):
    """The list of the folder's passes: `passes.cpp`, or beside the passes in their room."""
    (path,) = [path for path in (ROOT / folder / "passes.cpp", ROOT / folder / "passes" / "passes.cpp") if path.exists()]
    return [name for name in passes_of(path.read_text()) if name not in OF_MLIR]


LISTS = [listed("compiler/passes"), listed("compiler/block")]


def rows():
    """[(first, then)] of the page's table."""
    cells = re.findall(r"^\| (`.*`) \| (`.*`) \| .+ \|$", PAGE.read_text(), re.M)
    return [(a, b) for first, then in cells for a in re.findall(r"`([\w-]+)`", first) for b in re.findall(r"`([\w-]+)`", then)]


def described(page):
    """Passes that stand at the beginning of a page's bullets, in order."""
    heads = re.findall(r"^- ((?:`[a-z-]+`(?: \([^)]*\))?(?:,? and |, )?)+)", page.read_text(), re.M)
    return [name for head in heads for name in re.findall(r"`([a-z-]+)`", head)]


def broken(order, first, then):
    """The list has both, and the second one at a place that none of the first stands in front of."""
    return first in order and then in order and order.index(then) < order.index(first)


@pytest.mark.parametrize("first, then", rows())
def test_order(first, then):
    both = [order for order in LISTS if first in order and then in order]
    assert both, f"no list has both {first} and {then}"
    assert not [order for order in both if broken(order, first, then)]


def test_the_table_knows_every_pass_of_blocks():
    """What is added there gets a row, or is one of those of which nobody knows that they need their places."""
    loose = {"split-reductions", "flatten-loops", "wide-sums", "join-loads", "transpose-operands"}
    assert set(LISTS[1]) - {name for row in rows() for name in row} == loose


def test_the_page_has_the_passes_over_tile_ir_in_their_order():
    first_of_each = list(dict.fromkeys(LISTS[0]))
    assert [name for name in described(PAGE) if name in first_of_each] == first_of_each


def test_the_page_of_block_ir_has_all_its_passes_in_their_order():
    own = [name for name in dict.fromkeys(LISTS[1]) if name != "promote-buffers"]
    assert [name for name in described(BLOCKS) if name in own] == own


def test_a_broken_order_is_found():
    plain = "if (plain)\n return kernel.addPass(createX()); "
    order = passes_of(f"kernel.addPass(createLowerViews()); {plain}kernel.addPass(createDeadLanes(1));")
    assert order == ["lower-views", "dead-lanes"]
    assert broken(order, "dead-lanes", "lower-views") and not broken(order, "lower-views", "dead-lanes")
    assert not broken(order, "lower-views", "pipeline")


def test_rows_of_a_table_are_its_passes():
    assert passes_of('    {"open-buffers", "what it does", runOpenBuffers},\n    {createCSEPass},\n') == [
        "open-buffers",
        "csepass",
    ]
