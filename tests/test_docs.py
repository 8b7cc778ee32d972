"""Pages that are made from the sources are up to date; links lead somewhere, and files that pages name are there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [path.relative_to(ROOT) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]]
FOLDERS = ("benchmarks", "cmake", "compiler", "docs", "examples", "include", "python", "runtime", "tests", "tools")


def test_table_of_ops():
    subprocess.run([sys.executable, ROOT / "tools/ir_docs.py", "--check"], check=True)


def test_table_of_environment_variables():
    subprocess.run([sys.executable, ROOT / "tools/environment.py", "--check"], check=True)


def test_table_of_ignored_options():
    subprocess.run([sys.executable, ROOT / "tools/ignored.py", "--check"], check=True)


def anchors(page):
    """The names that a page's headings get on the web."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (ROOT / page).read_text(), flags=re.S)
    for target, _, anchor in re.findall(r"\]\(([^)#:]*)(#([^)]*))?\)", text):
        path = (ROOT / page).parent / target if target else ROOT / page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), f"{target}#{anchor}"


def spelled_out(word):
    """`a/{b,c}.py` as a/b.py and a/c.py."""
    match = re.fullmatch(r"(.*)\{(.*)\}(.*)", word)
    return [match[1] + part + match[3] for part in match[2].split(",")] if match else [word]


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "notebook.md"], ids=str)  # that one tells of its day
def test_named_files_are_there(page):
    for code in re.findall(r"`([^`\n]+)`", (ROOT / page).read_text()):
        for word in re.findall(r"[\w./*{},-]+", code):
            if word.startswith(FOLDERS) and "/" in word:
                for name in spelled_out(word.rstrip(".,")):
                    assert [*ROOT.glob(name), *ROOT.glob(name + ".*")], name


CODE = {".cpp", ".h", ".td", ".py", ".sh", ".txt", ".cmake", ".mlir", ".toml", ".yml", ".c"}
# What stands for any name of that kind (`runX`), and words of tools that no source has.
FOREIGN = {"runX", "pre-commit", "sanitize-address", "sanitize-thread", "CCACHE_SLOPPINESS", "pch_defines", "time_macros"}


def known_names():
    """Words of the sources, and names of files and folders without their endings."""
    paths = [path for path in [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]]
    read = [path for path in paths if path.is_file() and path != Path(__file__) and path.suffix in CODE]
    text = "\n".join(path.read_text(errors="ignore") for path in [*read, ROOT / "run"])
    names = {part for path in paths for part in path.relative_to(ROOT).with_suffix("").parts}
    return names | set(re.findall(r"[\w-]+", text)) | set(re.findall(r"\w+", text))


def test_what_hacking_names_is_there():
    """Every word in backticks is a word of the sources, or the name of a file or folder."""
    page = re.sub(r"```.*?```", "", (ROOT / "HACKING.md").read_text(), flags=re.S)
    known = known_names() | FOREIGN
    assert {"findAnyKernel", "find_product"} <= known and "findEveryKernel" not in known
    missing = []
    for code in re.findall(r"`([^`\n]+)`", page):
        for word in re.findall(r"[A-Za-z_][\w-]*", code):
            if word not in known and word.replace("-", "_") not in known:
                missing.append(f"{word} in `{code}`")
    assert not missing, "\n".join(missing)


def test_commands_that_pages_name_are_there():
    commands = set(re.findall(r"^    (\w+)\) ", (ROOT / "run").read_text(), re.M))
    assert {"test", "gate", "docs"} <= commands
    for page in ("HACKING.md", "CONTRIBUTING.md", "README.md", "docs/reference/releasing.md"):
        named = re.findall(r"`\./run (\w+)", (ROOT / page).read_text())
        assert named and not set(named) - commands, (page, set(named) - commands)


def test_the_page_of_functions_in_cpp_has_all_of_the_header():
    header = (ROOT / "include/tilery/language.h").read_text().partition("namespace tilery {")[2]
    head = "(?:template <typename T> |constexpr )?(?:Tile|void|Param|int64_t) (?:operator)?"
    functions = re.findall(rf"^{head}([^\s(]+)\(", header, re.M)
    members = re.findall(r"^  (?:Tile |template <typename... Args> void |const Compiled &)(\w+)\(", header, re.M)
    page = (ROOT / "docs/reference/cpp.md").read_text().replace("<code>&#124;</code>", "`|`")
    assert {"dot", "forRange", "%"} <= set(functions) and set(members) == {"to", "expand", "launch", "compiled"}
    words = set(re.findall(r"\w+|[^\w\s`]+", " ".join(re.findall(r"`[^`]+`", page))))
    assert not {*functions, *members} - words
