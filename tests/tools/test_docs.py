"""What ./run docs refuses, and the list of pages."""

import re
from pathlib import Path

import pytest

import docs

ROOT = Path(__file__).resolve().parents[2]


def test_a_page_that_asks_another_host_is_found(tmp_path):
    (tmp_path / "good.html").write_text(
        '<link rel="canonical" href="https://x.org/"><a href="https://x.org">x</a><img src="a.svg"><script src="b.js"></script>'
    )
    (tmp_path / "good.css").write_text("p { background: url(a.svg) } @import 'b.css';")
    assert docs.asked_of_others(tmp_path) == []
    (tmp_path / "bad.html").write_text(
        '<link rel="stylesheet" href="https://x.org/a.css"><img src="//x.org/a.png"><script src="http://x.org/b.js"></script>'
    )
    (tmp_path / "bad.css").write_text("@import 'https://x.org/font.css'; p { background: url( 'https://x.org/a.png' ) }")
    places = [place for _, place in docs.asked_of_others(tmp_path)]
    assert places == ["https://x.org/a.css", "//x.org/a.png", "http://x.org/b.js", "https://x.org/font.css", "https://x.org/a.png"]


def test_a_folder_of_other_files_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "mine").write_text("")
    monkeypatch.setattr("sys.argv", ["docs.py", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="holds other files"):
        docs.main()
    assert (tmp_path / "mine").exists()


def test_every_page_is_in_the_navigation_once():
    listed = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    made = {"releases.md", *(f"tutorials/{source.stem}.md" for source in docs.TUTORIALS)}
    there = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert len(set(listed)) == len(listed) and set(listed) | {"index.md"} >= there | made
    assert set(listed) - there - made <= {"reference/command.md"}


def test_the_pages_of_tutorials_are_where_links_lead():
    assert all(source.exists() for source in docs.TUTORIALS)
    assert {source.name for source in docs.TUTORIALS} == {"tileon.py", "tilelang.py", "ninetoothed.py", "cpp.cpp"}
