"""What `./run docs` adds to MkDocs (mkdocs.yml): the pages of tutorials and releases, and links to them or out of docs/."""

import os
import posixpath
import re
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTE = (
    "What the program printed and drew is from the day this page was made: {date}, {cpu}, {threads} threads, no GPU, other work "
    "beside it (load average {load:.1f}); [Measured speed](../performance.md) has figures of interleaved rounds."
)


MADE_ELSEWHERE = ["reference/command.md"]  # pages of the navigation that need not be there


def on_config(config):
    """Leaves out of the navigation what is not there."""
    for section in config.nav:
        for title, entries in section.items():
            if isinstance(entries, list):
                section[title] = [entry for entry in entries if not absent(*entry.values())]
    return config


def absent(page):
    return page in MADE_ELSEWHERE and not (ROOT / "docs" / page).exists()


def on_files(files, config):
    """Adds the pages and notebooks that tools/tutorials.py made, and the page of releases."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "releases.md", content=releases()))
    for path in sorted(Path(os.environ["SITE_TUTORIALS"]).iterdir()):
        text = path.read_text()
        if path.suffix == ".md":
            text = with_note(text, path.stem)
        files.append(File.generated(config, f"tutorials/{path.name}", content=text))
    return files


def releases():
    """The page of releases: CHANGELOG.md."""
    text = (ROOT / "CHANGELOG.md").read_text().replace("# Changes", "# Release notes", 1)
    return text.replace("](docs/", "](")


def with_note(text, name):
    """The page of a tutorial with what it can be had as below its title, and where its figures come from."""
    note = NOTE.format(date=date.today(), cpu=processor(), threads=len(os.sched_getaffinity(0)), load=os.getloadavg()[2])
    program = f"{name}.cpp" if name == "cpp" else f"{name}.py"
    notebook = "" if name == "cpp" else f"[Notebook]({name}.ipynb){{ download }}, "
    title, _, rest = text.partition("\n")
    return f"{title}\n\n<p class=\"made\" markdown>{notebook}[program]({program}){{ download }}. {note}</p>\n{rest}"


def processor():
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return names[0] if names else "an unnamed processor"


def on_page_markdown(markdown, page, config, files):
    """Links to the source of a tutorial, and to CHANGELOG.md, lead to its page; those to other files of the tree, which is not
    part of the site, are their names. A comment `rows: NAME; NAME` becomes these rows of the table of measurements on a CPU,
    `gpu rows:` on a GPU."""
    markdown = re.sub(r"<!-- (rows|gpu rows): (.*?) -->", lambda match: measured(match[1], match[2].split("; ")), markdown)
    return re.sub(r"\[([^\]\n]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)", lambda match: link(match, page.file.src_uri), markdown)


def measured(table, names):
    """Rows of docs/performance.md, below the line that says when and where they were measured."""
    mark = {"rows": "measured", "gpu rows": "measured on a GPU"}[table]
    text = (ROOT / "docs" / "performance.md").read_text()
    lines = text.split(f"<!-- {mark}: begin -->\n")[1].split(f"<!-- {mark}: end -->")[0].splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("| work |"))
    rows = {re.sub(r"\[(.*)\]\(.*\)", r"\1", line.split(" | ")[0].removeprefix("| ")): line for line in lines[head + 2 :]}
    chosen = [rows[name].replace("](measurements.md", "](../measurements.md") for name in names]
    return "\n".join([f"*{lines[0]}*", "", *lines[head : head + 2], *chosen])


def link(match, source):
    text, target, anchor = match[1], match[2], match[3] or ""
    place = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if re.fullmatch(r"tutorials/\w+\.(py|cpp)", place) and text != "program":
        return f"[{text}]({posixpath.splitext(target)[0]}.md{anchor})"
    if place == "../CHANGELOG.md":
        return f"[{text}]({posixpath.relpath('releases.md', posixpath.dirname(source))}{anchor})"
    if place.startswith("../"):
        name = place.removeprefix("../")
        return f"`{name}`" if text.strip("`") == name else f"{text} (`{name}`)"
    return match[0]
