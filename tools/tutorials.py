"""Tutorials: programs whose comments are text. A line `# %% [markdown]` begins a cell of text, `# %%` one of code (in C++ `//`
stands for `#`); from that come a page of the site and, of Python's, a notebook. In C++ a cell `// %% [output] WORD` shows the
lines of the program's output that begin with WORD, `// %% [plot] WORD, X, Y` draws them (WORD, x, y) with these labels of axes.

Runs in the environment of tools/docs.py, which says where things are."""

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

INK = "#010203"  # what figures are drawn with; on a page it is the colour of text, in either scheme


@dataclass
class Cell:
    kind: str  # code, markdown, output, plot
    text: str
    about: str = ""  # what stands behind the kind


def cells_of(source, comment="#"):
    """The cells of a program. What stands before the first is left out."""
    head = re.compile(rf"^{re.escape(comment)} %%(?: \[(\w+)\] ?(.*))?$", re.M)
    parts = head.split(source)[1:]
    cells = []
    for kind, about, text in zip(parts[::3], parts[1::3], parts[2::3]):
        if kind == "markdown":
            text = re.sub(rf"^{re.escape(comment)} ?", "", text.strip("\n"), flags=re.M)
        cells.append(Cell(kind or "code", text.strip("\n"), about or ""))
    return cells


def notebook_of(cells):
    """A notebook that was not run."""
    made = []
    for number, cell in enumerate(cells):
        entry = {"cell_type": cell.kind, "id": f"cell-{number}", "metadata": {}, "source": cell.text}
        made.append(entry | ({"execution_count": None, "outputs": []} if cell.kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def executed(notebook, python, paths, scratch):
    """The notebook with what its cells gave, run by Jupyter with this Python and these folders on its path."""
    import nbformat
    from nbclient import NotebookClient

    kernel = scratch / "kernels" / "tilery"
    kernel.mkdir(parents=True, exist_ok=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
    spec = {"argv": argv, "display_name": "Tilery", "language": "python", "env": {"PYTHONPATH": os.pathsep.join(map(str, paths))}}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    os.environ |= {"JUPYTER_PATH": str(scratch), "IPYTHONDIR": str(scratch / "ipython")}
    os.environ |= {"MATPLOTLIBRC": str(Path(__file__).with_name("figures.mplstyle")), "MPLCONFIGDIR": str(scratch)}
    node = nbformat.from_dict(notebook)
    setup = nbformat.v4.new_code_cell("%config InlineBackend.figure_formats = ['svg']")
    node.cells.insert(0, setup)
    NotebookClient(node, timeout=600, kernel_name="tilery", resources={"metadata": {"path": str(scratch)}}).execute()
    del node.cells[0]
    for number, cell in enumerate(cell for cell in node.cells if cell.cell_type == "code"):
        cell.execution_count = number + 1
        cell.metadata.pop("execution", None)  # times of day
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = number + 1
    nbformat.validate(node)
    return json.loads(nbformat.writes(node))


def inline(svg, name):
    """A figure as part of a page: in the page's colour of text, with names that no other figure of the page has."""
    svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = svg.replace(INK, "currentColor").replace("<svg ", f'<svg role="img" aria-label="{title_of(svg)}" ', 1)
    svg = re.sub(r'(<svg [^>]*?) width="[^"]*" height="[^"]*"', r"\1", svg, count=1)
    lines = " ".join(svg.split())
    return f'<figure class="plot">{lines}</figure>'


def title_of(svg):
    """The last text of a figure, which is its title, or its legend's end."""
    texts = re.findall(r"<!-- (.*?) -->", svg)
    return texts[-1].replace('"', "'") if texts else "figure"


def fenced(text, language):
    return f"```{language}\n{text.rstrip()}\n```"


def said(text):
    """What a program printed."""
    return f'<div class="output" markdown>\n{fenced(text, "text")}\n</div>'


def page_of(notebook, name):
    """A page from a notebook that was run."""
    parts = []
    for number, cell in enumerate(notebook["cells"]):
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else fenced(text, "python"))
        for place, output in enumerate(cell.get("outputs", ())):
            data = output.get("data", {})
            if output["output_type"] == "stream":
                parts.append(said("".join(output["text"])))
            elif "image/svg+xml" in data:
                parts.append(inline("".join(data["image/svg+xml"]), f"{name}-{number}-{place}"))
            elif "text/plain" in data:
                parts.append(said("".join(data["text/plain"])))
    return "\n\n".join(parts) + "\n"


def page_of_cpp(cells, printed):
    """A page from a C++ program and what it printed."""
    parts, lines = [], printed.splitlines()
    for number, cell in enumerate(cells):
        word, *labels = re.split(r",\s*", cell.about)
        chosen = [line for line in lines if line.startswith(word)]
        if cell.kind == "markdown":
            parts.append(cell.text)
        elif cell.kind == "code":
            parts.append(fenced(cell.text, "cpp"))
        elif not chosen:
            raise ValueError(f"the program printed no line that begins with {word!r}")
        elif cell.kind == "output":
            parts.append(said("\n".join(chosen)))
        else:
            points = [line.removeprefix(word).split() for line in chosen]
            parts.append(inline(drawn(points, labels), f"cpp-{number}"))
    return "\n\n".join(parts) + "\n"


def drawn(points, labels):
    """A line through points, as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rc_file(Path(__file__).with_name("figures.mplstyle"))
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.plot(*([float(x) for x in column] for column in zip(*points)))
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight")
    return text.getvalue()


def main(source, out, python, paths, program):
    """Writes NAME.md, and NAME.ipynb of a Python program, into the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".cpp":
        printed = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
        page = page_of_cpp(cells_of(source.read_text(), "//"), printed)
        (out / f"{source.stem}.md").write_text(page)
        return
    notebook = executed(notebook_of(cells_of(source.read_text())), python, paths, out.parent)
    (out / f"{source.stem}.ipynb").write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    (out / f"{source.stem}.md").write_text(page_of(notebook, source.stem))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4].split(os.pathsep), sys.argv[5])
