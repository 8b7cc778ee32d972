"""Where links of pages lead on the site, and rows of measurements that pages quote."""

import re
from types import SimpleNamespace

import pytest
import site_hooks


def on_site(markdown, page):
    return site_hooks.on_page_markdown(markdown, SimpleNamespace(file=SimpleNamespace(src_uri=page)), None, None)


@pytest.mark.parametrize(
    "page, link, wanted",
    [
        ("index.md", "[T](tutorials/tileon.py)", "[T](tutorials/tileon.md)"),
        ("guide/fast.md", "[T](../tutorials/tileon.py#softmax)", "[T](../tutorials/tileon.md#softmax)"),
        ("tutorials/cpp.md", "[T](tileon.py)", "[T](tileon.md)"),
        ("tutorials/tileon.md", "[program](tileon.py)", "[program](tileon.py)"),
        ("guide/embedding.md", "[C++](../tutorials/cpp.cpp)", "[C++](../tutorials/cpp.md)"),
        ("design.md", "[map](../HACKING.md)", "map (`HACKING.md`)"),
        ("index.md", "[new](../CHANGELOG.md#010)", "[new](releases.md#010)"),
        ("reference/stability.md", "[new](../../CHANGELOG.md)", "[new](../releases.md)"),
        ("reference/ir.md", "[`HACKING.md`](../../HACKING.md)", "`HACKING.md`"),
        ("start.md", "[x](guide/fast.md#measure), [y](https://a.org), [z](#here)", None),
    ],
)
def test_links(page, link, wanted):
    assert on_site(link, page) == (wanted or link)


def test_rows_come_with_their_date_and_head():
    text = on_site("before\n<!-- rows: vector add 2^26 f32; softmax 4096x1000 f32 -->\nafter", "guide/fast.md")
    before, date, empty, head, line, first, second, after = text.splitlines()
    assert re.match(r"\*\d{4}-\d\d-\d\d, `./run bench --write`\.", date) and not empty
    assert head.startswith("| work | Tilery |") and line.startswith("|---|")
    assert first.startswith("| vector add 2^26 f32 | ") and second.startswith("| softmax 4096x1000 f32 | ")
    rows = on_site("<!-- gpu rows: attention backward -->", "guide/fast.md").splitlines()
    assert rows[-1].startswith("| [attention backward](../measurements.md#")
    with pytest.raises(KeyError):
        on_site("<!-- rows: no such row -->", "guide/fast.md")


def test_pages_that_are_not_there_leave_the_navigation(monkeypatch):
    monkeypatch.setattr(site_hooks, "MADE_ELSEWHERE", ["reference/missing.md", "start.md"])
    nav = [{"Overview": "index.md"}, {"Start": [{"Five": "start.md"}, {"None": "reference/missing.md"}, {"Old": "gone.md"}]}]
    config = site_hooks.on_config(SimpleNamespace(nav=nav))
    assert config.nav == [{"Overview": "index.md"}, {"Start": [{"Five": "start.md"}, {"Old": "gone.md"}]}]


def test_a_tutorials_page_says_where_its_figures_come_from():
    page = site_hooks.with_note("# Title\n\nText\n", "tileon")
    assert page.startswith("# Title\n\n<p ") and "(tileon.ipynb)" in page and " threads" in page and page.endswith("\n\nText\n")
    assert "ipynb" not in site_hooks.with_note("# Title\n", "cpp")


def test_the_page_of_releases_has_every_change_below_its_heading():
    text = (site_hooks.ROOT / "CHANGELOG.md").read_text()
    assert "](docs/" not in site_hooks.releases() and site_hooks.releases().startswith("# Release notes\n")
    assert site_hooks.releases().count("\n- ") == text.count("\n- ") > 0
    level = 0  # of the heading above
    for line in filter(None, text.splitlines()):
        if heading := re.match("(#+) (.*)", line):
            assert level + 1 >= len(heading[1]) <= 4, line
            assert len(heading[1]) < 4 or heading[2] in ("Added", "Changed", "Fixed"), line
            level = len(heading[1])
        else:
            assert line.startswith("- ") and level == 4, line  # a change is a line
