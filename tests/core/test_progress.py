"""The bar that tuners and compilations draw on a terminal."""

import re
import sys

import pytest

from tilery.core.progress import Progress


def on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


def test_of_a_loop_each_turn_is_a_step(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with Progress("tuning k", 4) as bar:
        assert [item for item in bar.each("abcd") if item != "b"] == ["a", "c", "d"]
    text = capsys.readouterr().err
    assert "tuning k [######..................] 1/4" in text and "] 2/4" in text
    assert re.search(r"\] 4/4 \d+\.\d s *\n$", text)


def test_a_line_ends_where_a_turn_fails(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    with pytest.raises(ValueError), Progress("tuning k", 2) as bar:
        for _ in bar.each("ab"):
            raise ValueError
    assert re.search(r"\] 0/2 [^\n]*\n$", capsys.readouterr().err)


@pytest.mark.parametrize("total", [0, 1])
def test_one_thing_has_no_bar(capsys, monkeypatch, total):
    on_a_terminal(monkeypatch)
    with Progress("compiling", total) as bar:
        assert list(bar.each(range(total))) == list(range(total))
    assert capsys.readouterr().err == ""


def test_nothing_is_written_where_there_is_no_terminal(capsys):
    with Progress("compiling", 3) as bar:
        bar.step("k")
    assert capsys.readouterr().err == ""
