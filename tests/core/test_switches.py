import pytest

from tilery.core.switches import is_on, switch


@pytest.mark.parametrize("text, on", [("1", True), ("TRUE", True), ("Yes", True), ("0", False), ("off", False), ("2", False)])
def test_words(text, on):
    assert is_on(text) == on


def test_what_is_not_set(monkeypatch):
    monkeypatch.delenv("TILERY_SOMETHING", raising=False)
    assert not switch("TILERY_SOMETHING") and switch("TILERY_SOMETHING", default=True)
    monkeypatch.setenv("TILERY_SOMETHING", "")
    assert switch("TILERY_SOMETHING", default=True)
    monkeypatch.setenv("TILERY_SOMETHING", "false")
    assert not switch("TILERY_SOMETHING", default=True)
