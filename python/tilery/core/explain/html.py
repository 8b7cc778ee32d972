"""An explanation as one HTML page that needs nothing else: no script, no other host, readable in both colour schemes."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from html import escape
from typing import Any

from . import diagrams, pictures
from .entry import Entry
from .text import alike, facts, head, place

_STYLE = """
:root {
  color-scheme: light dark;
  --text: #1b1b1f; --faint: #5f6068; --line: #d5d6dc; --back: #fff; --mark: #fff1c9; --taken: #3f6ad8; --least: #9a9ca6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e4e4e9; --faint: #a0a1ab; --line: #3c3d45; --back: #17181c; --mark: #4a3d12; --taken: #7d9cf0; --least: #70727c;
  }
}
body {
  font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
}
h1 { font-size: 1.4rem }
h2 { font-size: 1.15rem; border-top: 1px solid var(--line); padding-top: 1.2rem }
h3 { font-size: 1rem; margin-bottom: .3rem }
table { border-collapse: collapse }
td { padding: .15rem .8rem .15rem 0; vertical-align: top }
td:first-child, .faint { color: var(--faint); white-space: nowrap }
pre {
  font: 13px/1.45 ui-monospace, monospace; overflow-x: auto;
  border: 1px solid var(--line); border-radius: 4px; padding: .5rem;
}
.hit { background: var(--mark) }
.fault { font-weight: 600 }
li { margin: .4rem 0 }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif }
svg text { fill: var(--text) }
.taken { fill: var(--taken) }
.least { fill: var(--least) }
.roof { fill: none; stroke: var(--least); stroke-width: 2 }
"""


def page(title: str, launches: Sequence[Entry]) -> str:
    """The whole page, a section a kind of launch."""
    style, sections = _STYLE, "".join(map(_section, launches))
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    top = f"<!DOCTYPE html><html lang=\"en\"><head>{meta}<title>{escape(title)}</title><style>{style}</style></head>"
    return f"{top}<body><h1>{escape(title)}</h1>{sections}</body></html>\n"


def _section(entry: Entry) -> str:
    rows = "".join(f"<tr><td>{escape(what)}</td><td>{escape(said)}</td></tr>" for what, said in facts(entry))
    drawn = "".join(f"<p>{picture}</p>" for picture in (pictures.limits(entry), pictures.roofline(entry)) if picture)
    parts = [f"<section><h2>{escape(head(entry))}</h2><table>{rows}</table>{drawn}"]
    if entry.found.steps:
        steps = "".join(f"<li>{_at(step)}{escape(step.message)}</li>" for step in entry.found.steps)
        parts.append(f"<h3>Plan</h3><ul>{steps}</ul>")
    of_code = [*map(diagrams.pipeline, entry.found.steps), *diagrams.dealings(entry.found.steps)]
    parts += [f"<p>{picture}</p>" for picture in of_code if picture]
    if arrangement := entry.found.kernel.picture() if entry.found.kernel else "":
        parts.append(f"<details><summary>arrangement, with small numbers</summary>{arrangement}</details>")
    findings = entry.findings
    parts.append("<h3>What holds it back</h3>" if findings else f"<p>{entry.without_findings.capitalize()}.</p>")
    parts += map(_finding, alike(findings))
    for text in ("plan", "passes"):
        if shown := escape(entry.found.text(text)):
            parts.append(f"<details><summary>{escape(f'asm[{text!r}]')}</summary><pre>{shown}</pre></details>")
    return "".join(parts) + "</section>"


def _at(step: Any) -> str:
    return f'<span class="faint">line {step.chain[0].line}</span> ' if step.chain else ""


def _finding(group: Sequence[Any]) -> str:
    each = group[0]
    where = f" <span class=\"faint\">{escape(place(each.chain))}</span>" if each.chain else ""
    said = f"{escape(each.message)}. <b>Change:</b> {escape(each.hint)}."
    return f'<p><span class="fault">{escape(each.fault)}</span>{where}<br>{said}</p>{"".join(_lines(one.chain) for one in group)}'


def _lines(chain: Sequence[Any]) -> str:
    """The source line with those around it."""
    if not chain:
        return ""
    shown = []
    for number in range(max(1, chain[0].line - 1), chain[0].line + 2):
        line = linecache.getline(chain[0].file, number).rstrip("\n")
        if line:
            text = escape(f"{number:5}  {line}")
            shown.append(f'<span class="hit">{text}</span>' if number == chain[0].line else text)
    return f"<pre>{chr(10).join(shown)}</pre>" if shown else ""
