"""Programs with cells of text become pages and notebooks."""

import pytest
import tutorials

PYTHON = """import hidden
# %% [markdown]
# # Title
#
# Text of *two*
# lines.

# %%
x = 1
print(x)  # %% is no cell here
"""
CPP = """#include <hidden>
// %% [markdown]
// # Title

// %%
int x;

// %% [output] sum

// %% [plot] speed, size, GB/s
"""
SVG = (
    '<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x">\n<svg xmlns="http://www.w3.org/2000/svg" width="10pt" height="5pt" '
    'viewBox="0 0 10 5">\n<metadata>day</metadata>\n\n<g id="a"><use xlink:href="#b" clip-path="url(#c)" style="fill: #010203"/>'
    "<!-- seconds -->\n</g></svg>"
)


def test_cells_of_python():
    text, code = tutorials.cells_of(PYTHON)
    assert (text.kind, text.text) == ("markdown", "# Title\n\nText of *two*\nlines.")
    assert (code.kind, code.text) == ("code", "x = 1\nprint(x)  # %% is no cell here")


def test_cells_of_cpp():
    kinds = [(cell.kind, cell.about) for cell in tutorials.cells_of(CPP, "//")]
    assert kinds == [("markdown", ""), ("code", ""), ("output", "sum"), ("plot", "speed, size, GB/s")]


def test_a_notebook_has_the_cells():
    notebook = tutorials.notebook_of(tutorials.cells_of(PYTHON))
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["markdown", "code"]
    assert notebook["cells"][1]["outputs"] == [] and "outputs" not in notebook["cells"][0]
    assert len({cell["id"] for cell in notebook["cells"]}) == 2


def test_a_page_has_what_was_printed_and_drawn():
    notebook = tutorials.notebook_of(tutorials.cells_of(PYTHON))
    notebook["cells"][1]["outputs"] = [
        {"output_type": "stream", "text": ["1\n"]},
        {"output_type": "display_data", "data": {"image/svg+xml": [SVG], "text/plain": ["<Figure>"]}},
        {"output_type": "execute_result", "data": {"text/plain": ["42"]}},
    ]
    page = tutorials.page_of(notebook, "name")
    assert page.startswith("# Title\n") and "```python\nx = 1\n" in page
    assert "```text\n1\n```" in page and "```text\n42\n```" in page and "<Figure>" not in page
    assert page.index("```text\n1") < page.index("<figure") < page.index("```text\n42")


def test_figures_take_the_colour_of_text_and_names_of_their_own():
    figure = tutorials.inline(SVG, "page-1")
    assert "\n" not in figure and "metadata" not in figure and "DOCTYPE" not in figure and "?xml" not in figure
    assert 'id="page-1-a"' in figure and '"#page-1-b"' in figure and "url(#page-1-c)" in figure
    assert "fill: currentColor" in figure and 'aria-label="seconds"' in figure
    assert 'width="10pt"' not in figure and 'viewBox="0 0 10 5"' in figure


def test_a_cpp_page_shows_lines_by_their_first_word(monkeypatch):
    drawn = []
    monkeypatch.setattr(tutorials, "drawn", lambda points, labels: drawn.append((points, labels)) or SVG)
    page = tutorials.page_of_cpp(tutorials.cells_of(CPP, "//"), "sum: 3\nspeed 1 2.5\nspeed 2 3.5\n")
    assert "```cpp\nint x;\n```" in page and "```text\nsum: 3\n```" in page and "<figure" in page
    assert drawn == [([["1", "2.5"], ["2", "3.5"]], ["size", "GB/s"])]
    with pytest.raises(ValueError, match="no line that begins with 'sum'"):
        tutorials.page_of_cpp(tutorials.cells_of(CPP, "//"), "speed 1 2\n")
