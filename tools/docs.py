"""Builds the site of docs/ into build/docs/site: runs the tutorials, whose results stand on their pages, then makes all pages.
What MkDocs warns of is an error, and so is a page that would ask another host for anything.

usage: ./run docs [--out FOLDER]
What it is made with lies in an environment of its own, build/docs/env (tools/docs_requirements.txt)."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TILERY_BUILD_DIR", ROOT / "build"))
TUTORIALS = sorted(path for path in (ROOT / "docs" / "tutorials").iterdir() if path.suffix in (".py", ".cpp"))
# What a browser fetches by itself, by tag and attribute; links are none of it.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "use": "href", "video": "src"}
LINKED = {"canonical", "alternate", "prev", "next"}


def environment(folder):
    """The Python of an environment that holds what sites are made with."""
    files = [ROOT / "tools" / "docs_requirements.txt", ROOT / "tools" / "requirements.txt"]
    wanted, python, stamp = "".join(map(Path.read_text, files)), folder / "env" / "bin" / "python", folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder / "env", ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        install = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*install, "-r", files[0], "-c", files[1]], check=True)
        stamp.write_text(wanted)
    return python


def run_tutorials(python, folder):
    """Writes a page, and a notebook of each Python program, into folder/pages."""
    (libraries,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    paths = [ROOT / "python", BUILD / "python", libraries]
    binary = BUILD / "docs" / "tutorials" / "tutorial-cpp"
    shutil.rmtree(folder / "pages", ignore_errors=True)
    for source in TUTORIALS:
        start = time.perf_counter()
        command = [python, ROOT / "tools" / "tutorials.py", source, folder / "pages", sys.executable]
        subprocess.run([*command, os.pathsep.join(map(str, paths)), binary], check=True)
        print(f"{source.relative_to(ROOT)}: {time.perf_counter() - start:.0f} s", flush=True)


def make_pages(python, folder, out):
    """MkDocs; its warnings are errors."""
    settings = {"PYTHONPATH": str(ROOT / "tools"), "SITE_TUTORIALS": str(folder / "pages"), "NO_MKDOCS_2_WARNING": "1"}
    command = [python, "-m", "mkdocs", "build", "--strict", "-f", ROOT / "mkdocs.yml", "-d", out]
    subprocess.run(command, check=True, env={**os.environ, **settings})


class Fetches(HTMLParser):
    """Collects what a page asks other hosts for."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        place = attributes.get(FETCHED.get(tag, ""), "") or ""
        if re.match(r"(https?:)?//", place) and attributes.get("rel") not in LINKED:
            self.found.append(place)


def asked_of_others(site):
    """[(file, what it would fetch from another host)]"""
    found = []
    for page in sorted(site.rglob("*.html")):
        reader = Fetches()
        reader.feed(page.read_text())
        found += [(page.relative_to(site), place) for place in reader.found]
    for sheet in sorted(site.rglob("*.css")):
        places = re.findall(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)", sheet.read_text())
        found += [(sheet.relative_to(site), place) for place in places]
    return found


def main():
    parser = argparse.ArgumentParser(prog="./run docs", description="builds the site of docs/, and runs its tutorials")
    parser.add_argument("--out", type=Path, default=BUILD / "docs" / "site", metavar="FOLDER")
    out, folder = parser.parse_args().out, BUILD / "docs"
    if out.exists() and any(out.iterdir()) and not (out / "sitemap.xml").exists():
        sys.exit(f"run docs: {out} holds other files, which would be deleted")
    python = environment(folder)
    run_tutorials(python, folder)
    make_pages(python, folder, out)
    if found := asked_of_others(out):
        sys.exit("\n".join(f"{page} asks another host for {place}" for page, place in found))
    print(f"{out / 'index.html'}: {len(list(out.rglob('*.html')))} pages", flush=True)


if __name__ == "__main__":
    main()
